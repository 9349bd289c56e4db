-- SPDX-License-Identifier: MIT
-- The ways to reconcile, each as one look: what it concludes from what a list shows, early and late.

local asked_once = require "asked_once"
local copy_of = require "copy_of"
local errors = require "purser.client.call.errors"
local find = require "purser.write.find"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local NOW, HOUR = 1700000000000, 3600000
local EARLY, LATE = NOW + 10, NOW + 60000
local ID = ("Ab3"):rep(10) .. "Zz"

local look_once, outcome = asked_once.look_once, asked_once.outcome

local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

local transfer = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
local transferred = { tranId = "t1", clientTranId = ID, asset = "USDT", amount = "2", status = "SUCCESS",
  timestamp = NOW + 400 }

describe("a call with an id", function()
  local function with(records, at, fields) return outcome("sub_account.transfer", transfer, records, at, fields) end

  it("is asked for by its id first, alone where it is early", function()
    local function asked_by_id(params, at)
      local by_id = {}
      look_once("sub_account.transfer", params, function(of, asked)
        if (asked.page or 1) == 1 then by_id[#by_id + 1] = asked.clientTranId == ID end
        return of.result.rows and { rows = {}, total = 0 } or {}
      end, at)
      return by_id
    end
    assert.same({ true }, asked_by_id(transfer, EARLY))
    assert.same({ true, false, false }, asked_by_id(transfer, LATE))
    assert.same({ false, false }, asked_by_id(move, LATE)) -- it has none
  end)

  it("is done as soon as a record shows the id and did not fail", function()
    assert.equal("done", with({ transferred }, EARLY))
    assert.equal("done", with({ copy_of(transferred, { status = "FAILED", tranId = "t0" }), transferred }, EARLY))
    assert.equal("nothing yet", with({}, LATE))
  end)

  it("does not wait for an answered call whose own id is shown, whatever record its answer named", function()
    local other = copy_of(transfer, { clientTranId = ("Cd4"):rep(10) .. "Zz" })
    for shown, waits in pairs { [other.clientTranId] = false, [""] = true } do
      local known = own_calls.new()
      own_calls.note(known, operations.by_name["sub_account.transfer"], { params = other, sent_at = NOW + 100,
        recv_window = 5000, id = "other" }, "t9")
      local record = copy_of(transferred, { clientTranId = shown, timestamp = NOW + 500 })
      local _, _, question = look_once("sub_account.transfer", transfer, { record }, LATE, { journal = known })
      assert.equal(waits, question.next.waits)
    end
  end)

  it("that failed was not done only late, for the id may be taken again", function()
    local failed = copy_of(transferred, { status = "FAILED" })
    assert.equal("nothing yet", with({ failed }, EARLY))
    assert.equal("not_done", with({ failed }, LATE))
  end)

  it("is undecided where the id was used for another payment", function()
    local word, answer = with({ copy_of(transferred, { amount = "3" }) }, LATE)
    assert.equal("undecided", word)
    assert.matches("used for another payment", answer.reason)
    assert.equal("nothing yet", with({ copy_of(transferred, { amount = "3" }) }, EARLY))
    word = with({ copy_of(transferred, { status = "FAILED" }), copy_of(transferred, { amount = "3" }) }, LATE)
    assert.equal("undecided", word)
    word = with({ copy_of(transferred, { amount = "3" }), copy_of(transferred, { status = "FAILED" }) }, LATE)
    assert.equal("undecided", word)
  end)

  it("is done by its id in other letters' case", function()
    assert.equal("done", with({ copy_of(transferred, { clientTranId = ID:lower() }) }, EARLY))
  end)

  it("is done late by the one record of equal content that shows no id, undecided by another spelling", function()
    for shown, expected in pairs { [""] = "done", ["x-" .. ID] = "undecided", [("y"):rep(32)] = "undecided" } do
      local record = copy_of(transferred, { clientTranId = shown })
      assert.equal("nothing yet", with({ record }, EARLY))
      assert.equal(expected, with({ record }, LATE))
      assert.equal("undecided", with({ copy_of(record, { amount = "3" }) }, LATE))
      assert.equal("undecided", with({ copy_of(record, { timestamp = NOW + 3 * HOUR + 450000 }) }, LATE))
      -- no witness shows that this service would show another payment so
      assert.equal("undecided", with({ copy_of(record, { amount = "77", asset = "BTC" }) }, LATE))
    end
  end)

  it("proves nothing by one that failed in a list that is not shown to be complete", function()
    local page = { copy_of(transferred, { status = "FAILED" }) }
    for i = 2, 10 do page[i] = copy_of(transferred, { tranId = "t" .. i, clientTranId = "other" .. i }) end
    local word = with(function(of)
      return of.name == "list_sub_accounts" and {} or page -- it turns no pages
    end, LATE)
    assert.equal("undecided", word)
  end)
end)

describe("a late look that shows nothing", function()
  local params = copy_of(transfer, { toAccount = "Desk" })

  -- Returns what it means that nothing is shown, where the service lists these sub-accounts.
  local function missing(names, failure)
    local look = select(3, look_once("sub_account.transfer", params, function(of, asked)
      if of.name ~= "list_sub_accounts" then return {} end
      if failure then return nil, failure end
      local list = {}
      for i, name in ipairs(asked.page == 1 and names or {}) do list[i] = { subAccount = name } end
      return list
    end))
    local answer, err = find.missing(look)
    return look.next.waits and "retry" or answer and answer.outcome or err.message, look
  end

  it("says not_done where the sub-account is spelled as it was asked for", function()
    assert.equal("not_done", (missing { "Desk" }))
  end)

  it("asks for no spelling where the list shows a record", function()
    local names = {}
    local look = select(3, look_once("sub_account.transfer", params, function(of)
      names[#names + 1] = of.name
      return of.name == "list_sub_accounts" and {} or { copy_of(transferred, { clientTranId = "other", amount = "7" }) }
    end))
    find.missing(look)
    for _, name in ipairs(names) do assert.not_equal("list_sub_accounts", name) end
  end)

  it("says which name is listed nowhere", function()
    local _, look = missing {}
    assert.matches("no sub%-account is listed as Desk,", find.missing(look).reason)
  end)

  it("is made once more where the service spells it in another way, or lists it nowhere", function()
    local word, look = missing { "desk" }
    assert.equal("retry", word)
    assert.equal("desk", look.seen.spelled.toAccount)
    word, look = missing {}
    assert.equal("retry", word)
    assert.is_false(look.seen.spelled.toAccount)
  end)

  it("is undecided where the name is listed nowhere for a second time, or the list needs it", function()
    local _, look = missing {}
    assert.equal("undecided", find.missing(look).outcome)
    local key = { subAccount = "Desk", note = "bot", permissions = "SPOT_DEAL_READ" }
    look = select(3, look_once("broker.create_api_key", key, function() return {} end))
    assert.equal("undecided", find.missing(look).outcome)
  end)

  it("is undecided where this key may not list sub-accounts, and an error where the list fails", function()
    for code, word in pairs { ["700007"] = "undecided", ["730603"] = "undecided", ["10101"] = "no" } do
      assert.equal(word, (missing({}, errors.new { kind = "api", outcome = "rejected", code = code, message = "no" })))
    end
  end)
end)

describe("a decision", function()
  it("is made early where an id, a name or a state is looked for, and late where only content is", function()
    for _, case in ipairs { { "sub_account.transfer", transfer, true }, { "sub_account.transfer", move, false },
      { "wallet.transfer", move, false }, { "broker.create_api_key", { note = "n" }, false },
      { "broker.withdraw", {}, false }, { "broker.create_sub_account", { subAccount = "Desk" }, true },
      { "wallet.cancel_withdrawal", { id = "w" }, true }, { "broker.enable_futures", {}, true },
      { "wallet.convert", { asset = "BTC" }, true } } do
      local look = { reconcile = operations.by_name[case[1]].reconcile, intent = { params = case[2] } }
      assert.equal(case[3], reconcile.decides_early(look), case[1])
    end
  end)
end)

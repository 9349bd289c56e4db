-- SPDX-License-Identifier: MIT
-- The ways to reconcile, each as one look: what it concludes from what a list shows, early and late.

local errors = require "purser.call.errors"
local listing_service = require "listing_service"
local looks = require "purser.write.reconcile.look"
local operations = require "purser.api.operations"
local recent_calls = require "purser.write.reconcile.recent_calls"
local strategies = require "purser.write.reconcile.strategies"

local NOW, HOUR = 1700000000000, 3600000
local EARLY, LATE = NOW + 10, NOW + 60000
local ID = ("Ab3"):rep(10) .. "Zz"
local NOTHING_YET, RETRY_LOOK = looks.NOTHING_YET, looks.RETRY_LOOK

local function changed(params, fields)
  local copy = {}
  for name, value in pairs(params) do copy[name] = value end
  for name, value in pairs(fields or {}) do copy[name] = value end
  return copy
end

-- Looks once for a call of NOW; `shown` is what the list shows: records, or a function.
local function look_once(operation, params, shown, at, fields)
  local row = operations.by_name[operation]
  local service = listing_service(type(shown) == "function" and shown or function(of, asked)
    if of.name == "list_sub_accounts" and of.full_name ~= row.reconcile.lookup then
      return asked.page == 1 and { { subAccount = "Desk" } } or {}
    end
    local records = (asked.page or 1) == 1 and shown or {}
    if of.result.rows then return { rows = records, total = #shown } end
    return of.result.page and { data = records, totalRecords = #shown } or records
  end, changed({ now = at or LATE }, fields))
  local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000, id = "i" }
  local look = looks.new(service, row, intent, {})
  look:begin()
  local answer, err, why = strategies[row.reconcile.strategy](look)
  return answer, err, why, look
end

-- The outcome of that: a word; "nothing yet" or "retry".
local function outcome(...)
  local answer, err = look_once(...)
  if answer == NOTHING_YET then return "nothing yet" elseif answer == RETRY_LOOK then return "retry" end
  return answer and answer.outcome or err.message, answer
end

local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local moved = changed(move, { tranId = "t1", status = "SUCCESS", timestamp = NOW + 400 })

describe("a call that only its content identifies", function()
  local function with(records, at, fields) return outcome("wallet.transfer", move, records, at, fields) end

  it("is decided late alone, when an equal record cannot come any more", function()
    assert.equal("nothing yet", with({ moved }, EARLY))
    assert.equal("nothing yet", with({}, EARLY))
    assert.equal("done", with { moved })
    assert.equal("nothing yet", with {})
  end)

  it("was not done where its record says that it failed", function()
    local word, answer = with { changed(moved, { status = "FAILED" }) }
    assert.equal("not_done", word)
    assert.equal("t1", answer.record.tranId)
  end)

  it("is undecided where two records match, or one in part, or an equal call may have made it", function()
    for reason, case in pairs {
      ["more than one record"] = { { moved, changed(moved, { tranId = "t2" }) } },
      ["in part"] = { { changed(moved, { asset = "usdt" }) } },
      ["equal call without a known end"] = { { moved }, { operation = "wallet.transfer", params = move } },
      ["another call could"] = { { moved }, { operation = "wallet.transfer", params = changed(move,
        { amount = "2.4" }) } },
    } do
      local known = recent_calls.new()
      if case[2] then
        recent_calls.note(known, operations.by_name["wallet.transfer"], changed(case[2], { sent_at = NOW - 5,
          recv_window = 5000, call_id = "other" }))
      end
      local word, answer = with(case[1], LATE, { recent_calls = known })
      assert.equal("undecided", word, reason)
      assert.matches(reason, answer.reason)
      assert.is_true(#answer.candidates > 0)
    end
  end)

  it("is another call's where that is known to have made the record", function()
    local known = recent_calls.new()
    recent_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
      sent_at = NOW - 5, recv_window = 5000, call_id = "other" }, "t1")
    assert.equal("nothing yet", with({ moved }, LATE, { recent_calls = known }))
    assert.equal("done", with({ moved, changed(moved, { tranId = "t2" }) }, LATE, { recent_calls = known }))
  end)

  it("waits for the record of an equal call that may be too new to be listed", function()
    local known = recent_calls.new()
    recent_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
      sent_at = NOW + 8000, recv_window = 5000, call_id = "other" }, "t9")
    local answer, _, _, look = look_once("wallet.transfer", move, { moved }, NOW + 9000, { recent_calls = known })
    assert.equal(NOTHING_YET, answer)
    assert.equal(NOW + 17000, look.deadline)
    assert.equal("undecided", with({ moved }, LATE, { recent_calls = known })) -- its record should be there by now
    assert.equal("undecided", with({ moved }, NOW + 17000, { recent_calls = known }))
  end)

  it("is undecided where equal calls got ids that are not listed, and were sent near enough", function()
    for sent_at, word in pairs { [NOW - 20000] = "undecided", [NOW - 20001] = "done", [NOW + 14000] = "undecided",
      [NOW + 14001] = "done" } do
      local known = recent_calls.new()
      recent_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
        sent_at = sent_at, recv_window = 5000, call_id = "other" }, "t9")
      assert.equal(word, with({ moved }, LATE, { recent_calls = known }), sent_at - NOW)
      if word == "undecided" then -- one more has no known end
        recent_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer",
          params = move, sent_at = NOW - 5, recv_window = 5000, call_id = "open" })
        assert.equal("undecided", with({ moved }, LATE, { recent_calls = known }))
      end
    end
  end)

  it("is undecided where an equal record is shown some hours away", function()
    local word, answer = with { changed(moved, { timestamp = NOW - 8 * HOUR }),
      changed(moved, { tranId = "t2", timestamp = NOW - 7 * HOUR }) }
    assert.equal("undecided", word)
    assert.equal("t2 1", answer.candidates[1].tranId .. " " .. #answer.candidates) -- t2 would else be of the future
    assert.matches("some hours from the call", answer.reason)
    assert.equal("nothing yet", with({ changed(moved, { timestamp = NOW - 8 * HOUR }) }, EARLY))
    assert.matches("in part", select(2, with { moved, changed(moved, { tranId = "t2", asset = "usdt" }) }).reason)
  end)

  it("is an error where the journal cannot be read", function()
    local names = { "equal_calls", "other_calls", "known_records" }
    for _, unread in ipairs(names) do
      local journal = { equal_calls = function() return {}, 0 end, other_calls = function() return {} end,
        known_records = function() return {} end }
      journal[unread] = function() return nil, "disk I/O error" end
      for _, case in ipairs { { "wallet.transfer", move }, { "sub_account.transfer", changed(move,
        { clientTranId = ID }) } } do
        if case[1] == "wallet.transfer" or unread ~= "other_calls" then -- an id needs no other calls
          local answer, err = look_once(case[1], case[2], {}, LATE, { journal = journal })
          assert.is_nil(answer)
          assert.equal("journal", err.phase)
        end
      end
    end
  end)

  it("is undecided where this client has forgotten what it made then", function()
    local known = recent_calls.new()
    known.forgotten_to = NOW
    local word, answer = with({ moved }, LATE, { recent_calls = known })
    assert.equal("undecided", word)
    assert.matches("forgotten", answer.reason)
  end)
end)

describe("a record that a call of another content may have made", function()
  -- Looks for a withdrawal without an id, where one of another remark was sent, too.
  local function with(other, id, record)
    local known = recent_calls.new()
    local entry = recent_calls.note(known, operations.by_name["wallet.withdraw_legacy"], { params = other,
      operation = "wallet.withdraw_legacy", sent_at = NOW - 5, recv_window = 5000, call_id = "other" }, id)
    entry.by_content = id ~= nil
    return outcome("wallet.withdraw", { coin = "USDT", address = "TSample", amount = "20", netWork = "TRX" },
      { changed({ id = "w1", coin = "USDT", address = "TSample", amount = "20", applyTime = NOW + 400 }, record) },
      LATE, { recent_calls = known })
  end

  local same = { coin = "USDT", address = "TSample", amount = "20", network = "TRX" }

  it("is not certainly this call's", function()
    assert.equal("undecided", with(same))
    assert.equal("undecided", with(changed(same, { amount = "20.5" }), nil, { amount = "20" }))
    assert.equal("done", with(changed(same, { amount = "77" })))
    assert.equal("done", with(changed(same, { address = "TOther" })))
  end)

  it("is that call's only where that made it, as far as is known", function()
    assert.equal("undecided", with(same, "w1"))
    assert.equal("done", with(same, "w2"))
  end)

  it("is not that of a call whose id it does not show", function()
    for shown, word in pairs { [ID] = "undecided", [ID:upper()] = "undecided", [("y"):rep(32)] = "done",
      [""] = "undecided" } do
      local known = recent_calls.new()
      local params = { coin = "USDT", address = "TSample", amount = "20", remark = "rent" }
      recent_calls.note(known, operations.by_name["wallet.withdraw"], { operation = "wallet.withdraw", sent_at = NOW,
        params = changed(params, { withdrawOrderId = ID }), recv_window = 5000 })
      assert.equal(word, outcome("broker.withdraw", changed(params, { network = "TRX" }), { changed(params, { id = "w1",
        withdrawOrderId = shown, applyTime = NOW + 400 }) }, LATE, { recent_calls = known }), shown)
    end
  end)

  it("is not that of a call between other accounts than it shows", function()
    for shown, word in pairs { SPOT = "done", FUTURES = "undecided", futures = "undecided", [""] = "undecided" } do
      local known = recent_calls.new()
      local params = { fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
      recent_calls.note(known, operations.by_name["broker.transfer"], { operation = "broker.transfer", sent_at = NOW,
        params = changed(params, { toAccountType = "FUTURES" }), recv_window = 5000 })
      assert.equal(word, outcome("sub_account.transfer", params, { changed(params, { tranId = "t1",
        toAccountType = shown, timestamp = NOW + 400 }) }, LATE, { recent_calls = known }), shown)
    end
  end)
end)

local transfer = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
local transferred = { tranId = "t1", clientTranId = ID, asset = "USDT", amount = "2", status = "SUCCESS",
  timestamp = NOW + 400 }

describe("a call with an id", function()
  local function with(records, at, fields) return outcome("sub_account.transfer", transfer, records, at, fields) end

  it("is done as soon as a record shows the id and did not fail", function()
    assert.equal("done", with({ transferred }, EARLY))
    assert.equal("done", with({ changed(transferred, { status = "FAILED", tranId = "t0" }), transferred }, EARLY))
    assert.equal("nothing yet", with({}, LATE))
  end)

  it("that failed was not done only late, for the id may be taken again", function()
    local failed = changed(transferred, { status = "FAILED" })
    assert.equal("nothing yet", with({ failed }, EARLY))
    assert.equal("not_done", with({ failed }, LATE))
  end)

  it("is undecided where the id was used for another payment", function()
    local word, answer = with({ changed(transferred, { amount = "3" }) }, LATE)
    assert.equal("undecided", word)
    assert.matches("used for another payment", answer.reason)
    assert.equal("nothing yet", with({ changed(transferred, { amount = "3" }) }, EARLY))
    word = with({ changed(transferred, { status = "FAILED" }), changed(transferred, { amount = "3" }) }, LATE)
    assert.equal("undecided", word)
    word = with({ changed(transferred, { amount = "3" }), changed(transferred, { status = "FAILED" }) }, LATE)
    assert.equal("undecided", word)
  end)

  it("is undecided late where a record of equal content shows no id, or may show it in another spelling", function()
    for shown, reason in pairs { [""] = "without any id", [ID:lower()] = "in another spelling" } do
      local record = changed(transferred, { clientTranId = shown })
      assert.equal("nothing yet", with({ record }, EARLY))
      local word, answer = with({ record }, LATE)
      assert.equal("undecided", word)
      assert.matches(reason, answer.reason)
      assert.equal("nothing yet", with({ changed(record, { status = "FAILED" }) }, LATE))
      assert.equal("nothing yet", with({ changed(record, { amount = "3" }) }, LATE))
      assert.equal("nothing yet", with({ changed(record, { timestamp = NOW + 3 * HOUR + 450000 }) }, LATE))
    end
    assert.equal("nothing yet", with({ changed(transferred, { clientTranId = ("y"):rep(32) }) }, LATE))
  end)

  it("proves nothing by one that failed in a list that is not shown to be complete", function()
    local page = { changed(transferred, { status = "FAILED" }) }
    for i = 2, 10 do page[i] = changed(transferred, { tranId = "t" .. i, clientTranId = "other" .. i }) end
    local word = with(function(of)
      return of.name == "list_sub_accounts" and {} or page -- it turns no pages
    end, LATE)
    assert.equal("undecided", word)
  end)
end)

describe("a name", function()
  local name = { subAccount = "Desk0001", note = "n" }

  local function with(record, at) return outcome("broker.create_sub_account", name, { record }, at) end

  it("that was taken when the call can have taken it is done, early as well", function()
    assert.equal("done", with({ subAccount = "Desk0001", timestamp = NOW }, EARLY))
    assert.equal("done", with({ subAccount = "Desk0001", timestamp = NOW - 6000 }))
    assert.equal("done", with({ subAccount = "Desk0001", timestamp = NOW + 14000 }))
  end)

  it("that was taken before was not done; taken later, or some hours away, it is undecided", function()
    local word, answer = with { subAccount = "Desk0001", timestamp = NOW - 6001 - 300000 }
    assert.equal("not_done", word)
    assert.matches("taken before", answer.reason)
    for reason, timestamp in pairs { ["later than the call"] = NOW + 14001 + 300000,
      ["some hours"] = NOW - 8 * HOUR } do
      word, answer = with { subAccount = "Desk0001", timestamp = timestamp }
      assert.equal("undecided", word, reason)
      assert.matches(reason, answer.reason)
    end
  end)

  it("that shows no time, or may be another, is undecided, and only late", function()
    for reason, record in pairs { ["not when it was taken"] = { subAccount = "Desk0001" },
      ["may be the one"] = { subAccount = "desk0001", timestamp = NOW },
      ["whose name may be"] = { timestamp = NOW } } do
      local word, answer = with(record)
      assert.equal("undecided", word, reason)
      assert.matches(reason, answer.reason)
      assert.equal("nothing yet", with(record, EARLY))
    end
    assert.equal("nothing yet", with { subAccount = "desk0001", timestamp = NOW - 6001 }) -- it is older
    assert.equal("undecided", with { subAccount = "DESK0001", timestamp = NOW - 6000 })
    assert.equal("nothing yet", with { subAccount = "Other001", timestamp = NOW })
  end)
end)

describe("a key", function()
  it("that is found has lost its secret", function()
    local params = { subAccount = "Desk", note = "bot", permissions = "SPOT_DEAL_READ" }
    local word, answer = outcome("broker.create_api_key", params, { { apiKey = "k", note = "bot", createTime = NOW } })
    assert.same({ "done", true }, { word, answer.secret_lost })
    word, answer = outcome("broker.create_api_key", params, { { apiKey = "k", note = "Bot", createTime = NOW } })
    assert.same({ "undecided", nil }, { word, answer.secret_lost })
  end)
end)

describe("a state that was requested", function()
  it("of something that must be there is done when it is", function()
    local address = { coin = "USDT", network = "TRX" }
    local function with(record, at) return outcome("wallet.create_deposit_address", address, { record }, at) end
    assert.equal("done", with({ network = "TRX", address = "T" }, EARLY))
    assert.equal("nothing yet", with({ network = "BTC" }, LATE))
    assert.equal("undecided", with({ network = "" }, LATE))
    assert.equal("undecided", with({ network = "trx" }, LATE))
    assert.equal("nothing yet", with({ network = "trx" }, EARLY))
    address.network = "trx"
    assert.equal("undecided", with({ network = "TRX" }, LATE))
  end)

  it("of something that must be gone is decided late, for what is missing may be too new to be listed", function()
    local deletion = { subAccount = "Desk", apiKey = "mx0abc" }
    local function with(records, at) return outcome("broker.delete_api_key", deletion, records, at) end
    assert.equal("nothing yet", with({ { apiKey = "mx0abc" } }, EARLY))
    assert.equal("nothing yet", with({}, EARLY))
    assert.equal("not_done", with { { apiKey = "mx0abc" } })
    assert.equal("done", with {})
    assert.equal("done", with { { apiKey = "mx0xyz" } })
    assert.equal("undecided", with { { apiKey = "mx0***" } })
    assert.equal("not_done", with { { apiKey = "mx0***" }, { apiKey = "mx0abc" } })
  end)

  it("of a withdrawal is cancelled, or too late, or not cancelled when it must be", function()
    local function with(record, at)
      return outcome("wallet.cancel_withdrawal", { id = "w1" }, { changed(record, { applyTime = NOW }) }, at)
    end
    assert.equal("done", with({ id = "w1", status = 9 }, EARLY))
    for status = 5, 8 do assert.equal("not_done", with({ id = "w1", status = status }, EARLY), status) end
    for _, status in ipairs { 1, 4, 10 } do
      assert.equal("nothing yet", with({ id = "w1", status = status }, EARLY), status)
      assert.equal("not_done", with({ id = "w1", status = status }), status)
    end
    assert.equal("nothing yet", with({ id = "w1", status = "5" }, EARLY))
    assert.equal("nothing yet", with({ id = "w2", status = 9 }, EARLY))
    assert.equal("undecided", with { id = "w2", status = 9 })
    assert.equal("undecided", with { id = "w1", status = 11 })
    assert.matches("gone too far", select(2, with { id = "w1", status = 5 }).reason)
    assert.is_nil(select(2, with { id = "w1", status = 4 }).reason)
  end)
end)

describe("a call that may be repeated", function()
  local function with(answer, err)
    return outcome("broker.enable_futures", { subAccount = "Desk" }, function() return answer, err end)
  end

  it("is done when it is done again, and not done when it is rejected", function()
    assert.equal("done", with { subAccount = "Desk" })
    assert.equal("not_done", with(nil, errors.new { kind = "api", outcome = "rejected", message = "no" }))
  end)

  it("is an error where the second attempt shows nothing", function()
    assert.equal("slow down", with(nil, errors.new { kind = "throttled", outcome = "rejected", message = "slow down" }))
    assert.equal("lost", with(nil, errors.new { kind = "transport", outcome = "unknown", message = "lost" }))
  end)
end)

describe("a call that nothing identifies but its remark", function()
  local params = { coin = "USDT", network = "TRX", address = "TSample", amount = "20" }
  local record = { id = "w1", coin = "USDT", address = "TSample", amount = "20", applyTime = NOW + 400 }

  it("is done by its remark alone, and never not done", function()
    assert.equal("done", outcome("broker.withdraw", changed(params, { remark = "rent" }),
      { changed(record, { remark = "rent" }) }))
    local word, answer = outcome("broker.withdraw", params, { record })
    assert.equal("undecided", word)
    assert.same({ record }, answer.candidates)
    word, answer = outcome("broker.withdraw", params, {})
    assert.equal("undecided", word)
    assert.matches("a person must look", answer.reason)
    assert.equal("nothing yet", outcome("broker.withdraw", params, {}, EARLY))
  end)

  it("is undecided where the history cannot be read, and an error where the journal cannot", function()
    for phase, word in pairs { decode = "undecided", journal = "locked" } do
      local failure = errors.new { kind = "config", outcome = "unknown", phase = phase, message = "locked" }
      assert.equal(word, outcome("broker.withdraw", params, function() return nil, failure end))
    end
  end)
end)

describe("a late look that shows nothing", function()
  local params = changed(transfer, { toAccount = "Desk" })

  -- What is missing means, where the service lists these sub-accounts.
  local function missing(names, failure)
    local look = select(4, look_once("sub_account.transfer", params, function(of, asked)
      if of.name ~= "list_sub_accounts" then return {} end
      if failure then return nil, failure end
      local list = {}
      for i, name in ipairs(asked.page == 1 and names or {}) do list[i] = { subAccount = name } end
      return list
    end))
    local answer, err = strategies.missing(look)
    return answer == RETRY_LOOK and "retry" or answer and answer.outcome or err.message, look
  end

  it("says not_done where the sub-account is spelled as it was asked for", function()
    assert.equal("not_done", (missing { "Desk" }))
  end)

  it("is made once more where the service spells it in another way, or lists it nowhere", function()
    local word, look = missing { "desk" }
    assert.equal("retry", word)
    assert.equal("desk", look.spelled.toAccount)
    word, look = missing {}
    assert.equal("retry", word)
    assert.is_false(look.spelled.toAccount)
  end)

  it("is undecided where the name is listed nowhere for a second time, or the list needs it", function()
    local _, look = missing {}
    assert.equal("undecided", strategies.missing(look).outcome)
    local key = { subAccount = "Desk", note = "bot", permissions = "SPOT_DEAL_READ" }
    look = select(4, look_once("broker.create_api_key", key, function() return {} end))
    assert.equal("undecided", strategies.missing(look).outcome)
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
      assert.equal(case[3], strategies.decides_early(look), case[1])
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- One reading says this of a call that leaves a name, a key or a state behind.

local asked_once = require "asked_once"
local copy_of = require "copy_of"
local errors = require "purser.client.call.errors"

local NOW, HOUR = 1700000000000, 3600000
local EARLY, LATE = NOW + 10, NOW + 60000

local outcome = asked_once.outcome

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
    for _, timestamp in ipairs { NOW + 14001 + 300000, NOW - 8 * HOUR } do
      word, answer = with { subAccount = "Desk0001", timestamp = timestamp }
      assert.equal("undecided", word, timestamp)
      assert.matches("^times: ", answer.reason)
    end
  end)

  it("that shows no time, or may be another, is undecided, and only late", function()
    for _, case in ipairs { { "^times: ", { subAccount = "Desk0001" } },
      { "^similar: ", { subAccount = "desk0001", timestamp = NOW } }, { "^similar: ", { timestamp = NOW } } } do
      local word, answer = with(case[2])
      assert.equal("undecided", word, case[1])
      assert.matches(case[1], answer.reason)
      assert.equal("nothing yet", with(case[2], EARLY))
    end
    assert.equal("nothing yet", with { subAccount = "desk0001", timestamp = NOW - 6001 }) -- it is older
    assert.equal("undecided", with { subAccount = "DESK0001", timestamp = NOW - 6000 })
    assert.equal("nothing yet", with { subAccount = "Other001", timestamp = NOW })
  end)
end)

describe("a conversion", function()
  -- Returns the conclusion from these batches; `coins` are those that can be converted now.
  local function with(batches, coins, at)
    local shown = type(batches) == "function" and batches or function(of)
      if of.name == "convertible_balances" then return coins or { { asset = "BTC", balance = "1" } } end
      return { data = batches, totalRecords = #batches, totalPageNum = 1, page = 1 }
    end
    return outcome("wallet.convert", { asset = "btc,ETH" }, shown, at)
  end

  local function batch(at, ...)
    local details = {}
    for i, coin in ipairs { ... } do details[i] = { asset = coin } end
    return { totalConvert = "1", convertTime = at, convertDetails = details }
  end

  it("is what a late look says of its batches", function()
    local inside = batch(NOW, "BTC")
    for _, case in ipairs {
      { "done", nil, { inside } },
      { "not_done", nil, { batch(NOW, "BTC", "DOGE") } },
      { "not_done", nil, { batch(NOW - 60000, "BTC") } },
      { "undecided", "similar: ", { inside, batch(NOW + 1, "ETH") } },
      { "undecided", "similar: ", { batch(NOW) } },
      { "undecided", "times: ", { batch(NOW + 8 * HOUR, "BTC") } },
      { "undecided", "state: ", {}, { { asset = "DOGE", balance = "1" } } },
      { "undecided", "state: ", {}, { { asset = "BTC", balance = "1", code = "30021" } } },
    } do
      local word, answer = with(case[3], case[4])
      assert.equal(case[1], word)
      assert.matches(case[2] or "", answer.reason or "", 1, true)
      assert.equal("nothing yet", (with(case[3], case[4], EARLY)))
    end
  end)

  it("is not known where its batches or its coins cannot be listed", function()
    for name in pairs { conversion_history = true, convertible_balances = true } do
      assert.equal("no", (with(function(of)
        if of.name == name then
          return nil, errors.new { kind = "api", outcome = "rejected", code = "1", message = "no" }
        end
        return of.result.page and { data = {}, totalRecords = 0, totalPageNum = 1, page = 1 } or {}
      end)), name)
    end
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

it("a key that is listed without its time is not certainly this call's: an older one may have the same note", function()
  local word, answer = outcome("broker.create_api_key", { subAccount = "Desk", note = "bot" },
    { { apiKey = "k", note = "bot" } })
  assert.same({ "undecided", "k" }, { word, answer.candidates[1].apiKey })
end)

describe("a state that was requested", function()
  it("of something that must be there is done when it is", function()
    local address = { coin = "USDT", network = "TRX" }
    local function with(record, at) return outcome("wallet.create_deposit_address", address, { record }, at) end
    assert.equal("done", with({ network = "TRX", address = "T" }, EARLY))
    assert.equal("nothing yet", with({ network = "BTC" }, LATE))
    assert.equal("undecided", with({ network = "" }, LATE))
    for _, name in ipairs { "trx", "TRC20", "Tron(TRC20)" } do -- names of one network
      assert.equal("done", with({ network = name }, EARLY))
      address.network = name
      assert.equal("done", with({ network = "TRX" }, EARLY))
      assert.equal("nothing yet", with({ network = "ERC20" }, LATE))
    end
    assert.equal("done", with({ network = "a new name", netWork = "TRX" }, EARLY))
    assert.equal("undecided", with({ network = "a new name" }, LATE)) -- which may be Tron's
    assert.equal("nothing yet", with({ network = "a new name" }, EARLY))
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
      return outcome("wallet.cancel_withdrawal", { id = "w1" }, { copy_of(record, { applyTime = NOW }) }, at)
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
    local word, answer = with { subAccount = "Desk" }
    assert.same({ "done", { subAccount = "Desk" } }, { word, answer.record })
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
    assert.equal("done", outcome("broker.withdraw", copy_of(params, { remark = "rent" }),
      { copy_of(record, { remark = "rent" }) }))
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

-- SPDX-License-Identifier: MIT
-- A spending limit counts what an account spent in a period, whichever client spent it and however the period is
-- cut.

local new = require("recorder").new
local own = require "own_journal"

local HOUR, DAY = 3600000, 86400000
local NOON = 1700049600000 -- a day's and an hour's beginning, plus 12 hours
local DONE = { status = 200, body = '{"tranId":"T1"}', headers = "" }
local REJECTION = { status = 400, body = '{"code":10101,"msg":"no funds"}', headers = "" }

local journal, now, answer, sent

before_each(function()
  now, answer, sent = NOON, DONE, 0
  journal = own.begin()
end)
after_each(own.finish)

local function client_with(amount, period_ms, options)
  local all = { journal = journal, account = "acme", rate_limit = false, clock = function() return now end,
    guard = { spending_limit = { USDT = { amount = amount, period_ms = period_ms } } } }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(new(all, function()
    sent = sent + 1
    return answer == DONE and { status = 200, body = ('{"tranId":"T%d"}'):format(sent), headers = "" } or answer
  end))
end

local function spend(client, amount)
  return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
end

local function rejected(value, err)
  assert.is_nil(value)
  assert.equal("guard.spending_limit", err.code)
  return err
end

describe("a spending limit", function()
  it("needs an account that is named, as no_duplicates does", function()
    for _, guard in ipairs { { spending_limit = { USDT = "5" } }, { no_duplicates = true } } do
      local client, err = new { journal = journal, guard = guard }
      assert.is_nil(client)
      assert.equal("config", err.kind)
      assert.matches('have no account, .*; give the option "account"', tostring(err))
    end
  end)

  it("needs a name that a line can hold", function()
    for expected, options in pairs { ['"account" is empty'] = { account = "", journal = journal },
      ["account\" is no name"] = { account = "a\nb", journal = journal } } do
      options.guard = { spending_limit = { USDT = "5" } }
      local client, err = new(options)
      assert.is_nil(client)
      assert.truthy(tostring(err):find(expected, 1, true), tostring(err))
    end
    local named = client_with("5", nil, { account = "the house of acme USDT 5" })
    assert(spend(named, "2"))
    answer = REJECTION
    spend(named, "3")
    answer = DONE
    assert(spend(named, "3"))
    rejected(spend(named, "0.1"))
    assert(spend(client_with("5", nil, { api_key = "another", secret_key = "another" }), "5"))
  end)

  it("is the account's, whatever key signs, and the key's, whatever name is given", function()
    assert(spend(client_with("5"), "5"))
    rejected(spend(client_with("5", nil, { api_key = "another", secret_key = "another" }), "0.1"))
    local _, err = spend(client_with("5", nil, { account = "other" }), "5")
    assert.equal("journal.other_account", err.code)
    assert(spend(client_with("5", nil, { account = "other", api_key = "third", secret_key = "third" }), "5"))
  end)

  it("counts what was spent when its period is changed", function()
    assert(spend(client_with("10", DAY), "10"))
    for _, period_ms in ipairs { DAY, DAY + 1, DAY - 1, HOUR, 7 * DAY, 2 ^ 52 } do
      local err = rejected(spend(client_with("10", period_ms), "0.01"))
      assert.matches("of which 10 are spent", err.message)
    end
    assert(spend(client_with("10.01", DAY + 1), "0.01"))
  end)

  it("counts only what was spent within the period it has now", function()
    now = NOON - 2 * HOUR
    assert(spend(client_with("10", DAY), "7"))
    now = NOON
    assert(spend(client_with("10", HOUR), "10")) -- the seven are of another hour
    local err = rejected(spend(client_with("20", DAY), "4"))
    assert.matches("of which 17 are spent", err.message)
    assert(spend(client_with("20", DAY), "3"))
    now = NOON + DAY
    assert(spend(client_with("20", DAY), "20"))
    rejected(spend(client_with("20", DAY), "0.1"))
  end)

  it("holds for two programs with different periods at once", function()
    local by_hour, by_day = client_with("10", HOUR), client_with("25", DAY)
    local by_turns = { by_hour, by_day, by_day, by_hour, by_day }
    for i = 1, 5 do assert(spend(by_turns[i], "2")) end
    rejected(spend(by_hour, "0.1")) -- ten in this hour
    assert(spend(by_day, "15"))
    rejected(spend(by_day, "0.1"))
  end)

  it("gets back what was not spent under whichever period it was charged", function()
    local client = client_with("10", DAY)
    answer = REJECTION
    for _ = 1, 3 do spend(client, "10") end
    answer = { status = 500, body = "", headers = "" }
    local _, err = spend(client, "6")
    assert.equal("unknown", err.outcome)
    local other = client_with("10", HOUR)
    answer = DONE
    rejected(spend(other, "5"))
    assert(spend(other, "1"))
    assert(journal:reconciled(err.intent, { outcome = "not_done", reason = "it is not there" }))
    assert(spend(other, "9"))
    rejected(spend(other, "0.01"))
    rejected(spend(client, "0.01"))
  end)

  it("gives nothing back for another period", function()
    answer = { status = 500, body = "", headers = "" }
    local client = client_with("10", HOUR)
    local _, err = spend(client, "6")
    now, answer = NOON + HOUR, DONE
    assert(spend(client, "10"))
    assert(journal:reconciled(err.intent, { outcome = "not_done", reason = "it is not there" }))
    rejected(spend(client, "0.01"))
  end)

  it("counts a call at the first moment of a period in that alone", function()
    now = NOON - NOON % DAY + DAY
    assert(spend(client_with("10", DAY), "10"))
    now = now - 1
    assert(spend(client_with("10", DAY), "10"))
    rejected(spend(client_with("10", DAY), "0.1"))
  end)

  it("gets back what was charged though the sums were deleted", function()
    answer = { status = 500, body = "", headers = "" }
    local client = client_with("10", DAY)
    local _, err = spend(client, "6")
    assert(journal.db:rows "DELETE FROM purser_spending")
    assert(journal:reconciled(err.intent, { outcome = "not_done", reason = "it is not there" }))
    assert.equal("", assert(journal.db:rows "SELECT charges FROM purser_calls")[1].charges)
    answer = DONE
    assert(spend(client, "10"))
    rejected(spend(client, "0.01"))
  end)

  it("gets nothing back for an intent that is not what was sent", function()
    answer = { status = 500, body = "", headers = "" }
    local client = client_with("10", DAY)
    local _, err = spend(client, "6")
    answer = { status = 200, body = '{"rows":[],"total":0}', headers = "" }
    local true_intent = err.intent
    for i, change in ipairs {
      function(intent) intent.params.amount = "0.01" end, function(intent) intent.params.asset = "XRP" end,
      function(intent) intent.operation = "wallet.convert" end,
      -- the journal knows best when it was sent
      function(intent) intent.sent_at = intent.sent_at - 20 * DAY end, function(intent) intent.sent_at = now + DAY end,
      function(intent) intent.recv_window = 1 end,
    } do
      local forged = { params = {} }
      for name, value in pairs(true_intent) do if name ~= "params" then forged[name] = value end end
      for name, value in pairs(true_intent.params) do forged.params[name] = value end
      change(forged)
      local found, problem = client:reconcile(forged, { wait = false })
      if i > 3 then assert.equal("undecided", found.outcome) else assert.is_nil(found) end
      if i <= 3 then assert.matches("not the call that the journal has under its id", problem.message) end
      assert.equal(1, #assert(journal:entries { state = "unknown" }))
    end
    -- nor for one that is changed while it is looked for, or that reads differently each time
    local shifting = setmetatable({}, { __index = function(_, name)
      if name ~= "params" then return true_intent[name] end
      return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "0.01" }
    end })
    now = now + HOUR
    assert.is_nil(client:reconcile(shifting))
    assert.equal(1, #assert(journal:entries { state = "unknown" }))
    now = NOON
    local given = { params = {} }
    for name, value in pairs(true_intent) do if name ~= "params" then given[name] = value end end
    for name, value in pairs(true_intent.params) do given.params[name] = value end
    local call_of = journal.call_of
    function journal:call_of(intent)
      local known = call_of(self, intent)
      given.params.amount, given.id = "0.01", "another"
      return known
    end
    local asked = {}
    local reconciled = journal.reconciled
    function journal:reconciled(intent, found)
      asked[#asked + 1] = intent.id .. " " .. intent.params.amount
      return reconciled(self, intent, { outcome = "undecided", reason = found.outcome })
    end
    now = now + HOUR
    client:reconcile(given)
    assert.same({ true_intent.id .. " 6" }, asked)
    journal.call_of, journal.reconciled, now = nil, nil, NOON
    rejected(spend(client, "5"))
    now = now + HOUR
    assert.equal("not_done", assert(client:reconcile(true_intent)).outcome)
    now, answer = NOON, DONE
    assert(spend(client, "10"))
  end)

  it("is charged with what travels, whatever the caller's tables do meanwhile", function()
    local client, transport = client_with("10", DAY)
    local info = setmetatable({}, { __newindex = function(self, name, value)
      if name == "intent" then value.params.amount, value.sent_at = "0.01", NOON - 5 * DAY end
      rawset(self, name, value)
    end })
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "6" }
    assert(client.wallet:transfer(params, { info = info }))
    rejected(client.wallet:transfer(params, { info = info }))
    assert.equal(1, #transport.requests)
    local reads = 0
    local opts = setmetatable({}, { __index = function(_, name)
      if name ~= "extra_params" then return nil end
      reads = reads + 1
      return reads <= 2 and { other = "1" } or nil
    end })
    params.amount = "1"
    local value, err = client.wallet:transfer(params, opts)
    assert.is_nil(value)
    assert.equal("guard.allow_extra", err.code)
    assert.equal(1, #transport.requests)
  end)

  it("reads a journal in which sums were kept by period", function()
    assert(spend(client_with("10", DAY), "8"))
    assert(journal.db:rows "DELETE FROM purser_spending")
    assert(journal.db:rows("INSERT INTO purser_spending (bucket, amount) VALUES ($1, $2)",
      ("acme USDT %d %d"):format(DAY, math.floor(NOON / DAY)), "8"))
    rejected(spend(client_with("10", DAY), "3"))
    assert(spend(client_with("10", DAY), "2"))
  end)

  it("adds up once a period, not at every call", function()
    local client, db = client_with("100", DAY), journal.db
    local rows, sums = db.rows, 0
    function db:rows(sql, ...)
      if sql:find "SELECT charges, sent_at FROM purser_calls" then sums = sums + 1 end
      return rows(self, sql, ...)
    end
    for _ = 1, 5 do assert(spend(client, "1")) end
    assert.equal(1, sums)
    now = NOON + DAY
    for _ = 1, 5 do assert(spend(client, "1")) end
    assert.equal(2, sums)
  end)

  it("is not eased by amounts that are written in other ways", function()
    local client = client_with("1")
    assert(spend(client, "0.50"))
    assert(spend(client, "0.5"))
    rejected(spend(client, "0.000000000000000000000000000001"))
  end)
end)

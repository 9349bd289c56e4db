-- SPDX-License-Identifier: MIT
-- A spending limit counts what an account spent in a period, whichever client spent it and however the period is
-- cut.

local new = require("recorder").new
local own = require "own_journal"

local HOUR, DAY = 3600000, 86400000
local NOON = 1700049600000 -- a day's and an hour's beginning, plus 12 hours
local DONE = { status = 200, body = '{"tranId":"T1"}', headers = "" }
local LOST = { status = 500, body = "", headers = "" }
local NOT_MADE = { outcome = "not_done", reason = "it is not there" }
local REJECTION = { status = 400, body = '{"code":10007,"msg":"no such coin"}', headers = "" } -- each copy gets it

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
  all.guard = all.guard or nil
  return assert(new(all, function()
    sent = sent + 1
    return answer == DONE and { status = 200, body = ('{"tranId":"T%d"}'):format(sent), headers = "" } or answer
  end))
end

local function spend(client, amount)
  return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
end

-- Spends an amount by a call whose answer is lost. Returns the call's intent.
local function lose(client, amount)
  answer = LOST
  local _, err = spend(client, amount)
  assert.equal("unknown", err.outcome)
  answer = DONE
  return err.intent
end

local function sums()
  local rows = assert(journal.db:rows "SELECT period_ms, amount FROM purser_spending ORDER BY length(period_ms) DESC")
  for i, row in ipairs(rows) do rows[i] = { of = tonumber(row.period_ms), amount = row.amount } end
  return rows
end

local function rejected(value, err)
  assert.is_nil(value)
  assert.equal("guard.spending_limit", err.code)
  return err
end

-- Stories: rows in their order. { limit, amount, words }: a client with this limit (AMOUNT a day or an hour, or "none")
-- spends an amount; words: the limit rejects the call, and says so much. { at = }: the clock, from NOON on.
-- { word = }: a person sets the limit to an amount, or ends it. { fails = amount }: the service rejects such a call.
local stories = {
  ["counts in each of its periods what was spent within that"] = { { at = -2 * HOUR }, { "20 a day", "7" }, { at = 0 },
    { "10 an hour", "10" }, { "20 a day", "0.1", "the journal holds its account to 10 in 3600000 ms" }, { at = HOUR },
    { "20 a day", "4", "of which 17 are spent" }, { "20 a day", "3" }, { at = DAY }, { "20 a day", "10" },
    { "20 a day", "0.1", "" } },
  ["counts a call at the first moment of a period in that alone"] = { { at = DAY / 2 }, { "10 a day", "10" },
    { at = DAY / 2 - 1 }, { "10 a day", "10" }, { "10 a day", "0.1", "" } },
  ["is not eased by amounts that are written in other ways"] = { { "1 a day", "0.50" }, { "1 a day", "0.5" },
    { "1 a day", "0.000000000000000000000000000001", "" } },
  ["stands from the first write of the client that brings it, though that was rejected"] = { { "none", "20" },
    { "10 a day", "11", "" }, { "none", "11", "" },
    { "100 a day", "11", "the journal holds its account to 10 in 86400000 ms" } },
  ["counts what its period saw before it stood, and while a person had ended it"] = { { "none", "8" },
    { "10 a day", "3", "of which 8 are spent" }, { word = "none" }, { "none", "6" }, { fails = "50" },
    { "15 a day", "2", "of which 14 are spent" }, { "15 a day", "1" }, { at = DAY }, { "none", "15" } },
  ["counts what was spent while no limit held, though a limit had kept a sum of the period"] = { { "100 a day", "50" },
    { "none", "60", "" }, { word = "none" }, { "none", "200" }, { "90 a day", "30", "of which 250 are spent" } },
  ["is as a person said, though the client that brought the overruled limit begins again"] = { { "10 a day", "4" },
    { word = "20" }, { "10.0 a day", "7", "" }, { "none", "9" }, { "11 a day", "1", "" }, { "none", "1", "" } },
}

describe("a spending limit", function()
  for name, rows in pairs(stories) do
    it(name, function()
      for i, row in ipairs(rows) do
        if row.at then now = NOON + row.at
        elseif row.word then
          local amount = row.word ~= "none" and row.word or nil
          assert(journal:limit { asset = "USDT", amount = amount, by = "alice" })
        else
          answer = row.fails and REJECTION or DONE
          local amount, span = (row[1] or "none"):match "^([%d.]+) an? (%a+)$"
          local options = not amount and { guard = {} } or nil
          local done, err = spend(client_with(amount or "0", span == "hour" and HOUR or DAY, options),
            row.fails or row[2])
          assert.equal(row.fails == nil and row[3] == nil, done ~= nil, ("row %d: %s"):format(i, tostring(err)))
          if row[3] then assert.matches(row[3], rejected(done, err).message, 1, true) end
        end
      end
    end)
  end

  local unnamed = "no account is named; give the option account"
  for name, case in pairs {
    ["needs an account that is named"] = { says = unnamed },
    ["needs an account that is named, as no_duplicates does"] = { guard = { no_duplicates = true }, says = unnamed },
    ["needs a name that is not empty"] = { account = "", says = '"account" is empty' },
    ["needs a name that a line can hold"] = { account = "a\nb", says = 'account" is no name' },
  } do
    it(name, function()
      local client, err = new { journal = journal, account = case.account,
        guard = case.guard or { spending_limit = { USDT = "5" } } }
      assert.is_nil(client)
      assert.equal("config", err.kind)
      assert.matches(case.says, tostring(err), 1, true)
    end)
  end

  it("is kept under a name of several words", function()
    local named = client_with("5", nil, { account = "the house of acme USDT 5" })
    assert(spend(named, "2"))
    answer = REJECTION
    spend(named, "3")
    answer = DONE
    assert(spend(named, "3"))
    rejected(spend(named, "0.1"))
  end)

  it("is the account's, whatever key signs, and no name leads away from the limit", function()
    local unbound = client_with("5", nil, { account = "other", api_key = "third", secret_key = "third" })
    assert(spend(client_with("5"), "5"))
    rejected(spend(client_with("5", nil, { api_key = "another", secret_key = "another" }), "0.1"))
    local _, err = spend(unbound, "5")
    assert.equal("journal.other_account", err.code)
  end)

  it("counts what was spent when its period is changed", function()
    assert(spend(client_with("10", DAY), "10"))
    local periods = { DAY, DAY + 1, DAY - 1, HOUR, 7 * DAY, 2 ^ 52 }
    for _, period_ms in ipairs(periods) do
      local err = rejected(spend(client_with("10", period_ms), "0.01"))
      assert.matches("of which 10 are spent", err.message)
    end
    for _, period_ms in ipairs(periods) do
      rejected(spend(client_with("11", DAY + 1), "0.01"))
      assert(journal:limit({ asset = "USDT", amount = "11", period_ms = period_ms, by = "alice" }))
    end
    assert(spend(client_with("11", DAY + 1), "1"))
  end)

  it("gets back what was not spent under whichever period it was charged", function()
    local client = client_with("10", DAY)
    answer = REJECTION
    for _ = 1, 3 do spend(client, "10") end
    local intent, other = lose(client, "6"), client_with("10", HOUR)
    rejected(spend(other, "5"))
    assert(spend(other, "1"))
    assert.same({ { of = DAY, amount = "7" }, { of = HOUR, amount = "7" } }, sums())
    assert(journal:reconciled(intent, NOT_MADE))
    assert(spend(other, "9"))
    rejected(spend(other, "0.01"))
    rejected(spend(client, "0.01"))
  end)

  it("gives nothing back for another period", function()
    local client = client_with("10", HOUR)
    local intent = lose(client, "6")
    now = NOON + HOUR
    assert(spend(client, "10"))
    assert(journal:reconciled(intent, NOT_MADE))
    rejected(spend(client, "0.01"))
  end)

  it("gets back what was charged though the sums were deleted", function()
    local client = client_with("10", DAY)
    local intent = lose(client, "6")
    assert(journal.db:rows "DELETE FROM purser_spending")
    assert(journal:reconciled(intent, NOT_MADE))
    assert.same({}, (journal.db:rows "SELECT * FROM purser_charges"))
    assert(spend(client, "10"))
    rejected(spend(client, "0.01"))
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

  it("adds up once a period, not at every call", function()
    local client, db = client_with("100", DAY), journal.db
    local rows, added = db.rows, 0
    function db:rows(sql, ...)
      if sql:find "SELECT amount FROM purser_charges" then added = added + 1 end
      return rows(self, sql, ...)
    end
    for _ = 1, 5 do assert(spend(client, "1")) end
    assert.equal(1, added)
    now = NOON + DAY
    for _ = 1, 5 do assert(spend(client, "1")) end
    assert.equal(2, added)
  end)

  it("counts a call that was found not to be made, and was made all the same", function()
    local client = client_with("10", DAY)
    local intent = lose(client, "6")
    assert(journal:reconciled(intent, NOT_MADE))
    assert.same({ { of = DAY, amount = "0" } }, sums())
    assert(journal:end_call(intent, { state = "done", record = { tranId = "late" }, answered = "yes" }))
    assert.same({ { of = DAY, amount = "6" } }, sums())
    rejected(spend(client, "5"))
  end)
end)

describe("a spending limit gets nothing back for a lost call's intent", function()
  local client, true_intent

  before_each(function()
    client = client_with("10", DAY)
    true_intent = lose(client, "6")
    answer = { status = 200, body = '{"rows":[],"total":0}', headers = "" }
  end)

  local function copy()
    local made = { params = {} }
    for name, value in pairs(true_intent) do if name ~= "params" then made[name] = value end end
    for name, value in pairs(true_intent.params) do made.params[name] = value end
    return made
  end

  -- The journal knows best when a call was sent.
  for name, case in pairs {
    ["with another amount"] = { is_refused = true, change = function(call) call.params.amount = "0.01" end },
    ["with another asset"] = { is_refused = true, change = function(call) call.params.asset = "XRP" end },
    ["with another operation"] = { is_refused = true, change = function(call) call.operation = "wallet.convert" end },
    ["with an earlier time"] = { change = function(call) call.sent_at = call.sent_at - 20 * DAY end },
    ["with a later time"] = { change = function(call) call.sent_at = now + DAY end },
    ["with another window"] = { change = function(call) call.recv_window = 1 end },
  } do
    it(name, function()
      local forged = copy()
      case.change(forged)
      local found, problem = client:reconcile(forged, { wait = false })
      if case.is_refused then assert.is_nil(found) else assert.equal("undecided", found.outcome) end
      if case.is_refused then assert.matches("not the call that the journal has under its id", problem.message) end
      assert.equal(1, #assert(journal:entries { state = "unknown" }))
    end)
  end

  it("that reads differently each time", function()
    local shifting = setmetatable({}, { __index = function(_, name)
      if name ~= "params" then return true_intent[name] end
      return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "0.01" }
    end })
    now = now + HOUR
    assert.is_nil(client:reconcile(shifting))
    assert.equal(1, #assert(journal:entries { state = "unknown" }))
  end)

  it("that is changed while it is looked for", function()
    local given, asked = copy(), {}
    local call_of, reconciled = journal.call_of, journal.reconciled
    function journal:call_of(intent)
      local known = call_of(self, intent)
      given.params.amount, given.id = "0.01", "another"
      return known
    end
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
end)

-- A script without the option, or with a higher one, passed the limit that another program of its account had set.
describe("the spending limit of an account", function()
  local function bare(options)
    options = options or {}
    if options.guard == nil then options.guard = {} end
    return client_with("0", DAY, options)
  end

  it("holds for a client that brings none, and for one that brings another", function()
    assert(spend(client_with("10", DAY), "4"))
    local err = rejected(spend(bare(), "7"))
    assert.matches("purser journal limit USDT AMOUNT", err.message, 1, true)
    assert(spend(bare { guard = false }, "4"))
    local extra = { extra_params = { Amount = "100" } }
    err = rejected(bare({ guard = false }).wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES",
      asset = "USDT", amount = "0.1" }, extra))
    assert.matches('what the parameter "Amount" does cannot be judged', tostring(err), 1, true)
    local before = sent
    bare({ guard = false }).sub_account:create_sub_account({ subAccount = "tradingdesk1", note = "n" }, extra)
    assert.equal(before + 1, sent) -- which moves nothing
    rejected(spend(client_with("100", DAY), "3"))
    assert(spend(client_with("100", DAY), "2"))
    rejected(spend(bare { api_key = "another", secret_key = "another" }, "0.1"))
    assert.equal(4, sent)
  end)

  it("lets nothing of its asset move that cannot be counted, and lets others move", function()
    rejected(spend(client_with("10", DAY), "11"))
    local client = bare()
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "XRP", amount = "9" })
    for _, asset in ipairs { "USDT ", "US\204\168DT", "usdt-TRX" } do
      rejected(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = asset,
        amount = "1" })
    end
    rejected(client.wallet:convert { asset = "DOGE,usdt" })
    assert.equal(1, sent)
  end)

  it("is not written, and nothing is sent, where the journal cannot be written", function()
    assert(journal.db:rows "PRAGMA query_only = 1")
    local value, err = spend(client_with("10", DAY), "1")
    assert.is_nil(value)
    assert.same({ "not_sent", "journal", 0 }, { err.outcome, err.phase, sent })
    assert(journal.db:rows "PRAGMA query_only = 0")
    assert.same({}, (journal.db:rows "SELECT * FROM purser_limits"))
  end)

  it("is raised and ended by a person's word, which is kept, and lowered by who brings a lower one", function()
    local low = client_with("10", DAY)
    assert(spend(low, "10"))
    now = now + 1
    assert(journal:limit({ asset = "usdt", amount = "15", by = "alice" }))
    rejected(spend(low, "0.1")) -- its own
    assert(spend(bare(), "5"))
    rejected(spend(bare(), "0.1"))
    assert(journal:limit({ asset = "USDT", by = "bob" }))
    assert(spend(bare(), "100"))
    rejected(spend(client_with("12", DAY), "1"))
    rejected(spend(bare(), "1"))
    local kept = assert(journal.db:rows "SELECT amount, person, at FROM purser_limits ORDER BY at")
    local before = ""
    for i, row in ipairs(kept) do
      assert.is_true(row.at > before)
      kept[i], before = row.amount .. row.person, row.at
    end
    assert.same({ "10", "15alice", "bob", "12" }, kept)
  end)

  it("is changed by no word on another asset or period, of nobody, or of no amount", function()
    assert(spend(client_with("10", DAY), "1"))
    assert(spend(client_with("5", HOUR), "1"))
    for expected, word in pairs {
      ["several limits of USDT: 10 in 86400000 ms, 5 in 3600000 ms"] = { amount = "9" },
      ["no such limit of XRP"] = { asset = "XRP", amount = "9" }, ["who says so"] = { amount = "9", by = false },
      ["no such limit of USDT: 10 in 86400000 ms, 5 in 3600000 ms"] = { amount = "9", period_ms = 1000 },
      ["an amount that is none"] = { amount = 9 }, ["has an amount"] = { amount = "-1" },
    } do
      word.asset, word.by = word.asset or "USDT", word.by == nil and "alice" or word.by or nil
      local ok, err = journal:limit(word)
      assert.is_nil(ok)
      assert.matches(expected, err.message, 1, true)
      assert.equal("argument", err.kind)
    end
    assert.equal(2, #assert(journal.db:rows "SELECT * FROM purser_limits"))
    assert(journal:limit({ asset = "USDT", amount = "9", period_ms = HOUR, by = "alice" }))
    assert(spend(bare(), "7"))
    rejected(spend(bare(), "0.1"))
  end)

  it("counts a call once that is repeated under its key, though a person disowned it before the limit stood", function()
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "6" }
    answer = LOST
    local _, err = bare().wallet:transfer(params, { key = "k" })
    assert(journal:settle(err.intent.id, { outcome = "not_done", by = "alice" }))
    answer = DONE
    assert(client_with("10", DAY).wallet:transfer(params, { key = "k" }))
    assert(spend(bare(), "4"))
    rejected(spend(bare(), "0.1"))
  end)

  -- The call was not recorded where it was more than the limit, so its key was free, and it was paid again.
  it("counts a call that another program sent, however much that is, and the call's key is used", function()
    local client = client_with("10", DAY)
    local intent = { operation = "sub_account.transfer", sent_at = now, params = { toAccount = "d", asset = "USDT",
      fromAccountType = "SPOT", toAccountType = "SPOT", amount = "11", clientTranId = ("k"):rep(32) } }
    answer = { status = 200, body = '{"data":[]}', headers = "" }
    client:reconcile(intent, { wait = false })
    assert.equal(intent.params.clientTranId, assert(journal:entries())[1].key)
    assert.matches("of which 11 are spent", rejected(spend(client, "1")).message)
    local begin = journal.begin
    function journal.begin() return nil, "the disk is full" end
    intent.params.clientTranId, intent.sent_at = ("l"):rep(32), now + 1
    local answered, err = client:reconcile(intent, { wait = false })
    journal.begin = begin
    assert.same({ nil, "unknown", "journal" }, { answered, err.outcome, err.phase })
  end)

  -- On PostgreSQL a call that had read no limit was in no sum, though it was recorded after the first sum.
  it("waits for the calls that begin on other hosts, which then read it or are counted", function()
    local home, db, held = require "purser.write.journal.home", journal.db, {}
    local transaction, rows = db.transaction, db.rows
    function db:transaction(fn, reads)
      held = {}
      return transaction(self, function(tx)
        function tx.lock(_, number, is_shared) held[number] = is_shared and "shared" or "alone" end
        return fn(tx)
      end, reads)
    end
    local seen = {}
    function db:rows(sql, ...)
      if sql:find "INTO purser_limits" then seen.limit = held[home.LOCK] end
      if sql:find "INTO purser_calls" then seen.call = held[home.LOCK] end
      return rows(self, sql, ...)
    end
    assert(spend(client_with("10", DAY), "1"))
    assert.same({ limit = "alone", call = "shared" }, seen)
  end)

  it("counts a content that a person disowned, and the one that took its place", function()
    local calls = require "purser.write.journal.calls"
    local client = client_with("10", DAY)
    assert(spend(client, "4"))
    local id = assert(journal:entries())[1].intent.id
    own.within(function(tx)
      calls.update(tx, { state = "not_done", content = "other", disowned = "other", ended_at = "1" }, "id = ?", id)
      calls.write_end(tx, calls.locked(tx, id), { state = "not_done" })
    end)
    rejected(spend(client, "7"))
  end)

  it("keeps no row for a limit that a stricter one exceeds, and lets calls through that move nothing", function()
    local spending = require "purser.write.guard.spending"
    local operations = require "purser.client.operations"
    local decimal = require "purser.decimal"
    local limits = {}
    for _, case in ipairs { { "5", true }, { "5", false }, { "6", false }, { "4", true }, { "5", false } } do
      assert.equal(case[2], spending.restrict(limits, { asset = "USDT", period_ms = 1000,
        amount = decimal(case[1]) }), case[1])
    end
    assert.same({}, spending.assets_of(operations.by_name["sub_account.create_sub_account"], {}))
    assert.same({ "BTC", "ETH" }, spending.assets_of(operations.by_name["wallet.convert"], { asset = "btc,ETH" }))
    assert.same({ "A,B" }, spending.assets_of(operations.by_name["wallet.transfer"], { asset = "a,b" }))
  end)
end)

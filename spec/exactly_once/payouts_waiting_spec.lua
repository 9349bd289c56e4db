-- SPDX-License-Identifier: MIT
-- Payouts never wait without an end or a reason: after undecided payments, after clocks, after other accounts.

local purser = require "purser"
local queue = require "purser.exactly_once.payouts.queue"

local sim, account, path, journal, client

local TRANSFER = "sub_account.transfer"
local DAY = 86400000

local function move(amount)
  return { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
end

local function own(amount)
  return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
end

local function client_with(options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end, rate_limit = false, journal = journal,
    retry = { attempts = 5, base_ms = 1 }, account = "treasury" }
  for name, value in pairs(options or {}) do all[name] = value or nil end
  return assert(purser.new(all))
end

local function payouts_with(options)
  local all = { client = client, journal = journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
  sim = purser.sim.new { seed = 5 }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" },
    futures_balances = { USDT = "10" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  journal = assert(purser.journal.open { sqlite = path })
  client = client_with()
end)

after_each(function()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

-- Changes what is kept of the payments, as a clock that was wrong would have written it.
local function set(sql, ...) assert(journal.db:rows("UPDATE purser_payments SET " .. sql, ...)) end

local function ahead(ms) return ("%013d"):format(require("purser.core").now_ms() + ms) end

describe("a queue with the guard rail no_duplicates", function()
  before_each(function()
    client = client_with { guard = { no_duplicates = true } }
  end)

  -- One of two equal payments is left undecided: its answer is lost, and its history rejects.
  local function leave_one_undecided()
    local payouts = payouts_with { concurrency = 1, history_check = "never" }
    assert(payouts:add("a", "wallet.transfer", own "5"))
    assert(payouts:add("b", "wallet.transfer", own "5"))
    assert(payouts:add("other", "wallet.transfer", own "6"))
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    sim:fault { kind = "reject", operation = "wallet.transfer_history", times = 10 }
    return payouts, assert(payouts:run())
  end

  it("ends its run after an undecided payment, and the report names both", function()
    local payouts, report = leave_one_undecided()
    assert.same({ 1, 1, 1, 1 }, { report.undecided, report.waiting, report.blocked, report.done })
    local blocked = report.blocked_payments[1]
    assert.matches(('payment "%s" is undecided'):format(report.undecided_payments[1].key), blocked.message)
    assert.equal(1, assert(payouts:run()).blocked)
  end)

  it("goes on when the undecided one is decided", function()
    local payouts, report = leave_one_undecided()
    local ok, err = payouts:retry(report.undecided_payments[1].key)
    assert.is_nil(ok)
    assert.equal("payouts.done", err.code)
    report = assert(payouts:run())
    assert.same({ 3, 0 }, { report.done, report.blocked })
    assert.equal(3, sim:counts()["wallet.transfer"].applied)
  end)

  it("is not held up by a payment that a person put back", function()
    local payouts, report = leave_one_undecided()
    assert.is_true(payouts:retry(report.undecided_payments[1].key, { force = true }))
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("is not left blocked by a payment that a person decides while the worker looks at it", function()
    local payouts, report = leave_one_undecided()
    local db, equal_call, is_looked_at, put_back = journal.db, queue.equal_call, false, nil
    local transaction = db.transaction
    function queue.equal_call(...)
      local equal = equal_call(...)
      is_looked_at = true
      return equal
    end
    function db.transaction(...)
      if is_looked_at and put_back == nil then
        put_back = false
        put_back = payouts:retry(report.undecided_payments[1].key, { force = true })
      end
      return transaction(...)
    end
    finally(function() queue.equal_call = equal_call end)
    report = assert(payouts:run())
    assert.is_true(put_back)
    assert.same({ 3, 0 }, { report.done, report.blocked })
  end)

  it("ends after a call of which nobody knows the end, and says what reconciles it", function()
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local _, err = client.wallet:transfer(own "5")
    assert.equal("unknown", err.outcome)
    sim:advance(120000)
    local payouts = payouts_with { unidentified = "pay" }
    assert(payouts:add("a", "wallet.transfer", own "5"))
    local report = assert(payouts:run())
    assert.equal(1, report.blocked)
    assert.matches("journal:recover", report.blocked_payments[1].message, 1, true)
    assert(journal:recover(client))
    assert.equal(1, assert(payouts:run()).done)
  end)
end)

describe("times that were written while the clock was wrong", function()
  it("do not keep a new payment from being due", function()
    local core = require "purser.core"
    local now_ms = core.now_ms
    core.now_ms = function() return now_ms() + 3600000 end
    local payouts = payouts_with()
    local ok, err = payouts:add("a", TRANSFER, move "1")
    core.now_ms = now_ms
    assert(ok, err)
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("do not put a payment off by more than three days", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("due_at = $1", ahead(4 * DAY))
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("do not leave a payment with a dead worker for more than an hour", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("state = 'taken', worker = 'dead', lease_until = $1", ahead(2 * 3600000))
    assert.equal(1, assert(payouts:run()).done)
    local rejected, err = purser.payouts.new { client = client, journal = journal, lease_ms = 3600001 }
    assert.is_nil(rejected)
    assert.matches("lease_ms", err.message)
  end)

  it("are bounded when the service asks for a pause of years", function()
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, move "1"))
    sim:fault { kind = "throttle", operation = TRANSFER, retry_after = 99999999, times = 5 }
    payouts.progress, payouts.progress_ms = function(progress)
      if progress.waiting_for then payouts:stop() end
    end, 1
    assert(payouts:run())
    local due = tonumber(assert(journal.db:rows "SELECT due_at FROM purser_payments")[1].due_at)
    assert.is_true(due <= require("purser.core").now_ms() + 3 * DAY)
  end)
end)

describe("a queue in which another account has payments", function()
  it("has those of each account for itself, and the report counts the others", function()
    local first = payouts_with()
    assert.is_true(first:add("rent", TRANSFER, move "1"))
    client = client_with { account = "second" }
    local second = payouts_with()
    assert.is_true(second:add("rent", TRANSFER, move "2"))
    assert.equal(1, assert(first:run()).done)
    local report = assert(second:run())
    assert.equal(1, report.done)
    assert.same({ { account = "treasury", payments = 1 } }, report.other_accounts)
    assert.equal(2, sim:counts()[TRANSFER].applied)
  end)

  it("does not run when it has none of this account, and the error names both", function()
    assert(payouts_with():add("rent", TRANSFER, move "1"))
    client = client_with { account = "second" }
    local report, err = payouts_with():run()
    assert.is_nil(report)
    assert.equal("config", err.kind)
    assert.matches('account "treasury"', err.message)
    assert.matches('account "second"', err.message)
  end)

  it("takes nothing from a client without an account, which may be the same with a new key", function()
    assert(payouts_with():add("rent", TRANSFER, move "1"))
    client = client_with { account = false }
    local payouts = payouts_with()
    local ok, err = payouts:add("rent", TRANSFER, move "1")
    assert.is_nil(ok)
    assert.equal("config", err.kind)
    assert.matches('account = "treasury"', err.hint, 1, true)
    assert.is_nil((payouts:run()))
    assert.equal(nil, sim:counts()[TRANSFER])
  end)
end)

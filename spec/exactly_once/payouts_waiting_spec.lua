-- SPDX-License-Identifier: MIT
-- Payouts never wait without an end or a reason: after undecided payments, after clocks, after other accounts.

local private = require "purser.util.private"
local purser = require "purser"
local queue = require "purser.exactly_once.payouts.queue"
local schedule = require "purser.schedule"

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

describe("the progress", function()
  local function reason_of(payouts)
    local reason
    payouts.progress, payouts.progress_ms = function(progress)
      reason = reason or progress.waiting_for
      if reason then payouts:stop() end
    end, 1
    assert(payouts:run())
    return reason
  end

  it("says when the next payment is due, and why it was put off", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("due_at = $1, message = 'the service asked for a pause'", ahead(600000))
    assert.matches("^the next is due in %d+ s %(the service asked for a pause%)$", reason_of(payouts))
  end)

  it("says which lease it waits for", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("state = 'taken', worker = 'other', lease_until = $1", ahead(600000))
    assert.matches("^other workers have 1, the first lease ends in %d+ s$", reason_of(payouts))
  end)

  it("says that the histories are looked at first", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    local inner, task = sim:transport(), require "purser.schedule"
    private.states[client]._transport = { send = function(_, request) return inner:send(request) end,
      sleep = function(_, ms)
        inner:sleep(ms)
        task.sleep(25)
      end }
    assert.matches("cannot show that it is the newest", reason_of(payouts))
  end)

  it("shows it in its line", function()
    assert.equal("1 of 3 payments (33 %), 0/s, 1 blocked, waits: the next is due in 2 s", purser.payouts.progress_line {
      total = 3, finished = 1, rate = 0, failed = 0, undecided = 0, blocked = 1,
      waiting_for = "the next is due in 2 s" })
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

describe("a run that waits for the rate limit", function()
  it("says so in its progress, with the time that is left", function()
    local service, said, looks = sim:transport(), nil, 0
    local transport = { send = function(_, request) return service:send(request) end }
    -- The other tasks run until the progress was reported; then the service's clock goes on.
    function transport.sleep(_, ms)
      while ms >= 1000 and not said and looks < 500 do
        looks = looks + 1
        schedule.sleep(5)
      end
      return service:sleep(ms)
    end
    client = client_with { transport = transport, rate_limit = purser.rate_limit {
      pools = { ip = { capacity = 1, window_ms = 10000 } }, now = function() return sim:now() end } }
    local payouts = payouts_with { concurrency = 1, history_check = "never", progress_ms = 1,
      progress = function(progress)
        if (progress.waiting_for or ""):find "rate limit" then said = said or purser.payouts.progress_line(progress) end
      end }
    assert(payouts:add("a", TRANSFER, move "1"))
    assert(payouts:add("b", TRANSFER, move "2"))
    assert.equal(2, assert(payouts:run()).done)
    assert.matches("waits: the rate limit has room in %d+ s$", said)
  end)
end)

describe("tasks that wait for the journal's connection", function()
  it("take no payments beside those that another task took meanwhile", function()
    journal:close()
    journal = assert(purser.journal.open { sqlite = path, sleep = schedule.sleep })
    client = client_with()
    local payouts = payouts_with { concurrency = 4, history_check = "never" }
    for i = 1, 20 do assert(payouts:add("p" .. i, TRANSFER, move(tostring(i)))) end
    local begun, sent, held, take_waiting = journal.db.kind, false, 0, queue.take_waiting
    -- each transaction lets the other tasks run, as a database does that another process has locked
    journal.db.kind = setmetatable({ connection_error = function(db)
      schedule.sleep(1)
      return begun.connection_error(db)
    end }, { __index = begun })
    function queue.take_waiting(...)
      held = math.max(held, #payouts.hand)
      return take_waiting(...)
    end
    finally(function() queue.take_waiting = take_waiting end)
    local inner = sim:transport()
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      if not sent then schedule.sleep(5) end -- the others take their turns
      sent = true
      return inner:send(request)
    end }
    assert.equal(20, assert(payouts:run()).done)
    assert.equal(0, held)
  end)
end)

describe("a payment that another run of the same worker name left behind", function()
  it("is taken over when its lease ends, and no run renews it for ever", function()
    local first = payouts_with { history_check = "never" }
    assert(first:add("a", TRANSFER, move "1"))
    sim:fault { kind = "lost_answer", operation = TRANSFER }
    local inner = sim:transport()
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response, failure = inner:send(request)
      first:stop()
      return response, failure
    end }
    assert(first:run())
    assert.equal(1, assert(first:report()).sent)
    set("worker = 'two', lease_until = $1", ahead(3600000))
    client = client_with()
    local calls, second = 0, nil
    second = payouts_with { history_check = "never", lease_ms = 200, progress_ms = 10, progress = function()
      calls = calls + 1
      if calls == 1 then set("worker = 'one', lease_until = $1", ahead(100)) end -- the first run is only ending now
      if calls == 200 then second:stop() end
    end }
    assert.equal(1, assert(second:run()).done)
  end)
end)

describe("a progress function that raises", function()
  it("ends the run, and nothing is paid afterwards", function()
    local waits = client_with { clock = function()
      if schedule.current() and schedule.can_wait() then schedule.sleep(1) end
      return sim:now()
    end }
    local calls = 0
    local payouts = payouts_with { client = waits, concurrency = 2, history_check = "never", progress_ms = 1,
      progress = function()
        calls = calls + 1
        if calls == 2 then error("the screen is gone", 0) end
      end }
    for i = 1, 100 do assert(payouts:add("invoice-" .. i, TRANSFER, move(tostring(i)))) end
    local ok, raised = pcall(payouts.run, payouts)
    assert.is_false(ok)
    assert.equal("the screen is gone", raised)
    assert.equal(2, calls)
    local counts = assert(payouts:report())
    assert.equal(0, counts.sent)
    assert.is_true(counts.done < 100)
    schedule.run(function() schedule.sleep(300) end)
    assert.same(counts, assert(payouts:report()))
    assert.equal(100, assert(payouts:run()).done)
  end)
end)

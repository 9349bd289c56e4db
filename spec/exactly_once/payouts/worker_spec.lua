-- SPDX-License-Identifier: MIT
-- One worker: its tasks, what it takes over, what ends its run, and what it does with each kind of answer.

local at = require "payouts_setting"
local core = require "purser.core"
local private = require "purser.util.private"
local purser = require "purser"
local queue = require "purser.exactly_once.payouts.queue"
local schedule = require "purser.schedule"

before_each(at.begin)
after_each(at.finish)

-- Changes what is kept of the payments, as a clock that was wrong would have written it.
local function set(sql, ...) assert(at.journal.db:rows("UPDATE purser_payments SET " .. sql, ...)) end

local function ahead(ms) return ("%013d"):format(core.now_ms() + ms) end

describe("tasks that wait for the journal's connection", function()
  it("take no payments beside those that another task took meanwhile", function()
    at.journal:close()
    at.journal = assert(purser.journal.open { sqlite = at.path, sleep = schedule.sleep })
    at.client = at.client_with()
    local payouts = at.payouts_with { concurrency = 4, history_check = "never" }
    for i = 1, 20 do assert(payouts:add("p" .. i, at.TRANSFER, at.move(tostring(i)))) end
    local begun, sent, held, take_waiting = at.journal.db.kind, false, 0, queue.take_waiting
    -- each transaction lets the other tasks run, as a database does that another process has locked
    at.journal.db.kind = setmetatable({ connection_error = function(db)
      schedule.sleep(1)
      return begun.connection_error(db)
    end }, { __index = begun })
    function queue.take_waiting(...)
      held = math.max(held, #payouts.hand)
      return take_waiting(...)
    end
    finally(function() queue.take_waiting = take_waiting end)
    private.states[at.client]._transport = at.transport(function(request, inner)
      if not sent then schedule.sleep(5) end -- the others take their turns
      sent = true
      return inner:send(request)
    end)
    assert.equal(20, assert(payouts:run()).done)
    assert.equal(0, held)
  end)
end)

describe("a payment that another run of the same worker name left behind", function()
  it("is taken over when its lease ends, and no run renews it for ever", function()
    local first = at.payouts_with { history_check = "never" }
    assert(first:add("a", at.TRANSFER, at.move "1"))
    at.sim:fault { kind = "lost_answer", operation = at.TRANSFER }
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response, failure = inner:send(request)
      first:stop()
      return response, failure
    end)
    assert(first:run())
    assert.equal(1, assert(first:report()).sent)
    set("worker = 'two', lease_until = $1", ahead(3600000))
    at.client = at.client_with()
    local calls, second = 0, nil
    second = at.payouts_with { history_check = "never", lease_ms = 200, progress_ms = 10, progress = function()
      calls = calls + 1
      if calls == 1 then set("worker = 'one', lease_until = $1", ahead(100)) end -- the first run is only ending now
      if calls == 200 then second:stop() end
    end }
    assert.equal(1, assert(second:run()).done)
  end)
end)

describe("a progress function that raises", function()
  it("ends the run, and nothing is paid afterwards", function()
    local waits = at.client_with { clock = function()
      if schedule.current() and schedule.can_wait() then schedule.sleep(1) end
      return at.sim:now()
    end }
    local calls = 0
    local payouts = at.payouts_with { client = waits, concurrency = 2, history_check = "never", progress_ms = 1,
      progress = function()
        calls = calls + 1
        if calls == 2 then error("the screen is gone", 0) end
      end }
    for i = 1, 100 do assert(payouts:add("invoice-" .. i, at.TRANSFER, at.move(tostring(i)))) end
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

describe("what concerns all payments alike", function()
  it("ends the run, and fails none of them", function()
    local silent = true
    at.client = at.client_with { credentials = function()
      if not silent then return at.account.api_key, at.account.secret_key end
    end }
    local payouts = at.payouts_with()
    for i = 1, 3 do assert(payouts:add("k" .. i, at.TRANSFER, at.move(tostring(i)))) end
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.matches("credentials function", err.message)
    assert.equal(0, assert(payouts:report()).failed)
    silent = false
    assert.equal(3, assert(payouts:run()).done)
  end)
end)

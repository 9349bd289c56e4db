-- SPDX-License-Identifier: MIT
-- A run reports about itself while it works, and says why it waits when it does.

local at = require "payouts_setting"
local private = require "purser.client.util.private"
local purser = require "purser"
local schedule = require "purser.schedule"

local TRANSFER, move, payouts_with, set, ahead = at.TRANSFER, at.move, at.payouts_with, at.set, at.ahead

before_each(at.begin)
after_each(at.finish)

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
    set("stage = 'taken', worker = 'other', lease_until = $1", ahead(600000))
    assert.matches("^other workers have 1, the first lease ends in %d+ s$", reason_of(payouts))
  end)

  it("says which payments of a process that ended the run took over, and their report names them", function()
    local first = payouts_with { worker = "gone" }
    at.add(first, 1, 3)
    set "stage = 'taken', worker = 'gone', lease_until = '1'"
    local counts = {}
    local payouts = payouts_with { worker = "two", progress_ms = 1, progress = function(progress)
      counts[progress.taken_over] = purser.payouts.progress_line(progress)
    end }
    local report = assert(payouts:run())
    assert.equal(3, report.done)
    table.sort(report.taken_over, function(a, b) return a.key < b.key end)
    assert.same({ key = "invoice-1", worker = "gone" }, report.taken_over[1])
    assert.equal(3, #report.taken_over)
    assert.matches("3 taken over", counts[3])
    at.add(payouts, 4, 4)
    assert.is_nil(assert(payouts:run()).taken_over)
  end)

  it("says that the histories are looked at first", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    local inner = at.sim:transport()
    private.states[at.client]._transport = { send = function(_, request) return inner:send(request) end,
      sleep = function(_, ms)
        inner:sleep(ms)
        schedule.sleep(25)
      end }
    assert.matches("cannot show that it is the newest", reason_of(payouts))
  end)

  it("says no reason why nothing is sent while something is", function()
    local is_sending, said = false, {}
    at.client = at.client_with { retry = false, transport = at.transport(function(request, inner)
      local response = inner:send(request)
      if request.operation == TRANSFER then return nil, { outcome = "unknown", phase = "receive", message = "lost" } end
      if request.operation == "sub_account.transfer_history" and not is_sending and not said[2] then
        return nil, { outcome = "not_sent", phase = "connect", message = "no route to host" }
      elseif request.operation == "wallet.transfer" then
        is_sending = true
        for _ = 1, 2000 do -- until the progress was asked for twice, on a slow machine as well
          if #said < 2 then schedule.sleep(5) end
        end
        is_sending = false
      end
      return response
    end) }
    local payouts = payouts_with { history_check = "never", progress_ms = 1 }
    payouts.progress = function(progress)
      if is_sending then said[#said + 1] = progress.waiting_for or "nothing" end
    end
    assert(payouts:add("a", TRANSFER, move "1"))
    assert(payouts:add("b", "wallet.transfer", at.own "2"))
    assert.equal(2, assert(payouts:run()).done)
    assert.is_true(#said > 1)
    for _, reason in ipairs(said) do assert.equal("nothing", reason) end
  end)

  it("has the numbers of each end", function()
    local payouts = payouts_with { progress_ms = 1 }
    for i, stage in ipairs { "failed", "undecided", "dropped", "waiting", "waiting" } do
      assert(payouts:add(stage .. i, TRANSFER, move "1"))
      set("stage = $1, blocked = CASE payment WHEN 'waiting4' THEN 'yes' ELSE '' END WHERE payment = $2", stage,
        stage .. i)
    end
    set "due_at = '9' WHERE payment = 'waiting5'"
    local last
    payouts.progress = function(progress) last = progress end
    payouts:run()
    last.rate, last.seconds_left = nil, nil
    assert.same({ total = 5, finished = 5, done = 2, failed = 1, undecided = 1, taken_over = 0, blocked = 0 }, last)
  end)

  it("shows it in its line", function()
    assert.equal("[######..............] 1 of 3 payments (33 %), waits: the next is due in 2 s, 1 blocked, 0/s",
      purser.payouts.progress_line {
      total = 3, finished = 1, rate = 0, failed = 0, undecided = 0, blocked = 1,
      waiting_for = "the next is due in 2 s" })
  end)
end)

describe("a run that waits for the rate limit", function()
  it("says so in its progress, with the time that is left", function()
    local service, said, looks = at.sim:transport(), nil, 0
    local transport = { send = function(_, request) return service:send(request) end }
    -- The other tasks run until the progress was reported; then the service's clock goes on.
    function transport.sleep(_, ms)
      while ms >= 1000 and not said and looks < 500 do
        looks = looks + 1
        schedule.sleep(5)
      end
      return service:sleep(ms)
    end
    at.client = at.client_with { transport = transport, rate_limit = purser.rate_limit {
      pools = { ip = { capacity = 1, window_ms = 10000 } }, now = function() return at.sim:now() end } }
    local payouts = payouts_with { concurrency = 1, history_check = "never", progress_ms = 1,
      progress = function(progress)
        if (progress.waiting_for or ""):find "rate limit" then said = said or purser.payouts.progress_line(progress) end
      end }
    assert(payouts:add("a", TRANSFER, move "1"))
    assert(payouts:add("b", TRANSFER, move "2"))
    assert.equal(2, assert(payouts:run()).done)
    assert.matches("waits: the rate limit has room in %d+ s,", said)
  end)
end)

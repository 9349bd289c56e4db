-- SPDX-License-Identifier: MIT
-- The multi transport in the loop of a host: stepping by itself in a coroutine of the host (`start`), and turning tasks
-- in a loop with callbacks (`attach`).

local multi = require "purser.client.transport.multi"
local purser = require "purser"
local stages = require "stage"

local stage = stages.new(multi.new)
local peer

local get, withdrawal = stages.get, stages.withdrawal

setup(function() peer = stage.start() end)
teardown(stage.stop)
before_each(stage.reset)
after_each(stage.close)

-- A host whose coroutines step the transport while they wait.
local function new_pumped_host()
  local host, waiting = { ready = {}, pump_wakes = 0 }, {}
  function host.spawn(fn) host.ready[#host.ready + 1] = coroutine.create(fn) end
  function host.wait(call, ms, transport)
    if transport then waiting[call] = { ms = ms, fds = transport:fds() } end
    call.coroutine = coroutine.running()
    coroutine.yield()
    waiting[call] = nil
  end
  function host.wake(call)
    if waiting[call] then host.pump_wakes = host.pump_wakes + 1 end
    host.ready[#host.ready + 1] = assert(call.coroutine, "woken before it waited")
  end
  function host.turn()
    local ready = host.ready
    host.ready = {}
    for _, co in ipairs(ready) do
      if coroutine.status(co) ~= "dead" then
        local ok, problem = coroutine.resume(co)
        if not ok then host.problem = problem end
      end
    end
  end
  -- Turns until nothing is left. What a real loop waits for by the descriptors, this one waits for by libcurl.
  function host.run(transport)
    while #host.ready > 0 or next(waiting) do
      if #host.ready == 0 then
        local call, what = next(waiting)
        assert.is_true(what.ms >= 0)
        if not transport.closed then transport.multi:wait(math.min(what.ms, 20)) end
        host.ready[1] = call.coroutine
      end
      host.turn()
    end
  end
  return host
end

describe("a transport that the host's coroutines step", function()
  local function pumped(changes)
    local host = new_pumped_host()
    for name, value in pairs(changes or {}) do host[name] = value(host[name]) end
    return host, stage.transport { wait = function(...) return host.wait(...) end, wake = host.wake,
      self_stepping = true, outside_tasks = "reject" }
  end

  it("steps by itself while calls wait, and ends when none is left", function()
    local host, t = pumped()
    local done = 0
    for round = 1, 2 do
      for _ = 1, 5 do
        host.spawn(function()
          assert.equal(200, assert(t:send(get())).status)
          done = done + 1
        end)
      end
      host.run(t)
      assert.is_nil(host.problem)
      assert.equal(5 * round, done)
      assert.is_nil(t.host.stepper)
      assert.is_nil(host.problem)
    assert.is_nil(next(t.calls))
    end
  end)

  it("notices a call and a sleeper that come while it waits", function()
    peer:script "head body stall"
    local host, t = pumped()
    host.spawn(function() t:send(withdrawal()) end)
    repeat host.turn() until t.host.stepper
    for i, fn in ipairs { function() t:send(get()) end, function() t:sleep(60000) end } do
      local before = host.pump_wakes
      host.spawn(fn)
      host.turn()
      assert.is_true(host.pump_wakes > before, i)
      host.turn()
      assert.is_truthy(t.host.stepper)
    end
    t:close()
    host.run(t)
    assert.is_nil(host.problem)
  end)

  it("sleeps, although no call waits", function()
    local host, t = pumped()
    local order = {}
    for _, ms in ipairs { 30, 0 } do
      host.spawn(function()
        t:sleep(ms)
        order[#order + 1] = ms
      end)
    end
    host.run(t)
    assert.same({ 0, 30 }, order)
  end)

  it("loses no call when `wake` raises", function()
    local host, t = pumped { wake = function(wake)
      return function(call)
        wake(call)
        if call.response then error("boom", 0) end
      end
    end }
    local done = 0
    for _ = 1, 3 do
      host.spawn(function() if t:send(get()) then done = done + 1 end end)
    end
    host.run(t)
    assert.equal(3, done)
    assert.is_nil(host.problem) -- the call that steps for others does not raise their host's error
    assert.is_nil(t.host.stepper)
  end)

  it("closes its descriptors only when the host watches none of them", function()
    peer:script "head body stall"
    local host, t, failure, watched
    local mark, ended = peer:count(), 0
    host, t = pumped { wait = function(wait)
      return function(call, ms, transport)
        if transport and transport:fds()[1] then watched = true end
        wait(call, ms, transport)
        if transport then ended = ended + 1 end
      end
    end }
    host.spawn(function() failure = select(2, t:send(withdrawal())) end)
    host.spawn(function()
      while peer:count(mark).wholes == 0 do t:sleep(5) end
      local before = ended
      t:close()
      assert.equal(before, ended)
      assert.is_truthy(t.multi:fds()) -- raises once it is closed
    end)
    host.run(t)
    assert.is_nil(host.problem)
    assert.is_truthy(watched)
    assert.same({ "closed", "unknown" }, { failure.kind, failure.outcome })
    assert.has_error(function() t.multi:fds() end)
  end)
end)
describe("a loop with callbacks", function()
  -- The loop: descriptors by number, and one alarm.
  local function new_loop()
    local loop = { watched = {}, count = 0, alarms = 0 }
    function loop.watch(fd, events, turn)
      assert.is_nil(loop.watched[fd], "watched twice")
      assert.is_truthy(({ r = true, w = true, rw = true })[events])
      loop.watched[fd], loop.count = turn, loop.count + 1
      return fd
    end
    function loop.unwatch(fd)
      assert.is_truthy(loop.watched[fd])
      loop.watched[fd] = nil
    end
    function loop.alarm(ms, turn)
      loop.ms, loop.turn, loop.alarms = ms, turn, loop.alarms + 1
    end
    return loop
  end

  -- Strikes as a real loop does: when libcurl has something to do, or the alarm is due.
  local function turn_until(loop, t, done)
    for _ = 1, 2000 do
      if done() then return end
      t.multi:wait(math.min(loop.ms or 20, 20))
      loop.turn()
    end
    error "the loop never ended"
  end

  it("turns tasks, watches what libcurl waits for, and nothing afterwards", function()
    peer:script "head body wait=20 ok close"
    local loop, t, done = new_loop(), stage.transport { outside_tasks = "reject" }, 0
    local turn = t:attach(loop)
    for _ = 1, 5 do
      purser.spawn(function()
        assert.equal(200, assert(t:send(get())).status)
        done = done + 1
      end)
    end
    turn()
    assert.equal(turn, loop.turn)
    turn_until(loop, t, function() return done == 5 end)
    turn()
    assert.is_true(loop.count >= 5)
    assert.is_nil(next(loop.watched))
    assert.is_nil(loop.ms)
  end)

  it("gets the alarm of a sleeping task", function()
    local loop, t, slept = new_loop(), stage.transport(), false
    local turn = t:attach(loop)
    purser.spawn(function()
      purser.sleep(5)
      slept = true
    end)
    turn()
    assert.is_true(loop.ms <= 5)
    turn_until(loop, t, function() return slept end)
    assert.is_nil(loop.ms)
  end)

  it("gets what a task raised after the alarm was set: by `on_error`, or from the turn", function()
    local loop, t, problems = new_loop(), stage.transport(), {}
    local turn = t:attach(loop, function(problem) problems[#problems + 1] = problem end)
    purser.spawn(function() error("boom", 0) end)
    turn()
    assert.same({ "boom" }, problems)
    local alarms = loop.alarms
    turn = t:attach(loop)
    purser.spawn(function() error("bang", 0) end)
    assert.equal("bang", select(2, pcall(turn)))
    assert.equal(alarms + 1, loop.alarms)
  end)

  it("watches nothing of a transport that was closed", function()
    peer:script "head body stall"
    local loop, t, failure = new_loop(), stage.transport(), nil
    local turn, mark = t:attach(loop), peer:count()
    purser.spawn(function() failure = select(2, t:send(withdrawal())) end)
    turn()
    turn_until(loop, t, function() return peer:count(mark).wholes > 0 end)
    assert.is_truthy(next(loop.watched))
    t:close()
    turn()
    assert.is_nil(next(loop.watched))
    assert.same({ "closed", "unknown" }, { failure.kind, failure.outcome })
  end)
end)

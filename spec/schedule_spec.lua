-- SPDX-License-Identifier: MIT
-- Tasks that wait for answers and times together.

local core = require "purser.core"
local curl = require "purser.client.transport.curl"
local eventually = require "eventually"
local multi = require "purser.client.transport.multi"
local peers = require "peer"
local purser = require "purser"
local schedule = require "purser.schedule"
local socket = require "socket"
local stage = require("stage").new(multi.new)

local transport = stage.transport
local peer

local function get(target) return { method = "GET", target = target or "/" } end

local function withdrawal() return { method = "POST", target = "/withdraw", body = "{}", at_most_once = true } end

local function elapsed_ms(fn)
  local from = core.monotonic_ms()
  fn()
  return core.monotonic_ms() - from
end

-- Lets no real time pass until the test ends: whoever sleeps moves the clock on. Returns the clock, which begins at 0.
local function sleep_at_once()
  local monotonic_ms, sleep_ms, now = core.monotonic_ms, core.sleep_ms, 0
  core.monotonic_ms, core.sleep_ms = function() return now end, function(ms) now = now + ms end
  finally(function() core.monotonic_ms, core.sleep_ms = monotonic_ms, sleep_ms end)
  return core.monotonic_ms
end

setup(function() peer = stage.start() end)
teardown(stage.stop)
before_each(stage.reset)
after_each(stage.close)

describe("purser.cancel", function()
  it("ends the request of one task: its call says whether it was sent, and is not retried; the others go on", function()
    peer:script "head body stall"
    local t, mark, got = transport { max_in_flight = 1 }, peer:count(), {}
    local client = assert(purser.new { base_url = peer:url(), transport = t, api_key = "k", secret_key = "s" })
    local read = purser.spawn(function() got.read = select(2, client.wallet:deposit_history()) end)
    local queued = purser.spawn(function() got.queued = select(2, client.wallet:coins()) end)
    local sleeps = purser.spawn(function() purser.sleep(1) end)
    eventually(function()
      schedule.step()
      return peer:count(mark).requests == 1 and queued.transport
    end, nil, "the first request arrives")
    assert.is_true(purser.cancel(queued))
    assert.is_true(purser.cancel(read))
    assert.is_false(purser.cancel(sleeps))
    schedule.step()
    assert.same({ "closed unknown", "closed not_sent" },
      { got.read.kind .. " " .. got.read.outcome, got.queued.kind .. " " .. got.queued.outcome })
    assert.is_false(purser.cancel(read))
    purser.join(sleeps)
    assert.equal(1, peer:count(mark).requests)
    client:close()
  end)
end)

describe("tasks", function()
  it("wait for their answers together", function()
    peer:script "head body wait=50 ok"
    local t, mark = transport(), peer:count()
    local results = schedule.all {
      function() return t:send(get "/1") end,
      function() return t:send(get "/2") end,
      function() return t:send(get "/3") end,
    }
    assert.equal(3, #results)
    for _, response in ipairs(results) do assert.equal(200, response.status) end
    assert.equal(3, peer:count(mark).connections) -- one after the other they would share one
  end)

  it("read from top to bottom", function()
    local t = transport()
    local text = schedule.run(function(first)
      local seen = { first }
      for i = 1, 3 do seen[#seen + 1] = tostring(t:send(get("/" .. i)).status) end
      return table.concat(seen, " ")
    end, "seen")
    assert.equal("seen 200 200 200", text)
  end)

  it("get a failure like everyone else", function()
    peer:script "head body close"
    local t = transport()
    local results, errors = schedule.all {
      function() return t:send(withdrawal()) end,
      function() return "fine" end,
    }
    assert.is_nil(results[1])
    assert.equal("unknown", errors[1].outcome)
    assert.equal("fine", results[2])
  end)

  it("sleep side by side, and wake in order", function()
    local woken = {}
    local function sleeper(ms) return function() schedule.sleep(ms) woken[#woken + 1] = ms end end
    local now = sleep_at_once()
    schedule.all { sleeper(30), sleeper(10), sleeper(20), sleeper(10), sleeper(0) }
    assert.same({ 0, 10, 10, 20, 30 }, woken)
    assert.equal(30, now())
  end)

  it("wait until one of several has ended, or for a time, and are not woken by that wait later", function()
    local events, now = {}, sleep_at_once()
    local function say(event) events[#events + 1] = event end
    schedule.run(function()
      local short = schedule.spawn(function() schedule.sleep(10) end)
      local long = schedule.spawn(function() schedule.sleep(200) end)
      schedule.await_any({ long }, 1)
      say(long.done and "long" or "time")
      schedule.await_any({ long, short }, 60)
      say(short.done and not long.done and "short")
      schedule.await_any({ short, long }, 60000)
      say "at once"
      local started = now()
      schedule.sleep(100) -- the time of the second wait ends within this one
      say(now() - started == 100 and "slept")
      say(#long.waiters)
      schedule.join(long)
    end)
    assert.same({ "time", "short", "at once", "slept", 0 }, events)
  end)

  it("sleep for as long outside of a task", function()
    assert.is_true(elapsed_ms(function() schedule.sleep(20) end) >= 20)
  end)

  it("go on while another waits", function()
    peer:script "head body stall"
    local t, ticks = transport(), 0
    local _, errors = schedule.all {
      function() return t:send(get()) end,
      function()
        for _ = 1, 5 do
          schedule.sleep(5)
          ticks = ticks + 1
        end
        t:close()
      end,
    }
    assert.same({ 5, "closed" }, { ticks, errors[1].kind })
  end)

  it("use several transports at once", function()
    peer:script "head body stall"
    local a, b, mark = transport(), transport(), peer:count()
    local _, errors = schedule.all {
      function() return a:send(get()) end,
      function() return b:send(get()) end,
      function() -- one after the other, the second would wait for the first to run out of time
        eventually(function() return peer:count(mark).requests >= 2 end, schedule.sleep)
        a:close()
        b:close()
      end,
    }
    assert.equal("closed", errors[1].kind)
    assert.equal("closed", errors[2].kind)
  end)

  it("are stepped by a host that never waits", function()
    peer:script "head body wait=300 ok"
    local t, status = transport()
    schedule.spawn(function() status = t:send(get()).status end)
    local frames = 0
    while schedule.step() > 0 do
      frames = frames + 1
      socket.sleep(0.001)
    end
    assert.equal(200, status)
    assert.is_true(frames > 2)
  end)

  it("return what their function returns, to whoever joins them", function()
    assert.same({ 1, nil, 3 }, { schedule.run(function() return 1, nil, 3 end) })
    local inner = schedule.run(function()
      local task = schedule.spawn(function(x) schedule.sleep(1) return x * 2 end, 21)
      return schedule.join(task)
    end)
    assert.equal(42, inner)
    assert.equal(7, schedule.run(function() return schedule.run(function() return 7 end) end))
  end)

  it("pass on what they raise", function()
    local problem = {}
    local ok, raised = pcall(schedule.run, function() schedule.sleep(1) error(problem) end)
    assert.is_false(ok)
    assert.equal(problem, raised)
    local others = 0
    ok = pcall(schedule.all, {
      function() error "first" end,
      function() schedule.sleep(2) others = others + 1 end,
    })
    assert.is_false(ok)
    assert.equal(1, others)
  end)

  it("raise out of the loop when nobody waits for them", function()
    schedule.spawn(function() error("unjoined", 0) end)
    local ok, raised = pcall(schedule.step)
    assert.is_false(ok)
    assert.equal("unjoined", raised)
    assert.equal(0, schedule.step())
  end)

  it("raise one error a step when several raised, and lose none", function()
    local problems = {}
    for i = 1, 3 do schedule.spawn(function() error("problem " .. i, 0) end) end
    local late = schedule.spawn(function() error("for its join", 0) end)
    for _ = 1, 3 do
      local ok, raised = pcall(schedule.step)
      assert.is_false(ok)
      problems[#problems + 1] = raised
      assert.equal(0, schedule.timeout()) -- a host comes again at once
    end
    assert.same({ "problem 1", "problem 2", "problem 3" }, problems)
    assert.error_matches(function() schedule.join(late) end, "for its join")
    assert.equal(0, schedule.step())
    assert.is_nil(schedule.timeout())
  end)

  it("wait for the transport that is due first", function()
    local due, transports = { 70, 30, false, 50 }, {}
    for i, ms in ipairs(due) do
      transports[i] = { timeout = function() return ms or nil end }
      schedule.watch(transports[i], 1)
    end
    finally(function()
      for _, one in ipairs(transports) do schedule.watch(one, -1) end
    end)
    assert.equal(30, schedule.timeout())
  end)

  it("are notified of a deadlock", function()
    assert.error_matches(function() schedule.run(function() schedule.suspend() end) end,
      "deadlock: nothing can wake this task")
    assert.equal(1, schedule.step()) -- that one stays
  end)

  it("simply wait when they call from a coroutine of their own", function()
    local t = transport()
    local status = schedule.run(function()
      local each = coroutine.wrap(function() for i = 1, 2 do coroutine.yield(t:send(get("/" .. i)).status) end end)
      return each() + each()
    end)
    assert.equal(400, status)
  end)

  it("can wait under schedule.protect, which catches what is raised, on every Lua", function()
    local t = transport { base_url = peer:url() }
    peer:script "head body ok"
    local result = schedule.run(function()
      local task = schedule.current()
      local caught = { schedule.protect(function(a, b)
        assert.equal(task, schedule.current())
        assert(t:send(get()))
        schedule.sleep(1)
        return a, nil, b
      end, 1, 3) }
      assert.same({ true, 1, nil, 3 }, caught)
      local ok, message = schedule.protect(function()
        assert(t:send(get()))
        error("boom", 0)
      end)
      assert.same({ false, "boom" }, { ok, message })
      return schedule.protect(schedule.protect, error, "deep")
    end)
    assert.is_true(result)
    assert.same({ false, "x" }, { schedule.protect(error, "x") })
  end)

  it("are woken once, however often they are notified", function()
    local turns, given = 0, nil
    local task = schedule.spawn(function(...)
      assert.equal(0, select("#", ...))
      given = { schedule.suspend() }
      turns = turns + 1
      schedule.suspend()
      turns = turns + 1
    end)
    schedule.step()
    schedule.wake(task, "a", "b")
    schedule.wake(task, "c")
    for _ = 1, 3 do schedule.step() end
    assert.equal(1, turns)
    assert.same({ "a", "b" }, given)
    schedule.wake(task)
    schedule.join(task)
    assert.equal(2, turns)
  end)

  it("may use the blocking transport, and then hold up the others", function()
    local t = assert(curl.new { base_url = peer:url() })
    assert.equal(200, schedule.run(function() return t:send(get()).status end))
    t:close()
  end)

  it("end when their transport is closed under them", function()
    peer:script "head body stall"
    local t = transport()
    local _, errors = schedule.all {
      function() return t:send(withdrawal()) end,
      function() schedule.sleep(30) t:close() end,
    }
    assert.equal("closed", errors[1].kind)
    assert.equal("unknown", errors[1].outcome)
  end)

  it("get an answer that had come when the transport was closed, but was not handed out", function()
    local t = transport()
    local response
    schedule.run(function()
      schedule.all {
        function() response = assert(t:send(get())) end,
        function()
          schedule.can_wait() -- the call asks the same first, which takes a turn on Lua 5.1
          while t.multi:step() > 0 do t.multi:wait(1000) end -- the answer is in C, and nowhere else
          t:close()
        end,
      }
    end)
    assert.equal(200, response.status)
  end)

  it("get what a closed transport knows of requests that were sent, queued and over", function()
    peer:script "head body stall"
    local t = transport { max_in_flight = 1 }
    local short = withdrawal()
    short.timeout_ms = 1
    local _, errors = schedule.all {
      function() return t:send(withdrawal()) end,
      function() return t:send(withdrawal()) end,
      function() return t:send(short) end,
      function()
        schedule.can_wait()
        while peer:count().wholes == 0 do t.multi:wait(10) t.multi:step() end
        while t.multi:step() > 2 do t.multi:wait(10) end -- the short one is over in C
        t:close()
      end,
    }
    assert.same({ "unknown", "not_sent", "not_sent" }, { errors[1].outcome, errors[2].outcome, errors[3].outcome })
  end)

  it("wait for a hundred transports at once", function()
    local calls = {}
    for i = 1, 100 do
      local t = transport()
      calls[i] = function() return t:send(get()) end
    end
    local responses = schedule.all(calls)
    for i = 1, 100 do assert.equal(200, responses[i].status) end
  end)

  it("end when their request is cancelled", function()
    peer:script "head body stall"
    local t = transport { max_in_flight = 1 }
    local _, errors = schedule.all {
      function() return t:send(get()) end,
      function() return t:send(withdrawal()) end,
      function()
        schedule.sleep(10)
        assert(t:cancel(2))
        assert(t:cancel(1))
      end,
    }
    assert.equal("not_sent", errors[2].outcome)
    assert.equal("unknown", errors[1].outcome)
  end)
end)

describe("a client in tasks", function()
  it("rests between two attempts without holding up the others", function()
    local service = peers.start()
    service:script "head body send=HTTP%2F1%2E1%20503%20x%0D%0AContent%2DLength%3A%200%0D%0A%0D%0A"
    local shared = assert(multi.new { base_url = service:url() })
    local turns, resting, answered = 0, false, false
    local client = assert(purser.new {
      base_url = service:url(), api_key = "key", secret_key = "secret", transport = shared, rate_limit = false,
      retry = { attempts = 2, base_ms = 200, max_ms = 200 },
      hooks = { after = function()
        resting = true
        service:script "head body ok" -- the 503 may be a proxy's: a new connection
      end },
    })
    purser.run(function()
      local reader = purser.spawn(function()
        assert(client:ping())
        answered = true
      end)
      local other = purser.spawn(function()
        while not answered do
          if resting then turns = turns + 1 end
          purser.sleep(5)
        end
      end)
      purser.join(reader)
      purser.join(other)
    end)
    assert.is_true(answered)
    assert.is_true(turns > 0) -- the rest is 100 ms at least, and the answer comes after it
    client:close()
    shared:close()
    service:stop()
  end)
end)

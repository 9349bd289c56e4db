-- Many requests at once, and the tasks that wait for them.

local core = require "purser.core"
local curl = require "purser.transport.curl"
local multi = require "purser.transport.multi"
local peers = require "peer"
local purser = require "purser"
local schedule = require "purser.schedule"
local socket = require "socket"
local stage = require("stage").new(multi.new)

local transport = stage.transport
local peer, made

local function get(target) return { method = "GET", target = target or "/" } end

local function withdrawal() return { method = "POST", target = "/withdraw", body = "{}", single_send = true } end

-- Steps until the request has its answer.
local function finish(t, id)
  for _ = 1, 400 do
    t:wait(10)
    local done, response, failure = t:take(id)
    if done then return response, failure end
  end
  error("the request never ended")
end

local function elapsed_ms(fn)
  local from = core.monotonic_ms()
  fn()
  return core.monotonic_ms() - from
end

setup(function() peer, made = stage.start() end)
teardown(stage.stop)
before_each(stage.reset)
after_each(stage.close)

describe("the multi transport", function()
  it("sends like the blocking one outside of tasks", function()
    local t = transport()
    local response = assert(t:send { method = "POST", target = "/x?a=1", headers = { A = "b" }, body = "{}" })
    assert.equal(200, response.status)
    assert.equal("{}", response.body)
    assert.matches("^POST /x%?a=1 HTTP/1.1\r\n.*\r\nA: b\r\nContent%-Length: 2\r\n\r\n{}$", peer:last())
    assert.is_true(assert(t:send(get())).reused)
  end)

  it("gives ids, and each answer once", function()
    local t = transport()
    local a, b = t:submit(get "/a"), t:submit(get "/b")
    assert.not_equal(a, b)
    assert.equal(200, finish(t, b).status)
    assert.equal(200, finish(t, a).status)
    assert.is_false((t:take(a)))
  end)

  it("keeps its own copy of a request", function()
    local t = transport { max_in_flight = 1 }
    local ids = {}
    for i = 1, 20 do
      ids[i] = t:submit { method = "POST", target = "/" .. i, headers = { N = "n" .. i }, body = ("b"):rep(i) }
    end
    collectgarbage()
    collectgarbage()
    for i = 1, 20 do assert(finish(t, ids[i])) end
    assert.matches("^POST /20 HTTP.*\r\nN: n20\r\n.*\r\n\r\n" .. ("b"):rep(20) .. "$", peer:last())
  end)

  it("never has more in flight than allowed; the rest waits its turn", function()
    peer:script "head body wait=20 ok"
    local t = transport { max_in_flight = 3 }
    local mark, ids = peer:count(), {}
    for i = 1, 12 do ids[i] = t:submit(withdrawal()) end
    local from = core.monotonic_ms()
    for i = 1, 12 do assert.equal(200, assert(finish(t, ids[i])).status) end
    local count = peer:count(mark)
    assert.equal(3, count.connections)
    assert.equal(12, count.requests)
    assert.is_true(core.monotonic_ms() - from >= 4 * 20)
  end)

  it("does not block in a step while a peer is silent", function()
    peer:script "head body stall"
    local t = transport { timeout_ms = 5000 }
    for _ = 1, 8 do t:submit(get()) end
    local slowest = 0
    for _ = 1, 50 do
      slowest = math.max(slowest, elapsed_ms(function() assert.equal(8, t:step()) end))
      socket.sleep(0.002)
    end
    assert.is_true(slowest < 50, "a step took " .. slowest .. " ms")
  end)

  it("returns from wait at its limit when nothing happens", function()
    peer:script "head body stall"
    local t = transport()
    local id = t:submit(get())
    socket.sleep(0.01)
    for _ = 1, 5 do t:step() end
    local took = elapsed_ms(function() t:wait(40) end)
    assert.is_true(took >= 30 and took < 1000)
    assert.is_false((t:take(id)))
  end)

  it("ends a request that waited in the queue beyond its time: not sent", function()
    peer:script "head body stall"
    local t = transport { max_in_flight = 1 }
    t:submit(get())
    local mark = peer:count()
    local request = withdrawal()
    request.timeout_ms = 30
    local _, failure = finish(t, t:submit(request))
    assert.equal("not_sent", failure.outcome)
    assert.equal("transport", failure.kind)
    assert.matches("`max_in_flight`", failure.message)
    assert.is_true(peer:count(mark).requests <= 1)
  end)

  it("cancels what waits in the queue: not sent", function()
    peer:script "head body wait=20 ok"
    local t = transport { max_in_flight = 1 }
    local first, second, third = t:submit(get()), t:submit(withdrawal()), t:submit(get())
    local failure = t:cancel(second)
    assert.equal("closed", failure.kind)
    assert.equal("not_sent", failure.outcome)
    assert.is_nil(t:cancel(second))
    assert.equal(200, finish(t, first).status)
    assert.equal(200, finish(t, third).status)
    assert.is_false((t:take(second)))
  end)

  it("cancels what was sent: unknown", function()
    peer:script "head body stall"
    local t = transport { max_in_flight = 1 }
    local mark = peer:count()
    local id = t:submit(withdrawal())
    for _ = 1, 100 do
      t:wait(5)
      if peer:count(mark).wholes == 1 then break end
    end
    local failure = t:cancel(id)
    assert.equal("unknown", failure.outcome)
    assert.equal(1, failure.sends)
    peer:script "head body ok"
    assert.equal(200, assert(t:send(get())).status)
  end)

  it("refuses a bad request and goes on", function()
    local t = transport()
    local _, failure = t:send { method = "GET", target = "/", headers = { A = "b\r\nC: d" } }
    assert.equal("argument", failure.kind)
    assert.equal("not_sent", failure.outcome)
    assert.equal(200, assert(t:send(get())).status)
  end)

  it("refuses options like the blocking one", function()
    local t, message = multi.new { max_in_flight = 0 }
    assert.is_nil(t)
    assert.equal("max_in_flight is out of range", message)
    assert.matches("tiemout", select(2, multi.new { tiemout = 1 }))
  end)

  it("knows no host that is not there", function()
    local _, failure = transport({ base_url = "http://127.0.0.1:1" }):send(withdrawal())
    assert.equal("curl 7", failure.code)
    assert.equal("not_sent", failure.outcome)
  end)

  -- The same promise as in transport_spec.lua, through the other way of driving libcurl.
  local ends = {
    "arrive close", "arrive reset", "head close", "head reset", "head body close", "head body reset",
    "head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-" .. " close",
    "head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}" .. " close",
  }
  for _, scheme in ipairs { "http", "https" } do
    for _, steps in ipairs(ends) do
      it(("sends once on kept connections when a peer does `%s` (%s)"):format(steps:sub(1, 20), scheme), function()
        if scheme == "https" then peer:tls(made.path "good.crt", made.path "good.key") end
        peer:script("head body wait=5 ok;" .. steps)
        local t = transport { base_url = peer:url(scheme), ca_file = made.path "ca.crt", max_in_flight = 8 }
        local function eight(request)
          local ids = {}
          for i = 1, 8 do ids[i] = t:submit(request) end
          return ids
        end
        -- On a slow machine one connection may serve two of these, and the second of them meets the bad end already.
        for _, id in ipairs(eight(get())) do finish(t, id) end
        local mark, lost = peer:count(), 0
        for _, id in ipairs(eight(withdrawal())) do
          local response, failure = finish(t, id)
          assert.equal(1, (response or failure).sends)
          if failure then
            assert.equal("unknown", failure.outcome)
            lost = lost + 1
          end
        end
        assert.is_true(lost > 0)
        assert.equal(8, peer:count(mark).requests)
        peer:script "head body ok"
        -- A connection that was new to a withdrawal is still kept, and may meet its bad end now.
        local response
        for _ = 1, 9 do response = response or t:send(get()) end
        assert.equal(200, response.status)
      end)
    end
  end

  it("can be driven by a foreign loop that watches descriptors and a time", function()
    peer:script "head body wait=10 ok"
    local t = transport()
    local ids = {}
    for i = 1, 5 do ids[i] = t:submit(get("/" .. i)) end
    local turns = 0
    repeat
      local read, write = {}, {}
      for _, each in ipairs((t:fds())) do
        local object = { getfd = function() return each.fd end, dirty = function() return false end }
        if each.read then read[#read + 1] = object end
        if each.write then write[#write + 1] = object end
      end
      local timeout = t:timeout()
      socket.select(read, write, timeout and timeout / 1000)
      turns = turns + 1
    until t:step() == 0
    for i = 1, 5 do assert.equal(200, select(2, t:take(ids[i])).status) end
    assert.is_true(turns < 200, "the loop turned " .. turns .. " times: it polled")
  end)

  it("says when the set of descriptors changes", function()
    local t = transport()
    local set, version = t:fds()
    assert.same({}, set)
    local id = t:submit(get())
    t:step()
    local set_now, version_now = t:fds()
    assert.equal(1, #set_now)
    assert.not_equal(version, version_now)
    finish(t, id)
  end)

  it("can be closed twice, with requests under way", function()
    peer:script "head body stall"
    local t = transport { max_in_flight = 2 }
    for _ = 1, 5 do t:submit(get()) end
    t:step()
    t:close()
    t:close()
    assert.equal("purser.transport.multi (closed)", tostring(t))
    assert.equal(0, t:step())
    assert.equal("closed", select(2, t:send(get())).kind)
    assert.equal("closed", select(2, t:submit(get())).kind)
    assert.is_nil(t:cancel(1))
  end)

  -- Whoever waited outside of a task went round for ever.
  it("ends the wait of a caller outside of tasks when it is closed under it", function()
    peer:script "stall"
    local t = transport { base_url = peer:url() }
    local step = t.step
    function t:step()
      step(self)
      self:close()
      return 0
    end
    local response, failure = t:send(withdrawal())
    assert.is_nil(response)
    assert.is_true(failure.outcome == "unknown" or failure.outcome == "not_sent")
  end)

  it("is collected with requests under way", function()
    peer:script "head body stall"
    local mark = peer:settle()
    do
      local t = assert(multi.new { base_url = peer:url() })
      t:submit(get())
      for _ = 1, 100 do
        t:wait(5)
        if peer:count(mark).wholes == 1 then break end
      end
    end
    for _ = 1, 100 do
      collectgarbage()
      if peer:count(mark).ended == 1 then break end
      socket.sleep(0.01)
    end
    assert.equal(1, peer:count(mark).ended)
  end)

  it("ends a request whose answer found no memory: unknown", function()
    local t = transport()
    local answers = { 7 }
    t.multi:close()
    t.multi = { submit = function() return 7 end, step = function() return 0 end, close = function() end,
      next = function() return table.remove(answers) end } -- an id alone
    assert.equal(7, t:submit(withdrawal()))
    t:step()
    local done, response, failure = t:take(7)
    assert.same({ true, "unknown" }, { done, failure.outcome })
    assert.is_nil(response)
    assert.matches("not enough memory", failure.message)
  end)

  it("misused, raises", function()
    local raw = assert(core.http_multi {})
    assert.has_error(function() raw:submit "GET" end)
    assert.has_error(function() raw:cancel "1" end)
    assert.has_error(function() core.wait(-1) end)
    assert.has_error(function() core.wait(1, {}) end)
    raw:close()
    assert.has_error(function() raw:step() end)
  end)
end)

describe("tasks", function()
  it("wait for their answers together", function()
    peer:script "head body wait=50 ok"
    local t = transport()
    local took = elapsed_ms(function()
      local results = schedule.all {
        function() return t:send(get "/1") end,
        function() return t:send(get "/2") end,
        function() return t:send(get "/3") end,
      }
      assert.equal(3, #results)
      for _, response in ipairs(results) do assert.equal(200, response.status) end
    end)
    assert.is_true(took >= 49 and took < 140, "took " .. took .. " ms")
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
    local took = elapsed_ms(function()
      schedule.all { sleeper(30), sleeper(10), sleeper(20), sleeper(10), sleeper(0) }
    end)
    assert.same({ 0, 10, 10, 20, 30 }, woken)
    assert.is_true(took >= 30 and took < 90, "took " .. took .. " ms")
  end)

  it("sleep for as long outside of a task", function()
    assert.is_true(elapsed_ms(function() schedule.sleep(20) end) >= 20)
  end)

  it("go on while another waits", function()
    peer:script "head body wait=60 ok"
    local t, ticks, answered = transport(), 0, false
    schedule.all {
      function() t:send(get()) answered = true end,
      function()
        while not answered do
          schedule.sleep(5)
          ticks = ticks + 1
        end
      end,
    }
    assert.is_true(ticks >= 5, ticks .. " ticks")
  end)

  it("use several transports at once", function()
    peer:script "head body wait=40 ok"
    local a, b = transport(), transport()
    local took = elapsed_ms(function()
      local results = schedule.all { function() return a:send(get()) end, function() return b:send(get()) end }
      assert.equal(200, results[1].status)
      assert.equal(200, results[2].status)
    end)
    assert.is_true(took < 79, "took " .. took .. " ms")
  end)

  it("are stepped by a host that never waits", function()
    peer:script "head body wait=10 ok"
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
    schedule.spawn(function() error("unheard", 0) end)
    local ok, raised = pcall(schedule.step)
    assert.is_false(ok)
    assert.equal("unheard", raised)
    assert.equal(0, schedule.step())
  end)

  it("are told when they wait for what nobody will do", function()
    assert.error_matches(function() schedule.run(function() schedule.suspend() end) end, "nobody will do")
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

  it("are woken once, however often they are told", function()
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
    service:script "head body send=HTTP%2F1%2E1%20503%20x%0D%0AContent%2DLength%3A%200%0D%0A%0D%0A;head body ok"
    local shared = assert(multi.new { base_url = service:url() })
    local client = assert(purser.new {
      base_url = service:url(), api_key = "key", secret_key = "secret", transport = shared, limits = false,
      retry = { attempts = 2, base_ms = 200, max_ms = 200 },
    })
    local turns, answered = 0, false
    purser.run(function()
      local reader = purser.spawn(function()
        assert(client:ping())
        answered = true
      end)
      local other = purser.spawn(function()
        while not answered do
          turns = turns + 1
          purser.sleep(5)
        end
      end)
      purser.join(reader)
      purser.join(other)
    end)
    assert.is_true(answered)
    assert.is_true(turns > 5, turns .. " turns") -- the rest is 100 ms at least
    client:close()
    shared:close()
    service:stop()
  end)
end)

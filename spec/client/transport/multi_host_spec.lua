-- SPDX-License-Identifier: MIT
-- The multi transport under a host: coroutines of its own, what a call does where it cannot wait, the descriptors that
-- a loop watches, and how much one step takes in.
-- make test: 5 s, waits

local check = require "transport_check"
local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"
local multi = require "purser.client.transport.multi"
local peers = require "peer"
local purser = require "purser"
local schedule = require "purser.schedule"
local stages = require "stage"

local stage = stages.new(multi.new)
local peer

local get, withdrawal = stages.get, stages.withdrawal

setup(function() peer = stage.start() end)
teardown(stage.stop)
before_each(stage.reset)
after_each(stage.close)

-- A host with coroutines and a loop of its own: who waits is resumed when it is woken.
local function new_host()
  local host = { ready = {}, waits = 0 }
  function host.spawn(fn) host.ready[#host.ready + 1] = coroutine.create(fn) end
  function host.wait(call)
    host.waits = host.waits + 1
    call.coroutine = coroutine.running()
    coroutine.yield()
  end
  function host.wake(call) host.ready[#host.ready + 1] = call.coroutine end
  function host.run(transport)
    repeat
      local ready = host.ready
      host.ready = {}
      for _, co in ipairs(ready) do assert(coroutine.resume(co)) end
      local unfinished = transport:step()
      if #host.ready == 0 and unfinished > 0 then transport.multi:wait(math.min(transport:timeout() or 1000, 1000)) end
    until #host.ready == 0 and unfinished == 0
  end
  return host
end

local function hosted(host, options)
  options = options or {}
  options.wait, options.wake = options.wait or host.wait, options.wake or host.wake
  return stage.transport(options)
end

describe("coroutines of a host", function()
  it("wait by the host's own means, all at once", function()
    local host, done = new_host(), 0
    local t, mark = hosted(host), peer:count()
    peer:script "head body wait=50 ok"
    for _ = 1, 5 do
      host.spawn(function()
        assert.equal(200, assert(t:send(get())).status)
        done = done + 1
      end)
    end
    host.run(t)
    assert.equal(5, done)
    assert.equal(5, host.waits)
    assert.equal(5, peer:count(mark).connections) -- one after the other they would share one
  end)

  it("sleep by the host's own means", function()
    local host, order = new_host(), {}
    local t = hosted(host)
    for _, ms in ipairs { 60, 20, 1 } do
      host.spawn(function() t:sleep(ms) order[#order + 1] = ms end)
    end
    host.run(t)
    assert.same({ 1, 20, 60 }, order)
    assert.equal(0, t:step())
  end)

  it("wake in the order of their times, also where the machine stood still meanwhile", function()
    local monotonic_ms, now = core.monotonic_ms, 0
    finally(function() core.monotonic_ms = monotonic_ms end)
    core.monotonic_ms = function() return now end
    local host, order, wanted = new_host(), {}, {}
    local t = hosted(host)
    for i = 1, 40 do
      local ms = 1 + i * 7 % 20
      host.spawn(function() t:sleep(ms) order[#order + 1] = ms end)
      wanted[i] = ms
    end
    for _, co in ipairs(host.ready) do assert(coroutine.resume(co)) end
    host.ready = {}
    assert.equal(1, t:timeout())
    assert.equal(40, t:step())
    now = 1000
    host.run(t)
    table.sort(wanted)
    assert.same(wanted, order)
    assert.is_nil(t:timeout())
  end)

  it("may be woken without a reason", function()
    local host = new_host()
    local t = hosted(host, { wait = function(call)
      if call.seen then return host.wait(call) end
      call.seen = true
    end })
    local response
    host.spawn(function() response = t:send(get()) end)
    host.run(t)
    assert.equal(200, response.status)
  end)

  -- Resumes who was woken; where nobody was, whoever waits with a time.
  local function run_self_stepping(host, waiting)
    for _ = 1, 2000 do
      local ready = host.ready
      if #ready == 0 then
        for call in pairs(waiting) do
          if call.ms then ready[#ready + 1] = call.coroutine end
        end
      end
      if #ready == 0 then return end
      host.ready = {}
      for _, co in ipairs(ready) do
        if coroutine.status(co) == "suspended" then assert(coroutine.resume(co)) end
      end
      require("socket").sleep(0.001)
    end
    error "no end"
  end

  local function self_stepping()
    local host, waiting = new_host(), {}
    local t = hosted(host, { self_stepping = true, wait = function(call, ms, transport)
      call.ms, waiting[call] = transport and ms, true
      host.wait(call)
      waiting[call] = nil
    end })
    return host, waiting, t
  end

  it("step by themselves: one for all, and the next one when it is answered", function()
    local host, waiting, t = self_stepping()
    local done, steps = 0, t.step
    peer:script "head body wait=20 ok"
    for _ = 1, 5 do
      host.spawn(function()
        assert.equal(200, assert(t:send(get())).status)
        assert.equal(200, assert(t:send(get())).status)
        t:sleep(3)
        done = done + 1
      end)
    end
    run_self_stepping(host, waiting)
    assert.equal(5, done)
    assert.equal(steps, t.step)
    assert.is_nil(t.host.stepper)
    assert.is_nil(next(t.calls))
  end)

  it("are stepped by another one when the host ended the one that stepped", function()
    local host, waiting, t = self_stepping()
    local later = 0
    local clock = core.monotonic_ms
    finally(function() core.monotonic_ms = clock end)
    core.monotonic_ms = function() return clock() + later end
    local response
    host.spawn(function() t:send(get()) end)
    for _, co in ipairs(host.ready) do coroutine.resume(co) end
    host.ready = {} -- the first one is never resumed again
    for call in pairs(waiting) do waiting[call] = nil end
    host.spawn(function() response = t:send(get()) end)
    local co = host.ready[1]
    host.ready = {}
    coroutine.resume(co)
    host.ready = {}
    assert.is_nil(response)
    later = 100000
    for _ = 1, 2000 do
      if coroutine.status(co) == "dead" then break end
      coroutine.resume(co)
      require("socket").sleep(0.001)
    end
    assert.equal(200, response.status)
  end)

  it("get the answer that had come, or a failure, when the transport is closed", function()
    peer:script "head body stall"
    local host, failure = new_host(), nil
    local t = hosted(host)
    host.spawn(function() failure = select(2, t:send(withdrawal())) end)
    local mark = peer:count()
    for _, co in ipairs(host.ready) do coroutine.resume(co) end
    host.ready = {}
    while peer:count(mark).wholes == 0 do t:wait(20) end
    t:close()
    for _, co in ipairs(host.ready) do coroutine.resume(co) end
    assert.same({ "closed", "unknown" }, { failure.kind, failure.outcome })
  end)

  it("are all woken although one `wake` raises, which the step then raises", function()
    local host, done, raised = new_host(), 0, 0
    local t = hosted(host, { wake = function(call)
      host.wake(call)
      error("boom", 0)
    end })
    for _ = 1, 3 do host.spawn(function() if t:send(get()) then done = done + 1 end end) end
    for _ = 1, 2000 do
      local ready = host.ready
      host.ready = {}
      for _, co in ipairs(ready) do assert(coroutine.resume(co)) end
      if done == 3 then break end
      t.multi:wait(10)
      local ok, problem = pcall(t.step, t)
      if not ok then
        raised = raised + 1
        assert.equal("boom", problem)
      end
    end
    assert.equal(3, done)
    assert.is_true(raised >= 1)
  end)

  it("pass the check of a transport", function()
    local service = assert(check.start())
    local host, report, current = new_host(), nil, nil
    local function new(options)
      options.wait, options.wake = host.wait, host.wake
      current = assert(multi.new(options))
      return current
    end
    host.spawn(function() report = check.run(service, new) end)
    local nothing = { step = function() return 0 end }
    repeat host.run(current or nothing) until report
    service:stop()
    assert.equal(0, report.failed, tostring(report))
    assert.is_true(report.passed > 30)
  end)
end)

describe("a call outside of tasks", function()
  it("is rejected before anything is sent, where the host wants that", function()
    local t, mark = stage.transport { outside_tasks = "reject" }, peer:count()
    local _, failure = t:send(withdrawal())
    assert.same({ "argument", "not_sent", 0 }, { failure.kind, failure.outcome, failure.sends })
    assert.matches("outside of a task, where it would block; use purser.spawn", failure.message)
    assert.equal(200, schedule.run(function() return assert(t:send(withdrawal())).status end))
    assert.equal(1, peer:count(mark).requests)
  end)

  it("blocks on the main thread of a host, or is rejected", function()
    local host = new_host()
    assert.equal(200, assert(hosted(host):send(get())).status)
    assert.equal(0, host.waits)
    local _, failure = hosted(host, { outside_tasks = "reject" }):send(get())
    assert.matches("outside of a coroutine", failure.message)
  end)

  it("says which options there are", function()
    for _, wrong in ipairs { { outside_tasks = "wait" }, { wait = print }, { wake = print }, { wait = 1, wake = 1 },
      { self_stepping = true } } do
      local t, message = multi.new(wrong)
      assert.is_nil(t)
      assert.matches("transport option", message)
    end
    assert.matches('"outside_task" is not known; there are outside_tasks, self_stepping, wait, wake, base_url, ',
      select(2, multi.new { outside_task = "reject" }), 1, true)
    assert.matches('"outside_tasks" is .*; it must be', select(2, multi.new { outside_tasks = "wait" }))
  end)
end)

describe("a call that cannot wait", function()
  -- A callback of a function in C: no Lua suspends a coroutine there, but for pcall.
  local function in_callback(fn)
    local result
    ("x"):gsub("x", function() result = { fn() } end)
    return result
  end

  it("was not sent", function()
    local t, mark = stage.transport(), peer:count()
    local result = schedule.run(function() return in_callback(function() return t:send(withdrawal()) end) end)
    assert.is_nil(result[1])
    assert.same({ "argument", "not_sent", 0 }, { result[2].kind, result[2].outcome, result[2].sends })
    assert.matches("cannot wait here", result[2].message)
    assert.equal(0, peer:count(mark).requests)
    assert.equal(200, schedule.run(function() return assert(t:send(get())).status end)) -- the loop is as before
  end)

  it("was not sent under pcall either, on a Lua that does not wait there; elsewhere it is done", function()
    local t = stage.transport()
    local client = assert(purser.new { base_url = peer:url(), api_key = "k", secret_key = "s", transport = t })
    peer:script("head body " .. peers.send 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"id":"w1"}')
    local mark = peer:count()
    local called, value, err = schedule.run(function()
      return pcall(client.wallet.withdraw, client.wallet, { coin = "USDT", address = "T", amount = "1" })
    end)
    local sent = peer:count(mark).requests
    assert.is_true(called)
    if err then
      assert.equal("not_sent", err.outcome)
      assert.equal(0, sent)
    else
      assert.equal("w1", value.id)
      assert.equal(1, sent)
    end
    assert.equal(_VERSION == "Lua 5.1" and not rawget(_G, "jit"), err ~= nil)
  end)

  it("in an iterator or a metamethod raises before it is sent, at the worst", function()
    local t, mark = stage.transport(), peer:count()
    local ok, response = pcall(schedule.run, function()
      local object = setmetatable({}, { __index = function() return (t:send(withdrawal())) end })
      return object.anything
    end)
    assert.equal(ok and response and 1 or 0, peer:count(mark).requests)
    if ok then assert.equal(200, response.status) end
  end)
end)

describe("the descriptors that a loop watches", function()
  it("stay open until the step after the one that took them off the list", function()
    local self = io.open "/proc/self/stat"
    local pid = tonumber(self:read "*n")
    self:close()
    local function open(fd)
      local pipe = io.popen(("test -e /proc/%d/fd/%d && echo yes"):format(pid, fd))
      local text = pipe:read "*a"
      pipe:close()
      return text:find "yes" ~= nil
    end
    peer:script "head body ok close"
    local t = stage.transport()
    local id = assert(t:submit(get()))
    local watched, gone = {}, 0
    for _ = 1, 2000 do
      t.multi:wait(10)
      t:step()
      local now = {}
      for _, one in ipairs((t:fds())) do now[one.fd] = true end
      for fd in pairs(watched) do
        if not now[fd] then
          gone = gone + 1
          assert.is_true(open(fd), "a descriptor was closed before its host could know")
        end
      end
      watched = now
      if t:take(id) then break end
    end
    assert.is_true(gone > 0)
    t:step()
    for _ = 1, 3 do assert(t:send(get())) end
    peer:await_ends() -- the duplicates hold no connection open
  end)
end)

describe("a step", function()
  it("takes answers in until its time is over, one at least, and leaves the others for the next", function()
    local monotonic_us, now = core.monotonic_us, 0
    finally(function() core.monotonic_us = monotonic_us end)
    peer:script("head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" .. " fill=40000")
    local t, ids = stage.transport(), {}
    for i = 1, 6 do ids[i] = assert(t:submit(get())) end
    while t.multi:step() > 0 do t.multi:wait(100) end -- all have come, and none was taken in
    local function taken()
      local count = 0
      for i, id in ipairs(ids) do
        local call = t.calls[id]
        if call and call.done then count = count + 1 end
        assert(i)
      end
      return count
    end
    core.monotonic_us = function() -- a clock that goes on by 10 each time it is asked
      now = now + 10
      return now
    end
    t:step(20)
    assert.equal(2, taken())
    assert.equal(0, t:timeout()) -- there is more to do at once
    t:step(20)
    t:step(1)
    assert.equal(5, taken())
    t:step()
    assert.equal(6, taken())
  end)
end)

describe("a libcurl without HTTP/2", function()
  local real = libcurl.multi
  after_each(function() libcurl.multi = real end)

  it("is used for HTTP/1.1, unless HTTP/2 was asked for", function()
    libcurl.multi = function(options) -- as such a libcurl answers to CURL_HTTP_VERSION_2TLS
      if options.http_version ~= "1.1" then return nil, "Unsupported protocol" end
      return real(options)
    end
    assert.equal(200, assert(stage.transport():send(get())).status)
    local t, message = multi.new { http_version = "2" }
    assert.is_nil(t)
    assert.equal("Unsupported protocol", message)
    libcurl.multi = function() return nil, "no memory" end
    assert.same({ nil, "no memory" }, { multi.new {} })
  end)
end)

-- SPDX-License-Identifier: MIT
-- Many requests at once. tasks_spec.lua is about the tasks that wait for them.

local core = require "purser.core"
local eventually = require "eventually"
local libcurl = require "purser.client.util.libcurl"
local multi = require "purser.client.transport.multi"
local peers = require "peer"
local socket = require "socket"
local stages = require "stage"
local stage = stages.new(multi.new)

local transport = stage.transport
local peer, made

local function get(target) return { method = "GET", target = target or "/" } end

local function withdrawal() return { method = "POST", target = "/withdraw", body = "{}", at_most_once = true } end

-- Steps until the request has its answer.
local function finish(t, id)
  local response, failure
  eventually(function()
    local done
    done, response, failure = t:take(id)
    return done
  end, function(ms) t:wait(ms) end, "the request ends")
  return response, failure
end

-- Steps until the peer has `wholes` requests, of those since `mark`.
local function arrive(t, wholes, mark)
  eventually(function() return peer:count(mark).wholes >= wholes end, function(ms) t:wait(ms) end)
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

  it("leaves no socket open in a child, libcurl's own pairs included, during a request", function()
    local before, t = stages.inherited(), transport()
    peer:script "head body stall"
    t:submit(get())
    arrive(t, 1)
    assert.same(before, stages.inherited())
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
    local t = transport { timeout_ms = 60000 }
    for _ = 1, 8 do t:submit(get()) end
    local slowest = 0
    for _ = 1, 50 do
      slowest = math.max(slowest, elapsed_ms(function() assert.equal(8, t:step()) end))
      socket.sleep(0.002)
    end
    assert.is_true(slowest < 30000, "a step took " .. slowest .. " ms") -- the peer stays silent for twice as long
  end)

  it("returns from wait at its limit when nothing happens", function()
    peer:script "head body stall"
    local t, mark = transport(), peer:count()
    local id = t:submit(get())
    arrive(t, 1, mark)
    t:step()
    local took = elapsed_ms(function() t:wait(40) end)
    assert.is_true(took >= 30 and took < 15000, "took " .. took .. " ms") -- not until the request's time has run out
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
    arrive(t, 1, mark)
    local failure = t:cancel(id)
    assert.equal("unknown", failure.outcome)
    assert.equal(1, failure.sends)
    peer:script "head body ok"
    assert.equal(200, assert(t:send(get())).status)
  end)

  it("rejects a bad request and goes on", function()
    local t = transport()
    local _, failure = t:send { method = "GET", target = "/", headers = { A = "b\r\nC: d" } }
    assert.equal("argument", failure.kind)
    assert.equal("not_sent", failure.outcome)
    assert.equal(200, assert(t:send(get())).status)
  end)

  it("rejects options like the blocking one", function()
    local t, message = multi.new { max_in_flight = 0 }
    assert.is_nil(t)
    assert.equal("max_in_flight is out of range", message)
    assert.matches("tiemout", select(2, multi.new { tiemout = 1 }))
  end)

  it("needs a table of options, if any", function()
    for _, wrong in ipairs { 5, "url", true } do
      assert.same({ nil, ("the options are a %s; give a table"):format(type(wrong)) }, { multi.new(wrong) })
    end
    assert(multi.new()):close()
  end)

  it("knows no host that is not there", function()
    local _, failure = transport({ base_url = "http://127.0.0.1:1" }):send(withdrawal())
    assert.equal("curl 7", failure.code)
    assert.equal("not_sent", failure.outcome)
  end)

  -- The same promise as in curl_spec.lua, through the other way of driving libcurl.
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
    for _, way in ipairs { "send", "submit" } do
      assert.same({ kind = "closed", outcome = "not_sent", message = "the transport is closed", sends = 0 },
        select(2, t[way](t, get())))
    end
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
    local own = peers.start() -- connections of other specs may still end at the common one
    own:script "head body stall"
    do
      local t = assert(multi.new { base_url = own:url() })
      t:submit(get())
      eventually(function() return own:count().wholes == 1 end, function(ms) t:wait(ms) end)
    end
    eventually(function()
      collectgarbage()
      return own:count().ended == 1
    end)
    own:stop()
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

  it("hands an answer out in the next step where the transfer took the whole budget, and first of all there", function()
    local monotonic_us, now, order, answers = core.monotonic_us, 0, {}, { 7 }
    finally(function() core.monotonic_us = monotonic_us end)
    core.monotonic_us = function() return now end
    local t = transport()
    t.multi:close()
    t.multi = { submit = function() return 7 end, close = function() end,
      step = function(_, ends_us)
        order[#order + 1] = "step to " .. tostring(ends_us)
        now = now + 1000
        return 1
      end,
      next = function()
        local id = now > 0 and table.remove(answers)
        if id then order[#order + 1] = "answer" end
        return id
      end }
    t:submit(get())
    for i = 1, 2 do
      order[#order + 1] = i
      t:step(1000)
    end
    assert.same({ 1, "step to 1000", 2, "answer", "step to 2000" }, order)
    order, answers = {}, { 7, 7 }
    t:step()
    assert.same({ "answer", "answer", "step to nil" }, order)
  end)

  it("misused, raises", function()
    local raw = assert(libcurl.multi {})
    assert.has_error(function() raw:submit "GET" end)
    assert.has_error(function() raw:cancel "1" end)
    assert.has_error(function() raw:wait(-1) end)
    assert.has_error(function() raw:wait(1, {}) end)
    raw:close()
    assert.has_error(function() raw:step() end)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The transport on nginx's sockets, on an nginx that only notes: what becomes of a socket and of its light thread at
-- each end of an exchange. cosocket_spec.lua has a real nginx.

local cosocket = require "purser.hosts.nginx.cosocket"

local REQUEST = { method = "GET", base_url = "http://127.0.0.1:8080", target = "/api/v3/ping", headers = {}, body = "",
  operation = "ping", timeout_ms = 1000 }
local HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

describe("a socket of nginx", function()
  local said, posted, pools, before

  -- Puts an nginx in place whose sockets answer by `script`: texts that arrive; then `ends`, or silence without it.
  local function nginx(script, ends, has)
    has = has or {}
    local function note(word) return function() said[#said + 1] = word end end
    local socket = { settimeouts = function() end, close = note "closed", getreusedtimes = function() return 0 end }
    function socket.connect(_, _, _, options)
      pools[#pools + 1] = options.pool
      if has.connects_late then coroutine.yield() end
      return 1
    end
    function socket.send() return has.send_raises and error "broken" or 1 end
    function socket.receiveany()
      local text = table.remove(script, 1)
      if text then return text end
      if ends then return nil, ends end
      coroutine.yield()
    end
    function socket.setkeepalive(_, idle_ms, count)
      said[#said + 1] = ("kept %d %d"):format(idle_ms, count)
      return has.keeps
    end
    rawset(_G, "ngx", { get_phase = function() return "content" end, update_time = function() end,
      socket = { tcp = function() return socket end },
      timer = { at = function(_, fn)
        said[#said + 1] = "look"
        return table.remove(has.timers or {}, 1) and (fn() or true)
      end },
      thread = { wait = note "waited", kill = note "killed", spawn = function(fn, ...)
        local thread = coroutine.create(fn)
        assert(coroutine.resume(thread, ...))
        return thread
      end } })
  end

  before_each(function()
    said, posted, pools, before = {}, {}, {}, { rawget(_G, "ngx"), package.loaded["ngx.semaphore"] }
    package.loaded["ngx.semaphore"] = { new = function()
      return { wait = function() end, post = function(_, count) posted[#posted + 1] = count end }
    end }
  end)
  after_each(function()
    rawset(_G, "ngx", before[1])
    package.loaded["ngx.semaphore"] = before[2]
  end)

  it("is kept after a whole answer, for as long and as many as the options say; the thread is collected", function()
    nginx({ HEAD }, nil, { keeps = 1 })
    local response = assert(assert(cosocket.new { idle_ms = 7, max_idle = 3 }):send(REQUEST))
    assert.same({ 200, "{}" }, { response.status, response.body })
    assert.same({ "kept 7 3", "waited" }, said)
  end)

  it("that nginx did not keep is looked at by no later call", function()
    for keeps, looks in pairs { [true] = 1, [false] = 0 } do
      said = {}
      nginx({ HEAD, HEAD }, nil, { keeps = keeps or nil })
      local transport = assert(cosocket.new {})
      assert(transport:send(REQUEST))
      assert(transport:send(REQUEST))
      local found = 0
      for _, word in ipairs(said) do found = found + (word == "look" and 1 or 0) end
      assert.equal(looks, found)
    end
  end)

  it("that was kept is not used where nginx runs no second timer; calls that wait for its look are woken", function()
    nginx({ HEAD, HEAD }, nil, { keeps = 1, timers = { true } })
    local transport = assert(cosocket.new {})
    assert(transport:send(REQUEST))
    said, posted = {}, {}
    local response = assert(transport:send(REQUEST))
    assert.is_nil(response.connection) -- a connection of its own, as no look was made
    assert.same({ "look", "look", "closed", "waited" }, said)
    assert.same({ 0, 1, 1 }, posted) -- the look's; then the thread's behind the timers, and the call's end
  end)

  it("of a write call has a name of its own, and those of reads share one until the transport is closed", function()
    nginx({ HEAD, HEAD, HEAD, HEAD })
    local transport = assert(cosocket.new {})
    local write = setmetatable({ at_most_once = true }, { __index = REQUEST })
    for _, request in ipairs { REQUEST, write, REQUEST, write } do assert(transport:send(request)) end
    assert.equal(pools[1], pools[3])
    assert.is_true(pools[2] ~= pools[1] and pools[4] ~= pools[1] and pools[2] ~= pools[4])
  end)

  it("ends no answer where it closes or times out", function()
    nginx({ "HTTP/1.1 200 OK\r\n\r\n{", "}" }, "closed")
    local _, failure = assert(cosocket.new {}):send(REQUEST)
    assert.matches("no length", failure.message)
    assert.equal("unknown", failure.outcome)
    assert.same({ "closed", "waited" }, said)
    said = {}
    nginx({ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{" }, "timeout")
    _, failure = assert(cosocket.new {}):send(REQUEST)
    assert.same({ "timeout", "unknown", "receive" }, { failure.message, failure.outcome, failure.phase })
    assert.same({ "closed", "waited" }, said)
  end)

  it("is closed where the exchange raises, and the failure says so", function()
    nginx({}, nil, { send_raises = true })
    local _, failure = assert(cosocket.new {}):send(REQUEST)
    assert.matches("^the exchange raised an error: .*broken", failure.message)
    assert.equal("unknown", failure.outcome)
    assert.same({ "closed", "waited" }, said)
  end)

  -- Lua 5.1 yields through no pcall; nginx has LuaJIT, which does.
  if rawget(_G, "jit") or _VERSION ~= "Lua 5.1" then
    it("is closed where the time ran out, its thread ended; the failure has the status that had arrived", function()
      nginx { "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n{" }
      local _, failure = assert(cosocket.new {}):send(REQUEST)
      assert.same({ "the time ran out (1000 ms)", "unknown", 503 },
        { failure.message, failure.outcome, failure.status })
      assert.same({ "killed", "closed" }, said)
    end)

    it("is closed with its transport: a failure says whether the request had been sent", function()
      for phase, expected in pairs {
        connect = { "the transport was closed before the request was sent", "not_sent", "closed" },
        receive = { "the transport was closed: the request may have been executed", "unknown", "closed" } } do
        local transport
        nginx({}, nil, { connects_late = phase == "connect" })
        package.loaded["ngx.semaphore"] = { new = function()
          return { post = function() end, wait = function() transport:close() end }
        end }
        transport = assert(cosocket.new {})
        local _, failure = transport:send(REQUEST)
        assert.same(expected, { failure.message, failure.outcome, failure.kind })
      end
    end)
  end
end)

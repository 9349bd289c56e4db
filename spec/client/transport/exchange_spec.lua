-- SPDX-License-Identifier: MIT
-- One exchange over a socket of the host: LuaSocket's held against all promises of a transport, and what the outcome is
-- wherever a function of the host fails.
-- make test: 5 s, waits

local check = require "transport_check"
local core = require "purser.core"
local exchange = require "purser.client.transport.exchange"
local schedule = require "purser.schedule"
local socket = require "socket"

-- Returns what a host gives, on LuaSocket. `changes` takes the place of some of it, methods of the socket included;
-- `seen` counts what was called.
local function new_host(changes)
  changes = changes or {}
  local seen = { connect = 0, send = 0, receive = 0, close = 0 }
  local function counted(name, fn)
    return function(...)
      seen[name] = seen[name] + 1
      return (changes[name] or fn)(...)
    end
  end
  local function wrapped(tcp)
    return {
      tcp = tcp,
      send = counted("send", function(_, bytes) return tcp:send(bytes) end),
      receive = counted("receive", function(_, max) return tcp:receive(max) end),
      close = counted("close", function() tcp:close() end),
    }
  end
  return {
    connect = counted("connect", function(url, left_ms)
      local tcp = socket.tcp()
      tcp:settimeout(left_ms / 1000)
      local ok, message = tcp:connect(url.host, url.port)
      if changes.connected then changes.connected() end
      return ok and wrapped(tcp), message
    end),
    limit = function(one, left_ms) one.tcp:settimeout(left_ms / 1000, "t") end,
    secure = changes.secure, allow_insecure = changes.allow_insecure,
  }, seen
end

local service

setup(function() service = assert(check.start { tls = false }) end)
teardown(function() service:stop() end)

local function request(changes)
  local one = { method = "POST", base_url = service.url, target = "/plain/1", body = "x", timeout_ms = 5000,
    headers = {} }
  for name, value in pairs(changes or {}) do one[name] = value end
  return one
end

-- Returns what becomes of it: the outcome, the message, and what of the host was called. What was connected is closed
-- once.
local function fails(of_host, of_request)
  local host, seen = new_host(of_host)
  local response, failure = exchange.run(request(of_request), host)
  assert.is_nil(response)
  assert.equal(math.min(1, seen.send + seen.receive), math.min(seen.close, 1))
  assert.is_true(seen.close <= 1)
  assert.equal(failure.outcome == "unknown" and 1 or 0, failure.sends)
  return failure.outcome, failure.message, seen
end

-- Stops the clock until the test ends. Returns what moves it on by 60 ms.
local function stand_still()
  local real, now = core.monotonic_ms, core.monotonic_ms()
  core.monotonic_ms = function() return now end
  finally(function() core.monotonic_ms = real end)
  return function() now = now + 60 end
end

describe("an exchange over a host's socket", function()
  it("keeps all promises of a transport", function()
    local report = check.run(service, function()
      return { send = function(_, one) return exchange.run(one, (new_host())) end }
    end)
    assert.equal(0, report.failed, tostring(report))
  end)

  it("is not_sent when nothing was connected", function()
    for _, connect in ipairs {
      function() return nil, "no route" end, function() return false end, function() error("no such name", 0) end,
    } do
      local outcome, _, seen = fails { connect = connect }
      assert.equal("not_sent", outcome)
      assert.equal(0, seen.send)
    end
    assert.equal("no route", (select(2, fails { connect = function() return nil, "no route" end })))
  end)

  it("is unknown from the first byte on", function()
    for _, broken in ipairs {
      { send = function() return nil, "closed" end }, { send = function() error("boom", 0) end },
      { send = function() return 5 end }, { send = function() return false end },
      { receive = function() error("boom", 0) end }, { receive = function() return nil, "closed" end },
      { receive = function() return nil end }, { receive = function() return "" end },
      { receive = function() return nil, "closed", "HTTP/1.1 200 OK\r\nContent-Le" end },
      { receive = function() return "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n" end },
    } do
      assert.equal("unknown", (fails(broken)))
    end
  end)

  it("takes what came before the end of the connection, and a socket that cannot be closed", function()
    local host = new_host {
      receive = function() return nil, "closed", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" end,
      close = function() error "boom" end,
    }
    local response = assert(exchange.run(request(), host))
    assert.same({ 200, "{}", 1 }, { response.status, response.body, response.sends })
  end)

  it("ends when its time has run out, although the host's functions return in time", function()
    local sleep = stand_still()
    local outcome, message = fails({ receive = function()
      sleep()
      return nil, "timeout", "H"
    end }, { timeout_ms = 50 })
    assert.equal("unknown", outcome)
    assert.equal("the time ran out (50 ms)", message)
    local host, seen = new_host { connected = sleep }
    local _, failure = exchange.run(request { timeout_ms = 50 }, host)
    assert.same({ "not_sent", "the time ran out (50 ms)", 0, 1 },
      { failure.outcome, failure.message, seen.send, seen.close })
  end)

  it("takes no answer for whole whose connection ended because the time had run out", function()
    local ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{"
    local sleep, texts = stand_still(), { ANSWER }
    local function receive() return table.remove(texts) or nil, "closed" end
    local function receive_late()
      if not texts[1] then sleep() end
      return receive()
    end
    local response = assert(exchange.run(request(), (new_host { receive = receive })))
    assert.equal("{", response.body)
    texts[1] = ANSWER:sub(1, -2)
    local outcome, message = fails({ receive = receive_late }, { timeout_ms = 50 })
    assert.same({ "unknown", "the time ran out (50 ms)" }, { outcome, message })
  end)

  it("sends nothing over a socket without TLS to https://, nor plain text to another machine", function()
    for _, url in ipairs { "https://127.0.0.1:1", "https://example.test", "http://192.0.2.1", "http://example.test" } do
      local outcome, message, seen = fails(nil, { base_url = url })
      assert.equal("not_sent", outcome)
      assert.equal(0, seen.connect)
      assert.matches(url:find "^https" and "no TLS" or "plain HTTP", message)
    end
    local function connect() return nil, "asked" end
    for url, permit in pairs { ["https://example.test"] = "secure", ["http://192.0.2.1"] = "allow_insecure" } do
      assert.equal("asked", (select(2, fails({ connect = connect, [permit] = true }, { base_url = url }))))
    end
  end)

  it("has ten seconds where the request names no time", function()
    local given
    local host = new_host { connect = function(_, left_ms)
      given = left_ms
      return nil, "no"
    end }
    local one = request()
    one.timeout_ms = nil
    local _, failure = exchange.run(one, host)
    assert.same({ 10000, "not_sent" }, { given, failure.outcome })
  end)

  it("gives the host the address of this machine, and the service the name", function()
    local connected, sent
    local host = new_host { connect = function(url)
      connected = url.host
      return { send = function(_, bytes)
        sent = bytes
        return nil, "no"
      end, close = function() end }
    end }
    for base_url, place in pairs { ["http://LocalHost:81"] = "127.0.0.1", ["http://127.0.0.2:81"] = "127.0.0.2",
      ["http://[::1]:81"] = "::1" } do
      host.limit = nil
      exchange.run(request { base_url = base_url }, host)
      assert.equal(place, connected)
      assert.truthy(sent:find("\r\nHost: " .. base_url:sub(8) .. "\r\n", 1, true))
    end
  end)

  it("sends nothing that has no form", function()
    local outcome, message, seen = fails(nil, { target = "a b" })
    assert.equal("not_sent", outcome)
    assert.matches("target", message)
    assert.equal(0, seen.connect)
  end)

  it("may wait in a task, on each Lua", function()
    local order = {}
    schedule.all {
      function()
        local host = new_host { connected = function() schedule.sleep(1) end }
        assert(exchange.run(request(), host))
        order[#order + 1] = "answered"
      end,
      function() order[#order + 1] = "other" end,
    }
    assert.same({ "other", "answered" }, order)
  end)
end)

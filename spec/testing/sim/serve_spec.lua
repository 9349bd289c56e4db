-- SPDX-License-Identifier: MIT
-- make test: 11 s, waits
local serve = require "purser.testing.sim.serve"
local socket = require "socket"
local httpd = require "purser.httpd"

-- The loop runs in this process; the client side is driven from `stop`, which is asked once a turn.
local function run(handler, requests, options)
  options = options or {}
  local clients, answers, port = {}, {}, nil
  local deadline = httpd.now_ms() + 60000
  options.on_listen = function(number)
    port = number
    for i, target in ipairs(requests) do
      local client = assert(socket.connect("127.0.0.1", port))
      client:settimeout(0)
      client:send("GET " .. target .. " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      clients[i] = { socket = client, bytes = "" }
    end
  end
  options.stop = options.stop or function()
    local open = 0
    for i, client in ipairs(clients) do
      if not client.ended then
        local data, message, partial = client.socket:receive(65536)
        client.bytes = client.bytes .. (data or partial or "")
        if message and message ~= "timeout" then
          client.ended = true
          answers[#answers + 1] = requests[i]
        else
          open = open + 1
        end
      end
    end
    return open == 0 or httpd.now_ms() > deadline
  end
  local ok, served, message = pcall(serve.run, handler, options)
  for _, client in ipairs(clients) do client.socket:close() end
  if not ok then error(served, 0) end
  return { served = served, message = message, clients = clients, order = answers, port = port }
end

describe("sim.serve", function()
  it("asks the handler and sends what it returns", function()
    local seen
    local result = run(function(request)
      seen = request
      return { status = 404, headers = { ["X-Used"] = "1" }, body = "nothing here" }
    end, { "/a%2fb?c=d" })
    assert.equal(1, result.served)
    assert.equal("/a%2fb?c=d", seen.target)
    assert.matches("^HTTP/1.1 404 .*X%-Used: 1.*nothing here$", result.clients[1].bytes)
  end)

  it("answers in the order of the delays, not of the requests", function()
    local asked, now, answered = 0, 0, {}
    local function now_ms() -- stands still until all are asked, and then goes on at each look
      if asked == 4 then now = now + 40 end
      return now
    end
    local result = run(function(request)
      asked = asked + 1
      -- Whoever sends the answer asks for its fault first.
      return setmetatable({ status = 200, body = "ok", delay_ms = tonumber(request.target:match("%d+")) },
        { __index = function(_, name)
          if name == "fault" then answered[#answered + 1] = request.target end
        end })
    end, { "/2400", "/800", "/0", "/1600" }, { now_ms = now_ms })
    assert.same({ "/0", "/800", "/1600", "/2400" }, answered)
    assert.equal(4, #result.order)
    assert.is_true(now >= 2400)
  end)

  it("keeps the order of many equal and random delays", function()
    local requests, state = {}, 99
    for i = 1, 60 do
      state = (state * 16807) % 2147483647
      requests[i] = "/" .. i .. "?" .. state % 40
    end
    local due = {}
    local result = run(function(request)
      local delay = tonumber(request.target:match("%?(%d+)"))
      due[request.target] = httpd.now_ms() + delay
      return { status = 200, body = request.target, delay_ms = delay }
    end, requests)
    assert.equal(60, #result.order)
    for i, target in ipairs(requests) do
      assert.equal(target, result.clients[i].bytes:match("\r\n\r\n(.*)$"))
      assert.is_true(httpd.now_ms() >= due[target])
    end
  end)

  it("executes faults, at once or later", function()
    local result = run(function(request)
      local fault, delay = request.target:match("/(%a+)(%d*)")
      return { status = 200, body = "0123456789", fault = fault, delay_ms = tonumber(delay),
        drip_bytes = 5, drip_ms = 5 }
    end, { "/close", "/reset", "/truncate", "/drip", "/close30", "/truncate30" })
    local clients = result.clients
    assert.equal("", clients[1].bytes)
    assert.equal("", clients[2].bytes)
    assert.matches("\r\n\r\n01234$", clients[3].bytes)
    assert.matches("\r\n\r\n0123456789$", clients[4].bytes)
    assert.equal("", clients[5].bytes)
    assert.matches("\r\n\r\n01234$", clients[6].bytes)
    for _, client in ipairs(clients) do assert.is_true(client.ended) end
  end)

  it("ends when nothing is asked any more, but not before its answers are out", function()
    local result = run(function()
      return { status = 200, body = "late", delay_ms = 120 }
    end, { "/" }, { idle_timeout_ms = 40, stop = function() return false end })
    assert.equal(1, result.served)
    local started = httpd.now_ms()
    assert.equal(0, serve.run(error, { idle_timeout_ms = 50 }))
    assert.is_true(httpd.now_ms() - started >= 50)
  end)

  it("answers 500 when the handler raises an error, says so, and serves the next request", function()
    local problems = {}
    local result = run(function(request)
      if request.target == "/bad" then error("the ledger is broken", 0) end
      return { status = 200, body = "ok" }
    end, { "/bad", "/good" }, { on_error = function(problem, request)
      problems[#problems + 1] = request.target .. ": " .. problem
    end })
    assert.equal(2, result.served)
    assert.matches("^HTTP/1.1 500 ", result.clients[1].bytes)
    assert.is_nil(result.clients[1].bytes:find("ledger", 1, true))
    assert.matches("^HTTP/1.1 200 ", result.clients[2].bytes)
    assert.same({ "/bad: the ledger is broken" }, problems)
  end)

  it("closes connections on which nothing moves, so that others are served", function()
    local idle, late, asked = {}, nil, false
    local served = serve.run(function()
      asked = true
      return { status = 200, body = "ok" }
    end, { max_connections = 2, idle_timeout_ms = 120000, stop = function() return asked end, on_listen = function(port)
      for i = 1, 2 do
        idle[i] = assert(socket.connect("127.0.0.1", port))
        idle[i]:send "GET / HT"
      end
      late = assert(socket.connect("127.0.0.1", port))
      late:send "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    end })
    for _, connection in ipairs { idle[1], idle[2], late } do connection:close() end
    assert.equal(1, served)
  end)

  it("gives the port back when something raises an error", function()
    local port
    local ok = pcall(serve.run, function() end, { on_listen = function(number)
      port = number
      error("stop here", 0)
    end })
    assert.is_false(ok)
    local server = assert(httpd.listen { port = port })
    server:close()
  end)

  it("says why it cannot listen", function()
    local server = assert(httpd.listen {})
    local served, message = serve.run(error, { port = server:port() })
    server:close()
    assert.is_nil(served)
    assert.matches("in use", message)
    assert.is_nil((serve.run(error, { host = "0.0.0.0" })))
  end)
end)

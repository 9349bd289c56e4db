-- SPDX-License-Identifier: MIT
-- The hostile service as a program: what it counts, and that no client of it holds up another.

local socket = require "socket"
local start = require "transport_check.start"

local service, port

setup(function()
  service = assert(start.start { tls = false })
  port = tonumber(service.url:match "%d+$")
end)
teardown(function() service:stop() end)

local function connect()
  local connection = assert(socket.connect("127.0.0.1", port))
  connection:settimeout(20)
  finally(function() connection:close() end)
  return connection
end

-- The next answer of a connection: its status and body.
local function receive(connection)
  local status, length = assert(connection:receive "*l"), 0
  repeat
    local line = assert(connection:receive "*l")
    length = tonumber(line:match "^Content%-Length: (%d+)") or length
  until line == ""
  return tonumber(status:match "^HTTP/1.1 (%d+)"), length > 0 and assert(connection:receive(length)) or ""
end

-- Returns what the service counted of an id.
local function count(id)
  local connection = socket.connect("127.0.0.1", port)
  connection:send(("GET /count/%s HTTP/1.1\r\n\r\n"):format(id))
  local _, body = receive(connection)
  connection:close()
  local received, number, sent, ended, raw = body:match "^(%d+) (%d+) (%d+) (%l+) (%x*)$"
  return tonumber(received), tonumber(sent), ended, raw, tonumber(number)
end

describe("the hostile service", function()
  it("counts the requests of an id, and keeps the last one byte for byte", function()
    assert.same({ 0, 0, "open", "", 0 }, { count "none" })
    local connection, request = connect(), "POST /plain/a1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n\0\255\n"
    connection:send(request:sub(1, 20))
    connection:send(request:sub(21))
    assert.same({ 200, "{}" }, { receive(connection) })
    connection:send(request)
    receive(connection)
    local received, sent, ended, raw = count "a1"
    assert.same({ 2, 0, "open" }, { received, sent, ended })
    assert.equal(request, (raw:gsub("%x%x", function(hex) return string.char(tonumber(hex, 16)) end)))
  end)

  it("answers requests that come at once in their order, on one connection with one number", function()
    local connection = connect()
    connection:send("GET /rejection/b1 HTTP/1.1\r\n\r\nGET /plain/b2 HTTP/1.1\r\n\r\n")
    assert.same({ 400, '{"code":1}' }, { receive(connection) })
    assert.same({ 200, "{}" }, { receive(connection) })
    assert.equal((select(5, count "b1")), (select(5, count "b2")))
  end)

  it("ends a connection without an answer where that was asked for, and at what it does not know", function()
    for _, name in ipairs { "lost", "reset", "no_such_behaviour" } do
      local connection = connect()
      connection:send(("GET /%s/c1 HTTP/1.1\r\n\r\n"):format(name))
      local line, message = connection:receive "*l"
      assert.is_nil(line)
      assert.are_not.equal("timeout", message)
    end
    assert.equal(3, (count "c1"))
  end)

  it("serves others while one client never reads, and says how much that one was sent", function()
    local connection = connect()
    connection:send "GET /endless_body/d1 HTTP/1.1\r\n\r\n"
    local other = socket.connect("127.0.0.1", port)
    other:send "GET /plain/d2 HTTP/1.1\r\n\r\n"
    assert.same({ 200, "{}" }, { receive(other) })
    other:close()
    local received, sent, ended = count "d1"
    assert.same({ 1, "open" }, { received, ended })
    assert.is_true(sent < 64 * 1024 * 1024)
  end)

  it("ends at /stop/now", function()
    local own = assert(start.start { tls = false })
    local connection = assert(socket.connect("127.0.0.1", tonumber(own.url:match "%d+$")))
    connection:send "GET /stop/now HTTP/1.1\r\n\r\n"
    assert.equal(200, (receive(connection)))
    connection:close()
    assert.is_nil(own.pipe:read "*l") -- the program has ended
    own.url = nil
    own.pipe:close()
    own:stop()
  end)
end)

-- SPDX-License-Identifier: MIT
-- Redis's protocol: what is sent byte by byte, and each kind of reply of a real server.

local files = require "files"
local odd_redis = require "odd_redis"
local redis_server = require "redis_server"
local resp = require "purser.hosts.limits.resp"

describe("a command", function()
  it("is its words with their lengths in bytes, whatever they hold", function()
    assert.equal("*1\r\n$4\r\nPING\r\n", resp.command { "PING" })
    assert.equal("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$2\r\n12\r\n", resp.command { "SET", "", 12 })
    assert.equal("*1\r\n$10\r\na\r\n$5\r\nb\0\195\r\n", resp.command { "a\r\n$5\r\nb\0\195" })
  end)
end)

describe("a connection to Redis", function()
  local server

  setup(function() server = redis_server.start() end)
  teardown(function() server:stop() end)

  for name, options_of in pairs {
    port = function() return { port = server.port } end, socket = function() return { path = server.socket } end,
  } do
    it("gives each kind of reply, one for each command: by its " .. name, function()
      local connection = assert(resp.connect(options_of(), 2000))
      local text = "a\r\n:5\r\n\0\255"
      assert.equal("PONG", connection:ask "PING")
      assert.equal("OK", connection:ask("SET", "key " .. name, text))
      assert.equal(text, connection:ask("GET", "key " .. name))
      assert.equal("", connection:ask("ECHO", ""))
      assert.same({}, { connection:ask("GET", "no such key") })
      assert.equal(-2, connection:ask("TTL", "no such key"))
      assert.same({ "a", 7, {}, { "b" } }, connection:ask("EVAL", "return { 'a', 7, {}, { 'b' } }", 0))
      local reply, message, lost = connection:ask "NO-SUCH-COMMAND"
      assert.is_nil(reply)
      assert.matches("^ERR unknown command", message)
      assert.is_nil(lost)
      assert.equal("PONG", connection:ask "PING") -- a rejection is not the end
      connection:rest()
      assert.is_falsy(connection:is_used())
      connection:close()
    end)
  end

  it("is lost, and says so, where the server ends it or does not answer in time", function()
    local connection = assert(resp.connect({ port = server.port }, 50))
    local _, message, lost = connection:ask("BLPOP", "no such list", 10)
    assert.same({ "timeout", true }, { message, lost })
    connection:close()
    connection = assert(resp.connect({ port = server.port }, 2000))
    assert.equal("OK", connection:ask "QUIT")
    _, message, lost = connection:ask "PING"
    assert.same({ "closed", true }, { message, lost })
    connection:close()
  end)

  it("is lost where a list ends before its last member", function()
    finally(odd_redis.stop_all)
    local connection = assert(resp.connect({ port = odd_redis.start("PING", "*2\r\n:1\r\n").port }, 100))
    assert.same({ nil, "timeout", true }, { connection:ask "PING" })
    connection:close()
  end)

  it("cannot be made where nothing listens", function()
    local path = files.temporary ""
    for _, options in ipairs { { path = path }, { path = path .. ".none" }, { port = 1 } } do
      local connection, message = resp.connect(options, 1000)
      assert.is_nil(connection)
      assert.matches("no connection to " .. (options.path or "127.0.0.1:1") .. ": ", message, 1, true)
    end
    os.remove(path)
  end)
end)

describe("a socket of a path", function()
  it("is made by each form of LuaSocket's module: a function, or a table with one", function()
    local kept, asked = package.loaded["socket.unix"], {}
    finally(function() package.loaded["socket.unix"] = kept end)
    local function make()
      return { settimeout = function(_, seconds) asked[#asked + 1] = seconds end,
        connect = function(_, path) asked[#asked + 1] = path return true end, getfd = function() return -1 end }
    end
    for _, library in ipairs { make, { stream = make } } do
      package.loaded["socket.unix"] = library
      assert(resp.connect({ path = "/s" }, 1500))
    end
    assert.same({ 1.5, "/s", 1.5, "/s" }, asked)
  end)
end)

describe("a socket that cannot connect", function()
  it("is closed", function()
    local kept, closed = package.loaded.socket, 0
    finally(function() package.loaded.socket = kept end)
    package.loaded.socket = { tcp = function()
      return { settimeout = function() end, connect = function() return nil, "refused" end,
        close = function() closed = closed + 1 end }
    end }
    assert.same({ nil, "no connection to 127.0.0.1:6379: refused" }, { resp.connect({}, 1000) })
    assert.equal(1, closed)
  end)
end)

describe("a server that is no Redis", function()
  it("gives a reply or is lost; nothing is raised", function()
    finally(odd_redis.stop_all)
    for _, reply in ipairs(odd_redis.replies) do
      local connection = assert(resp.connect({ port = odd_redis.start("PING", reply).port }, 2000))
      local value, message, lost = connection:ask "PING"
      if type(value) ~= "table" and value ~= 5 then
        assert.is_nil(value, reply:sub(1, 20))
        local is_nil = reply == "$-1\r\n" or reply == ":nan\r\n"
        assert.equal(not is_nil, message ~= nil, reply:sub(1, 20))
        assert.equal(not is_nil and reply:sub(1, 1) ~= "-", lost == true, reply:sub(1, 20))
      end
      connection:close()
    end
  end)
end)

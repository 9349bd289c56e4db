-- SPDX-License-Identifier: MIT
local httpd = require "purser.httpd"
local socket = require "socket"

-- Server and client share one process: the client's sockets never block longer than a moment, and the server moves
-- whenever it is stepped.
describe("httpd", function()
  local server, clients

  local function listen(options)
    server = assert(httpd.listen(options or {}))
    return server
  end

  local function connect()
    local client = assert(socket.connect("127.0.0.1", server:port()))
    client:settimeout(0)
    clients[#clients + 1] = client
    return client
  end

  before_each(function() clients = {} end)

  after_each(function()
    for _, client in ipairs(clients) do client:close() end
    if server then server:close() end
    server = nil
  end)

  local function get(target, more)
    return "GET " .. target .. " HTTP/1.1\r\nHost: a\r\n" .. (more or "") .. "\r\n"
  end

  local function post(target, body)
    return ("POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"):format(target, #body, body)
  end

  -- Steps the server and reads until `enough(bytes)` or the end of the connection; returns the bytes and the end's
  -- name ("closed", a reset's text), or nil as its name while the connection is alive.
  local function read(client, enough, limit_ms)
    local bytes, deadline = "", httpd.now_ms() + (limit_ms or 30000)
    while httpd.now_ms() < deadline do
      local unexpected = server:next(0)
      assert(not unexpected, "a request nobody waited for")
      local data, message, partial = client:receive(65536)
      bytes = bytes .. (data or partial or "")
      if message and message ~= "timeout" then return bytes, message end
      if enough and enough(bytes) then return bytes end
      socket.select({ client }, nil, 0.002)
    end
    return bytes
  end

  local function whole(bytes)
    local head_end = select(2, bytes:find("\r\n\r\n", 1, true))
    if not head_end then return false end
    local length = bytes:lower():match("content%-length: (%d+)")
    return not length or #bytes >= head_end + tonumber(length)
  end

  local function exchange(client, text)
    assert(client:send(text))
    return assert(server:next(2000), "the request did not arrive")
  end

  local function split(bytes)
    local head, body = bytes:match("^(.-)\r\n\r\n(.*)$")
    return tonumber(head:match("^HTTP/1%.1 (%d+)")), body, head
  end

  it("hands a request over and sends the answer", function()
    listen()
    local client = connect()
    local request = exchange(client, post("/api/v3/x?a=1", '{"b":2}'))
    assert.equal("POST", request.method)
    assert.equal("/api/v3/x?a=1", request.target)
    assert.equal('{"b":2}', request.body)
    assert.equal("127.0.0.1", request.ip)
    assert.equal("a", request.headers.host)
    assert.equal(1, request.id)
    assert.is_true(server:respond(request.id, 201, { ["X-Test"] = "yes", ["Content-Type"] = "text/plain" }, "done\0!"))
    local status, body, head = split(read(client, whole))
    assert.equal(201, status)
    assert.equal("done\0!", body)
    assert.matches("X%-Test: yes", head)
    assert.matches("Content%-Type: text/plain", head)
  end)

  it("keeps a connection for the next request, pipelined ones too", function()
    listen()
    local client = connect()
    for i = 1, 5 do
      local request = exchange(client, get("/" .. i))
      server:respond(request.id, 200, nil, tostring(i))
      assert.equal(tostring(i), select(2, split(read(client, whole))))
    end
    client:send(get("/a") .. get("/b"))
    for _, name in ipairs { "/a", "/b" } do
      local request = assert(server:next(2000))
      assert.equal(name, request.target)
      server:respond(request.id, 200, nil, name)
    end
    assert.matches("/a.*/b$", (read(client, function(bytes) return bytes:find("/b", 1, true) end)))
  end)

  it("leaves every byte of the target as it was sent", function()
    listen()
    local client = connect()
    for _, target in ipairs { "/%2f", "//a//b/", "/?x=%zz&y=%", "/%e4%f6?k=%20+%2B", "/\228\246?\255=\128",
      "/a;b=c:@!$'()*,", "/?a&b=&=c&&", "/%00",
      "/?signature=" .. ("ab"):rep(2000), "/../x/./y", "/a%3Fb?c?d", "http://other/path?q" } do
      local request = exchange(client, get(target))
      assert.equal(target, request.target)
      server:respond(request.id, 200, nil, "ok")
      assert.equal(200, (split(read(client, whole))))
    end
  end)

  it("gives headers by lower-case name and joins repeated ones", function()
    listen()
    local client = connect()
    local request = exchange(client, get("/", "X-MEXC-APIKEY: Key\r\nAccept: a\r\nACCEPT: b\r\nEmpty:\r\n"))
    assert.equal("Key", request.headers["x-mexc-apikey"])
    assert.equal("a, b", request.headers.accept)
    assert.equal("", request.headers.empty)
    server:respond(request.id, 200)
  end)

  it("serves GET, POST, DELETE and PUT with and without a body, and HEAD", function()
    listen()
    local client = connect()
    for _, method in ipairs { "GET", "POST", "DELETE", "PUT" } do
      for _, sent in ipairs { "", "x=1", ("z"):rep(70000) } do
        client:settimeout(1) -- the kernel may not take the long body in one piece
        local request = exchange(client, (post("/m", sent):gsub("^POST", method)))
        client:settimeout(0)
        assert.equal(method, request.method)
        assert.is_true(request.body == sent)
        server:respond(request.id, 200, nil, method)
        assert.equal(method, select(2, split(read(client, whole))))
      end
    end
    local request = exchange(client, (get("/h"):gsub("^GET", "HEAD")))
    assert.equal("HEAD", request.method)
    server:respond(request.id, 200, nil, "12345")
    local bytes = read(client, function(bytes) return bytes:find("\r\n\r\n", 1, true) end)
    assert.matches("Content%-Length: 5\r\n", bytes)
    assert.equal("", select(2, split(bytes)))
  end)

  it("reads a chunked body", function()
    listen()
    local client = connect()
    local request = exchange(client, "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" ..
      "3\r\nabc\r\n5;x=y\r\n12345\r\n0\r\n\r\n")
    assert.equal("abc12345", request.body)
    server:respond(request.id, 200)
    assert.equal(200, (split(read(client, whole))))
  end)

  it("rejects a body over the ceiling, announced or not, and goes on", function()
    listen { max_body = 10 }
    local client = connect()
    server:respond(exchange(client, post("/matches", "0123456789")).id, 200)
    assert.equal(200, (split(read(client, whole))))
    client:send(post("/long", "0123456789a"))
    assert.equal(413, (split(read(client, whole))))

    client = connect()
    client:send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" ..
      "6\r\n123456\r\n5\r\n12345\r\n0\r\n\r\n")
    assert.equal(413, (split(read(client, whole))))

    client = connect()
    server:respond(exchange(client, get("/after")).id, 200)
    assert.equal(200, (split(read(client, whole))))
  end)

  it("survives bytes that are no HTTP", function()
    listen()
    for _, text in ipairs { "\r\n\r\n", "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "\0\1\2\255\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", get("/" .. ("x"):rep(100000)) } do
      local client = connect()
      client:settimeout(1)
      client:send(text)
      client:close()
      local request = server:next(20)
      if request then server:respond(request.id, 400) end
    end
    local client = connect()
    server:respond(exchange(client, get("/alive")).id, 200)
    assert.equal(200, (split(read(client, whole))))
  end)

  it("holds many requests and answers them in any order", function()
    listen()
    local held, by_target = {}, {}
    for i = 1, 200 do
      local client = connect()
      client:send(get("/" .. i))
      by_target["/" .. i] = client
    end
    for _ = 1, 200 do held[#held + 1] = assert(server:next(2000)) end
    assert.is_nil(server:next(0))
    for i = #held, 1, -1 do
      local request = held[i * 7 % 200 + 1] -- 7 and 200 share no factor: each once
      server:respond(request.id, 200, nil, request.target)
    end
    for target, client in pairs(by_target) do assert.equal(target, select(2, split(read(client, whole)))) end
  end)

  it("answers new requests while another is held", function()
    listen()
    local slow, quick = connect(), connect()
    local held = exchange(slow, get("/slow"))
    for _ = 1, 3 do
      server:respond(exchange(quick, get("/quick")).id, 200, nil, "q")
      assert.equal("q", select(2, split(read(quick, whole))))
    end
    server:respond(held.id, 200, nil, "s")
    assert.equal("s", select(2, split(read(slow, whole))))
  end)

  -- luasocket says "closed" for an orderly end and for a reset; only the reset leaves an error on the socket.
  local function was_reset(client)
    return client:getoption("error") ~= nil
  end

  describe("fault", function()
    it("close ends the connection without an answer", function()
      listen()
      local client = connect()
      assert.is_true(server:fail(exchange(client, post("/x", "body")).id, "close"))
      socket.sleep(0.01)
      assert.is_false(was_reset(client))
      local bytes, ending = read(client)
      assert.equal("", bytes)
      assert.equal("closed", ending)
    end)

    it("reset ends it by a TCP reset", function()
      listen()
      local client = connect()
      server:fail(exchange(client, post("/x", "body")).id, "reset")
      socket.sleep(0.01)
      assert.is_true(was_reset(client))
      assert.equal("closed", select(2, read(client)))
    end)

    it("truncate sends the head and half of the body", function()
      listen()
      for _, body in ipairs { "0123456789", "x", "", ("long"):rep(100000) } do
        local client = connect()
        server:fail(exchange(client, get("/x")).id, "truncate", 200, { ["X-Kept"] = "1" }, body)
        local bytes, ending = read(client)
        local status, got, head = split(bytes)
        assert.equal(200, status)
        assert.matches("X%-Kept: 1", head)
        assert.equal(math.max(#body, 1), tonumber(head:match("Content%-Length: (%d+)")))
        assert.is_true(got == body:sub(1, math.floor(#body / 2)))
        assert.equal("closed", ending)
      end
    end)

    it("drip sends the body piece by piece without holding up others", function()
      listen()
      local slow, quick = connect(), connect()
      server:fail(exchange(slow, get("/slow")).id, "drip", 200, nil, "0123456789", 2, 200)
      server:respond(exchange(quick, get("/quick")).id, 200, nil, "q")
      assert.equal("q", select(2, split(read(quick, whole))))
      local pieces, seen = 0, 0
      local bytes = read(slow, function(bytes)
        if #bytes > seen then pieces, seen = pieces + 1, #bytes end
        return whole(bytes)
      end)
      assert.equal("0123456789", select(2, split(bytes)))
      assert.is_true(pieces >= 4, "the body came in " .. pieces .. " pieces")
      server:respond(exchange(slow, get("/again")).id, 200, nil, "a") -- the connection is as good as new
      assert.equal("a", select(2, split(read(slow, whole))))
    end)

    it("drip sleeps between the pieces instead of spinning", function()
      listen()
      local client = connect()
      server:fail(exchange(client, get("/")).id, "drip", 200, nil, ("x"):rep(10), 1, 40)
      local cpu, wall = os.clock(), httpd.now_ms()
      assert.is_nil(server:next(300))
      assert.is_true(os.clock() - cpu < (httpd.now_ms() - wall) / 1000 / 3)
    end)
  end)

  it("is not troubled by a peer that is gone", function()
    listen()
    local faults = { "close", "reset", "truncate", "drip" }
    for i = 0, 8 do
      local client = connect()
      local request = exchange(client, get("/gone"))
      if i % 2 == 0 then client:setoption("linger", { on = true, timeout = 0 }) end
      client:close()
      socket.sleep(0.002)
      local fault = faults[i % 4 + 1]
      if i == 8 then
        server:respond(request.id, 200, nil, ("x"):rep(3000000))
      elseif i % 4 < 2 then
        server:fail(request.id, fault)
      else
        server:fail(request.id, fault, 200, nil, "some body", 1, 1)
      end
      server:next(5)
    end
    local half = connect() -- gone in the middle of its request
    half:send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nab")
    assert.is_nil(server:next(5))
    half:close()
    assert.is_nil(server:next(5))
    local client = connect()
    server:respond(exchange(client, get("/alive")).id, 200, nil, "yes")
    assert.equal("yes", select(2, split(read(client, whole))))
  end)

  it("raises for an id that is not open", function()
    listen()
    local client = connect()
    local request = exchange(client, get("/"))
    for _, id in ipairs { 0, -1, 2, 257, 9007199254740992 } do
      assert.error_matches(function() server:respond(id, 200) end, "no request of this id")
    end
    assert.has_error(function() server:respond("1", 200) end)
    assert.has_error(function() server:respond(1.5, 200) end)
    server:respond(request.id, 200)
    assert.error_matches(function() server:respond(request.id, 200) end, "no request of this id")
    assert.error_matches(function() server:fail(request.id, "close") end, "no request of this id")
    assert.equal(200, (split(read(client, whole))))
  end)

  it("raises for an answer that cannot be sent, and leaves the request open for a better one", function()
    listen()
    local client = connect()
    local id = exchange(client, get("/")).id
    for _, status in ipairs { 100, 99, 600, 200.5, "ok" } do
      assert.has_error(function() server:respond(id, status) end)
    end
    for _, headers in ipairs { { ["A\r\nB"] = "x" }, { A = "x\r\nB: y" }, { A = "x\0y" }, { A = 1 }, { "x" },
      { [""] = "x" } } do
      assert.has_error(function() server:respond(id, 200, headers, "") end)
    end
    assert.has_error(function() server:respond(id, 200, "X: y") end)
    assert.has_error(function() server:respond(id, 200, nil, {}) end)
    assert.has_error(function() server:fail(id, "explode") end)
    assert.has_error(function() server:fail(id, "truncate") end)
    assert.has_error(function() server:fail(id, "drip", 200, nil, "x", 0) end)
    server:respond(id, 204)
    assert.equal(204, (split(read(client, whole))))
  end)

  it("waits as long as it is asked to", function()
    listen()
    assert.is_nil(server:next(0))
    local started = httpd.now_ms()
    assert.is_nil(server:next(60))
    assert.is_true(httpd.now_ms() - started >= 60)
    assert.has_error(function() server:next(-1) end)
    assert.has_error(function() server:next "soon" end)
  end)

  it("listens on loopback alone", function()
    for _, host in ipairs { "0.0.0.0", "192.0.2.1", "::", "128.0.0.1" } do
      local none, message = httpd.listen { host = host }
      assert.is_nil(none)
      assert.matches("only a loopback address", message)
    end
    for _, host in ipairs { "", "example.org", "127.0.0.1:80", "127.0.0.1\n" } do
      local none, message = httpd.listen { host = host }
      assert.is_nil(none)
      assert.matches("numeric", message)
    end
  end)

  it("says why a port cannot be had", function()
    listen()
    local none, message = httpd.listen { port = server:port() }
    assert.is_nil(none)
    assert.matches(tostring(server:port()), message)
    assert.matches("in use", message)
    for _, options in ipairs { { port = -1 }, { port = 65536 }, { port = "80" }, { max_body = -1 },
      { max_connections = 0 }, { host = 127 } } do
      assert.has_error(function() httpd.listen(options) end)
    end
    assert.has_error(function() httpd.listen() end)
  end)

  it("keeps to its limit of connections", function()
    listen { max_connections = 2 }
    local first, second, third = connect(), connect(), connect()
    local a, b = exchange(first, get("/1")), exchange(second, get("/2"))
    third:send(get("/3"))
    assert.is_nil(server:next(30))
    server:respond(b.id, 200)
    assert.equal(200, (split(read(second, whole))))
    server:fail(a.id, "close")
    local request = assert(server:next(30000)) -- the place that became free is taken
    assert.equal("/3", request.target)
    server:respond(request.id, 200)
    assert.equal(200, (split(read(third, whole))))
  end)

  it("closes with requests in every state, once or twice", function()
    listen()
    local held, resting = exchange(connect(), get("/held")), exchange(connect(), get("/resting"))
    server:fail(resting.id, "drip", 200, nil, "0123456789", 1, 1000)
    local waiting = connect()
    waiting:send(get("/never taken"))
    connect():send("POST /half HTTP/1.1\r\n")
    socket.sleep(0.01)
    server:respond(exchange(connect(), get("/")).id, 200)
    server:close()
    server:close()
    assert.equal("purser.httpd (closed)", tostring(server))
    for _, name in ipairs { "next", "port" } do
      assert.error_matches(function() server[name](server, 0) end, "the server is closed")
    end
    assert.error_matches(function() server:respond(held.id, 200) end, "the server is closed")
    assert.error_matches(function() server:fail(held.id, "close") end, "the server is closed")
    assert.equal("closed", select(2, clients[1]:receive(1)))
  end)

  it("is closed by the collector", function()
    local port
    do
      local forgotten = assert(httpd.listen {})
      port = forgotten:port()
      assert.equal("purser.httpd (port " .. port .. ")", tostring(forgotten))
    end
    collectgarbage() collectgarbage()
    assert.is_nil((socket.connect("127.0.0.1", port)))
  end)
end)

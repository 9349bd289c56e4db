-- The blocking transport against a peer that misbehaves at every point: what reaches the wire, and what the caller
-- may rely on afterwards. Each row of docs/outcomes.md that loopback can provoke is provoked here.

local certificates = require "certificates"
local libcurl = require "purser.libcurl"
local curl = require "purser.transport.curl"
local new_stage = require("stage").new
local patiently = require "patiently"
local send = require("peer").send
local socket = require "socket"

local CUT_LINE = send "HTTP/1.1 200 OK\r\nContent-"
local BROKEN_LINE = send "HTTP/1.1 abc\r\n\r\n"
local CUT_BODY = send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"
local SECRET = "c0ffee5ecre7"

describe("the blocking transport", function()
  local stage = new_stage(curl.new, {
    good = { alt = "IP:127.0.0.1,DNS:localhost" },
    other = { alt = "DNS:other.example" },
    old = { alt = "IP:127.0.0.1", expired = true },
  })
  local transport = stage.transport
  local peer, made

  setup(function() peer, made = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

  -- Each kind of request that moves money or creates something.
  local kinds = {
    { name = "POST with a body", method = "POST", body = '{"amount":"1"}' },
    { name = "POST without a body", method = "POST", body = "" },
    { name = "PUT", method = "PUT", body = "{}" },
    { name = "DELETE with a body", method = "DELETE", body = '{"id":"1"}' },
    { name = "DELETE without a body", method = "DELETE", body = "" },
  }

  local function request_of(kind)
    return {
      method = kind.method,
      target = "/api/v3/capital/withdraw?amount=1&signature=" .. SECRET,
      headers = { ["X-MEXC-APIKEY"] = SECRET, ["Content-Type"] = "application/json" },
      body = kind.body,
      single_send = true,
    }
  end

  -- Where the peer gives up; `new` and `kept` are libcurl's result on a new and on a kept connection.
  local ends = {
    { name = "closes before reading", steps = "arrive close", new = { "curl 56", "curl 52" }, kept = "curl 42" },
    { name = "resets before reading", steps = "arrive reset", new = { "curl 56" }, kept = "curl 42" },
    { name = "closes after the headers", steps = "head close", new = { "curl 52", "curl 56" }, kept = "curl 42" },
    { name = "resets after the headers", steps = "head reset", new = { "curl 56" }, kept = "curl 42" },
    { name = "closes after the body", steps = "head body close", new = { "curl 52" }, kept = "curl 42" },
    { name = "resets after the body", steps = "head body reset", new = { "curl 56" }, kept = "curl 42" },
    { name = "closes in its headers", steps = "head body " .. CUT_LINE .. " close", new = { "curl 18" } },
    { name = "closes in its body", steps = "head body " .. CUT_BODY .. " close", new = { "curl 18" } },
    { name = "resets in its body", steps = "head body " .. CUT_BODY .. " wait=5 reset", new = { "curl 56" } },
    { name = "answers garbage", steps = "head body send=garbage close", new = { "curl 1", "curl 8" } },
    { name = "breaks HTTP", steps = "head body " .. BROKEN_LINE .. " close", new = { "curl 1", "curl 8" } },
    { name = "never answers", steps = "head body stall", new = { "curl 28" }, timeout_ms = 60 },
  }

  local function one_of(list, value)
    for _, each in ipairs(list) do if each == value then return true end end
    return false
  end

  local function assert_no_secret(failure)
    for _, value in pairs(failure) do
      assert.is_nil(tostring(value):find(SECRET, 1, true))
      assert.is_nil(tostring(value):find("signature", 1, true))
    end
  end

  for _, scheme in ipairs { "http", "https" } do
    for _, connection in ipairs { "new", "kept" } do
      for _, ending in ipairs(ends) do
        it(("sends once when a peer %s (%s, %s connection)"):format(ending.name, scheme, connection), function()
          if scheme == "https" then peer:tls(made.path "good.crt", made.path "good.key") end
          for _, kind in ipairs(kinds) do
            local t = transport { base_url = peer:url(scheme), ca_file = made.path "ca.crt" }
            peer:script(connection == "kept" and "head body ok;" .. ending.steps or ending.steps)
            if connection == "kept" then assert(t:send { method = "GET", target = "/warm" }) end

            local mark = peer:count()
            local request = request_of(kind)
            local response, failure = patiently(ending.timeout_ms or 10000, function(ms)
              request.timeout_ms = ms
              return t:send(request)
            end)

            assert.is_nil(response)
            assert.equal("unknown", failure.outcome)
            assert.equal("transport", failure.kind)
            local codes = connection == "kept" and ending.kept and { ending.kept } or ending.new
            assert.is_true(one_of(codes, failure.code), kind.name .. ": " .. tostring(failure.code))
            assert.equal(failure.code == "curl 42" and "send" or "receive", failure.phase)
            assert_no_secret(failure)

            peer:script "head body ok"
            local after = assert(t:send { method = "GET", target = "/after" })
            assert.equal(200, after.status)
            -- The request itself and the one after it.
            assert.equal(2, peer:count(mark).requests, kind.name)
            t:close()
          end
        end)
      end
    end
  end

  it("lets a read be repeated on a new connection when a kept one died", function()
    local t = transport()
    peer:script "head body ok;head body close"
    assert(t:send { method = "GET", target = "/warm" })
    local mark = peer:count()
    local response = assert(t:send { method = "GET", target = "/read" })
    assert.equal(200, response.status)
    assert.equal(2, response.sends)
    assert.equal(2, peer:count(mark).requests)
  end)

  it("keeps `unknown` when the attempt at a second connection fails as well", function()
    peer:tls(made.path "good.crt", made.path "good.key")
    local t = transport { base_url = peer:url "https", ca_file = made.path "ca.crt" }
    peer:script "head body ok;head body close"
    assert(t:send { method = "GET", target = "/warm" })
    peer:tls(made.path "other.crt", made.path "other.key")
    local mark = peer:count()
    local _, failure = t:send(request_of(kinds[1]))
    assert.equal("unknown", failure.outcome)
    assert.equal("curl 60", failure.code)
    assert.matches("dropped the kept connection", failure.message)
    assert.equal(1, peer:count(mark).requests)
  end)

  it("says `unknown` when a peer resets in the middle of a large body", function()
    peer:script "head wait=30 reset"
    local request = request_of { method = "POST", body = ("x"):rep(16 * 1024 * 1024) }
    local mark = peer:count()
    local _, failure = transport():send(request)
    assert.equal("unknown", failure.outcome)
    assert.is_true(one_of({ "curl 55", "curl 56" }, failure.code)) -- whether writing or reading notices first
    assert.equal("send", failure.phase)
    assert.equal(1, peer:count(mark).requests)
  end)

  it("says `unknown` when the time runs out in the middle of a large body", function()
    peer:script "head wait=300 reset"
    local request = request_of { method = "POST", body = ("x"):rep(16 * 1024 * 1024) }
    request.timeout_ms = 100
    local _, failure = transport():send(request)
    assert.equal("unknown", failure.outcome)
    assert.equal("curl 28", failure.code)
    assert.equal("send", failure.phase)
    assert.matches("while sending", failure.message)
  end)

  it("reuses its connection", function()
    local t = transport()
    local mark = peer:count()
    assert.is_false(assert(t:send { method = "GET", target = "/1" }).reused)
    assert.is_true(assert(t:send { method = "GET", target = "/2" }).reused)
    assert.is_true(assert(t:send(request_of(kinds[1]))).reused)
    assert.equal(1, peer:count(mark).connections)
  end)

  it("takes a new connection for a single-send request when the option fresh_connect says so", function()
    local t = transport { fresh_connect = true }
    local mark = peer:count()
    assert(t:send { method = "GET", target = "/1" })
    assert.is_false(assert(t:send(request_of(kinds[1]))).reused)
    assert.is_true(assert(t:send { method = "GET", target = "/2" }).reused)
    assert.equal(2, peer:count(mark).connections)
  end)

  it("takes a new connection for a single-send request when the kept one rested longer than allowed", function()
    local t = transport { single_send_idle_s = 0 }
    assert(t:send { method = "GET", target = "/1" })
    socket.sleep(1.05)
    assert.is_false(assert(t:send(request_of(kinds[1]))).reused)
  end)

  describe("what goes out", function()
    local function sent(request)
      assert(transport():send(request))
      return peer:last()
    end

    it("is the request as given, and nothing libcurl would add to a body", function()
      local text = sent {
        method = "POST", target = "/api/v3/x?a=%28b%29", headers = { ["X-Key"] = "k" }, body = '{"a":1}',
      }
      assert.equal("POST /api/v3/x?a=%28b%29 HTTP/1.1\r\nHost: 127.0.0.1:" .. peer.port .. "\r\nUser-Agent: purser\r\n"
        .. 'Accept: */*\r\nX-Key: k\r\nContent-Length: 7\r\n\r\n{"a":1}', text)
    end)

    it("says Content-Length: 0 for a POST without a body, and nothing for a DELETE", function()
      assert.matches("\r\nContent%-Length: 0\r\n", sent { method = "POST", target = "/" })
      assert.is_nil(sent({ method = "DELETE", target = "/" }):find("Content-Length", 1, true))
      local text = sent { method = "DELETE", target = "/", body = "{}" }
      assert.matches("^DELETE / .*\r\nContent%-Length: 2\r\n\r\n{}$", text)
    end)

    it("goes back to a plain GET after a DELETE with a body", function()
      local t = transport()
      assert(t:send { method = "DELETE", target = "/a", body = "{}" })
      assert(t:send { method = "GET", target = "/b" })
      assert.matches("^GET /b HTTP/1.1\r\n", peer:last())
      assert.is_nil(peer:last():find("Content-Length", 1, true))
      assert(t:send { method = "POST", target = "/c", body = "x" })
      assert.matches("^POST /c .*\r\n\r\nx$", peer:last())
    end)

    it("never waits for 100-continue, however large the body", function()
      local body = ("x"):rep(40000)
      local text = sent { method = "POST", target = "/", body = body }
      assert.is_nil(text:find("Expect", 1, true))
      assert.equal(body, text:sub(-#body))
    end)

    it("holds the base URL's own path", function()
      assert(transport { base_url = peer:url() .. "/gateway/" }:send { method = "GET", target = "/api?x=1" })
      assert.matches("^GET /gateway/api%?x=1 HTTP", peer:last())
    end)

    it("goes to the request's base_url when it names one", function()
      local t = transport { base_url = "http://127.0.0.1:1" }
      assert(t:send { method = "GET", target = "/other", base_url = peer:url() })
      assert.matches("^GET /other HTTP", peer:last())
    end)

    it("notices a change of the headers table between requests", function()
      local t, headers = transport(), { A = "1" }
      assert(t:send { method = "GET", target = "/", headers = headers })
      assert.matches("\r\nA: 1\r\n", peer:last())
      headers.A = "2"
      assert(t:send { method = "GET", target = "/", headers = headers })
      assert.matches("\r\nA: 2\r\n", peer:last())
      assert(t:send { method = "GET", target = "/" })
      assert.is_nil(peer:last():find("\r\nA:", 1, true))
    end)

    it("names the agent once: the request's own, else the option's", function()
      local t = transport { user_agent = "option" }
      for _, own in ipairs { "mine", false, "yours" } do
        assert(t:send { method = "GET", target = "/", headers = own and { ["user-agent"] = own } or {} })
        local agents = {}
        for agent in peer:last():gmatch "\r\n[Uu]ser%-[Aa]gent: ([^\r]*)" do agents[#agents + 1] = agent end
        assert.same({ own or "option" }, agents)
      end
    end)

    it("keeps a header without a value", function()
      assert.matches("\r\nEmpty:\r\n", sent { method = "GET", target = "/", headers = { Empty = "" } })
    end)

    it("is a whole URL for a proxy that does not tunnel", function()
      local t = transport { base_url = "http://service.example", proxy = peer:url() }
      assert(t:send { method = "GET", target = "/api?x=1" })
      assert.matches("^GET http://service%.example/api%?x=1 HTTP", peer:last())
    end)
  end)

  describe("refuses before anything is sent", function()
    local cases = {
      { "a line break in a header", { headers = { Key = "a\r\nX-Evil: b" } } },
      { "a NUL byte in a header", { headers = { Key = "a\0b" } } },
      { "a colon in a header's name", { headers = { ["A: b\r\nC"] = "d" } } },
      { "a blank in a header's name", { headers = { ["A b"] = "c" } } },
      { "a header that frames the body", { headers = { ["content-LENGTH"] = "3" } } },
      { "another method", { method = "PATCH" } },
      { "a method with a line break", { method = "GET\r\n" } },
      { "a target without a slash", { target = "api" } },
      { "an empty target", { target = "" } },
      { "a target with a blank", { target = "/a b" } },
      { "a target with a line break", { target = "/a\r\nX: y" } },
      { "a target with a NUL byte", { target = "/a\0b" } },
      { "a target with a fragment", { target = "/a#b" } },
      { "a base URL that holds a password", { base_url = "http://user:pass@127.0.0.1" } },
      { "another scheme", { base_url = "file:///etc/passwd" } },
    }
    for _, case in ipairs(cases) do
      it(case[1], function()
        local request = { method = "GET", target = "/" }
        for name, value in pairs(case[2]) do request[name] = value end
        local mark = peer:count()
        local t = transport()
        local response, failure = t:send(request)
        assert.is_nil(response)
        assert.equal("argument", failure.kind)
        assert.equal("not_sent", failure.outcome)
        assert.equal(0, peer:count(mark).connections)
        assert.equal(200, assert(t:send { method = "GET", target = "/" }).status)
      end)
    end

    it("a request to nowhere", function()
      local t = assert(curl.new {})
      local _, failure = t:send { method = "GET", target = "/" }
      assert.equal("argument", failure.kind)
      assert.matches("base_url", failure.message)
    end)

    it("misuse, by raising", function()
      local t = transport()
      assert.has_error(function() t:send("GET") end)
      assert.has_error(function() t:send { method = "GET", target = "/", timeout_ms = "1" } end)
      assert.has_error(function() t:send { method = "GET", target = "/", timeout_ms = 0 } end)
      assert.has_error(function() t:send { method = "GET", target = "/", body = 1 } end)
      assert.has_error(function() t:send { method = "GET", target = "/", headers = "A: b" } end)
      assert.has_error(function() t:send { method = "GET", target = "/", headers = { A = 1 } } end)
      assert.equal(200, assert(t:send { method = "GET", target = "/" }).status)
    end)
  end)

  describe("an answer", function()
    local function answer(text, options, steps)
      peer:script("head body " .. send(text) .. (steps or ""))
      return transport(options):send { method = "GET", target = "/" }
    end

    it("comes with its facts", function()
      local response = assert(transport():send { method = "GET", target = "/" })
      assert.equal("{}", response.body)
      assert.equal("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n", response.headers)
      assert.equal("1.1", response.http_version)
      assert.equal("127.0.0.1", response.address)
      assert.equal(1, response.sends)
      assert.is_true(response.total_us >= response.first_byte_us)
      assert.is_true(response.first_byte_us >= response.connect_us and response.connect_us > 0)
      assert.equal(0, response.tls_us)
    end)

    it("comes without them when it is wanted brief; a failure has all of its own", function()
      local t = transport()
      local response = assert(t:send { method = "GET", target = "/", brief = true })
      assert.same({
        status = 200, body = "{}",
        headers = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n",
      }, response)
      assert.equal("127.0.0.1", assert(t:send { method = "GET", target = "/" }).address)
      peer:script "head close"
      local _, failure = transport():send { method = "POST", target = "/", brief = true, single_send = true }
      assert.same({ "unknown", 1, "receive" }, { failure.outcome, failure.sends, failure.phase })
    end)

    it("may be chunked; trailers are left out", function()
      local response = assert(answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n"
        .. "1\r\n{\r\n1\r\n}\r\n0\r\nTrailer: t\r\n\r\n"))
      assert.equal("{}", response.body)
      assert.equal("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n", response.headers)
    end)

    it("keeps only its final header block", function()
      local response = assert(answer("HTTP/1.1 100 Continue\r\nB: c\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
        .. "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\n1"))
      assert.equal(201, response.status)
      assert.equal("HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\n", response.headers)
    end)

    it("is not followed elsewhere", function()
      local mark = peer:count()
      local response = assert(answer("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"))
      assert.equal(302, response.status)
      assert.equal(1, peer:count(mark).requests)
    end)

    it("may hold any bytes", function()
      local response = assert(answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\0\255\r\n"))
      assert.equal("\0\255\r\n", response.body)
    end)

    it("may come a byte at a time", function()
      peer:script("head body " .. send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "drip"))
      assert.equal("{}", assert(transport():send { method = "GET", target = "/" }).body)
    end)

    it("is not waited for longer than timeout_ms, slow as it comes", function()
      peer:script("head body " .. send(("HTTP/1.1 200 OK\r\nA: %s\r\n\r\n"):format(("a"):rep(500)), "drip"))
      local _, failure = transport():send { method = "GET", target = "/", timeout_ms = 100 }
      assert.equal("curl 28", failure.code)
      assert.equal("receive", failure.phase)
      assert.matches("`timeout_ms` allows more", failure.message)
    end)

    it("longer than its Content-Length is cut there, and the connection is not kept", function()
      local t = transport()
      peer:script("head body " .. send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n"))
      assert.equal("{}", assert(t:send { method = "GET", target = "/" }).body)
      peer:script "head body ok"
      assert.is_false(assert(t:send { method = "GET", target = "/" }).reused)
    end)

    local function assert_over_ceiling(_, failure)
      assert.equal("decode", failure.kind)
      assert.equal("unknown", failure.outcome)
      assert.equal("receive", failure.phase)
      assert.matches("max_response_bytes", failure.message)
    end

    it("with compression that cannot be undone is refused", function()
      local text = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx"
      assert.equal("xxxx", assert(answer(text)).body) -- not asked for: left as it is
      local _, failure = answer(text, { compressed = true })
      assert.equal("curl 61", failure.code)
      assert.equal("unknown", failure.outcome)
    end)

    it("over the ceiling is refused when it is announced", function()
      local ceiling = { max_response_bytes = 1000 }
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", ceiling, " fill=1001"))
      local response = assert(answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", ceiling, " fill=1000"))
      assert.equal(("x"):rep(1000), response.body)
    end)

    it("over the ceiling is refused when it is not announced", function()
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\n\r\n", { max_response_bytes = 1000 }, " fill=50000000 close"))
    end)

    it("of 50 MB meets the ceiling of 16 MiB that holds by itself", function()
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\n\r\n", {}, " fill=50000000 close"))
    end)

    it("with headers without end is refused", function()
      peer:script("head body " .. send "HTTP/1.1 200 OK\r\n" .. (" send=A:%20 fill=80000 send=%0D%0A"):rep(6))
      assert_over_ceiling(transport():send { method = "GET", target = "/" })
    end)

    it("with a header line without end is refused", function()
      peer:script("head body " .. send "HTTP/1.1 200 OK\r\nA: " .. " fill=10000000 close")
      assert_over_ceiling(transport():send { method = "GET", target = "/" })
    end)

    it("after a failure leaves nothing of itself to the next", function()
      local t = transport { max_response_bytes = 1000 }
      peer:script("head body " .. send "HTTP/1.1 418 Short\r\nOld: 1\r\n\r\n" .. " fill=5000 close")
      assert_over_ceiling(t:send { method = "GET", target = "/" })
      peer:script("head body " .. send "HTTP/1.1 204 None\r\n\r\n")
      local response = assert(t:send { method = "GET", target = "/" })
      assert.equal(204, response.status)
      assert.equal("", response.body)
      assert.equal("HTTP/1.1 204 None\r\n\r\n", response.headers)
    end)
  end)

  describe("proves `not_sent`", function()
    local function assert_not_sent(phase, code, _, failure)
      assert.equal("not_sent", failure.outcome)
      assert.equal(code, failure.code)
      assert.equal(phase, failure.phase)
      assert.equal(0, failure.sends)
      assert_no_secret(failure)
      return failure.message
    end

    it("when the host has no address", function()
      local t = transport { base_url = "http://" .. ("a"):rep(64) .. ".invalid" } -- a label no resolver asks for
      assert.matches("base_url", assert_not_sent("resolve", "curl 6", t:send(request_of(kinds[1]))))
    end)

    it("when the proxy has no address", function()
      local t = transport { proxy = "http://" .. ("a"):rep(64) .. ".invalid" }
      assert.matches("`proxy`", assert_not_sent("resolve", "curl 5", t:send(request_of(kinds[1]))))
    end)

    it("when the proxy cannot be understood, without its password", function()
      local t = transport { proxy = "ht!tp://user:hunter2@proxy.invalid:8080" }
      local response, failure = t:send(request_of(kinds[1]))
      assert_not_sent("resolve", "curl 5", response, failure)
      assert.is_nil(failure.message:find("hunter2", 1, true))
    end)

    it("when nobody listens", function()
      local t = transport { base_url = "http://127.0.0.1:1" }
      assert.matches("firewall", assert_not_sent("connect", "curl 7", t:send(request_of(kinds[1]))))
    end)

    it("when the proxy refuses the tunnel", function()
      peer:script("head " .. send "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n" .. " close")
      local t = transport { base_url = "https://service.example", proxy = peer:url() }
      assert_not_sent("connect", "curl 56", t:send(request_of(kinds[1])))
      assert.matches("^$", peer:last():match("signature") or "")
    end)

    it("when a SOCKS proxy refuses", function()
      peer:script("arrive send=%05%FF close")
      local t = transport { base_url = "http://127.0.0.1:1", proxy = "socks5://127.0.0.1:" .. peer.port }
      assert.matches("`proxy`", assert_not_sent("connect", "curl 97", t:send(request_of(kinds[1]))))
    end)

    it("when the option interface names an address that is not this machine's", function()
      local t = transport { interface = "host!192.0.2.1" }
      assert.matches("`interface`", assert_not_sent("connect", "curl 45", t:send(request_of(kinds[1]))))
    end)

    it("when TLS is never agreed on", function()
      peer:script "stall"
      local t = transport { base_url = peer:url "https", connect_timeout_ms = 80 }
      local _, failure = t:send(request_of(kinds[1]))
      assert.equal("not_sent", failure.outcome)
      assert.equal("curl 28", failure.code)
      assert.matches("connect_timeout_ms", failure.message)
    end)

    local function tls(certificate, options, version)
      peer:tls(made.path(certificate .. ".crt"), made.path(certificate .. ".key"), version)
      options.base_url = peer:url("https", options.host)
      options.host = nil
      return transport(options):send(request_of(kinds[1]))
    end

    it("when the certificate is another host's", function()
      local message = assert_not_sent("tls", "curl 60", tls("other", { ca_file = made.path "ca.crt" }))
      assert.matches("another host name; check `base_url`", message)
    end)

    it("when the authority is unknown to the system", function()
      local message = assert_not_sent("tls", "curl 60", tls("good", {}))
      assert.matches("package ca%-certificates", message)
      assert.matches("`ca_file`, `ca_path` or `ca_pem`", message)
    end)

    it("when the certificate has expired", function()
      local message = assert_not_sent("tls", "curl 60", tls("old", { ca_file = made.path "ca.crt" }))
      assert.matches("clock", message)
    end)

    it("when the peer knows only TLS 1.1", function()
      local message = assert_not_sent("tls", "curl 35", tls("good", { ca_file = made.path "ca.crt" }, "1.1"))
      assert.matches("TLS 1.2 or newer", message)
    end)

    it("when the peer shows another key than the pinned one", function()
      local pin = certificates.pin(made, "other")
      local message = assert_not_sent("tls", "curl 90", tls("good", { ca_file = made.path "ca.crt", pinned_key = pin }))
      assert.matches("`pinned_key`", message)
    end)

    it("when the authorities cannot be read", function()
      local message = assert_not_sent("tls", "curl 77", tls("good", { ca_file = made.path "none" }))
      assert.matches("`ca_file`", message)
      assert_not_sent("tls", "curl 77", tls("good", { ca_pem = "-----BEGIN nothing" }))
    end)

    it("and trusts what it is told to trust", function()
      local pin = certificates.pin(made, "good")
      assert.equal(200, assert(tls("good", { ca_file = made.path "ca.crt" })).status)
      assert.equal(200, assert(tls("good", { ca_path = made.path "authorities" })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt" })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt", pinned_key = pin })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt", host = "localhost" })).status)
      assert.equal(0, select(2, tls("other", { ca_path = made.path "authorities" })).sends)
    end)
  end)

  describe("as an object", function()
    it("refuses options it does not know and values it cannot use", function()
      local cases = {
        { { tiemout_ms = 1 }, "tiemout_ms is not an option" },
        { { timeout_ms = 0 }, "timeout_ms is out of range" },
        { { timeout_ms = 1.5 }, "timeout_ms must be an integer" },
        { { base_url = "ftp://x" }, "base_url must begin with https" },
        { { base_url = "https://" }, "base_url names no host" },
        { { base_url = "https://a b" }, "base_url holds a blank" },
        { { base_url = "https://u:" .. SECRET .. "@host" }, "base_url must not hold a user name" },
        { { base_url = "https://host?x=1" }, "base_url must not hold a query" },
        { { pinned_key = "/etc/key.pem" }, "pinned_key must be sha256//" },
        { { ca_pem = "x" }, "ca_pem must begin with" },
        { { user_agent = "a\r\nb" }, "user_agent holds a control character" },
        { { http_version = "3" }, "http_version must be" },
        { { compressed = 1 }, "compressed must be a boolean" },
        { { ca_file = 1 }, "ca_file must be a string" },
        { { max_response_bytes = -1 }, "max_response_bytes is out of range" },
      }
      for _, case in ipairs(cases) do
        local t, message = curl.new(case[1])
        assert.is_nil(t)
        assert.equal(case[2], message:sub(1, #case[2]))
        assert.is_nil(message:find(SECRET, 1, true))
      end
    end)

    it("can be closed twice, says so, and sends no more", function()
      local t = transport()
      assert.equal("purser.transport.curl (" .. peer:url() .. ")", tostring(t))
      t:close()
      t:close()
      assert.equal("purser.transport.curl (closed)", tostring(t))
      local mark = peer:count()
      local _, failure = t:send(request_of(kinds[1]))
      assert.equal("closed", failure.kind)
      assert.equal("not_sent", failure.outcome)
      assert.equal(0, peer:count(mark).connections)
    end)

    it("ends its connections when it is closed or collected", function()
      local function ended_after(action)
        local http = assert(libcurl.easy { base_url = peer:url() })
        local mark = peer:settle()
        assert(http:send { method = "GET", target = "/" })
        assert.equal(0, peer:count(mark).ended)
        http = action(http)
        for _ = 1, 100 do
          collectgarbage()
          if peer:count(mark).ended == 1 then return true end
          socket.sleep(0.01)
        end
        return http
      end
      assert.is_true(ended_after(function(http) http:close() end))
      assert.is_true(ended_after(function() end))
    end)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Requests of the blocking transport on the wire, and which requests it rejects instead.

local curl = require "purser.client.transport.curl"
local new_stage = require("stage").new

describe("the blocking transport", function()
  local stage = new_stage(curl.new)
  local transport = stage.transport
  local peer

  setup(function() peer = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

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
      local t = transport { base_url = "http://service.example", proxy = peer:url(), allow_insecure = true }
      assert(t:send { method = "GET", target = "/api?x=1" })
      assert.matches("^GET http://service%.example/api%?x=1 HTTP", peer:last())
    end)
  end)

  describe("rejects before anything is sent", function()
    local cases = {
      { "a line break in a header", { headers = { Key = "a\r\nX-Evil: b" } } },
      { "a NUL byte in a header", { headers = { Key = "a\0b" } } },
      { "a NUL byte that would begin another header", { headers = { Key = "a\0Evil: 2" } } },
      { "a NUL byte in a header's name", { headers = { ["Key: a\0Evil"] = "2" } } },
      { "a colon in a header's name", { headers = { ["A: b\r\nC"] = "d" } } },
      { "a colon in a header's name, which would give another name", { headers = { ["A: b"] = "c" } } },
      { "a blank in a header's name", { headers = { ["A b"] = "c" } } },
      { "a header twice, in different letters", { headers = { ["X-Key"] = "a", ["x-KEY"] = "b" } } },
      { "a Host of its own", { headers = { Host = "service.example" } } },
      { "two Hosts", { headers = { Host = "a.example", host = "b.example" } } },
      { "a header that is of one connection", { headers = { Connection = "X-Key" } } },
      { "a change of protocol", { headers = { upgrade = "h2c" } } },
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
    -- The last ones are names or addresses that only look like this machine's.
    for _, host in ipairs { "service.example", "192.0.2.1", "[2001:db8::1]", "127.0.0.256", "127.1",
      "127.0.0.1.example", "localhost.example", "0x7f.0.0.1", "[::ffff:127.0.0.1]" } do
      cases[#cases + 1] = { "plain HTTP to " .. host, { base_url = "http://" .. host .. ":1" } }
    end
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

    it("plain HTTP through a proxy, which could read the request", function()
      local mark = peer:count()
      local _, failure = transport { proxy = peer:url() }:send { method = "GET", target = "/" }
      assert.same({ "argument", "not_sent" }, { failure.kind, failure.outcome })
      assert.matches("allow_insecure", failure.message)
      assert.equal(0, peer:count(mark).connections)
    end)

    it("but not plain HTTP to this machine by its name", function()
      local url = peer:url():gsub("127%.0%.0%.1", "LocalHost")
      assert.equal(200, assert(transport { base_url = url }:send { method = "GET", target = "/" }).status)
    end)

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
end)

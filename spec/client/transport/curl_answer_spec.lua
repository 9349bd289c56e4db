-- SPDX-License-Identifier: MIT
-- The blocking transport and its answers: whole, slow, too long, broken.

local curl = require "purser.client.transport.curl"
local stages = require "stage"
local send = require("peer").send

-- Returns the sockets to a port of this machine, as /proc names them.
local function sockets_to(port)
  local inodes, tail = {}, ("0100007F:%04X"):format(port)
  for line in io.lines "/proc/net/tcp" do
    local remote, inode = line:match "^ *%d+: %S+ (%S+) %S+ %S+ %S+ %S+ +%d+ +%d+ (%d+)"
    if remote == tail and inode ~= "0" then inodes[#inodes + 1] = "socket:[" .. inode .. "]" end
  end
  return inodes
end

describe("the blocking transport", function()
  local stage = stages.new(curl.new)
  local transport = stage.transport
  local peer

  setup(function() peer = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

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
      assert.is_true(response.connect_us >= response.lookup_us and response.lookup_us > 0)
      assert.equal(0, response.tls_us)
    end)

    it("comes over sockets that no child inherits, libcurl's own among them", function()
      local before, kept = stages.inherited(), transport()
      assert(kept:send { method = "GET", target = "/" })
      assert.is_true(#sockets_to(tonumber(peer:url():match ":(%d+)")) > 0)
      assert.same(before, stages.inherited())
    end)

    it("comes without them when it is requested brief; a failure has all of its own", function()
      local t = transport()
      local response = assert(t:send { method = "GET", target = "/", brief = true })
      assert.same({
        status = 200, body = "{}",
        headers = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n", connection = 1,
      }, response)
      assert.equal("127.0.0.1", assert(t:send { method = "GET", target = "/" }).address)
      peer:script "head close"
      local _, failure = transport():send { method = "POST", target = "/", brief = true, at_most_once = true }
      assert.same({ "unknown", 1, "receive" }, { failure.outcome, failure.sends, failure.phase })
    end)

    it("may be chunked; trailers are left out", function()
      local response = assert(answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n"
        .. "1\r\n{\r\n1\r\n}\r\n0\r\nTrailer: t\r\n\r\n"))
      assert.equal("{}", response.body)
      assert.equal("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n", response.headers)
    end)

    it("has a length or chunks: the end of the connection does not show that the answer is whole", function()
      for _, head in ipairs { "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n",
        "HTTP/1.1 400 Bad\r\nConnection: close\r\n" } do
        for _, body in ipairs { "", "{", "{}" } do
          local response, failure = answer(head .. "\r\n" .. body, nil, " close")
          assert.is_nil(response)
          assert.same({ "transport", "unknown", "receive" }, { failure.kind, failure.outcome, failure.phase })
          assert.matches("no length, and the end of a connection is no certain end", failure.message)
        end
      end
      local empty = assert(answer("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", nil, " close"))
      assert.same({ 204, "" }, { empty.status, empty.body })
    end)

    -- Where such an answer ends is not certain: its rest might be taken for the answer to another request.
    local LENGTHS = { ["two that differ"] = { "2", "1" }, ["the larger one last"] = { "1", "2" },
      ["a list"] = { "2, 2" }, ["a sign"] = { "+2" }, ["letters"] = { "2x" }, ["nineteen digits"] = { ("2"):rep(19) } }
    for name, lengths in pairs(LENGTHS) do
      it("is not believed when its Content-Length is " .. name, function()
        peer:script("head body " .. send("HTTP/1.1 200 OK\r\nContent-Length: "
          .. table.concat(lengths, "\r\ncontent-length:  ") .. "\r\n\r\n{}"))
        local t = transport()
        local response, failure = t:send { method = "POST", target = "/", at_most_once = true }
        assert.is_nil(response)
        assert.same({ "transport", "unknown", "receive", 1 },
          { failure.kind, failure.outcome, failure.phase, failure.sends })
        assert.matches("length", failure.message)
        peer:script "head body ok"
        assert.is_false(assert(t:send { method = "GET", target = "/" }).reused)
      end)
    end

    it("may say its Content-Length twice", function()
      local response = assert(answer "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length:2 \r\n\r\n{}")
      assert.equal("{}", response.body)
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
      peer:script("head body " .. send(("HTTP/1.1 200 OK\r\nA: %s\r\n\r\n"):format(("a"):rep(2000)), "drip"))
      local _, failure = transport():send { method = "GET", target = "/", timeout_ms = 1000 }
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

    it("with compression that cannot be undone is rejected", function()
      local text = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx"
      assert.equal("xxxx", assert(answer(text)).body) -- not asked for: left as it is
      local _, failure = answer(text, { compressed = true })
      assert.equal("curl 61", failure.code)
      assert.equal("unknown", failure.outcome)
    end)

    -- The extension of a chunk is no body and no header: libcurl passes over it, and counts none of it.
    it("is bounded in what frames it, too", function()
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;",
        { max_response_bytes = 1000, timeout_ms = 60000 }, " fill=16000000 stall"))
    end)

    it("over the ceiling is rejected when it is announced", function()
      local ceiling = { max_response_bytes = 1000 }
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", ceiling, " fill=1001"))
      local response = assert(answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", ceiling, " fill=1000"))
      assert.equal(("x"):rep(1000), response.body)
    end)

    it("over the ceiling is rejected when it is not announced", function()
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\n\r\n", { max_response_bytes = 1000 }, " fill=50000000 close"))
    end)

    it("of 50 MB meets the ceiling of 16 MiB that holds by itself", function()
      assert_over_ceiling(answer("HTTP/1.1 200 OK\r\n\r\n", {}, " fill=50000000 close"))
    end)

    it("with headers without end is rejected", function()
      peer:script("head body " .. send "HTTP/1.1 200 OK\r\n" .. (" send=A:%20 fill=80000 send=%0D%0A"):rep(6))
      assert_over_ceiling(transport():send { method = "GET", target = "/" })
    end)

    it("with a header line without end is rejected", function()
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
end)

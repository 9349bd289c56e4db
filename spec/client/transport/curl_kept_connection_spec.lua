-- SPDX-License-Identifier: MIT
-- Which answers are believed to be those of a request on a kept connection of HTTP/1.1, where nothing but their order
-- says so; and that connections are kept all the same.

local curl = require "purser.client.transport.curl"
local multi = require "purser.client.transport.multi"
local peers = require "peer"
local purser = require "purser"
local stages = require "stage"

local function answer(body, status)
  return ("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s"):format(status or "200 OK", #body, body)
end

local GHOST = peers.send(answer '{"id":"ghost1"}')

local get, withdrawal = stages.get, stages.withdrawal

local ways = {
  { name = "plain HTTP" },
  { name = "TLS 1.2", tls = "1.2" },
  { name = "TLS 1.3", tls = "1.3" },
  { name = "HTTP/2 requested and 1.1 spoken", tls = "1.3", options = { http_version = "2" } },
}
for kind, make in pairs { blocking = curl.new, multi = multi.new } do
  describe("the " .. kind .. " transport", function()
    local stage = stages.new(make)
    local peer, made

    setup(function() peer, made = stage.start() end)
    teardown(stage.stop)
    before_each(stage.reset)
    after_each(stage.close)

    local function transport(way)
      local options = { http_version = "1.1", at_most_once_idle_s = 600, timeout_ms = 20000,
        connect_timeout_ms = 20000 }
      for name, value in pairs(way.options or {}) do options[name] = value end
      if way.tls then
        peer:tls(made.path "good.crt", made.path "good.key", way.tls)
        options.base_url, options.ca_file = peer:url "https", made.path "ca.crt"
      end
      return stage.transport(options)
    end

    for _, way in ipairs(ways) do
      describe("over " .. way.name, function()
        it("does not take an answer that came twice for that of the next request", function()
          for _, request in ipairs { get, withdrawal } do
            local t = transport(way)
            local mark = peer:count()
            peer:script("head body ok wait=20 " .. GHOST .. " mark")
            assert.equal("{}", assert(t:send(request())).body)
            peer:await_marks(1, mark)
            local second = assert(t:send(request()))
            assert.same({ "{}", false, 1 }, { second.body, second.reused, second.sends })
            local count = peer:count(mark)
            assert.same({ 2, 2 }, { count.connections, count.wholes }) -- each request arrived once
            peer:await_marks(2, mark)
          end
        end)

        it("does not take one that came with the body of the answer before", function()
          local t = transport(way)
          local mark = peer:count()
          peer:script("head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" .. " wait=20 "
            .. peers.send("{}" .. answer '{"id":"ghost1"}') .. " mark")
          assert.equal("{}", assert(t:send(withdrawal())).body)
          peer:await_marks(1, mark)
          assert.equal("{}", assert(t:send(withdrawal())).body)
          assert.equal(2, peer:count(mark).connections)
          peer:await_marks(2, mark)
        end)

        it("keeps its connection where all is well", function()
          local t = transport(way)
          local mark = peer:count()
          for i = 1, 10 do assert.equal(i > 1, assert(t:send((i % 2 == 0 and get or withdrawal)())).reused) end
          assert.equal(1, peer:count(mark).connections)
        end)

        it("leaves a connection whose answer was not believed", function()
          local t = transport(way)
          local mark = peer:count()
          t:discard(assert(t:send(get())))
          assert.is_false(assert(t:send(withdrawal())).reused)
          assert.is_true(assert(t:send(get())).reused)
          assert.equal(2, peer:count(mark).connections)
        end)
      end)
    end

    it("sends on a new connection what would have met the end of a kept one", function()
      local t = transport {}
      local mark = peer:count()
      peer:script "head body ok mark close"
      assert(t:send(withdrawal()))
      peer:await_marks(1, mark)
      peer:await_ends()
      assert.equal(1, assert(t:send(withdrawal())).sends)
    end)

    it("does not believe an answer that came before the request was sent whole", function()
      local t = transport {}
      peer:script "arrive ok stall"
      local request = withdrawal()
      request.body = ("x"):rep(48 * 1024 * 1024)
      local response, failure = t:send(request)
      assert.is_nil(response)
      assert.same({ "transport", "unknown", "send", 1 },
        { failure.kind, failure.outcome, failure.phase, failure.sends })
      assert.matches("before the request was sent whole", failure.message)
    end)

    it("counts what frames an answer against its ceiling", function()
      local t = transport { options = { max_response_bytes = 1000000 } }
      peer:script("head body " .. peers.send "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;"
        .. " fill=200000000 mark stall")
      local mark = peer:count()
      local _, failure = t:send(get())
      assert.same({ "decode", "unknown" }, { failure.kind, failure.outcome })
      assert.matches("max_response_bytes", failure.message)
      assert.equal(0, peer:count(mark).marks)
    end)

    it("reads an answer in chunks of one byte", function()
      local t = transport { options = { max_response_bytes = 1000000 } }
      local body = ("1\r\n \r\n"):rep(500)
      peer:script("head body "
        .. peers.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" .. body .. "0\r\n\r\n"))
      assert.equal((" "):rep(500), assert(t:send(get())).body)
    end)

    describe("under a client", function()
      local function client_of(t)
        return assert(purser.new {
          base_url = peer:url(), api_key = "k", secret_key = "s", transport = t, retry = false, correct_clock = false,
            rate_limit = false, -- which would wait after a 403
        })
      end

      local function pay(client)
        return client.wallet:withdraw { coin = "USDT", address = "T", amount = "1" }
      end

      it("is left after answers that may be those of others", function()
        for _, text in ipairs { answer "nonsense", answer("", "503 x"), answer("<html>", "403 x"), answer "{}" } do
          local t = transport {}
          peer:script("head body " .. peers.send(text))
          local mark, client = peer:count(), client_of(t)
          for _ = 1, 3 do assert.equal("unknown", select(2, pay(client)).outcome) end
          assert.equal(3, peer:count(mark).connections)
        end
      end)

      it("is left after the answer of an earlier call", function()
        local t = transport {}
        peer:script("head body " .. peers.send(answer '{"id":"w1"}'))
        local mark, client = peer:count(), client_of(t)
        assert(pay(client))
        assert.equal("unknown", select(2, pay(client)).outcome)
        assert.equal("unknown", select(2, pay(client)).outcome)
        assert.equal(2, peer:count(mark).connections)
      end)

      it("is kept after the service's own rejections", function()
        local t = transport {}
        peer:script("head body " .. peers.send(answer('{"code":10101,"msg":"Insufficient balance"}', "400 x")))
        local mark, client = peer:count(), client_of(t)
        for _ = 1, 3 do assert.equal("rejected", select(2, pay(client)).outcome) end
        assert.equal(1, peer:count(mark).connections)
      end)
    end)
  end)
end

-- SPDX-License-Identifier: MIT
-- The blocking transport against a peer that misbehaves at every point: whatever it does, a request that moves money
-- reaches the wire once, and the caller knows what that means. Together with curl_not_sent_spec.lua (names,
-- connections, TLS), curl_request_spec.lua (what goes out), curl_answer_spec.lua (what comes) and
-- curl_object_spec.lua each row of docs/write/outcomes.md that loopback can provoke is provoked.
-- make test: 4 s, waits

local curl = require "purser.client.transport.curl"
local money_request = require "money_request"
local new_stage = require("stage").new
local patiently = require "patiently"
local send = require("peer").send
local socket = require "socket"

local CUT_LINE = send "HTTP/1.1 200 OK\r\nContent-"
local BROKEN_LINE = send "HTTP/1.1 abc\r\n\r\n"
local CUT_BODY = send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"

describe("the blocking transport", function()
  local stage = new_stage(curl.new, {
    good = { alt = "IP:127.0.0.1,DNS:localhost" },
    other = { alt = "DNS:other.example" },
  })
  local transport = stage.transport
  local peer, made

  setup(function() peer, made = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

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

  for _, scheme in ipairs { "http", "https" } do
    for _, connection in ipairs { "new", "kept" } do
      for _, ending in ipairs(ends) do
        it(("sends once when a peer %s (%s, %s connection)"):format(ending.name, scheme, connection), function()
          if scheme == "https" then peer:tls(made.path "good.crt", made.path "good.key") end
          for _, kind in ipairs(money_request.kinds) do
            local t = transport { base_url = peer:url(scheme), ca_file = made.path "ca.crt" }
            peer:script(connection == "kept" and "head body ok;" .. ending.steps or ending.steps)
            if connection == "kept" then assert(t:send { method = "GET", target = "/warm" }) end

            local mark = peer:count()
            local request = money_request.new(kind)
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
            assert.is_false(money_request.leaks(failure))

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
    local _, failure = t:send(money_request.new())
    assert.equal("unknown", failure.outcome)
    assert.equal("curl 60", failure.code)
    assert.matches("dropped the kept connection", failure.message)
    assert.equal(1, peer:count(mark).requests)
  end)

  it("says `unknown` when a peer resets in the middle of a large body", function()
    peer:script "head wait=30 reset"
    local request = money_request.new { method = "POST", body = ("x"):rep(16 * 1024 * 1024) }
    local mark = peer:count()
    local _, failure = transport():send(request)
    assert.equal("unknown", failure.outcome)
    assert.is_true(one_of({ "curl 55", "curl 56" }, failure.code)) -- whether writing or reading notices first
    assert.equal("send", failure.phase)
    assert.equal(1, peer:count(mark).requests)
  end)

  it("says `unknown` when the time runs out in the middle of a large body", function()
    peer:script "head wait=20000 reset"
    local request = money_request.new { method = "POST", body = ("x"):rep(16 * 1024 * 1024) }
    local _, failure = patiently(200, function(ms)
      request.timeout_ms = ms
      return transport():send(request)
    end)
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
    assert.is_true(assert(t:send(money_request.new())).reused)
    assert.equal(1, peer:count(mark).connections)
  end)

  it("takes a new connection for a single-send request when the option fresh_connect says so", function()
    local t = transport { fresh_connect = true }
    local mark = peer:count()
    assert(t:send { method = "GET", target = "/1" })
    assert.is_false(assert(t:send(money_request.new())).reused)
    assert.is_true(assert(t:send { method = "GET", target = "/2" }).reused)
    assert.equal(2, peer:count(mark).connections)
  end)

  it("takes a new connection for a single-send request when the kept one rested longer than allowed", function()
    local t = transport { at_most_once_idle_s = 0 }
    assert(t:send { method = "GET", target = "/1" })
    socket.sleep(1.05)
    assert.is_false(assert(t:send(money_request.new())).reused)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The methods of a client beside its operations: what each hands on, and where its errors stand.

local errors = require "purser.client.call.errors"
local own = require "own_journal"
local raised_here = require "raised_here"
local recorder = require "recorder"
local service_clock = require "purser.client.call.clock"

local NOW = 1700000000000
local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }

local function client_with(options, answer)
  options = options or {}
  options.clock = options.clock or function() return NOW end
  return recorder.new(options, answer)
end

local function answers(body) return function() return { status = 200, body = body, headers = "" } end end

describe("client:call", function()
  it("runs a read or a write by its full name", function()
    local client, transport = client_with(nil, function(request)
      return { status = 200, body = request.method == "GET" and "[]" or '{"id":"7"}', headers = "" }
    end)
    assert.same({}, client:call "wallet.coins")
    assert.equal("7", assert(client:call("wallet.withdraw", WITHDRAWAL)).id)
    assert.same({ "GET", "POST" }, { transport.requests[1].method, transport.requests[2].method })
    assert.is_true(client:call "ping")
  end)
end)

describe("client:recall", function()
  it("asks what a key was used for, and sends nothing; of a read nothing is kept", function()
    local journal = own.begin()
    finally(own.finish)
    local client, transport = client_with { journal = journal, account = "acme" }
    assert.same({}, { client:recall("wallet.withdraw", WITHDRAWAL, { key = "a" }) })
    assert.equal("1", assert(client.wallet:withdraw(WITHDRAWAL, { key = "a" })).id)
    local info = {}
    assert.equal("1", assert(client:recall("wallet.withdraw", WITHDRAWAL, { key = "a", info = info })).id)
    assert.is_true(info.repeated)
    assert.same({}, { client:recall "wallet.coins" })
    assert.matches("is not known", select(2, client:recall "wallet.withdrw").message)
    assert.equal(1, #transport.requests)
  end)
end)

describe("a request that is not sent", function()
  it("has its headers, the key and the signature; a preview has neither of the last two", function()
    local client, transport = client_with()
    for name, params in pairs { ["wallet.coins"] = {}, ["wallet.withdraw"] = WITHDRAWAL } do
      local request = assert(client:prepare(name, params))
      assert.equal("key", request.headers["X-MEXC-APIKEY"])
      assert.equal("application/json", request.headers["Content-Type"])
      assert.matches("&signature=%x+$", request.url)
      local preview = assert(client:preview(name, params))
      assert.equal("...", preview.headers["X-MEXC-APIKEY"])
      assert.equal("application/json", preview.headers["Content-Type"])
      assert.matches("&signature=%.%.%.$", preview.url)
      assert.equal(request.method, preview.method)
    end
    assert.matches("recvWindow=7&", assert(client:preview("wallet.coins", nil, { recv_window = 7 })).url)
    assert.matches("recvWindow=7&", assert(client:prepare("wallet.coins", nil, { recv_window = 7 })).url)
    for _, method in ipairs { "prepare", "preview" } do
      local none, err = client[method](client, "wallet.coins", { x = 1 })
      assert.same({ nil, "argument", "wallet.coins" }, { none, err.kind, err.operation })
      assert.matches("is not known", select(2, client[method](client, "wallet.coin")).message)
    end
    assert.equal(0, #transport.requests)
  end)

  it("is ended in the journal by the answer that is parsed with its intent", function()
    local journal = own.begin()
    finally(own.finish)
    local client, info = client_with { journal = journal, account = "acme" }, {}
    local function state() return journal:entries()[1].state end
    assert(client:prepare("wallet.withdraw", WITHDRAWAL, { info = info }))
    assert.equal("open", state())
    assert.equal("9", assert(client:parse("wallet.withdraw", 200, '{"id":"9"}', nil, info)).id)
    assert.equal("done", state())
  end)
end)

describe("the account of a client", function()
  it("is its option, or made of its key", function()
    assert.equal("treasury", client_with({ account = "treasury" }):account())
    local unnamed = client_with():account()
    assert.is_string(unnamed)
    assert.equal(unnamed, client_with():account())
    assert.are_not.equal(unnamed, client_with({ api_key = "another" }):account())
  end)
end)

describe("the service's time", function()
  it("is asked for, or the clock is set by it", function()
    local client = client_with(nil, answers('{"serverTime":1700000005000}'))
    assert.is_true(client:ping())
    assert.equal(NOW + 5000, client:server_time())
    assert.equal(NOW, client:now())
    assert.equal(5000, client:sync_clock())
    assert.equal(NOW + 5000, client:now())
    assert.equal("700003", service_clock.OUTSIDE_WINDOW)
  end)
end)

describe("client:sleep", function()
  it("sleeps as the transport does, from 0 milliseconds on", function()
    local client, transport = client_with()
    local slept = {}
    function transport.sleep(_, ms) slept[#slept + 1] = ms end
    for _, ms in ipairs { 0, 0.5, 7 } do client:sleep(ms) end
    assert.same({ 0, 1, 7 }, slept)
  end)

  it("takes no other time, at the line of the caller", function()
    local client = client_with()
    for text, ms in pairs { ["-1"] = -1, ["a string"] = "x", ["inf"] = 1 / 0, ["a nil"] = false } do
      local message, is_here = raised_here(function(line)
        line()
        client:sleep(ms or nil)
      end)
      assert.matches("client:sleep: the time is " .. text .. "; give milliseconds from 0", message, 1, true)
      assert.is_true(is_here, message)
    end
  end)
end)

describe("client:limits", function()
  it("has the pools, none without a rate limit, and an error where the store fails", function()
    local pools = assert(client_with():limits()).pools
    assert.same({ "ip", 500 }, { pools[1].pool, pools[1].capacity })
    assert.same({ pools = {} }, client_with({ rate_limit = false }):limits())
    local broken = { transact = function() return nil, "no" end, close = function() end }
    local none, err = client_with({ rate_limit = { store = broken } }):limits()
    assert.same({ nil, "throttled", "not_sent", true }, { none, err.kind, err.outcome, err.retryable })
    assert.matches("cannot be used: no", err.message)
    assert.is_true(errors.is(err))
  end)
end)

describe("a method", function()
  it("is called with a colon, on a client, at the line of the caller", function()
    local client = client_with()
    for _, held in ipairs { {}, client.wallet } do
      local message, is_here = raised_here(function(line)
        line()
        client.now(held ~= client.wallet and held)
      end)
      assert.matches("call it with a colon, on a client: client:now%(...%)", message)
      assert.is_true(is_here, message)
    end
  end)

  it("that a client lacks is said at the line of the caller", function()
    local client = client_with()
    for name, text in pairs { walet = 'did you mean "wallet"', reconcil = 'did you mean "reconcile"',
      withdraw = "; use client.broker:withdraw or client.wallet:withdraw", coins = "; use client.wallet:coins",
      each_deposit = "client.wallet:each_deposit" } do
      local message, is_here = raised_here(function(line)
        line()
        local _ = client[name]
      end)
      assert.matches(('a client has no "%s"'):format(name), message, 1, true)
      assert.matches(text, message, 1, true)
      assert.is_true(is_here, message)
    end
    for _, name in ipairs { "wxlxt", "abcdefgh", 5, "_wallet" } do assert.is_nil(client[name]) end
  end)
end)

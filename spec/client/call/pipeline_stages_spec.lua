-- SPDX-License-Identifier: MIT
-- The stages of a call: what a request is made of, when credentials are asked for, what `info` gets of an attempt.

local operations = require "purser.client.operations"
local pipeline = require "purser.client.call.pipeline"
local private = require "purser.client.util.private"
local recorder = require "recorder"

local NOW = 1700000000000
local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }

local function client_with(options, answer)
  options = options or {}
  options.clock = options.clock or function() return NOW end
  return recorder.new(options, answer)
end

local function answers(body, more)
  return function()
    local response = { status = 200, body = body, headers = "X-A: 1\r\n" }
    for name, value in pairs(more or {}) do response[name] = value end
    return response
  end
end

describe("a request", function()
  it("has its method, its headers, and what a transport has to know of it", function()
    local client, transport = client_with({ user_agent = "x/1", timeout_ms = 77 }, function(request)
      return { status = 200, body = request.method == "GET" and "[]" or '{"id":"1"}', headers = "" }
    end)
    assert(client.wallet:coins())
    assert(client.wallet:withdraw(WITHDRAWAL, { timeout_ms = 78, info = {} }))
    local headers = { ["Content-Type"] = "application/json", ["X-MEXC-APIKEY"] = "key", ["User-Agent"] = "x/1" }
    local facts = {}
    for i, request in ipairs(transport.requests) do
      assert.same(headers, request.headers)
      facts[i] = { request.method, request.base_url, request.at_most_once, request.operation, request.timeout_ms,
        request.brief, request.body, request.corrections }
    end
    assert.same({ { "GET", "https://service.example", false, "wallet.coins", 77, true, "", 0 },
      { "POST", "https://service.example", true, "wallet.withdraw", 78, false, "", 0 } }, facts)
  end)

  it("that is not signed has no key", function()
    local client, transport = client_with({ credentials = function() error "not asked" end, user_agent = "x/1" },
      answers '{"serverTime":5}')
    assert(client:ping())
    assert.equal(5, client:server_time { timeout_ms = 7, info = {} })
    local request = transport.requests[2]
    assert.same({ "GET", "/api/v3/time", "", false, 7, false, "server_time" }, { request.method, request.target,
      request.body, request.at_most_once, request.timeout_ms, request.brief, request.operation })
    assert.same({ ["Content-Type"] = "application/json", ["User-Agent"] = "x/1" }, request.headers)
  end)

  it("has the window of the call, else of the client, else none", function()
    local function window(option, of_call)
      local client, transport = client_with({ recv_window = option }, answers "[]")
      assert(client.wallet:coins(nil, { recv_window = of_call }))
      return transport.requests[1].target:match "[?&]recvWindow=(%d+)"
    end
    assert.same({ "7", "7", "5" }, { window(5, 7), window(nil, 7), window(5) })
    assert.is_nil(window())
  end)

  it("has further parameters where a call gives some, of that call alone", function()
    local client, transport = client_with(nil, answers "[]")
    assert(client.wallet:coins(nil, { extra_params = { b = 1, a = "x" } }))
    assert(client.wallet:coins())
    assert.matches("[?&]a=x&b=1&", transport.requests[1].target)
    assert.is_nil(transport.requests[2].target:find("a=x", 1, true))
    local none, err = client.wallet:coins(nil, { extra_params = { signature = "x" } })
    assert.same({ nil, "wallet.coins", "signature" }, { none, err.operation, err.parameter })
  end)
end)

describe("the credentials function", function()
  it("is asked before each signed request, and for the account's pool until a key is known", function()
    local asked = 0
    local client = client_with({ credentials = function()
      asked = asked + 1
      return "key", "secret"
    end }, answers "[]")
    local counts = {}
    for i = 1, 3 do
      assert(client.wallet:coins())
      counts[i] = asked
    end
    assert.same({ 2, 3, 4 }, counts)
  end)

  it("that fails leaves nothing taken of the rate limit", function()
    for text, credentials in pairs { ["raised an error"] = function() error "x" end,
      ["returned nothing"] = function() end, ['"secret_key" is missing'] = function() return "key" end } do
      local client, transport = client_with { credentials = credentials }
      local none, err = client.wallet:coins()
      assert.same({ nil, "config", "not_sent", "credentials", "wallet.coins" },
        { none, err.kind, err.outcome, err.option, err.operation })
      assert.matches(text, err.message, 1, true)
      assert.equal(0, client:limits().pools[1].used)
      assert.equal(0, #transport.requests)
    end
  end)
end)

describe("an operation of the live service", function()
  it("needs a profile that has it", function()
    local none, err = client_with().live:account()
    assert.same({ nil, "config", "not_sent" }, { none, err.kind, err.outcome })
    assert.matches("the interface document does not have this operation", err.message)
  end)
end)

describe("what a call notes in `info`", function()
  it("is of its last attempt", function()
    local client = client_with({ retry = { attempts = 2, base_ms = 1 } }, answers("[]", { status = 503, lookup_us = 1,
      connect_us = 2, tls_us = 3, first_byte_us = 4, total_us = 5 }))
    local info = {}
    assert.is_nil((client.wallet:coins(nil, { info = info })))
    assert.same({ attempts = 2, http_status = 503, headers = { ["x-a"] = "1" },
      timings = { lookup_us = 1, connect_us = 2, tls_us = 3, first_byte_us = 4, total_us = 5 } }, info)
  end)

  it("is nothing of an earlier call, also where bad input ends the call", function()
    local client = client_with()
    local info = { attempts = 3, http_status = 503, headers = {}, timings = {}, hook_error = "x", repeated = true,
      mine = 1 }
    assert.is_nil((client.wallet:withdraw({}, { info = info })))
    assert.same({ attempts = 0, mine = 1 }, info)
  end)
end)

describe("a read", function()
  it("of addresses of another coin is no answer", function()
    local client = client_with(nil, answers '[{"coin":"BTC","network":"BTC","address":"1A"}]')
    local none, err = client.wallet:deposit_addresses { coin = "USDT" }
    assert.same({ nil, "decode", "unknown" }, { none, err.kind, err.outcome })
    assert.matches("USDT was asked for", err.message)
    assert.equal("1A", assert(client.wallet:deposit_addresses { coin = "BTC" })[1].address)
  end)

  it("is judged by who gives a judge, and discards the answer that it doubts", function()
    local client, transport = client_with(nil, answers "[]")
    local discarded = 0
    function transport.discard() discarded = discarded + 1 end
    local row, told = operations.by_name["wallet.coins"], nil
    local value = pipeline.run(private.states[client], row, nil, nil, function(of, response, result)
      told = { of, response.status, result }
      return "judged"
    end)
    assert.same({ "judged", { row, 200, {} }, 0 }, { value, told, discarded })
    client, transport = client_with({ retry = false }, answers "<html>")
    function transport.discard(_, response) discarded = discarded + (response.status == 200 and 1 or 0) end
    assert.is_nil((client.wallet:coins()))
    assert.equal(1, discarded)
  end)

  it("is no write call", function()
    local message = select(2, pcall(pipeline.run, private.states[client_with()], operations.by_name["wallet.withdraw"]))
    assert.matches("wallet.withdraw is a write call; purser.write.call takes it", message)
  end)

  it("is asked again once the clock was set right, and with each retry stamped anew", function()
    local times, now = {}, NOW
    local client, transport
    client, transport = client_with({ clock = function() return now end, retry = { attempts = 3, base_ms = 1 } },
      function(request)
        times[#times + 1] = request.target:match "timestamp=(%d+)"
        if request.operation == "server_time" then
          return { status = 200, body = ('{"serverTime":%d}'):format(now + 9000), headers = "" }
        end
        if #times == 1 then return { status = 400, body = '{"code":700003,"msg":"x"}', headers = "" } end
        now = now + 1
        if #times < 3 then return { status = 503, body = "", headers = "" } end
        return { status = 200, body = "[]", headers = "" }
      end)
    function transport.sleep() end
    assert.same({}, client.wallet:coins())
    assert.equal(1, client:call "wallet.coins" and private.states[client]._clock.corrections)
    assert.same({ ("%d"):format(NOW), ("%d"):format(NOW + 9000), ("%d"):format(NOW + 9001) },
      { times[1], times[2], times[3] })
  end)
end)

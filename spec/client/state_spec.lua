-- SPDX-License-Identifier: MIT
-- A call of which the caller sends the request: what is signed, what is not, and what its answer means.

local recorder = require "recorder"

local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }
local KEPT = { withdrawOrderId = ("a"):rep(32) }
for name, value in pairs(WITHDRAWAL) do KEPT[name] = value end

local function client_with(options)
  options = options or {}
  options.clock = options.clock or function() return 1700000000000 end
  local client, transport = recorder.new(options)
  finally(function() assert.equal(0, #transport.requests) end) -- nothing is ever sent
  return client
end

describe("a value of a parameter", function()
  it("may be missing where the parameter is not required", function()
    local client = client_with()
    assert.is_true(client:check_value("wallet.withdraw", "memo", nil))
    assert.same({ nil, "is missing" }, { client:check_value("wallet.withdraw", "coin", nil) })
  end)
end)

describe("prepare", function()
  it("names the operation in every error", function()
    local client = client_with { clock = function() return 0 end }
    local _, err = client:prepare("wallet.withdraw", WITHDRAWAL)
    assert.same({ "config", "wallet.withdraw" }, { err.kind, err.operation })
  end)

  it("gives what the caller sends: complete, signed, and a copy", function()
    local client = client_with { base_url = "https://service.example/v3" }
    local one = assert(client:prepare("wallet.deposit_history", { coin = "USDT" }))
    local other = assert(client:prepare("wallet.deposit_history", { coin = "USDT" }))
    assert.same({ "GET", "" }, { one.method, one.body })
    assert.matches("^https://service%.example/v3/api/v3/capital/deposit/hisrec%?.*coin=USDT.*&signature=%x+$", one.url)
    assert.equal(one.url, other.url)
    for name in pairs(one.headers) do one.headers[name] = "changed" end
    for name, value in pairs(assert(client:prepare("wallet.coins")).headers) do
      assert.not_equal("changed", value, name)
    end
  end)

  it("gives the intent of a write call alone, with the id that finds it", function()
    local client, info = client_with(), {}
    assert(client:prepare("wallet.coins", nil, { info = info }))
    assert.is_nil(info.intent)
    assert(client:prepare("wallet.withdraw", WITHDRAWAL, { info = info }))
    assert.same({ "wallet.withdraw", "1", 1700000000000 },
      { info.intent.operation, info.intent.params.amount, info.intent.sent_at })
  end)

  it("is held to the guard rails, as a call is", function()
    local client = client_with { guard = { read_only = true } }
    local request, err = client:prepare("wallet.withdraw", WITHDRAWAL)
    assert.is_nil(request)
    assert.same({ "guard.read_only", "not_sent" }, { err.code, err.outcome })
    assert(client:prepare "wallet.coins")
  end)

  it("of an operation that does not exist names the nearest", function()
    for _, method in ipairs { "prepare", "parse" } do
      local client = client_with()
      local none, err = client[method](client, "wallet.withdrw")
      assert.is_nil(none)
      assert.matches('did you mean "wallet.withdraw"', err.message, 1, true)
    end
  end)
end)

describe("parse", function()
  local OK, LOST = '{"id":"7"}', '{"code":500,"msg":"x"}'

  local function intent_of(client, operation, params)
    local info = {}
    assert(client:prepare(operation, params, { info = info }))
    return info
  end

  it("has the result of an answer, or the error of a rejection without an advice", function()
    local client = client_with()
    assert.equal("7", assert(client:parse("wallet.withdraw", 200, OK)).id)
    assert.equal(5, assert(client:parse("server_time", 200, '{"serverTime":5}')))
    local result, err = client:parse("wallet.withdraw", 400, '{"code":10101,"msg":"no funds"}')
    assert.is_nil(result)
    assert.same({ outcome = "rejected", code = "10101" }, { outcome = err.outcome, code = err.code, err.advice })
  end)

  it("has an advice for an unknown outcome, and the intent where it was given", function()
    local client = client_with()
    local info = intent_of(client, "wallet.withdraw", KEPT)
    for _, given in ipairs { info, info.intent } do
      local result, err = client:parse("wallet.withdraw", 500, LOST, nil, given)
      assert.is_nil(result)
      assert.same({ "unknown", info.intent }, { err.outcome, err.intent })
      assert.matches("client:reconcile", err.advice, 1, true)
    end
    local _, err = client:parse("wallet.withdraw", 500, LOST)
    assert.is_string(err.advice)
    assert.is_nil(err.intent)
  end)

  it("does not take the intent of another operation, nor anything else, for that of the call", function()
    local client = client_with()
    local other = intent_of(client, "wallet.transfer",
      { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })
    for _, given in ipairs { other, 5, "x", {}, { intent = 5 }, { operation = "wallet.withdraw" } } do
      local _, err = client:parse("wallet.withdraw", 500, LOST, nil, given)
      assert.equal("unknown", err.outcome)
      assert.is_nil(err.intent)
    end
  end)

  it("of a read that failed has neither advice nor intent", function()
    local _, err = client_with():parse("wallet.coins", 500, LOST)
    assert.is_nil(err.advice or err.intent)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The claims of a call against what the service did: no fault makes an outcome a lie, and nothing is received twice.

local purser = require "purser"

local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
local CALLS = 132

local function constant(params)
  return function() return params end
end

local calls = {
  ["wallet.withdraw"] = constant { coin = "USDT", netWork = "TRX", address = PAYEE, amount = "11" },
  ["wallet.withdraw_legacy"] = constant { coin = "USDT", network = "Tron(TRC20)", address = PAYEE, amount = "11" },
  ["wallet.transfer"] = constant { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" },
  ["wallet.internal_transfer"] = constant { toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT",
    amount = "1" },
  ["broker.transfer"] = constant { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "1" },
  ["sub_account.transfer"] = constant { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "1" },
  ["broker.create_sub_account"] = function(number) return { subAccount = "account" .. number, note = "n" } end,
  ["broker.enable_futures"] = constant { subAccount = "desk0001" },
  ["wallet.cancel_withdrawal"] = constant { id = "none" },
}

local faults = {
  { kind = "reject" }, { kind = "lost_answer" }, { kind = "reset" }, { kind = "truncate" },
  { kind = "slow", delay_ms = 20000 }, { kind = "throttle" }, { kind = "ban" },
  { kind = "server_error", when = "before" }, { kind = "server_error", when = "after" },
  { kind = "garbage", when = "before" }, { kind = "garbage", when = "after" },
}

describe("the outcome of a call", function()
  local sim, client

  before_each(function()
    sim = purser.sim.new { seed = 11 }
    local owner = assert(sim:account { role = "broker", name = "Acme", balances = { USDT = "1000000" } })
    assert(sim:account { role = "user", email = "friend@mail.example" })
    assert(sim:account { role = "sub", parent = "Acme", name = "desk0001" })
    assert(sim:save_address { account = "Acme", coin = "USDT", network = "Tron(TRC20)", address = PAYEE })
    client = assert(purser.new {
      base_url = "https://service.example", transport = sim:transport(), rate_limit = false,
      api_key = owner.api_key, secret_key = owner.secret_key, clock = function() return sim:now() end,
    })
  end)

  for name, params_of in pairs(calls) do
    it("is true under every fault: " .. name, function()
      local seen = {}
      for number = 1, CALLS do
        local fault = faults[number % #faults + 1]
        sim:disarm()
        sim:fault(fault)
        local before = sim:counts()[name] or { received = 0, applied = 0 }
        local result, err = client:call(name, params_of(number))
        local after = sim:counts()[name]
        local received, applied = after.received - before.received, after.applied - before.applied
        local outcome = result and "done" or err.outcome
        assert.equal(1, received)
        if outcome == "done" then assert.equal(1, applied) end
        if outcome ~= "done" and outcome ~= "unknown" then assert.equal(0, applied, tostring(err)) end
        seen[outcome .. applied] = true
      end
      assert.is_true(seen.rejected0 and seen.unknown1 and seen.unknown0)
      assert.is_true(sim:verify())
    end)
  end

  it("repeats no signature that a proxy repeats", function()
    for _, body in ipairs { '{"code":404,"msg":"GET /x?timestamp=1&signature=0a1b2c3d"}',
      '{"msg":"{\\"signature\\": \\"0a1b2c3d\\"}"}' } do
      local _, err = client:parse("wallet.coins", 404, body)
      assert.is_nil(tostring(err):find("0a1b2c3d", 1, true))
    end
    local _, err = client:parse("wallet.coins", 400, '{"code":700002,"msg":"Signature for this request is not valid."}')
    assert.equal("Signature for this request is not valid.", err.message)
  end)
end)

describe("an answer", function()
  local operations = require "purser.client.operations"
  local profile = require "purser.client.operations.profiles".default
  local response = require "purser.client.call.response"
  local unwrap = require "purser.client.call.unwrap"
  local list, write = operations.by_name["wallet.deposit_history"], operations.by_name["wallet.withdraw"]

  -- Returns the kind, outcome and message of an answer that is no result; nothing of a result.
  local function error_of(row, status, body)
    local result, err = response.answer(row, profile, status, body)
    if result ~= nil then return nil end
    return { err.kind, err.outcome, err.http_status }, err.message
  end

  it("has a whole status of three digits and a text", function()
    for _, status in ipairs { 100, 200, 204, 999, 404.0 } do assert.is_true(response.is_answer(status, "")) end
    for _, status in ipairs { 99, 1000, 200.5, "200", 0 / 0, -200, false } do
      assert.is_false(response.is_answer(status, ""))
    end
    for _, body in ipairs { 5, {}, false } do assert.is_false(response.is_answer(200, body)) end
    assert.is_false(response.is_answer(200, nil))
    assert.same({ "transport", "unknown" }, (error_of(write, 1000, '{"id":"1"}')))
  end)

  it("shows a result with each status from 200 to 299, and with no other", function()
    for _, status in ipairs { 200, 201, 299 } do assert.is_nil(error_of(write, status, '{"id":"1"}')) end
    for _, status in ipairs { 199, 300, 199, 404, 500 } do assert.is_not_nil(error_of(write, status, '{"id":"1"}')) end
    for status, noted in pairs { [200] = false, [202] = 202 } do
      local deposits = assert(response.answer(list, profile, status, '[{"coin":"USDT"}]'))
      assert.equal(noted or nil, select(2, unwrap.beside(deposits)))
    end
  end)

  it("that is empty, or says a thing of a write call twice, cannot be read", function()
    local facts, message = error_of(write, 200, "")
    assert.same({ "decode", "unknown", 200 }, facts)
    assert.equal("HTTP 200 with an empty body", message)
    facts, message = error_of(write, 200, '{"id":"1","id":"2"}')
    assert.same({ "decode", "unknown", 200 }, facts)
    assert.matches("^the answer contradicts itself: ", message)
    assert.is_nil(error_of(list, 200, '{"data":[],"data":[{"coin":"USDT"}]}')) -- of a read the last counts
  end)

  it("is denied wherever the denial stands", function()
    for _, body in ipairs { '{"success":false,"data":{"id":"1"}}', '{"data":{"id":"1","success":false}}',
      '{"data":[{"id":"1","success":"no"}]}', '[{"id":"1","success":0}]', '{"data":{"id":"1","error":"x"}}',
      '{"data":[{"id":"1","status":"FAILED"}]}' } do
      local facts, message = error_of(write, 200, body)
      assert.same({ "decode", "unknown", 200 }, facts, body)
      assert.matches("without an error code", message)
    end
    for _, body in ipairs { '{"data":{"id":"1","success":true}}', '[{"id":"1","status":"WAIT"}]' } do
      assert.is_nil(error_of(write, 200, body))
    end
  end)
end)

describe("a success that the answer denies", function()
  local operations = require "purser.client.operations"
  local profiles = require "purser.client.operations.profiles"
  local response = require "purser.client.call.response"

  local read, write = operations.by_name["wallet.deposit_history"], operations.by_name["wallet.withdraw"]

  -- Returns the outcome of an answer with the status 200: "done" where it is a result.
  local function outcome(row, body)
    local result, err = response.answer(row, profiles.default, 200, body)
    return result and "done" or err.outcome
  end

  for _, case in ipairs {
    -- members of the answer, and what a write call with an id and a read call become
    { '"success":true', "done", "done" }, { '"success":"True"', "done", "done" },
    { '"success":false', "unknown", "unknown" }, { '"success":"False"', "unknown", "unknown" },
    { '"success":"NO"', "unknown", "unknown" }, { '"success":0', "unknown", "unknown" },
    { '"error":"x"', "unknown", "done" }, { '"error":{"a":1}', "unknown", "done" },
    { '"error":""', "done", "done" }, { '"error":"False"', "done", "done" }, { '"error":{}', "done", "done" },
    { '"status":"failed"', "unknown", "done" }, { '"status":"ERROR_7"', "unknown", "done" },
    { '"status":"Rejected"', "unknown", "done" }, { '"status":"success"', "done", "done" },
  } do
    it("is told from one that it does not: " .. case[1], function()
      assert.equal(case[2], outcome(write, ('{"id":"7",%s}'):format(case[1])))
      assert.equal(case[3], outcome(read, ('{"data":[],%s}'):format(case[1])))
    end)
  end
end)

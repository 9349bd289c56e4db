-- SPDX-License-Identifier: MIT
-- Parameters against their row: the values that travel, or an error that names the parameter.

local operations = require "purser.client.operations"
local validate = require "purser.client.call.validate"

local rows = operations.by_name

local function rejected(name, params, parameter, words)
  local values, err = validate.check(rows[name], params)
  assert.is_nil(values)
  assert.same({ "argument", "not_sent", name }, { err.kind, err.outcome, err.operation })
  assert.equal(parameter, err.parameter)
  assert.matches(words, tostring(err), 1, true)
end

describe("parameters", function()
  it("become texts as they travel, and the caller's table stays as it was", function()
    local params = { coin = "USDT", startTime = 1700000000000, endTime = "1700000000000", limit = 5,
      status = "SUCCESS" }
    assert.same({ coin = "USDT", startTime = "1700000000000", endTime = "1700000000000", limit = "5", status = "5" },
      validate.check(rows["wallet.deposit_history"], params))
    assert.same({ 1700000000000, 5, "SUCCESS" }, { params.startTime, params.limit, params.status })
    assert.same({}, validate.check(rows["wallet.deposit_history"]))
    assert.same({}, validate.check(rows["wallet.coins"], {}))
  end)

  it("are rejected where they are no table, have no name, or a name that is not known", function()
    rejected("wallet.coins", "x", nil, "the parameters are a string")
    rejected("wallet.coins", false, nil, "the parameters are a boolean")
    rejected("wallet.withdraw", { "USDT" }, nil, "a parameter has no name")
    rejected("wallet.withdraw", { [{}] = "USDT" }, nil, "a parameter has no name")
    rejected("wallet.withdraw", { adress = "x" }, "adress", 'did you mean "address"')
    rejected("wallet.coins", { coin = "USDT" }, "coin", "this operation has none")
    rejected("wallet.withdraw", { address = false }, "address", "is a boolean")
  end)

  it("are rejected where a required one is missing", function()
    local params = { coin = "USDT", address = "TAddr", amount = "1" }
    assert.is_not_nil((validate.check(rows["wallet.withdraw"], params)))
    for _, name in ipairs { "coin", "address", "amount" } do
      local value = params[name]
      params[name] = nil
      rejected("wallet.withdraw", params, name, "is required")
      params[name] = value
    end
  end)

  it("are rejected where two of them contradict each other", function()
    rejected("wallet.deposit_history", { startTime = 1700000000001, endTime = 1700000000000 }, "startTime",
      "is later than endTime")
    local transfer = { toAccountType = "MOBILE", toAccount = "13800000000", asset = "USDT", amount = "1" }
    rejected("wallet.internal_transfer", transfer, "areaCode", "is required when toAccountType is MOBILE")
    transfer.areaCode = 86
    assert.equal("86", assert(validate.check(rows["wallet.internal_transfer"], transfer)).areaCode)
  end)
end)

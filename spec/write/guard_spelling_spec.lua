-- SPDX-License-Identifier: MIT
-- The guard rail no_duplicates, where one move is written in two ways.

local own = require "own_journal"
local purser = require "purser"

local journal, sent

before_each(function()
  sent = 0
  journal = own.begin()
end)
after_each(own.finish)

-- Returns how many of these moves are sent while the first has no known end.
local function sent_of(group, method, list)
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, journal = journal, account = "treasury", guard = { no_duplicates = true },
    transport = { sleep = function() end, send = function()
      sent = sent + 1
      return nil, { message = "the answer was lost" }
    end } })
  for _, params in ipairs(list) do
    local value, err = client[group][method](client[group], params)
    assert.is_nil(value)
    assert.is_true(err.outcome == "unknown" or err.code == "guard.no_duplicates", tostring(err))
  end
  return sent
end

local function transfer(fields)
  local params = { fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "5" }
  for name, value in pairs(fields) do params[name] = value end
  return params
end

describe("no_duplicates rejects a move that differs", function()
  for _, other in ipairs { "withdraw_legacy", "withdraw" } do
    it("in its operation, where wallet." .. other .. " comes second", function()
      local payment = { coin = "USDT", address = "TSample", amount = "5", memo = "7", withdrawOrderId = "a" }
      local first = other == "withdraw" and "withdraw_legacy" or "withdraw"
      payment[first == "withdraw" and "netWork" or "network"] = first == "withdraw" and "TRX" or "Tron(TRC20)"
      assert.are.equal(1, sent_of("wallet", first, { payment }))
      payment.netWork, payment.network, payment.withdrawOrderId = payment.network and "TRX",
        payment.netWork and "Tron(TRC20)", "b"
      assert.are.equal(1, sent_of("wallet", other, { payment }))
      payment.amount = "6"
      assert.are.equal(2, sent_of("wallet", other, { payment }))
    end)
  end

  it("in the case of its asset", function()
    assert.are.equal(1, sent_of("wallet", "withdraw", { { coin = "USDT", address = "TSample", amount = "5" },
      { coin = "usdt", address = "TSample", amount = "5.0" } }))
  end)

  it("in the case of a sub-account's name", function()
    assert.are.equal(2, sent_of("sub_account", "transfer", { transfer { toAccount = "Desk1" },
      transfer { toAccount = "desk1", asset = "usdt" }, transfer { fromAccount = "desk1" },
      transfer { fromAccount = "DESK1" } }))
  end)
end)

describe("no_duplicates allows a move that differs", function()
  it("in its sub-account, its asset, its amount or its direction", function()
    assert.are.equal(5, sent_of("sub_account", "transfer", { transfer { toAccount = "desk1" },
      transfer { toAccount = "desk2" }, transfer { toAccount = "desk1", asset = "USDC" },
      transfer { toAccount = "desk1", amount = "5.01" }, transfer { fromAccount = "desk1" } }))
  end)
end)

-- SPDX-License-Identifier: MIT
-- The id of a transaction, given as an address: the plan says of which record it is.

local purser = require "purser"
local simulated = require "simulated"
local transactions = require "purser.client.util.transactions"

local TRON = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
local UNKNOWN = ("5b"):rep(32)

describe("a transaction that is given as an address", function()
  local sim, client, account, withdrawn, deposited

  local function asked()
    local counts = sim:counts()
    local number = 0
    for _, name in ipairs { "wallet.withdrawal_history", "wallet.deposit_history" } do
      number = number + (counts[name] or { received = 0 }).received
    end
    return number
  end

  before_each(function()
    sim, client, account = simulated.world({ seed = 64 }, { role = "main", balances = { USDT = "1000" } },
      { retry = false })
    assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = TRON, amount = "30" })
    assert(sim:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "7" })
    sim:advance(3600000)
    withdrawn = assert(client.wallet:withdrawal_history {})[1].txId
    deposited = assert(client.wallet:deposit_history {})[1].txId:match "^%x+"
  end)

  it("is found in the histories, which are read once, and for no other text", function()
    local before, of = asked(), transactions.of(client)
    for _, text in ipairs { TRON, "", "0x", withdrawn:sub(2), withdrawn .. "0", ("z"):rep(64), 7, false } do
      assert.is_nil(of(text), tostring(text))
    end
    assert.is_nil(of(nil))
    assert.equal(before, asked())
    for _, text in ipairs { withdrawn, withdrawn:upper(), "0x" .. withdrawn, "0X" .. withdrawn:upper() } do
      assert.matches("is the transaction (txId) of a withdrawal of 30 USDT", of(text), 1, true)
    end
    assert.matches("is the transaction (txId) of a deposit of 7 USDT", of(deposited), 1, true)
    assert.is_nil(of(UNKNOWN))
    assert.equal(before + 2, asked())
  end)

  it("is a warning of a plan, and may be a mistake of a list", function()
    local given = { coin = "USDT", network = "ETH", address = "0x" .. withdrawn, amount = "30",
      unchecked_address = true }
    local warnings = table.concat(assert(client.wallet:plan_withdraw(given)).warnings, "\n")
    assert.matches("the transaction (txId) of a withdrawal of 30 USDT, and no account has such an address", warnings, 1,
      true)
    local list = {}
    for i, address in ipairs { given.address, "0x" .. UNKNOWN, given.address } do
      list[i] = { key = "k" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "ETH",
        address = address, amount = "3" .. i } }
    end
    local before = asked()
    local plan = assert(purser.payouts.plan(client, list, { unchecked = true }))
    assert.equal(before + 2, asked())
    for i, expected in ipairs { true, false, true } do
      local odd = table.concat(list[i].odd, "\n")
      assert.equal(expected, odd:find("the transaction (txId) of a withdrawal", 1, true) ~= nil, odd)
    end
    assert.equal(2, plan.odd)
    given.unchecked_address, before = nil, asked() -- its form is refused already
    assert.is_false(assert(client.wallet:plan_withdraw(given)).ok)
    assert(purser.payouts.plan(client, list))
    assert.equal(before, asked())
  end)

  it("is told as not looked for where a history cannot be read", function()
    sim:fault { kind = "reject", code = "700007", operation = "wallet.deposit_history", times = 1 }
    local before, of = asked(), transactions.of(client)
    for _ = 1, 2 do assert.matches("nobody looked if the address is a transaction: ", of(withdrawn), 1, true) end
    assert.equal(before + 2, asked())
  end)
end)

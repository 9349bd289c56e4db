-- SPDX-License-Identifier: MIT
-- Records that a service shows in another form from a moment on, or that take a path of their own.

local purser = require "purser"
local simulated = require "simulated"

local sim, client, address, account

before_each(function()
  sim, account = simulated.broker({ repeated_ids = "reject" }, { balances = { USDT = "1000" } })
  client = simulated.client(sim, account, { rate_limit = false, retry = false })
  address = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }).address
end)

local function pay(amount, own_id)
  return assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = amount,
    withdrawOrderId = own_id }).id
end

local function records()
  local by_amount = {}
  for _, record in ipairs(assert(client.wallet:withdrawal_history())) do by_amount[record.amount] = record end
  return by_amount
end

describe("a release", function()
  it("shows what was made from its moment on in another form, and nothing before", function()
    pay("20", "one")
    assert(sim:release { at = sim:now() + 60000, coin = "suffix", payee = "masked", own_ids = "none" })
    pay("21", "two")
    sim:advance(60000)
    pay("22", "three")
    local shown = records()
    assert.same({ "USDT", "one", address }, { shown["20"].coin, shown["20"].withdrawOrderId, shown["20"].address })
    assert.same({ "USDT", "two" }, { shown["21"].coin, shown["21"].withdrawOrderId })
    assert.equal("USDT-TRX", shown["22"].coin)
    assert.is_nil(shown["22"].withdrawOrderId)
    assert.equal(address:sub(1, 4) .. "****" .. address:sub(-4), shown["22"].address)
    assert(sim:release())
    pay("23", "four")
    assert.equal("four", records()["23"].withdrawOrderId)
  end)

  it("is a path of its own for amounts above one: without ids, and written later", function()
    assert(sim:release { above = "100", own_ids = "none", later_ms = 60000 })
    local made = sim:now()
    pay("20", "small")
    pay("200", "large")
    assert.equal("small", records()["20"].withdrawOrderId)
    assert.is_nil(records()["200"])
    sim:advance(60000)
    assert.is_nil(records()["200"].withdrawOrderId)
    assert.equal(made + 60000, records()["200"].applyTime)
    assert(sim:verify())
  end)

  it("lets the service's ids begin again, in answers and histories", function()
    local first = pay "20"
    assert(sim:release { ids = "again" })
    client = simulated.client(sim, account, { rate_limit = false, retry = false }) -- one that knows no earlier answer
    assert.equal(first, pay "21")
    assert.equal(first, records()["21"].id)
    assert.equal(first, records()["20"].id)
  end)

  it("shows net amounts", function()
    assert(sim:release { amount = "net" })
    pay "20"
    local fee
    for amount in pairs(records()) do fee = purser.decimal "20" - amount end
    assert.equal(1, fee:sign())
  end)

  it("holds for transfers, and across a snapshot", function()
    assert(sim:release { coin = "suffix", own_ids = "none" })
    sim = purser.sim.restore(sim:snapshot())
    client = simulated.client(sim, account, { rate_limit = false, retry = false })
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" })
    local list = assert(client.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" })
    assert.equal("USDT-TRX", list.rows[1].asset)
  end)

  it("names a wrong word", function()
    for expected, fields in pairs { ["colour"] = { colour = "red" }, ["coin"] = { coin = "prefix" },
      ["above must be"] = { above = "much" }, ["later_ms"] = { later_ms = -1 } } do
      local release, message = sim:release(fields)
      assert.is_nil(release)
      assert.matches(expected, message)
    end
  end)
end)

describe("a gateway that repeats a request", function()
  it("hands on the second answer: a rejection of what was executed", function()
    assert(sim:fault { kind = "repeat", operation = "wallet.withdraw" })
    local made, err = client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "20",
      withdrawOrderId = "one" }
    assert.is_nil(made)
    assert.equal(1, #assert(client.wallet:withdrawal_history()))
    assert.is_truthy(err.code)
    local fault = sim:faults()[1]
    assert.same({ "repeat", true }, { fault.kind, fault.applied })
    assert(sim:verify())
  end)
end)

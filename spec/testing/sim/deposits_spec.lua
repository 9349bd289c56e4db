-- SPDX-License-Identifier: MIT
-- Deposits: seen, confirmed block by block, credited once, to the owner of their address and memo.

local deposits = require "purser.testing.sim.deposits"
local purser = require "purser"
local signed = require "signed"

local get, free = signed.get, signed.free

local SECOND, HOUR = 1000, 3600000

describe("deposits in the simulator", function()
  local sim, house, desk

  before_each(function() sim, house, desk = signed.family() end)
  after_each(function() assert(sim:verify()) end)

  it("are confirmed block by block and credited once, in full", function()
    local arrived = assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "7.123456" })
    assert.equal(4, arrived.status)
    assert.equal("1000", free(sim, house, "USDT"))
    sim:advance(30 * SECOND)
    assert.equal("10", get(sim, house, "C4")[1].confirmTimes)
    sim:advance(30 * SECOND - 1)
    assert.equal(4, get(sim, house, "C4")[1].status)
    sim:advance(1)
    local record = get(sim, house, "C4")[1]
    assert.same({ 5, "20", "20" }, { record.status, record.confirmTimes, record.unlockConfirm })
    sim:advance(24 * HOUR)
    assert.equal("1007.123456", free(sim, house, "USDT"))
  end)

  it("that are too small stay small", function()
    sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "0.099999" }
    sim:advance(HOUR)
    assert.equal(1, get(sim, house, "C4")[1].status)
    assert.equal("1000", free(sim, house, "USDT"))
  end)

  it("find their owner by address and memo", function()
    local first = get(sim, house, "C6", { coin = "XRP", network = "Ripple(XRP)" })
    local second = get(sim, desk, "A8", { coin = "XRP", network = "Ripple(XRP)" })
    assert.equal(first.address, second.address)
    assert.are_not.equal(first.memo, second.memo)
    assert(sim:deposit { address = second.address, memo = second.memo, coin = "XRP", network = "XRP", amount = "9" })
    assert.is_nil((sim:deposit { address = second.address, coin = "XRP", network = "XRP", amount = "9" }))
    sim:advance(HOUR)
    assert.equal("9", free(sim, desk, "XRP"))
    assert.equal("5", get(sim, desk, "A10")[1].status)
    assert.equal(5, get(sim, house, "A11")[1].status)
    assert.same({}, get(sim, house, "C4"))
  end)

  it("are credited from a hundredth of the withdrawal minimum on", function()
    for amount, status in pairs { ["0.1"] = 5, ["0.099999999999"] = 1 } do
      local id = assert(sim:deposit { account = desk.uid, coin = "USDT", network = "TRX", amount = amount }).id
      sim:advance(HOUR)
      assert.equal(status, sim.deposits.by_id[id].status, amount)
    end
    assert.equal("50.1", free(sim, desk, "USDT"))
  end)

  it("that arrived in the past are complete at once, as soon as their confirmations have come by now", function()
    local now = sim:now()
    for age, status in pairs { [60000] = 5, [59999] = 4 } do
      local id = assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "5",
        time = now - age }).id
      assert.equal(status, sim.deposits.by_id[id].status, age)
    end
    assert.equal("1005", free(sim, house, "USDT"))
    sim:advance(1)
    assert.equal("1010", free(sim, house, "USDT"))
  end)

  it("are there for each coin and network alone, though the address is the same", function()
    local address = get(sim, house, "C6", { coin = "USDT", network = "Ethereum(ERC20)" }).address
    assert.is_nil((sim:deposit { address = address, coin = "USDC", network = "ETH", amount = "9" }))
    assert.is_nil((sim:deposit { address = address, coin = "USDT", network = "BSC", amount = "9" }))
    assert.is_nil((sim:deposit { address = address, memo = "1", coin = "USDT", network = "ETH", amount = "9" }))
    assert(sim:deposit { address = address, coin = "USDT", network = "ETH", amount = "9" })
  end)

  it("show the confirmations they have, and never more than they need", function()
    local id = assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "5" }).id
    local record = sim.deposits.by_id[id]
    for after, shown in pairs { [0] = "0", [2999] = "0", [3000] = "1", [59999] = "19", [10 ^ 9] = "20" } do
      assert.equal(shown, deposits.public(record, { now = function() return record.time + after end }).confirmTimes)
    end
  end)
end)

describe("a deposit that is shown in another spelling", function()
  local members = { txId = "0xAB", network = "TRC20", address = "tron:T1", addressTag = "", memo = "7",
    amount = "5.000", coin = "USDT-TRX" }

  it("is exactly as given in each form and after a snapshot, and is the deposit that it was", function()
    for _, variant in ipairs { "document", "live" } do
      local sim = purser.sim.new { seed = 2, variant = variant }
      local house = assert(sim:account { role = "broker" })
      local id = assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "5" }).id
      local before = get(sim, house, "C4")[1]
      local given = { txId = members.txId }
      assert.equal("0xAB", assert(sim:respell(id, given)).txId)
      given.txId = "the caller's table"
      assert.same({ "0xAB", before.network }, { get(sim, house, "C4")[1].txId, get(sim, house, "C4")[1].network })
      assert(sim:respell(id, members))
      sim = purser.sim.restore(sim:snapshot())
      sim:advance(HOUR)
      local shown = get(sim, house, "C4", { coin = "USDT" })[1]
      for name, text in pairs(members) do assert.equal(text, shown[name], variant .. " " .. name) end
      assert.same({ 5, "5" }, { shown.status, free(sim, house, "USDT") })
      assert(sim:respell(id))
      assert.equal(before.txId, get(sim, house, "C4")[1].txId)
      assert(sim:verify())
    end
  end)

  it("is one that exists, and has members that are texts", function()
    local sim, house = signed.family()
    local id = assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "5" }).id
    for _, asked in ipairs { { sim:respell("0", members) }, { sim:set_deposit("0", 5) } } do
      assert.same({ nil, "there is no such deposit" }, asked)
    end
    for wrong, says in pairs { [5] = "number", [{ status = "5" }] = "status", [{ txId = 5 }] = "txId" } do
      local shown, message = sim:respell(id, wrong)
      assert.is_nil(shown)
      assert.matches(says, message)
    end
    assert.is_nil(sim.deposits.by_id[id].spelled)
  end)
end)

describe("deposits of one transaction", function()
  it("have its outputs behind the same hash, of one coin or of two", function()
    local sim = purser.sim.new { seed = 2, variant = "live" }
    local house = assert(sim:account { role = "main" })
    for output, coin in ipairs { "USDT", "USDT", "TRX" } do
      assert(sim:deposit { account = house.uid, coin = coin, network = "TRX", amount = "30",
        tx_id = output == 1 and "ab" or "ab:" .. output - 1 })
    end
    local shown = {}
    for _, record in ipairs(get(sim, house, "C4")) do shown[record.txId] = record.coin .. " " .. record.transHash end
    assert.same({ ["ab:0"] = "USDT-TRX ab", ["ab:1"] = "USDT-TRX ab", ["ab:2"] = "TRX ab" }, shown)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Withdrawals: what they need, where their funds are, what they cost. The books are checked in full after each.

local coins = require "purser.testing.sim.coins"
local signed = require "signed"

local get, rejection, free = signed.get, signed.rejection, signed.free

local TRON = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"
local RIPPLE = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
local SECOND, HOUR = 1000, 3600000

describe("in the simulator", function()
  local sim, house, desk

  before_each(function() sim, house, desk = signed.family() end)
  after_each(function() assert(sim:verify()) end)

  local function withdrawal_of(who, id)
    for _, record in ipairs(get(sim, who, "C5")) do
      if record.id == id then return record end
    end
  end

  describe("withdrawals", function()
    local params
    before_each(function()
      params = { coin = "USDT", netWork = "TRX", address = TRON, amount = "99.5", withdrawOrderId = "order-1" }
    end)

    it("stay failed where the funds that came back were spent since", function()
      local id = get(sim, house, "C2", params).id
      assert(sim:set_withdrawal(id, "FAILED"))
      assert(get(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = TRON, amount = "950" }))
      assert.same({ nil, "the funds of the withdrawal came back and were spent since" },
        { sim:set_withdrawal(id, "SUCCESS") })
    end)

    it("go from applied to success; amount and fee leave together", function()
      local id = get(sim, house, "C2", params).id
      local seen = {}
      for _ = 1, 200 do
        local record = withdrawal_of(house, id)
        if record.status ~= seen[#seen] then seen[#seen + 1] = record.status end
        assert(sim:verify())
        sim:advance(SECOND)
      end
      assert.same({ 1, 2, 4, 5, 6, 7 }, seen)
      local record = withdrawal_of(house, id)
      assert.same({ "99.5", "1", "order-1", "Tron(TRC20)", 0, 20 }, { record.amount, record.transactionFee,
        record.withdrawOrderId, record.network, record.transferType, record.confirmNo })
      assert.equal(64, #record.txId)
      assert.equal("899.5", free(sim, house, "USDT"))
      assert.equal("0", free(sim, house, "USDT", "SPOT", "locked"))
    end)

    it("do in one long step what they do in many short ones", function()
      local id = get(sim, house, "C2", params).id
      sim:advance(HOUR)
      local record = withdrawal_of(house, id)
      assert.equal(7, record.status)
      assert.equal(sim:now() - HOUR + 60 * SECOND + 20 * 3 * SECOND, record.updateTime)
    end)

    it("can be cancelled before they are packaged, which gives everything back", function()
      local id = get(sim, house, "C2", params).id
      assert.equal("899.5", free(sim, house, "USDT"))
      sim:advance(29999)
      assert.equal(id, get(sim, house, "C3", { id = id }).id)
      assert.equal(id, get(sim, house, "C3", { id = id }).id) -- again: it is cancelled already
      assert.equal("1000", free(sim, house, "USDT"))
      sim:advance(HOUR)
      assert.equal(9, withdrawal_of(house, id).status)
      assert.equal("1000", free(sim, house, "USDT"))
    end)

    it("cannot be cancelled once they are packaged (730000)", function()
      local id = get(sim, house, "C2", params).id
      sim:advance(30000)
      assert.equal("730000", rejection(sim, house, "C3", { id = id }))
      sim:advance(HOUR)
      assert.equal("730000", rejection(sim, house, "C3", { id = id }))
      assert.equal(7, withdrawal_of(house, id).status)
    end)

    it("answer the cancelling of an unknown or foreign id with that id, and change nothing", function()
      local id = get(sim, house, "C2", params).id
      local stranger = sim:account {}
      assert.equal("nothing", get(sim, house, "C3", { id = "nothing" }).id)
      assert.equal(id, get(sim, stranger, "C3", { id = id }).id)
      assert.equal(1, withdrawal_of(house, id).status)
    end)

    it("give the funds back when they fail", function()
      local id = get(sim, house, "C2", params).id
      assert(sim:set_withdrawal(id, "FAILED"))
      sim:advance(HOUR)
      assert.equal(8, withdrawal_of(house, id).status)
      assert.equal("1000", free(sim, house, "USDT"))
    end)

    it("execute an order id once more, unless repeated ids are rejected", function()
      get(sim, house, "C2", params)
      assert(get(sim, house, "C2", params))
    end)

    it("take an order id once where repeated ids are rejected, for C2 and C17 together", function()
      sim.options.repeated_ids = "reject"
      get(sim, house, "C2", params)
      assert.equal("33333", rejection(sim, house, "C2", params))
      params.netWork, params.network = nil, "Tron(TRC20)"
      assert.equal("33333", rejection(sim, house, "C17", params))
      params.withdrawOrderId = "order-2"
      assert(get(sim, house, "C17", params))
    end)

    it("count the fee when they look at the balance (10101)", function()
      params.amount = "999.5"
      assert.equal("10101", rejection(sim, house, "C2", params))
      params.amount = "999"
      assert(get(sim, house, "C2", params))
      assert.equal("0", free(sim, house, "USDT"))
    end)

    it("take each amount from the minimum to the maximum of the network", function()
      assert(sim:deposit { account = house.uid, coin = "USDT", network = "TRX", amount = "20000000" })
      sim:advance(HOUR)
      local network = coins.network("USDT", "TRX", true).public
      for _, case in ipairs { { network.withdrawMin }, { network.withdrawMax }, { "0.5", "below the minimum" },
        { network.withdrawMax .. ".1", "above the maximum" } } do
        params.amount, params.withdrawOrderId = case[1], nil
        local answer = signed.ask(sim, house, "C2", params)
        assert.matches(case[2] or "^nil$", tostring(answer.msg))
      end
    end)

    it("need a memo where the network has one", function()
      local ripple = { coin = "XRP", netWork = "XRP", address = RIPPLE, amount = "20" }
      assert.equal("700004", rejection(sim, house, "C2", ripple))
      ripple.memo = "not digits"
      assert.equal("33333", rejection(sim, house, "C2", ripple))
      ripple.memo = "123456"
      assert(get(sim, house, "C2", ripple))
    end)

    it("go over the network that is named, the coin's first when none is, and never over another", function()
      local legacy = { coin = "USDT", address = TRON, amount = "20" }
      for id, names in pairs { C2 = { "netWork", "TRX", "Tron(TRC20)" }, C17 = { "network", "Tron(TRC20)", "TRX" } } do
        get(sim, house, id, legacy)
        assert.equal("Tron(TRC20)", sim.withdrawals.all[#sim.withdrawals.all].network)
        legacy[names[1]] = names[2]
        assert(get(sim, house, id, legacy))
        for _, wrong in ipairs { names[3], "Nowhere", "ETH " } do
          legacy[names[1]] = wrong
          assert.equal("10232", rejection(sim, house, id, legacy))
        end
        legacy[names[1]] = nil
      end
    end)

    it("are rejected on networks that are suspended", function()
      params.netWork, params.address = "AVAX_CCHAIN", "0x" .. ("a"):rep(40)
      local code, message = rejection(sim, house, "C2", params)
      assert.equal("33333", code)
      assert.is_truthy(message:find("suspended", 1, true))
    end)

    it("arrive on the platform when the address is one of its own", function()
      local friend = sim:account {}
      params.address = get(sim, friend, "C6", { coin = "USDT", network = "Tron(TRC20)" }).address
      local id = get(sim, house, "C2", params).id
      sim:advance(HOUR)
      assert.equal(1, withdrawal_of(house, id).transferType)
      assert.equal("99.5", free(sim, friend, "USDT"))
      local deposit = get(sim, friend, "C4")[1]
      assert.same({ "99.5", 5, withdrawal_of(house, id).txId }, { deposit.amount, deposit.status, deposit.txId })
    end)

    it("of a sub-account go to saved addresses, or anywhere with the funds password (10212)", function()
      local own = { coin = "USDT", network = "Tron(TRC20)", address = TRON, amount = "10" }
      assert.equal("10212", rejection(sim, desk, "A12", own))
      assert(sim:save_address { account = desk.uid, coin = "USDT", network = "TRX", address = TRON })
      assert(get(sim, desk, "A12", own))
      get(sim, house, "A2", { subAccount = "desk0002", note = "n", password = ("c"):rep(32) })
      local key = get(sim, house, "A5", { subAccount = "desk0002", note = "k", permissions = "SPOT_TRANSFER_READ" })
      get(sim, house, "A13", { toAccount = "desk0002", fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "30" })
      local second = { api_key = key.apikey, secret_key = key.secretKey }
      own.password = ("d"):rep(32)
      assert.equal("730002", rejection(sim, second, "A12", own))
      own.password = ("C"):rep(32)
      assert.equal(32, #get(sim, second, "A12", own).id)
    end)

    it("of a sub-account carry a memo as the address's suffix", function()
      get(sim, house, "A13", { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "XRP", amount = "50" })
      local ripple = { coin = "XRP", network = "Ripple(XRP)", address = RIPPLE, amount = "20",
        password = ("a"):rep(32) }
      assert.equal("700004", rejection(sim, desk, "A12", ripple))
      ripple.address = RIPPLE .. ":4711"
      assert(get(sim, desk, "A12", ripple))
      assert.equal("4711", sim.withdrawals.all[1].memo)
    end)
  end)
end)

local world = signed.world

local function payment(more) return signed.payment(TRON, more) end

describe("a withdrawal's fee", function()
  local cases = {
    { "on_top", nil, "79" }, { "inside", nil, "80" },
    { "on_top", "true", "80" }, { "on_top", "false", "79" }, { "inside", "false", "79" }, { "inside", "true", "80" },
  }
  for _, case in ipairs(cases) do
    it(("is taken as switch and request say: %s, includeFee %s"):format(case[1], tostring(case[2])), function()
      local sim, house = world { fee = case[1] }
      get(sim, house, "C2", payment { includeFee = case[2] })
      assert.equal(case[3], free(sim, house, "USDT"))
      assert(sim:verify())
      sim:advance(3600000)
      assert.equal(case[3], free(sim, house, "USDT"))
      assert.equal("20", get(sim, house, "C5")[1].amount)
      assert(sim:verify())
    end)
  end

  it("reaches an account of the platform as what is left", function()
    local sim, house = world { fee = "inside" }
    local friend = assert(sim:account { name = "Friend" })
    local address = get(sim, friend, "C6", { coin = "USDT", network = "Tron(TRC20)" }).address
    get(sim, house, "C2", payment { address = address })
    sim:advance(3600000)
    assert.equal("19", free(sim, friend, "USDT"))
    assert.equal("19", get(sim, friend, "C4")[1].amount)
    assert(sim:verify())
  end)

  it("comes back whole when the withdrawal is cancelled", function()
    local sim, house = world { fee = "inside" }
    local id = get(sim, house, "C2", payment()).id
    get(sim, house, "C3", { id = id })
    assert.equal("100", free(sim, house, "USDT"))
    assert(sim:verify())
  end)

  it("that is as large as the amount is rejected when it is inside", function()
    local sim, house = world({ fee = "inside" }, { balances = { SHIB = "900000" } })
    local params = { coin = "SHIB", netWork = "ETH", address = "0x" .. ("ab"):rep(20), amount = "600000" }
    assert(get(sim, house, "C2", params))
    coins.by_name.SHIB.networks[1].public.withdrawFee = "600000"
    local code, message = rejection(sim, house, "C2", params)
    coins.by_name.SHIB.networks[1].public.withdrawFee = "300000"
    assert.equal("33333", code)
    assert.matches("does not cover the fee", message)
  end)

  it("rejects another includeFee than true and false", function()
    local sim, house = world()
    assert.equal("33333", rejection(sim, house, "C2", payment { includeFee = "yes" }))
  end)
end)

describe("a simulator that takes saved addresses only", function()
  it("rejects withdrawals to all others", function()
    local sim, house = world { saved_addresses_only = true }
    local legacy = { coin = "USDT", network = "Tron(TRC20)", address = TRON, amount = "20" }
    assert.equal("10212", rejection(sim, house, "C2", payment()))
    assert.equal("10212", rejection(sim, house, "C17", legacy))
    assert.equal("100", free(sim, house, "USDT"))
    sim:save_address { account = "House", coin = "USDT", network = "TRX", address = TRON }
    assert(get(sim, house, "C2", payment()))
    assert(sim:verify())
  end)
end)

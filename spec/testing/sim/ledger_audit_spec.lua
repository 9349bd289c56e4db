-- SPDX-License-Identifier: MIT
-- The full check of the books: it holds through everything that happens, and sees each way in which they can be wrong.

local decimal = require "purser.decimal"
local ledger = require "purser.testing.sim.ledger"
local prng = require "purser.testing.sim.prng"
local purser = require "purser"
local signed = require "signed"

local get = signed.get

local TRON = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"

describe("the books of a simulator", function()
  it("keep every unit through a thousand random operations", function()
    local sim = purser.sim.new { seed = 11 }
    local house = assert(sim:account { role = "broker", balances = { USDT = "1000", XRP = "100", BTC = "0.5" } })
    local desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001" })
    local dice = prng.new(5)
    local assets = { "USDT", "XRP", "BTC" }
    for i = 1, 1000 do
      local asset = assets[dice:roll(3)]
      local amount = ("%d.%06d"):format(dice:roll(40) - 1, dice:roll(999999))
      local kind = dice:roll(6)
      if kind == 1 then
        signed.ask(sim, house, "A13", { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
          asset = asset, amount = amount })
      elseif kind == 2 then
        signed.ask(sim, house, "B6", { fromAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
          asset = asset, amount = amount })
      elseif kind == 3 then
        signed.ask(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = TRON, amount = amount })
      elseif kind == 4 then
        sim:deposit { account = desk.uid, coin = "USDT", network = "TRX", amount = amount }
      elseif kind == 5 then
        local open = get(sim, house, "C5", { status = 1 })[1]
        if open then get(sim, house, "C3", { id = open.id }) end
      else
        sim:advance(dice:roll(20000))
      end
      if i % 100 == 0 then assert(sim:verify()) end
    end
    local counts = sim:counts()
    assert.is_true(counts["broker.transfer"].applied > 10 and counts["wallet.withdraw"].applied > 10)
    local sum = decimal(0)
    for _, assets_at in pairs(sim.ledger.places) do sum = sum:add(assets_at.USDT or "0") end
    assert.is_true(sum:is_zero())
  end)

  it("are seen to be wrong when a unit appears, is lost or goes below nothing", function()
    for _, change in ipairs { "11", "9.99999999", "-10" } do
      local sim = purser.sim.new {}
      local owner = sim:account { balances = { USDT = "10" } }
      assert.is_true(sim:verify())
      sim.ledger.places[ledger.place(owner.uid, "SPOT")].USDT = decimal(change)
      local sound, wrong = sim:verify()
      assert.is_nil(sound)
      assert.is_truthy(wrong:find("USDT", 1, true))
    end
  end)

  it("are seen to be wrong when they balance but the records say otherwise", function()
    local sim = purser.sim.new {}
    local owner = sim:account { balances = { USDT = "10" } }
    local spot = ledger.place(owner.uid, "SPOT")
    local locked, one = ledger.place(owner.uid, "SPOT", "locked"), decimal("1")
    assert(sim.ledger:apply { [spot] = { USDT = one:negate() }, [locked] = { USDT = one } })
    assert.matches("the ledger has .*, the records say", select(2, sim:verify()))
    sim = purser.sim.new {}
    owner = sim:account { balances = { USDT = "10" } }
    spot = ledger.place(owner.uid, "SPOT")
    assert(sim.ledger:apply { [ledger.WORLD] = { USDT = one:negate() }, [spot] = { USDT = one } })
    assert.matches("the ledger has .*, the records say", select(2, sim:verify()))
  end)

  it("hold with a withdrawal, a deposit, a waiting transfer and a conversion in each of their states", function()
    local sim = purser.sim.new { transfer_wait_ms = 5000, fee = "inside" }
    local owner = assert(sim:account { balances = { USDT = "100", DOGE = "9" } })
    local id = get(sim, owner, "C2", { coin = "USDT", netWork = "TRX", address = TRON, amount = "20" }).id
    local deposit = assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "7" }).id
    get(sim, owner, "C9", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" })
    get(sim, owner, "C13", { asset = "DOGE" })
    for status = 1, 12 do
      if status <= 10 then assert(sim:set_withdrawal(id, status)) end
      assert(sim:set_deposit(deposit, status))
      assert(sim:verify())
      sim:advance(1000)
    end
  end)

  it("are seen to be wrong when a record is changed behind them", function()
    local changes = {
      function(sim) sim.withdrawals.all[1].amount = "21" end, function(sim) sim.withdrawals.all[1].status = 7 end,
      function(sim) sim.withdrawals.all[1].status = 9 end, function(sim) sim.deposits.all[1].amount = "7.000001" end,
      function(sim) sim.deposits.all[1].status = 7 end,
      function(sim) sim.conversions.all[1].details[1].convert = "1" end,
      function(sim) sim.wallet_transfers.all[1].status = "SUCCESS" end,
      function(sim) sim.grants.all[1].amounts.USDT = "99" end,
      function(sim) table.remove(sim.withdrawals.all) end,
    }
    for i, change in ipairs(changes) do
      local sim = purser.sim.new { transfer_wait_ms = 5000 }
      local owner = assert(sim:account { balances = { USDT = "100", DOGE = "9" } })
      assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "7",
        time = sim:now() - 99999 })
      get(sim, owner, "C2", { coin = "USDT", netWork = "TRX", address = TRON, amount = "20" })
      get(sim, owner, "C9", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" })
      get(sim, owner, "C13", { asset = "DOGE" })
      assert(sim:verify())
      change(sim)
      local sound, wrong = sim:verify()
      assert.is_nil(sound, i)
      assert.matches("the ledger has .*, the records say", wrong)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- A broker's rebates: A15.

local purser = require "purser"
local signed = require "signed"

local ask = signed.ask

describe("rebates", function()
  local sim, house, main

  before_each(function()
    sim = purser.sim.new { seed = 2 }
    house = assert(sim:account { role = "broker", name = "House" })
    main = assert(sim:account { role = "main" })
  end)

  it("are kept, newest first, in pages (A15)", function()
    for i = 1, 12 do
      assert(sim:rebate { account = house.uid, asset = "USDT", amount = ("%d.50"):format(i), uid = main.uid,
        time = sim:now() - (12 - i) * 86400000 })
    end
    local page = ask(sim, house, "A15")
    assert.same({ 1, 12, 2, 10 }, { page.page, page.totalRecords, page.totalPageNum, #page.data })
    assert.same({ asset = "USDT", amount = "12.5", type = "spot", uid = main.uid, time = "20231114" }, page.data[1])
    assert.equal(2, #ask(sim, house, "A15", { page = 2 }).data)
    assert.equal(3, ask(sim, house, "A15", { startTime = sim:now() - 2 * 86400000 }).totalRecords)
    assert.is_nil((sim:rebate { account = main.uid, asset = "USDT", amount = "1" }))
  end)

  it("grow within one day, user, asset and type where that is asked for", function()
    local function rebate(amount, more)
      local fields = { account = house.uid, asset = "USDT", amount = amount, uid = "7", grows = true }
      for name, value in pairs(more or {}) do fields[name] = value end
      return assert(sim:rebate(fields)).amount
    end
    assert.equal("1.5", rebate "1.5")
    assert.equal("4", rebate "2.5")
    for _, more in ipairs { { uid = "8" }, { asset = "BTC" }, { type = "futures" }, { grows = false },
      { time = sim:now() - 86400000 } } do
      assert.equal("1", rebate("1", more))
    end
    assert.equal("9", rebate "5")
    assert.equal(6, ask(sim, house, "A15").totalRecords)
  end)

  it("move no funds, and are of their broker alone", function()
    local other = assert(sim:account { role = "broker" })
    assert(sim:rebate { account = house.uid, asset = "USDT", amount = "5" })
    assert.equal(0, ask(sim, other, "A15").totalRecords)
    assert.equal("0", signed.free(sim, house, "USDT"))
    assert.matches("^%d%d%d%d%d%d%d%d$", ask(sim, house, "A15").data[1].uid)
    assert(sim:verify())
  end)
end)

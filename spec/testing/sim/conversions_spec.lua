-- SPDX-License-Identifier: MIT
-- Small balances into the platform's token: C12, C13, C14.

local made_address = require "made_address"
local purser = require "purser"
local signed = require "signed"

local get, free = signed.get, signed.free
local SECOND = 1000

describe("conversion of small balances", function()
  local sim, house

  before_each(function()
    sim = purser.sim.new { seed = 11 }
    house = assert(sim:account { role = "main",
      balances = { DOGE = "10", XRP = "5", BTC = "1", OLDC = "3", SHIB = "0.0001", MX = "1" } })
  end)

  after_each(function() assert(sim:verify()) end)

  it("lists what each balance is worth, or why it cannot be converted", function()
    local list = {}
    for _, entry in ipairs(get(sim, house, "C12")) do list[entry.asset] = entry end
    assert.same({ "0.3136", "0.8", "10", nil }, { list.DOGE.convertPlatformToken, list.DOGE.convertUsdt,
      list.DOGE.balance, list.DOGE.code })
    assert.same({ "30022", "30023", "30021" }, { list.BTC.code, list.OLDC.code, list.SHIB.code })
    assert.is_nil(list.MX)
  end)

  it("converts what it can, reports what it cannot, and keeps the fee", function()
    local made = get(sim, house, "C13", { asset = "DOGE,BTC,XRP,OLDC,NOPE,DOGE,MX" })
    assert.same({ "DOGE", "XRP" }, made.successList)
    assert.same({ "1.5288", "0.0312" }, { made.totalConvert, made.convertFee })
    local codes = {}
    for i, failed in ipairs(made.failedList) do codes[i] = failed.asset .. " " .. failed.code end
    assert.same({ "BTC 30022", "OLDC 30023", "NOPE 30024", "DOGE 30024", "MX 30023" }, codes)
    assert.equal("2.5288", free(sim, house, "MX"))
    assert.equal("0", free(sim, house, "DOGE"))
    local history = get(sim, house, "C14")
    local batch = history.data[1]
    assert.same({ 1, "1.5288", "0.0312", sim:now(), 2 }, { history.totalRecords, batch.totalConvert, batch.totalFee,
      batch.convertTime, #batch.convertDetails })
  end)

  it("keeps each batch, one a page unless more are asked for", function()
    get(sim, house, "C13", { asset = "DOGE" })
    sim:advance(SECOND)
    get(sim, house, "C13", { asset = "XRP" })
    local answer = signed.ask(sim, house, "C14")
    assert.same({ 2, 2, 1 }, { answer.totalRecords, answer.totalPageNum, #answer.data })
    assert.equal("XRP", answer.data[1].convertDetails[1].asset)
    assert.equal(2, #signed.ask(sim, house, "C14", { limit = 1000 }).data)
    assert.equal("DOGE", signed.ask(sim, house, "C14", { page = 2 }).data[1].convertDetails[1].asset)
  end)

  it("keeps no batch when nothing could be converted", function()
    local made = get(sim, house, "C13", { asset = "BTC" })
    assert.same({ {}, "0" }, { made.successList, made.totalConvert })
    assert.equal(0, signed.ask(sim, house, "C14").totalRecords)
  end)

  it("takes what is worth 5 USDT and not a hundredth of a cent more, rounds down and charges 2 %", function()
    local owner = assert(sim:account {
      balances = { USDT = "5", USDC = "5.000000000000000001", EOS = "0.12345678901" } })
    local list = {}
    for _, entry in ipairs(get(sim, owner, "C12")) do list[entry.asset] = entry end
    assert.same({ nil, "30022" }, { list.USDT.code, list.USDC.code })
    assert.same({ "1.96", "5" }, { list.USDT.convertPlatformToken, list.USDT.convertUsdt })
    -- 0.12345678901 * 0.8 = 0.098765431208 USDT, 0.03950617 MX of which 0.00079012 are the fee
    assert.same({ "0.03871605", "0.09876543" }, { list.EOS.convertPlatformToken, list.EOS.convertUsdt })
    local made = get(sim, owner, "C13", { asset = "EOS,USDT" })
    assert.same({ "1.99871605", "0.04079012" }, { made.totalConvert, made.convertFee })
    assert.same({ "1.99871605", "0", "0" },
      { free(sim, owner, "MX"), free(sim, owner, "EOS"), free(sim, owner, "USDT") })
  end)

  it("leaves locked funds alone", function()
    local owner = assert(sim:account { balances = { DOGE = "40" } })
    get(sim, owner, "C2", { coin = "DOGE", netWork = "DOGE", address = made_address("doge", 1), amount = "26" })
    local made = get(sim, owner, "C13", { asset = "DOGE" })
    assert.same({ { "DOGE" }, "0", "30" }, { made.successList, free(sim, owner, "DOGE"),
      free(sim, owner, "DOGE", "SPOT", "locked") })
  end)
end)

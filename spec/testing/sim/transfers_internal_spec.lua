-- SPDX-License-Identifier: MIT
-- Transfers to another user of the platform: C15, C16.

local signed = require "signed"

local get, rejection, free = signed.get, signed.rejection, signed.free

describe("internal transfers", function()
  local sim, house, desk

  before_each(function() sim, house, desk = signed.family() end)
  after_each(function() assert(sim:verify()) end)

  it("reach a user by e-mail, uid or telephone, and both see the record", function()
    local friend = sim:account { email = "Friend@mail.example", mobile = "8613800000000" }
    local ways = { { "EMAIL", "FRIEND@mail.example" }, { "UID", friend.uid }, { "MOBILE", "13800000000", "86" } }
    for _, to in ipairs(ways) do
      get(sim, house, "C15", { toAccountType = to[1], toAccount = to[2], areaCode = to[3], asset = "USDT",
        amount = "1.5" })
    end
    assert.equal("4.5", free(sim, friend, "USDT"))
    local page = signed.ask(sim, house, "C16")
    assert.same({ 3, 1, 1 }, { page.totalRecords, page.page, page.totalPageNum })
    assert.equal(3, signed.ask(sim, friend, "C16").totalRecords)
    local one = signed.ask(sim, house, "C16", { tranId = page.data[2].tranId })
    assert.same({ 1, "UID" }, { one.totalRecords, one.data[1].toAccountType })
    assert.equal(0, signed.ask(sim, desk, "C16", { tranId = page.data[2].tranId }).totalRecords)
  end)

  it("reach nobody who is unknown, frozen or the payer, and nothing moves then", function()
    local friend = assert(sim:account { email = "friend@mail.example" })
    local function send(more)
      local params = { toAccountType = "UID", toAccount = friend.uid, asset = "USDT", amount = "5" }
      for name, value in pairs(more) do params[name] = value end
      return (rejection(sim, house, "C15", params))
    end
    assert.equal("22222", send { toAccount = "1" })
    assert.equal("22222", send { toAccountType = "EMAIL" })
    assert.equal("22222", send { toAccount = desk.uid }) -- a sub-account is no user
    assert.equal("33333", send { toAccount = house.uid })
    assert.equal("10232", send { asset = "NOPE" })
    assert.equal("10101", send { amount = "1000.000000000000000001" })
    sim:freeze(friend.uid)
    assert.equal("730100", send {})
    assert.same({ "1000", "0" }, { free(sim, house, "USDT"), free(sim, friend, "USDT") })
    assert.equal(0, signed.ask(sim, house, "C16").totalRecords)
  end)

  it("are shown of the last seven days unless asked, the one of an id within the same window", function()
    local friend = assert(sim:account {})
    local id = get(sim, house, "C15", { toAccountType = "UID", toAccount = friend.uid, asset = "USDT",
      amount = "5" }).tranId
    local made = sim:now()
    sim:advance(8 * 86400000)
    local function total(params) return signed.ask(sim, house, "C16", params).totalRecords end
    assert.same({ 0, 0 }, { total(), total { tranId = id } })
    assert.same({ 1, 1 }, { total { startTime = made }, total { startTime = made, tranId = id } })
    assert.same({ 0, 0 }, { total { startTime = made + 1 }, total { startTime = made + 1, tranId = id } })
    assert.same({ 1, 0 }, { total { endTime = made, tranId = id }, total { endTime = made - 1, tranId = id } })
    assert.same({}, signed.ask(sim, house, "C16", { tranId = id, startTime = made, page = 2 }).data)
    assert.equal("house@mail.example", signed.ask(sim, friend, "C16", { startTime = made }).data[1].fromAccount)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Users and their sub-accounts: made, listed, frozen, their balances.

local accounts = require "purser.testing.sim.accounts"
local purser = require "purser"
local signed = require "signed"

local get, rejection = signed.get, signed.rejection

describe("accounts in the simulator", function()
  local sim, house, main

  before_each(function()
    sim = purser.sim.new { seed = 2 }
    house = assert(sim:account { role = "broker", name = "House", balances = { USDT = "10" } })
    main = assert(sim:account { role = "main", balances = { USDT = "10" } })
  end)

  it("creates sub-accounts by A2 and B1, each name once a parent (730101)", function()
    get(sim, house, "A2", { subAccount = "desk0001", note = "first" })
    get(sim, house, "B1", { subAccount = "desk0002", note = "second" })
    for _, id in ipairs { "A2", "B1" } do
      assert.equal("730101", rejection(sim, house, id, { subAccount = "desk0001", note = "again" }))
    end
    assert.same({ subAccount = "desk0001", note = "mine" },
      get(sim, main, "B1", { subAccount = "desk0001", note = "mine" }))
    local names = {}
    for i, sub in ipairs(get(sim, house, "A3")) do names[i] = sub.subAccount .. " " .. sub.note end
    assert.same({ "desk0001 first", "desk0002 second" }, names)
    assert.equal(sim:now(), get(sim, house, "A3", { subAccount = "desk0002" })[1].timestamp)
  end)

  it("pages A3 and B2, ten at a time unless asked", function()
    for i = 1, 23 do get(sim, house, "B1", { subAccount = ("desk%04d"):format(i), note = "n" }) end
    for _, id in ipairs { "A3", "B2" } do
      local function page(params)
        local answer = get(sim, house, id, params)
        return answer.subAccounts or answer
      end
      assert.equal(10, #page {})
      assert.equal(3, #page { page = 3 })
      assert.equal(0, #page { page = 4 })
      assert.equal(23, #page { limit = 200 })
      assert.equal("desk0011", page({ page = 2 })[1].subAccount)
    end
  end)

  it("freezes and thaws: A4 and B2 show it", function()
    get(sim, house, "A2", { subAccount = "desk0001", note = "n" })
    get(sim, house, "A2", { subAccount = "desk0002", note = "n" })
    assert(sim:freeze("desk0001"))
    assert.equal("2", get(sim, house, "A4", { subAccount = "desk0001" }).status)
    assert.equal("1", get(sim, house, "A4", { subAccount = "desk0002" }).status)
    local frozen = get(sim, house, "B2", { isFreeze = "true" }).subAccounts
    assert.same({ 1, "desk0001", true }, { #frozen, frozen[1].subAccount, frozen[1].isFreeze })
    assert.equal("desk0002", get(sim, house, "B2", { isFreeze = "false" }).subAccounts[1].subAccount)
    assert.equal("140002", rejection(sim, house, "A5",
      { subAccount = "desk0001", note = "k", permissions = "SPOT_ACCOUNT_READ" }))
    assert(sim:freeze("desk0001", false))
    assert.equal("1", get(sim, house, "A4", { subAccount = "desk0001" }).status)
    assert.is_nil((sim:freeze("nobody")))
  end)

  it("shows a sub-account's spot balances, free and locked (B8)", function()
    local desk = sim:account { role = "sub", parent = house.uid, name = "desk0001",
      balances = { USDT = "50.50", BTC = "0.1" }, futures_balances = { USDT = "9" } }
    get(sim, desk, "C2",
      { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = "20" })
    assert.same({ { asset = "BTC", free = "0.1", locked = "0" }, { asset = "USDT", free = "29.5", locked = "21" } },
      get(sim, house, "B8", { subAccount = "desk0001", accountType = "SPOT" }).balances)
  end)

  it("gives each account a uid of its own, whatever uids were asked for", function()
    local taken = {}
    local world = purser.sim.new { seed = 2 }
    for _, uid in ipairs { "10000038", "10000075", "10000112" } do
      taken[assert(world:account { uid = uid }).uid] = true
    end
    for _ = 1, 6 do
      local uid = assert(world:account { balances = { USDT = "1" } }).uid
      assert.is_nil(taken[uid], uid)
      taken[uid] = true
    end
    assert(world:verify())
  end)

  it("keeps sub-accounts of two parents apart, also when their names are equal", function()
    get(sim, house, "B1", { subAccount = "desk0001", note = "of the house" })
    get(sim, main, "B1", { subAccount = "desk0001", note = "of the other" })
    assert(sim:freeze(get(sim, main, "B2").subAccounts[1].uid))
    assert.equal("1", get(sim, house, "A4", { subAccount = "desk0001" }).status)
    assert.is_true(get(sim, main, "B2").subAccounts[1].isFreeze)
    assert.equal("140001", rejection(sim, main, "B8", { subAccount = "desk0002", accountType = "SPOT" }))
  end)

  it("names the payer of a transfer by e-mail, telephone or uid", function()
    local function name(fields) return accounts.display_name(fields) end
    assert.equal("desk", name { parent = "1", name = "desk", email = "a@b", uid = "2" })
    assert.equal("a@b", name { name = "Main", email = "a@b", mobile = "86139", uid = "2" })
    assert.equal("86139", name { name = "Main", mobile = "86139", uid = "2" })
    assert.equal("2", name { name = "Main", uid = "2" })
  end)

  it("lets all but a broker's sub-accounts hold futures from the start", function()
    local desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001" })
    local cousin = assert(sim:account { role = "sub", parent = main.uid, name = "desk0001" })
    local function has(who) return accounts.has_futures(sim, sim.accounts.by_id[who.uid]) end
    assert.same({ true, true, true, false }, { has(house), has(main), has(cousin), has(desk) })
    get(sim, house, "A14", { subAccount = "desk0001" })
    assert.is_true(has(desk))
    sim:freeze("desk0001")
    assert.equal("140002", rejection(sim, house, "A14", { subAccount = "desk0001" }))
  end)
end)

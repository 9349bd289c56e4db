-- SPDX-License-Identifier: MIT
-- Sub-accounts, their keys and their states; the coin configuration; saved addresses; rebates.

local core = require "purser.core"
local purser = require "purser"
local signed = require "signed"

local ask, get, rejection = signed.ask, signed.get, signed.rejection

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

  describe("keys", function()
    local params
    before_each(function()
      get(sim, house, "A2", { subAccount = "desk0001", note = "n" })
      params = { subAccount = "desk0001", note = "robot", permissions = "SPOT_ACCOUNT_READ,SPOT_TRANSFER_READ" }
    end)

    it("work from their creation to their deletion", function()
      params.ip = "127.0.0.1"
      local made = get(sim, house, "A5", params)
      local robot = { api_key = made.apikey, secret_key = made.secretKey }
      assert(get(sim, robot, "C12"))
      assert.equal("700007", rejection(sim, robot, "C1"))
      assert.equal("700006", rejection(sim, robot, "C12", nil, { ip = "10.0.0.9" }))
      get(sim, house, "A7", { subAccount = "desk0001", apiKey = made.apikey })
      assert.equal("10072", rejection(sim, robot, "C12"))
      assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0001", apiKey = made.apikey }))
    end)

    it("are listed without their secret, with what they were made with", function()
      local made = get(sim, house, "B3", params)
      for _, id in ipairs { "A6", "B4" } do
        local answer, response = ask(sim, house, id, { subAccount = "desk0001" })
        local key = answer.subAccount[1]
        assert.same({ "robot", made.apiKey, params.permissions, "", sim:now() },
          { key.note, key.apiKey, key.permissions, key.ip, key.creatTime })
        assert.is_nil(response.body:find(made.secretKey, 1, true))
      end
    end)

    it("are at most 30 a sub-account (730705)", function()
      for _ = 1, 30 do get(sim, house, "A5", params) end
      assert.equal("730705", rejection(sim, house, "A5", params))
      local first = get(sim, house, "A6", { subAccount = "desk0001" }).subAccount[1]
      get(sim, house, "A7", { subAccount = "desk0001", apiKey = first.apiKey })
      assert(get(sim, house, "A5", params))
    end)

    it("are deleted only through the sub-account they belong to", function()
      get(sim, house, "A2", { subAccount = "desk0002", note = "n" })
      local made = get(sim, house, "A5", params)
      assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0002", apiKey = made.apikey }))
      assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0001", apiKey = house.api_key }))
    end)
  end)

  it("shows a sub-account's spot balances, free and locked (B8)", function()
    local desk = sim:account { role = "sub", parent = house.uid, name = "desk0001",
      balances = { USDT = "50.50", BTC = "0.1" }, futures_balances = { USDT = "9" } }
    get(sim, desk, "C2",
      { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = "20" })
    assert.same({ { asset = "BTC", free = "0.1", locked = "0" }, { asset = "USDT", free = "29.5", locked = "21" } },
      get(sim, house, "B8", { subAccount = "desk0001", accountType = "SPOT" }).balances)
  end)

  it("has coins with memos, suspended networks and limits beyond every number type (C1)", function()
    local list = get(sim, main, "C1")
    local networks, memos, suspended, greatest = 0, 0, 0, 0
    for _, coin in ipairs(list) do
      for _, network in ipairs(coin.networkList) do
        networks = networks + 1
        memos = memos + (network.sameAddress and 1 or 0)
        suspended = suspended + ((network.withdrawEnable and network.depositEnable) and 0 or 1)
        greatest = math.max(greatest, #network.withdrawMax)
        assert.is_true(assert(core.decimal(network.withdrawMin)):compare(network.withdrawFee) >= 0)
      end
    end
    assert.is_true(#list >= 12 and networks >= 20 and memos >= 3 and suspended >= 3)
    assert.equal(30, greatest)
  end)

  it("keeps saved withdrawal addresses, in pages (C8)", function()
    for i = 1, 12 do
      local fields = { account = main.uid, coin = "USDT", network = "TRX",
        address = ("T%033d"):format(i):gsub("0", "z") }
      if i > 10 then
        fields = { account = main.uid, coin = "XLM", network = "XLM", address = "G" .. ("A"):rep(55), memo = "m" }
      end
      assert(sim:save_address(fields))
    end
    local page = ask(sim, main, "C8")
    assert.same({ 12, 2, 1, 10 }, { page.totalRecords, page.totalPageNum, page.page, #page.data })
    local lumens = ask(sim, main, "C8", { coin = "XLM" }).data
    assert.same({ 2, "Stellar(XLM)", "m", "m" }, { #lumens, lumens[1].network, lumens[1].memo, lumens[1].addressTag })
    assert.is_nil((sim:save_address { account = main.uid, coin = "USDT", network = "TRX", address = "0x1" }))
  end)

  it("keeps rebates, newest first, in pages (A15)", function()
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

  it("says what is wrong with what the world is given", function()
    for _, call in ipairs {
      { "account", { roll = "main" }, 'did you mean "role"' },
      { "account", { role = "king" }, 'is "king"; it must be one of broker, main' },
      { "account", { balances = { USDT = "-1" } }, "balance of USDT" },
      { "account", { balances = "all" }, '"balances" is a string; it must be a table' },
      { "account", { name = 5 }, '"name" is a number; it must be a string' },
      { "account", { parent = 5 }, "it must be a string or table" }, { "account", "king", "given in a table" },
      { "account", { api_key = "short" }, "8 to 64" }, { "account", { api_key = main.api_key }, "is taken" },
      { "deposit", { account = main.uid, time = "soon" }, "it must be a time in epoch milliseconds" },
      { "deposit", { account = main.uid, time = 1.5 }, "epoch milliseconds" },
      { "rebate", { account = main.uid, time = -1 }, "epoch milliseconds" },
      { "account", { role = "sub", parent = "nobody", name = "x" }, "parent" },
      { "deposit", { account = "nobody", coin = "USDT", network = "TRX", amount = "1" }, "no account" },
      { "deposit", { account = main.uid, coin = "USDT", network = "TRX", amount = 1.5 }, "text" },
      { "deposit", { account = main.uid, coin = "NOPE", network = "TRX", amount = "1" }, "does not exist" },
    } do
      local done, message = sim[call[1]](sim, call[2])
      assert.is_nil(done)
      assert.is_truthy(message:find(call[3], 1, true), message)
    end
    assert.has_error(function() purser.sim.new { sead = 1 } end)
    assert.has_error(function() purser.sim.new { clock = "sundial" } end)
  end)
end)

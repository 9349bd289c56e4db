-- SPDX-License-Identifier: MIT
-- What moves funds: transfers, withdrawals, deposits, conversions. After every step the books are checked in full.

local decimal = require "purser.decimal"
local purser = require "purser"
local signed = require "signed"

local get, rejection, free = signed.get, signed.rejection, signed.free

local TRON = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"
local RIPPLE = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
local SECOND, HOUR = 1000, 3600000

describe("money in the simulator", function()
  local sim, house, desk

  local function world(options)
    sim = purser.sim.new(options or { seed = 11 })
    house = assert(sim:account {
      role = "broker", email = "house@mail.example", balances = { USDT = "1000", XRP = "100", BTC = "0.5" },
    })
    desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001", balances = { USDT = "50" } })
  end
  before_each(function() world() end)
  after_each(function() assert(sim:verify()) end)

  local function withdrawal_of(who, id)
    for _, record in ipairs(get(sim, who, "C5")) do
      if record.id == id then return record end
    end
  end

  describe("transfers of a family", function()
    local params
    before_each(function()
      params = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = "12.50" }
    end)

    it("move exactly the amount, and are found in the history under both operations", function()
      local made = get(sim, house, "A13", params)
      assert.equal("987.5", free(sim, house, "USDT"))
      assert.equal("62.5", free(sim, desk, "USDT"))
      local filter = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT" }
      for _, id in ipairs { "A1", "B7" } do
        local record = get(sim, house, id, filter)[1]
        assert.equal(made.tranId, record.tranId)
        assert.same({ "12.5", "SUCCESS", "house@mail.example", "desk0001" },
          { record.amount, record.status, record.fromAccount, record.toAccount })
      end
      -- an account that is not named is the parent
      assert.same({}, get(sim, house, "A1", { fromAccountType = "SPOT", toAccountType = "SPOT" }))
    end)

    it("go back to the parent", function()
      get(sim, house, "B6", { fromAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "50" })
      assert.equal("0", free(sim, desk, "USDT"))
      assert.equal("1050", free(sim, house, "USDT"))
    end)

    it("execute a client id once more that was used before, as nothing documented forbids it", function()
      params.clientTranId = ("a1"):rep(16)
      get(sim, house, "A13", params)
      get(sim, house, "B6", params)
      assert.equal(2, #get(sim, house, "A1", { clientTranId = params.clientTranId, toAccount = "desk0001",
        fromAccountType = "SPOT", toAccountType = "SPOT" }))
    end)

    it("carry a client id once where repeated ids are rejected, whichever operation is used", function()
      sim.switches.repeated_ids = "reject"
      params.clientTranId = ("a1"):rep(16)
      get(sim, house, "A13", params)
      assert.equal("730002", rejection(sim, house, "A13", params))
      assert.equal("730002", rejection(sim, house, "B6", params))
      assert.equal("62.5", free(sim, desk, "USDT"))
      local found = get(sim, house, "A1", { clientTranId = params.clientTranId, toAccount = "desk0001",
        fromAccountType = "SPOT", toAccountType = "SPOT" })
      assert.equal(1, #found)
    end)

    it("leave a client id unused when the transfer was rejected", function()
      params.clientTranId, params.amount = ("b2"):rep(16), "5000"
      assert.equal("10101", rejection(sim, house, "A13", params))
      params.amount = "5"
      assert(get(sim, house, "A13", params))
    end)

    it("need the futures business of a broker's sub-account (A14)", function()
      params.toAccountType = "FUTURES"
      assert.equal("730002", rejection(sim, house, "A13", params))
      assert.equal("33333", rejection(sim, desk, "C9",
        { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }))
      local enabled = get(sim, house, "A14", { subAccount = "desk0001" })
      assert.is_true(enabled[1].isFuturesEnabled)
      params.toAccountType = "FUTURE" -- as samples print it
      assert(get(sim, house, "A13", params))
      assert.equal("12.5", free(sim, desk, "USDT", "FUTURES"))
    end)

    it("are rejected while the sub-account is frozen (140002)", function()
      sim:freeze("desk0001")
      assert.equal("140002", rejection(sim, house, "A13", params))
      sim:freeze("desk0001", false)
      assert(get(sim, house, "A13", params))
    end)

    it("do not reach another parent's sub-account (140001)", function()
      local other = sim:account { role = "main", balances = { USDT = "5" } }
      params.amount = "1"
      assert.equal("140001", rejection(sim, other, "B6", params))
    end)
  end)

  describe("spot and futures transfers", function()
    local out = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "100" }

    it("succeed at once, and are found by id and in the history of their direction", function()
      local made = get(sim, house, "C9", out)[1]
      assert.equal("100", free(sim, house, "USDT", "FUTURES"))
      assert.equal("SUCCESS", get(sim, house, "C11", { tranId = made.tranId }).status)
      local page = get(sim, house, "C10", { fromAccountType = "SPOT", toAccountType = "FUTURES" })[1]
      assert.equal(1, page.total)
      assert.equal(made.tranId, page.rows[1].tranId)
      assert.equal(0, get(sim, house, "C10", { fromAccountType = "FUTURES", toAccountType = "SPOT" })[1].total)
      assert.equal("22222", rejection(sim, desk, "C11", { tranId = made.tranId }))
    end)

    it("wait where the option says so: the funds are locked until then", function()
      world { transfer_wait_ms = 5 * SECOND }
      local made = get(sim, house, "C9", out)[1]
      assert.equal("WAIT", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.same({ "900", "100", "0" }, { free(sim, house, "USDT"), free(sim, house, "USDT", "SPOT", "locked"),
        free(sim, house, "USDT", "FUTURES") })
      assert(sim:verify())
      sim:advance(5 * SECOND)
      assert.equal("SUCCESS", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.equal("100", free(sim, house, "USDT", "FUTURES"))
    end)

    it("give the funds back when they fail", function()
      world { transfer_wait_ms = 5 * SECOND }
      local made = get(sim, house, "C9", out)[1]
      assert(sim:fail_transfer(made.tranId))
      sim:advance(HOUR)
      assert.equal("FAILED", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.equal("1000", free(sim, house, "USDT"))
    end)
  end)

  describe("withdrawals", function()
    local params
    before_each(function()
      params = { coin = "USDT", netWork = "TRX", address = TRON, amount = "99.5", withdrawOrderId = "order-1" }
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
      assert(sim:fail_withdrawal(id))
      assert.is_nil((sim:fail_withdrawal(id)))
      sim:advance(HOUR)
      assert.equal(8, withdrawal_of(house, id).status)
      assert.equal("1000", free(sim, house, "USDT"))
    end)

    it("execute an order id once more, unless repeated ids are rejected", function()
      get(sim, house, "C2", params)
      assert(get(sim, house, "C2", params))
    end)

    it("take an order id once where repeated ids are rejected, for C2 and C17 together", function()
      sim.switches.repeated_ids = "reject"
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

    it("need a memo where the network has one", function()
      local ripple = { coin = "XRP", netWork = "XRP", address = RIPPLE, amount = "20" }
      assert.equal("700004", rejection(sim, house, "C2", ripple))
      ripple.memo = "not digits"
      assert.equal("33333", rejection(sim, house, "C2", ripple))
      ripple.memo = "123456"
      assert(get(sim, house, "C2", ripple))
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

  describe("deposits", function()
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

    it("have one address a coin and network, the same ever after", function()
      local params = { coin = "USDT", network = "Ethereum(ERC20)" }
      local first, again = get(sim, house, "C6", params), get(sim, house, "C6", params)
      assert.equal(first.address, again.address)
      assert.is_truthy(first.address:find("^0x%x+$"))
      assert.equal(1, #get(sim, house, "C7", { coin = "USDT" }))
      assert.same({}, get(sim, house, "C7", { coin = "USDT", network = "Tron(TRC20)" }))
      assert.equal("10216", rejection(sim, house, "C6", { coin = "EOS", network = "EOS" }))
    end)
  end)

  describe("conversion of small balances", function()
    before_each(function()
      house = assert(sim:account { role = "main",
        balances = { DOGE = "10", XRP = "5", BTC = "1", OLDC = "3", SHIB = "0.0001", MX = "1" } })
    end)

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
      assert.same({ 1, "1.5288", 2 }, { history.totalRecords, batch.totalConvert, #batch.convertDetails })
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
  end)

  describe("internal transfers", function()
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
  end)

  it("keeps every unit through a thousand random operations", function()
    local dice = require("purser.sim.prng").new(5)
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
end)

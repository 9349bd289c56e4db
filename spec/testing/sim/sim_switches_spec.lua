-- SPDX-License-Identifier: MIT
-- The switches of the simulator, for what the interface leaves open: each is what it says, and the books stay right.

local purser = require "purser"
local signed = require "signed"
local simulated = require "simulated"

local ask, get = signed.ask, signed.get
local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
local OWN = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }

local world = signed.world

local function payment(more) return signed.payment(PAYEE, more) end

describe("sub-accounts", function()
  local function create(sim, house, number)
    local params = { subAccount = ("desk%04d"):format(number), note = "n" }
    return sim:handle(signed.request(sim, house, number % 2 == 0 and "A2" or "B1", params))
  end

  it("are at most 30, or as many as the switch says", function()
    for _, max in ipairs { 30, 3 } do
      local sim, house = world { max_sub_accounts = max ~= 30 and max or nil }
      for number = 1, max do assert.equal(200, create(sim, house, number).status) end
      local response = create(sim, house, max + 1)
      assert.equal(400, response.status)
      assert.matches("At most " .. max, response.body)
    end
    local sim, house = world { max_sub_accounts = 0 }
    for number = 1, 31 do assert.equal(200, create(sim, house, number).status) end
  end)
end)

describe("records", function()
  it("show records late where the option says so, though they are executed", function()
    local sim = purser.sim.new { visibility_delay_ms = 3000 }
    local house = assert(sim:account { role = "broker", balances = { USDT = "100" } })
    sim:advance(10000)
    get(sim, house, "B1", { subAccount = "desk0001", note = "n" })
    get(sim, house, "B6", { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "40" })
    get(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      amount = "20" })
    local made = get(sim, house, "C9",
      { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })[1]
    local way = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT" }
    local function seen()
      return { #get(sim, house, "A3"), #get(sim, house, "B2").subAccounts, #get(sim, house, "A1", way),
        #get(sim, house, "C5"), select(2, ask(sim, house, "C11", { tranId = made.tranId })).status }
    end
    assert.equal("40", get(sim, house, "B8", { subAccount = "desk0001", accountType = "SPOT" }).balances[1].free)
    assert.same({ 0, 0, 0, 0, 400 }, seen())
    sim:advance(2999)
    assert.same({ 0, 0, 0, 0, 400 }, seen())
    sim:advance(1)
    assert.same({ 1, 1, 1, 1, 200 }, seen())
  end)
end)

describe("the live form", function()
  local sim, house
  before_each(function()
    sim, house = world { variant = "live" }
    get(sim, house, "B1", { subAccount = "desk0001", note = "n" })
  end)

  it("has transfer ids of 32 hexadecimal digits, but for the number of B6", function()
    assert.matches("^" .. ("%x"):rep(32) .. "$", get(sim, house, "C9", OWN).tranId)
    local family = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "1" }
    assert.matches("^" .. ("%x"):rep(32) .. "$", get(sim, house, "A13", family).tranId)
    local body = sim:handle(signed.request(sim, house, "B6", family)).body
    assert.matches('"tranId":%d+,', body)
    assert(sim:account { name = "Friend", email = "f@mail.example" })
    assert.matches("^" .. ("%x"):rep(32) .. "$", get(sim, house, "C15", { toAccountType = "EMAIL",
      toAccount = "f@mail.example", asset = "USDT", amount = "1" }).tranId)
  end)

  it("has the memo of C6 and C7 apart, and the network's short id", function()
    local record = get(sim, house, "C6", { coin = "XRP", network = "Ripple(XRP)" })
    assert.same({ "XRP", "100000" }, { record.netWork, record.memo })
    assert.is_nil(record.address:find(":", 1, true))
    assert.equal("100000", get(sim, house, "C7", { coin = "XRP" })[1].memo)
  end)

  it("names a coin of several networks with its network, in deposits and withdrawals, and takes that name", function()
    assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = "1" })
    assert(sim:deposit { account = "House", coin = "USDT", network = "ETH", amount = "2" })
    assert(sim:deposit { account = "House", coin = "XRP", network = "XRP", amount = "3" })
    local function coins_of(params)
      local names = {}
      for i, deposit in ipairs(get(sim, house, "C4", params)) do names[i] = deposit.coin end
      table.sort(names)
      return names
    end
    assert.same({ "USDT-ETH", "USDT-TRX", "XRP" }, coins_of {})
    assert.same({ "USDT-ETH", "USDT-TRX" }, coins_of { coin = "USDT" })
    assert.same({ "USDT-TRX" }, coins_of { coin = "USDT-TRX" })
    assert.equal("10232", tostring(select(2, ask(sim, house, "C4", { coin = "USDT-NONE" })).code))
    get(sim, house, "C2", payment())
    local withdrawal = get(sim, house, "C5", { coin = "USDT-TRX" })[1]
    assert.same({ "USDT-TRX", "TRX" }, { withdrawal.coin, withdrawal.netWork })
    assert.same({}, get(sim, house, "C5", { coin = "USDT-ETH" }))
  end)

  it("makes another address of a network each time, and lists them all", function()
    local wanted, made = { coin = "USDT", network = "Tron(TRC20)" }, {}
    for i = 1, 3 do made[i] = get(sim, house, "C6", wanted).address end
    local listed = {}
    for i, record in ipairs(get(sim, house, "C7", { coin = "USDT" })) do listed[i] = record.address end
    assert.same(made, listed)
    assert.is_true(made[1] ~= made[2] and made[2] ~= made[3])
    for _, address in ipairs(made) do
      assert(sim:deposit { coin = "USDT", network = "TRX", amount = "1", address = address })
    end
    assert.equal(3, #get(purser.sim.restore(sim:snapshot()), house, "C7", { coin = "USDT" }))
    assert.is_true(sim:verify())
  end)

  it("takes 10 IP addresses of a key and no more", function()
    local ips = {}
    for i = 1, 11 do ips[i] = "10.0.0." .. i end
    local key = { subAccount = "desk0001", note = "n", permissions = "SPOT_DEAL_READ" }
    key.ip = table.concat(ips, ",", 1, 10)
    assert.equal(200, select(2, ask(sim, house, "B3", key)).status)
    key.ip = table.concat(ips, ",")
    assert.matches("730703", select(2, ask(sim, house, "B3", key)).body)
  end)

  it("has a list of coins of more than a megabyte", function()
    local body = select(2, ask(sim, house, "C1")).body
    assert.is_true(#body > 1200000, #body)
    assert.equal(body, select(2, ask(sim, house, "C1")).body)
  end)

  it("answers a path that does not exist with 200 and nothing, and refuses plain parentheses as a signature", function()
    local response = sim:handle { method = "GET", target = "/api/v3/nowhere", headers = {} }
    assert.same({ 200, "" }, { response.status, response.body })
    local plain = signed.request(sim, house, "C4", {}, { query = "coin=(USDT)" })
    local encoded = signed.request(sim, house, "C4", {}, { query = "coin=%28USDT%29" })
    assert.matches("700002", sim:handle(plain).body)
    assert.matches("10232", sim:handle(encoded).body)
  end)

  it("has deposits with the chain's hash in transHash, padded amounts and other names of networks", function()
    assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = "1.5", tx_id = "ab12" })
    assert(sim:deposit { account = "House", coin = "BTC", network = "BTC", amount = "1", tx_id = "cd34" })
    local bitcoin, tron = (table.unpack or unpack)(get(sim, house, "C4")) -- luacheck: ignore
    if bitcoin.coin ~= "BTC-BTC" then bitcoin, tron = tron, bitcoin end
    assert.same({ "ab12:0", "ab12", "1.5" .. ("0"):rep(29), "TRX", "TRX" },
      { tron.txId, tron.transHash, tron.amount, tron.network, tron.netWork })
    assert.same({ "Bitcoin(BTC)", "BTC" }, { bitcoin.network, bitcoin.netWork })
    assert.equal(sim:now(), tron.updateTime)
    get(sim, house, "C2", payment())
    local withdrawal = get(sim, house, "C5")[1]
    assert.same({ "20." .. ("0"):rep(18), "TRC20" }, { withdrawal.amount, withdrawal.network })
  end)

  it("has the member symbol in the rows of C10, which is null there", function()
    get(sim, house, "C9", OWN)
    local types = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    assert.matches('"symbol":null', sim:handle(signed.request(sim, house, "C10", types)).body, 1, true)
  end)

  it("has the codes that were seen of an unknown sub-account", function()
    local function code(id, params)
      local response = sim:handle(signed.request(sim, house, id, params))
      return ("%d %s"):format(response.status, response.body:match '"code":"?(%d+)')
    end
    assert.equal("200 700004", code("B8", { subAccount = "none", accountType = "SPOT" }))
    assert.equal("200 730002", code("B4", { subAccount = "none" }))
    assert.equal("200 730002", code("B3", { subAccount = "none", note = "k", permissions = "SPOT_DEAL_READ" }))
    assert.equal("400 140001", code("A4", { subAccount = "none" }))
  end)

end)

describe("the options of a simulator", function()
  it("are the readings that are hardest on a client where nothing else is asked for", function()
    assert.same({ repeated_ids = "execute", fee = "on_top", saved_addresses_only = false,
      shared_addresses = false, max_sub_accounts = 30, key_days = 90,
      visibility_delay_ms = 0, transfer_wait_ms = 0,
      seed = 1, clock = "virtual", record_requests = 100 }, purser.sim.new({}).options)
  end)

  it("are what is asked for, false and 0 included", function()
    local set = purser.sim.new({ repeated_ids = "reject", saved_addresses_only = false, max_sub_accounts = 0 }).options
    assert.same({ "reject", false, 0 }, { set.repeated_ids, set.saved_addresses_only, set.max_sub_accounts })
  end)
end)

describe("an address", function()
  it("is refused by the simulator where a check refuses it, and for a wrong checksum, too", function()
    local sim, client = simulated.world({}, { balances = { USDT = "1000" } }, { rate_limit = false })
    local theirs = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }).address
    local mistyped = theirs:sub(1, -2) .. (theirs:sub(-1) == "a" and "b" or "a")
    local saved = { account = sim.accounts.all[1].uid, coin = "USDT", network = "TRX" }
    for _, address in ipairs { mistyped, "treasury", "0x52908400098527886e0f7030069857d2e4169ee7" } do
      local _, err = client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "20" }
      assert.equal("33333", err.code)
      saved.address = address
      assert.is_nil((sim:save_address(saved)))
    end
    assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = theirs, amount = "20" })
    saved.address = theirs
    assert(sim:save_address(saved))
  end)
end)

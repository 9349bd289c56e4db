-- SPDX-License-Identifier: MIT
-- What the interface leaves open, as switches of the simulator: each is what it says, and the books stay right.

local history = require "purser.sim.history"
local purser = require "purser"
local signed = require "signed"

local get, rejection = signed.get, signed.rejection
local DAY = 86400000
local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
local OWN = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }

local function world(options, fields)
  local sim = purser.sim.new(options)
  local account = { role = "broker", name = "House", balances = { USDT = "100" } }
  for name, value in pairs(fields or {}) do account[name] = value end
  return sim, assert(sim:account(account))
end

local function payment(more)
  local params = { coin = "USDT", netWork = "TRX", address = PAYEE, amount = "20" }
  for name, value in pairs(more or {}) do params[name] = value end
  return params
end

local function free(sim, name)
  for _, account in ipairs(sim:state().accounts) do
    if account.name == name then return account.spot[1].free, account.spot[1].locked end
  end
end

describe("a withdrawal's fee", function()
  local cases = {
    { "on_top", nil, "79" }, { "inside", nil, "80" },
    { "on_top", "true", "80" }, { "on_top", "false", "79" }, { "inside", "false", "79" }, { "inside", "true", "80" },
  }
  for _, case in ipairs(cases) do
    it(("is taken as switch and request say: %s, includeFee %s"):format(case[1], tostring(case[2])), function()
      local sim, house = world { fee = case[1] }
      get(sim, house, "C2", payment { includeFee = case[2] })
      assert.equal(case[3], (free(sim, "House")))
      assert(sim:verify())
      sim:advance(3600000)
      assert.equal(case[3], (free(sim, "House")))
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
    assert.equal("19", (free(sim, "Friend")))
    assert.equal("19", get(sim, friend, "C4")[1].amount)
    assert(sim:verify())
  end)

  it("comes back whole when the withdrawal is cancelled", function()
    local sim, house = world { fee = "inside" }
    local id = get(sim, house, "C2", payment()).id
    get(sim, house, "C3", { id = id })
    assert.equal("100", (free(sim, "House")))
    assert(sim:verify())
  end)

  it("that is as large as the amount is rejected when it is inside", function()
    local sim, house = world({ fee = "inside" }, { balances = { SHIB = "900000" } })
    local params = { coin = "SHIB", netWork = "ETH", address = "0x" .. ("ab"):rep(20), amount = "600000" }
    assert(get(sim, house, "C2", params))
    require("purser.sim.coins").by_name.SHIB.networks[1].public.withdrawFee = "600000"
    local code, message = rejection(sim, house, "C2", params)
    require("purser.sim.coins").by_name.SHIB.networks[1].public.withdrawFee = "300000"
    assert.equal("33333", code)
    assert.matches("does not cover the fee", message)
  end)

  it("rejects another includeFee than true and false", function()
    local sim, house = world()
    assert.equal("33333", rejection(sim, house, "C2", payment { includeFee = "yes" }))
  end)
end)

describe("an account that takes saved addresses only", function()
  local function both(sim, house)
    local legacy = { coin = "USDT", network = "Tron(TRC20)", address = PAYEE, amount = "20" }
    return rejection(sim, house, "C2", payment()), rejection(sim, house, "C17", legacy)
  end

  it("rejects withdrawals to all others, by the account's option and by the simulator's", function()
    for _, case in ipairs { { {}, { saved_addresses_only = true } }, { { saved_addresses_only = true }, {} } } do
      local sim, house = world(case[1], case[2])
      local first, second = both(sim, house)
      assert.same({ "10212", "10212" }, { first, second })
      assert.equal("100", (free(sim, "House")))
      sim:save_address { account = "House", coin = "USDT", network = "TRX", address = PAYEE }
      assert(get(sim, house, "C2", payment()))
      assert(sim:verify())
    end
  end)

  it("may be the exception of a simulator", function()
    local sim, house = world({ saved_addresses_only = true }, { saved_addresses_only = false })
    assert(get(sim, house, "C2", payment()))
  end)
end)

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

  it("are not moved between when a transfer names neither", function()
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
    local sim, house = world()
    for _, id in ipairs { "A13", "B6" } do assert.equal("700004", rejection(sim, house, id, params)) end
    sim, house = world { unnamed_accounts = "execute" }
    for _, id in ipairs { "A13", "B6" } do assert(get(sim, house, id, params)) end
    assert(sim:verify())
  end)
end)

describe("a key without an IP list", function()
  it("ends after 90 days, one with a list does not", function()
    local sim, house = world()
    local safe = assert(sim:account { role = "main", ip = "127.0.0.1" })
    sim:advance(90 * DAY - 1)
    assert(get(sim, house, "C5"))
    sim:advance(1)
    assert.equal("10072", rejection(sim, house, "C5"))
    assert(get(sim, safe, "C5"))
  end)

  it("ends after as many days as the switch says, or never", function()
    local sim, house = world { key_days = 2 }
    sim:advance(2 * DAY)
    assert.equal("10072", rejection(sim, house, "C5"))
    sim, house = world { key_days = 0 }
    sim:advance(4000 * DAY)
    assert(get(sim, house, "C5"))
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

  it("has deposits with the chain's hash in transHash, padded amounts and other names of networks", function()
    assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = "1.5", tx_id = "ab12" })
    assert(sim:deposit { account = "House", coin = "BTC", network = "BTC", amount = "1", tx_id = "cd34" })
    local bitcoin, tron = (table.unpack or unpack)(get(sim, house, "C4")) -- luacheck: ignore
    if bitcoin.coin ~= "BTC" then bitcoin, tron = tron, bitcoin end
    assert.same({ "ab12:0", "ab12", "1.5" .. ("0"):rep(29), "TRX", "TRX" },
      { tron.txId, tron.transHash, tron.amount, tron.network, tron.netWork })
    assert.same({ "Bitcoin(BTC)", "BTC" }, { bitcoin.network, bitcoin.netWork })
    assert.equal(sim:now(), tron.updateTime)
    get(sim, house, "C2", payment())
    local withdrawal = get(sim, house, "C5")[1]
    assert.same({ "20." .. ("0"):rep(18), "TRC20" }, { withdrawal.amount, withdrawal.network })
  end)

  it("has the member symbol in the rows of C10, which is null there", function()
    for _, variant in ipairs { "live", "seen_members" } do
      local live, owner = world { variant = variant }
      get(live, owner, "C9", OWN)
      local types = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
      assert.matches('"symbol":null', live:handle(signed.request(live, owner, "C10", types)).body, 1, true)
    end
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

  it("is read by wait_deposit, which finds a deposit by the chain's hash and by the whole id", function()
    assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = "1.5", tx_id = "ab12" })
    sim:advance(3600000)
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), profile = "mexc",
      api_key = house.api_key, secret_key = house.secret_key, clock = function() return sim:now() end })
    for _, id in ipairs { "ab12", "ab12:0" } do
      local deposit = assert(client.wallet:wait_deposit({ txId = id }, { since = sim:now() - 2 * 3600000 }))
      assert.equal(5, deposit.status)
    end
    local none = client.wallet:wait_deposit({ txId = "ab1" }, { since = sim:now() - 2 * 3600000, deadline_ms = 1 })
    assert.is_nil(none)
  end)
end)

describe("records that come in any order of time", function()
  it("cost no more moves than a few each", function()
    local count = 20000
    local list = history.new(function(record) return record.key end)
    local time = 1
    for i = 1, count do
      time = (time * 48271) % 2147483647
      list:add { key = "a", time = time, id = i }
    end
    local page = list:page("a", nil, nil, 0, count)
    for i = 2, count do assert.is_true(page[i - 1].time >= page[i].time) end
    assert.is_true(list.moved > 0 and list.moved <= 2 * count, ("%d moves"):format(list.moved))
  end)

  it("keep the order in which they came where the time is equal", function()
    local list = history.new(function(record) return record.key end)
    for i, time in ipairs { 5, 3, 3, 5, 1, 3 } do list:add { key = "a", time = time, id = i } end
    local page, ids = list:page("a", nil, nil, 0, 3), {}
    assert.same({ 4, 1, 6 }, { page[1].id, page[2].id, page[3].id })
    list:add { key = "a", time = 3, id = 7 }
    for i, record in ipairs((list:page("a", nil, nil, 0, 9))) do ids[i] = record.id end
    assert.same({ 4, 1, 7, 6, 3, 2, 5 }, ids)
  end)
end)

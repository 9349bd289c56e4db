-- SPDX-License-Identifier: MIT
-- Every operation through real HTTP against the simulator, from the public surface: with the document's conventions and
-- answers, and with the live ones. The two must end in the same results.

local decimal = require "purser.decimal"
local purser = require "purser"
local start = require("service").start

local SPOT, FUTURES = "SPOT", "FUTURES"

-- Calls all operations one after the other. Returns the results by operation, so that two runs can be compared.
local function story(world, profile)
  local results = {}
  local boss = assert(world:account {
    name = "Boss", role = "broker", email = "boss@firm.example",
    balances = { USDT = "5000", BTC = "1", DOGE = "4.5", TRX = "3" },
  })
  local friend = assert(world:account { name = "Friend", role = "user", email = "friend@mail.example" })

  local clients = {}
  local function client_of(account)
    local settings = { base = profile, base_url = nil }
    local client = assert(purser.new {
      base_url = world.url, profile = settings, api_key = account.api_key, secret_key = account.secret_key,
      clock = function() return world:now() end, retry = false,
    })
    clients[#clients + 1] = client
    return client
  end

  local function run(client, name, params)
    local result, err = client:call(name, params)
    assert(result ~= nil, tostring(err))
    results[name] = result
    return result
  end

  local main = client_of(boss)
  assert.is_true(main:ping())
  assert.is_true(math.abs(main:server_time() - world:now()) < 60000)

  local coins = run(main, "wallet.coins")
  assert.is_true(#coins >= 12)
  assert.equal("string", type(coins[1].networkList[1].withdrawFee))
  assert.equal("boolean", type(coins[1].networkList[1].withdrawEnable))

  -- sub-accounts and keys
  assert.equal("brokersub01", run(main, "broker.create_sub_account",
    { subAccount = "brokersub01", note = "first", funds_password = "pw" }).subAccount)
  assert.same({ subAccount = "parentsub1", note = "second" }, (function(record)
    return { subAccount = record.subAccount, note = record.note }
  end)(run(main, "sub_account.create_sub_account", { subAccount = "parentsub1", note = "second" })))
  assert.equal(2, #run(main, "broker.list_sub_accounts", { limit = 200, page = 1 }))
  local listed = run(main, "sub_account.list_sub_accounts", { isFreeze = false, subAccount = "parentsub1" })
  assert.equal(1, #listed)
  assert.is_false(listed[1].isFreeze)
  assert.equal("1", run(main, "broker.sub_account_status", { subAccount = "brokersub01" }).status)
  assert.is_true(run(main, "broker.enable_futures", { subAccount = "brokersub01" }).isFuturesEnabled)

  local key = run(main, "broker.create_api_key", {
    subAccount = "brokersub01", note = "robot", ip = { "127.0.0.1", "203.0.113.7" },
    permissions = "SPOT_ACCOUNT_READ,SPOT_TRANSFER_READ,SPOT_DEPOSIT_READ,SPOT_DEPOSIT_WRITE,SPOT_WITHDRAW_WRITE",
  })
  assert.equal("string", type(key.secretKey))
  assert.equal("127.0.0.1,203.0.113.7", run(main, "broker.list_api_keys", { subAccount = "brokersub01" })[1].ip)
  local second = run(main, "sub_account.create_api_key",
    { subAccount = "parentsub1", note = "eye", permissions = { "SPOT_ACCOUNT_READ", "SPOT_DEAL_READ" } })
  assert.equal(second.apiKey, run(main, "sub_account.list_api_keys", { subAccount = "parentsub1" })[1].apiKey)
  assert.equal("parentsub1",
    run(main, "sub_account.delete_api_key", { subAccount = "parentsub1", apiKey = second.apiKey }).subAccount)
  assert.equal(0, #assert(main.sub_account:list_api_keys { subAccount = "parentsub1" }))
  local third = assert(main.broker:create_api_key {
    subAccount = "brokersub01", note = "gone", permissions = { "SPOT_ACCOUNT_READ" } })
  assert.equal("brokersub01",
    run(main, "broker.delete_api_key", { subAccount = "brokersub01", apiKey = third.apiKey }).subAccount)
  local sub = client_of { api_key = key.apiKey, secret_key = key.secretKey }

  -- addresses and deposits
  local own = run(main, "wallet.create_deposit_address", { coin = "USDT", network = "Tron(TRC20)" })
  assert.equal(own.address,
    run(main, "wallet.deposit_addresses", { coin = "USDT", network = "Tron(TRC20)" })[1].address)
  local theirs = run(sub, "broker.create_deposit_address", { coin = "XRP", network = "Ripple(XRP)" })
  assert.matches("^%d+$", theirs.memo)
  assert.is_nil(theirs.address:find(":", 1, true))
  assert.same(theirs.memo, run(sub, "broker.deposit_addresses", { coin = "XRP" })[1].memo)
  assert(world:deposit { address = own.address, coin = "USDT", network = own.network, amount = "100.000001" })
  assert(world:deposit { address = theirs.address, memo = theirs.memo, coin = "XRP", network = theirs.network,
    amount = "50.5" })
  assert(world:advance(6 * 3600 * 1000))
  local deposits = run(main, "wallet.deposit_history", { coin = "USDT", status = 5, limit = 1000 })
  assert.equal(decimal "100.000001", decimal(deposits[1].amount))
  assert.equal(5, deposits[1].status)
  local sub_deposits = run(sub, "broker.deposit_history", { coin = "XRP", limit = 20, page = 1 })
  assert.equal(decimal "50.5", decimal(sub_deposits[1].amount))
  assert.equal("5", sub_deposits[1].status)
  assert.equal(theirs.memo, sub_deposits[1].memo)
  assert.equal(5, run(main, "broker.all_deposit_history", { coin = "XRP" })[1].status)

  -- transfers
  local id = ("a1"):rep(16)
  local sent = run(main, "broker.transfer", { clientTranId = id, toAccount = "brokersub01", fromAccountType = SPOT,
    toAccountType = SPOT, asset = "USDT", amount = "250.75" })
  local found = run(main, "broker.transfer_history", { clientTranId = id, toAccount = "brokersub01",
    fromAccountType = SPOT, toAccountType = SPOT })
  assert.equal(1, #found)
  assert.same({ sent.tranId, "250.75", "SUCCESS", id },
    { found[1].tranId, found[1].amount, found[1].status, found[1].clientTranId })
  id = ("b2"):rep(16)
  sent = run(main, "sub_account.transfer", { clientTranId = id, fromAccount = "brokersub01", fromAccountType = SPOT,
    toAccountType = SPOT, asset = "USDT", amount = 50 })
  found = run(main, "sub_account.transfer_history", { clientTranId = id, fromAccount = "brokersub01",
    fromAccountType = SPOT, toAccountType = SPOT, limit = 500 })
  assert.same({ sent.tranId, "50" }, { found[1].tranId, found[1].amount })
  local balances = run(main, "sub_account.balances", { subAccount = "brokersub01", accountType = SPOT })
  local by_asset = {}
  for _, balance in ipairs(balances) do by_asset[balance.asset] = balance.free end
  assert.equal("200.75", by_asset.USDT)
  sent = run(main, "wallet.transfer",
    { fromAccountType = SPOT, toAccountType = FUTURES, asset = "USDT", amount = "10" })
  local moved = run(main, "wallet.transfer_history",
    { fromAccountType = SPOT, toAccountType = FUTURES, size = 100 })
  assert.equal(sent.tranId, moved.rows[1].tranId)
  assert.equal("10", run(main, "wallet.get_transfer", { tranId = sent.tranId }).amount)

  -- withdrawals
  local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
  assert(world:save_address { account = boss.uid, coin = "USDT", network = "Tron(TRC20)", address = address })
  assert.equal(address, run(main, "wallet.withdrawal_addresses", { coin = "USDT", page = 1 }).data[1].address)
  local first = run(main, "wallet.withdraw", { coin = "USDT", netWork = "TRX", address = address, amount = "20.5",
    withdrawOrderId = "order-1", remark = "a remark: (50%) + \195\188" })
  local cancelled = assert(main.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "30" })
  assert.equal(cancelled.id, run(main, "wallet.cancel_withdrawal", { id = cancelled.id }).id)
  local legacy = run(main, "wallet.withdraw_legacy", { coin = "USDT", network = "Tron(TRC20)", address = address,
    amount = "40" })
  run(sub, "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)", address = address, amount = "11",
    funds_password = "pw" })
  assert(world:advance(6 * 3600 * 1000))
  local states = {}
  for _, record in ipairs(run(main, "wallet.withdrawal_history", { coin = "USDT" })) do states[record.id] = record end
  assert.equal(7, states[first.id].status)
  assert.equal("order-1", states[first.id].withdrawOrderId)
  assert.equal("a remark: (50%) + \195\188", states[first.id].remark)
  assert.equal(9, states[cancelled.id].status)
  assert.equal(32, #states[cancelled.id].withdrawOrderId) -- made by Purser, since none was given
  assert.equal(decimal "40", decimal(states[legacy.id].amount))

  -- small balances
  local convertible = {}
  for _, entry in ipairs(run(main, "wallet.convertible_balances")) do convertible[entry.asset] = entry end
  assert.equal("4.5", convertible.DOGE.balance)
  assert.equal("string", type(convertible.DOGE.convertPlatformToken))
  local converted = run(main, "wallet.convert", { asset = { "DOGE", "TRX", "BTC" } })
  table.sort(converted.successList)
  assert.same({ "DOGE", "TRX" }, converted.successList)
  assert.equal("BTC", converted.failedList[1].asset)
  local batch = run(main, "wallet.conversion_history", { limit = 1000, page = 1 }).data[1]
  assert.equal(converted.totalConvert, batch.totalConvert)
  assert.equal(2, #batch.convertDetails)

  -- to another user, and rebates
  run(main, "wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT",
    amount = "12.34" })
  local page = run(main, "wallet.internal_transfer_history", { page = 1, limit = 10 })
  assert.same({ 1, 1, "12.34" }, { page.page, page.totalRecords, page.data[1].amount })
  assert(world:rebate { account = boss.uid, asset = "USDT", amount = "3.1415", type = "spot", uid = friend.uid })
  page = run(main, "broker.rebates", { pageSize = 10, page = 1 })
  assert.same({ "3.1415", friend.uid, "spot" }, { page.data[1].amount, page.data[1].uid, page.data[1].type })

  for _, client in ipairs(clients) do client:close() end
  return results
end

-- Returns the outline of a value, which two runs share: the names of members, with scalars by their type only.
local function outline(value)
  if type(value) ~= "table" then return type(value) end
  local result = {}
  for name, inner in pairs(value) do result[name] = outline(inner) end
  return result
end

describe("all operations over HTTP", function()
  local outlines = {}

  local function outline_of(profile, variant)
    local service = start { "--seed", "11", "--variant", variant, "--clock", "virtual" }
    local ok, results = pcall(story, service.world, profile)
    local verified, wrong = service.world:verify()
    local counts = service.world:counts()
    service.stop()
    assert(ok, results)
    assert(verified, wrong)
    for _, row in ipairs(require("purser.client.operations").list) do
      assert.is_not_nil(results[row.full_name], row.full_name .. " was not called")
      local count = counts[row.full_name]
      assert.is_true(count ~= nil and count.received >= 1, row.full_name .. " did not arrive")
    end
    for name, result in pairs(results) do results[name] = outline(result) end
    return results
  end

  it("work with the document's conventions and answers", function()
    outlines.document = outline_of("default", "document")
  end)

  it("work with the live conventions and answers", function()
    outlines.live = outline_of("mexc", "live")
  end)

  it("have members of the same names and types in both, but for what the live service adds", function()
    local function within(small, large, where)
      local is_null = large == nil and (where:find "%.memo$" or where:find "%.addressTag$")
      if is_null then return end -- for the document's ""
      if type(small) ~= "table" then return assert.equal(small, large, where) end
      assert.equal("table", type(large), where)
      for name, inner in pairs(small) do within(inner, large[name], where .. "." .. tostring(name)) end
    end
    for name, result in pairs(outlines.document) do within(result, outlines.live[name], name) end
  end)
end)

describe("what the simulator counts", function()
  it("is nothing when the input was bad", function()
    local service = start()
    local account = assert(service.world:account { name = "A", role = "broker", balances = { USDT = "10" } })
    local client = assert(purser.new {
      base_url = service.url, api_key = account.api_key, secret_key = account.secret_key,
      clock = function() return service.world:now() end,
    })
    local before = #service.world:requests()
    for _, params in ipairs {
      {}, { coin = "USDT", address = "T", amount = 1.5 }, { coin = "USDT", address = "T", amount = "-1" },
      { coin = "USDT", address = "T\r\nX: y", amount = "1" },
      { coin = "USDT", address = "T", amount = "1", nope = "x" },
    } do
      local result, err = client.wallet:withdraw(params)
      assert.is_nil(result)
      assert.equal("not_sent", err.outcome)
    end
    assert.equal(before, #service.world:requests())
    client:close()
    service.stop()
  end)

  it("answers a wrong signature with the text it would have signed, and never with the signature", function()
    local service = start()
    local account = assert(service.world:account { name = "A", role = "broker", balances = {} })
    local client = assert(purser.new {
      base_url = service.url, api_key = account.api_key, secret_key = "not the secret",
      clock = function() return service.world:now() end,
    })
    local result, err = client.wallet:deposit_history { coin = "USDT" }
    assert.is_nil(result)
    assert.equal("700002", err.code)
    assert.equal("rejected", err.outcome)
    assert.matches("coin=USDT&timestamp=%d+", err.message)
    assert.is_nil(err.message:find("signature=", 1, true))
    client:close()
    service.stop()
  end)
end)

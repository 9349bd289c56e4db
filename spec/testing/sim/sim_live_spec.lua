-- SPDX-License-Identifier: MIT
-- The two forms of the simulator's answers: in the live one, too, every operation gives the result of the document's.

local purser = require "purser"

local ID32 = ("a1"):rep(16)
local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
local RIPPLE = "Ripple(XRP)"
local TRON = "Tron(TRC20)"
local SPOT = { fromAccountType = "SPOT", toAccountType = "SPOT" }
local OWN = { fromAccountType = "SPOT", toAccountType = "FUTURES" }

local function with(base, more)
  local both = {}
  for name, value in pairs(base) do both[name] = value end
  for name, value in pairs(more) do both[name] = value end
  return both
end

-- Calls every operation of a new simulator that answers in `variant`; returns what each gave: { name, result, err }.
local function run(variant)
  local sim = purser.sim.new { seed = 5, variant = variant }
  local owner = assert(sim:account { role = "broker", name = "Acme",
    balances = { USDT = "100000", XRP = "50", DOGE = "4", TRX = "3", BTC = "1" } })
  assert(sim:account { role = "user", email = "friend@mail.example" })
  local outcomes = {}
  local function client_of(api_key, secret_key)
    return assert(purser.new { base_url = "https://service.example", transport = sim:transport(), rate_limit = false,
      api_key = api_key, secret_key = secret_key, retry = false,
      generate_ids = false, -- they are random
      clock = function() return sim:now() end })
  end
  local own = client_of(owner.api_key, owner.secret_key)
  local function call(name, params, client)
    local result, err = (client or own):call(name, params)
    outcomes[#outcomes + 1] = { name, result, err and ("%s %s %s"):format(err.kind, err.outcome, err.code) }
    return result or {}
  end

  call("wallet.coins")
  call("broker.create_sub_account", { subAccount = "desk0001", note = "\195\164 note" })
  call("broker.create_sub_account", { subAccount = "desk0001", note = "again" }) -- rejected
  call("sub_account.create_sub_account", { subAccount = "desk0002", note = "n" })
  call("broker.list_sub_accounts")
  call("sub_account.list_sub_accounts")
  call("broker.sub_account_status", { subAccount = "desk0001" })
  call("broker.enable_futures", { subAccount = "desk0001" })
  local key = call("broker.create_api_key", { subAccount = "desk0001", note = "k1", permissions = {
    "SPOT_WITHDRAW_READ", "SPOT_DEPOSIT_READ", "SPOT_DEPOSIT_WRITE", "SPOT_TRANSFER_READ" } })
  call("sub_account.create_api_key", { subAccount = "desk0001", note = "k2", permissions = "SPOT_DEAL_READ",
    ip = "203.0.113.7" })
  call("broker.list_api_keys", { subAccount = "desk0001" })
  call("sub_account.list_api_keys", { subAccount = "desk0001" })
  local desk = client_of(key.apiKey, key.secretKey)

  call("broker.create_deposit_address", { coin = "XRP", network = RIPPLE }, desk)
  call("broker.deposit_addresses", { coin = "XRP" }, desk)
  call("wallet.create_deposit_address", { coin = "XRP", network = RIPPLE })
  call("wallet.deposit_addresses", { coin = "XRP" })
  assert(sim:deposit { account = "Acme", coin = "USDT", network = TRON, amount = "12.123456" })
  assert(sim:deposit { account = "desk0001", coin = "XRP", network = RIPPLE, amount = "7" })
  sim:advance(3600000)
  call("wallet.deposit_history")
  call("broker.deposit_history", nil, desk)
  call("broker.all_deposit_history")

  call("broker.transfer", with(SPOT, { toAccount = "desk0001", asset = "USDT", amount = "100.5", clientTranId = ID32 }))
  call("sub_account.transfer", with(SPOT, { toAccount = "desk0001", asset = "USDT", amount = "100" }))
  call("broker.transfer_history", SPOT)
  call("sub_account.transfer_history", SPOT)
  call("sub_account.balances", { subAccount = "desk0001", accountType = "SPOT" })
  local transfer = call("wallet.transfer", with(OWN, { asset = "USDT", amount = "5" }))
  call("wallet.transfer_history", OWN)
  call("wallet.get_transfer", { tranId = transfer.tranId })

  assert(sim:save_address { account = "Acme", coin = "USDT", network = TRON, address = PAYEE })
  assert(sim:save_address { account = "desk0001", coin = "USDT", network = TRON, address = PAYEE })
  local payment = { coin = "USDT", address = PAYEE, amount = "20" }
  local withdrawal = call("wallet.withdraw", with(payment, { netWork = "TRX", withdrawOrderId = "o1" }))
  call("wallet.cancel_withdrawal", { id = withdrawal.id })
  call("wallet.withdraw_legacy", with(payment, { network = TRON }))
  call("broker.withdraw", with(payment, { network = TRON }), desk)
  sim:advance(3600000)
  call("wallet.withdrawal_history")
  call("wallet.withdrawal_addresses")

  call("wallet.convertible_balances")
  call("wallet.convert", { asset = { "DOGE", "TRX", "BTC" } })
  call("wallet.conversion_history", { limit = 10 })
  call("wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT",
    amount = "3" })
  call("wallet.internal_transfer_history")
  assert(sim:rebate { account = "Acme", asset = "USDT", amount = "1.5" })
  call("broker.rebates")
  call("broker.delete_api_key", { subAccount = "desk0001", apiKey = key.apiKey })
  call("sub_account.delete_api_key", { subAccount = "desk0001", apiKey = "none" }) -- rejected
  assert(sim:verify())
  return outcomes
end

local decimal = require "purser.decimal"

-- Changes of the value itself: the same amount, the same transaction, another id or name of network.
local function is_changed(requested, found, where)
  local name = where:match "%w+$"
  if name == "amount" or name == "transactionFee" then return decimal(requested) == decimal(found) end
  if name == "txId" then return found == requested .. ":0" end
  if name == "coin" then return found:find("^" .. requested .. "%-%u") ~= nil end
  if name == "tranId" then return #found == 32 or found == requested end
  if name == "address" then return found:find("^" .. requested .. ":%d+$") ~= nil end
  return name == "network" and (found == "TRX" or requested:find(found, 1, true) ~= nil)
end

-- Returns nil when everything in `requested` is in `found`, of the same type; else where it is not. More may be there.
local function difference(requested, found, where)
  if type(requested) ~= "table" then
    if requested == "" and found == nil then return nil end -- the document's "" is null
    if requested == found or found ~= nil and is_changed(requested, found, where) then return nil end
    return ("%s: %s %s instead of %s"):format(where, type(found), tostring(found), tostring(requested))
  end
  local has_more = where == "wallet.coins" and type(found) == "table" and #found > 2000
  if type(found) ~= "table" or #requested ~= #found and not has_more then
    return where .. ": not the same list or record"
  end
  for name, value in pairs(requested) do
    local wrong = difference(value, found[name], where .. "." .. tostring(name))
    if wrong then return wrong end
  end
end

describe("answers in the live form", function()
  local document = run "document"

  it("are compared with results, not with failures", function()
    local rejected = {}
    for _, outcome in ipairs(document) do rejected[#rejected + 1] = outcome[3] end
    assert.same({ "api rejected 730101", "api rejected 730706" }, rejected)
    local seen = {}
    for _, outcome in ipairs(document) do seen[outcome[1]] = true end
    for _, row in ipairs(require("purser.client.operations").list) do
      assert.is_true(seen[row.full_name], row.full_name)
    end
  end)

  it("give the document's results", function()
    local outcomes = run "live"
    for i, requested in ipairs(document) do
      local name, found = requested[1], outcomes[i]
      assert.equal(requested[3], found[3], name)
      assert.is_nil(requested[2] and difference(requested[2], found[2], name))
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- A tour of all 40 operations against a running simulator: `make demo`, or
--
--   purser sim --port 8080          in one terminal
--   lua examples/tour.lua http://127.0.0.1:8080

local clean = require("purser.client.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local url = arg[1] or "http://127.0.0.1:8080"

------------------------------------------------------------------------------------------------- printing

local function section(title)
  print("\n" .. title)
  print(("-"):rep(#title))
end

-- Prints records as a table: `columns` is a list of { title, member or function }; numbers line up at the right.
local function show(records, columns)
  local rows, widths, right = {}, {}, {}
  for c, column in ipairs(columns) do widths[c], right[c] = #column[1], #records > 0 end
  for r, record in ipairs(records) do
    rows[r] = {}
    for c, column in ipairs(columns) do
      local value = column[2]
      if type(value) == "function" then value = value(record) else value = record[value] end
      local text = value == nil and "" or clean(tostring(value))
      rows[r][c] = text
      widths[c] = math.max(widths[c], #text)
      right[c] = right[c] and text:find("^%-?%d[%d.]*$") ~= nil
    end
  end
  local function line(texts)
    local cells = {}
    for c, text in ipairs(texts) do
      local blanks = (" "):rep(widths[c] - #text)
      cells[c] = right[c] and blanks .. text or text .. blanks
    end
    print("  " .. (table.concat(cells, "  "):gsub("%s+$", "")))
  end
  local titles = {}
  for c, column in ipairs(columns) do titles[c] = column[1] end
  line(titles)
  for _, row in ipairs(rows) do line(row) end
  if #rows == 0 then print("  (none)") end
  print()
end

local function time_of(member)
  return function(record)
    return record[member] and purser.utc.text(record[member]):sub(12, 16)
  end
end

local function shortened(member)
  return function(record)
    local text = record[member]
    return text and (#text > 20 and text:sub(1, 8) .. "..." .. text:sub(-6) or text)
  end
end

local deposit_states = { [1] = "small", [4] = "pending", [5] = "success" }
local withdrawal_states = {
  [1] = "applied", [2] = "auditing", [3] = "waiting", [4] = "processing", [5] = "packaging", [6] = "confirming",
  [7] = "success", [8] = "failed", [9] = "cancelled", [10] = "manual",
}
local function state(names)
  return function(record) return names[tonumber(record.status)] or record.status end
end

local seconds = 1000

------------------------------------------------------------------------------------------------- the world

-- The simulator's own door: accounts appear, deposits arrive and time passes because we say so.
local world = assert(purser.sim.connect(url))

local acme = assert(world:account {
  name = "Acme Brokers", role = "broker", email = "treasury@acme.example",
  balances = { USDT = "25000", BTC = "0.75", MX = "12", DOGE = "4.5", XRP = "1.25", TRX = "3" },
})
local friend = assert(world:account { name = "A friend", role = "user", email = "friend@mail.example" })

local function client_of(account)
  return assert(purser.new {
    base_url = url, api_key = account.api_key, secret_key = account.secret_key,
    clock = function() return world:now() end,
  })
end

local main = client_of(acme)
local broker, sub_account, wallet = main.broker, main.sub_account, main.wallet

print("Purser " .. purser._VERSION .. " at " .. url)
local service_time = assert(main:server_time())
print(("service time %s, ping %s"):format(purser.utc.text(service_time), assert(main:ping()) and "answered"))

------------------------------------------------------------------------------------------------- coins

section "Coins and networks (C1)"
local networks = {}
for _, coin in ipairs(assert(wallet:coins())) do
  for _, network in ipairs(coin.networkList) do
    if #networks < 8 and network.withdrawEnable then networks[#networks + 1] = network end
  end
end
show(networks, {
  { "coin", "coin" }, { "network", "network" }, { "netWork", "netWork" }, { "fee", "withdrawFee" },
  { "minimum", "withdrawMin" }, { "confirmations", "minConfirm" },
})

------------------------------------------------------------------------------------------------- sub-accounts

section "Sub-accounts and their keys (A2-A7, A14, B1-B5)"
assert(broker:create_sub_account { subAccount = "acmedesk01", note = "trading desk", funds_password = "desk password" })
assert(sub_account:create_sub_account { subAccount = "acmesaving1", note = "savings" })
assert(broker:enable_futures { subAccount = "acmedesk01" })
show(assert(sub_account:list_sub_accounts { limit = 50 }), {
  { "sub-account", "subAccount" }, { "uid", "uid" }, { "frozen", "isFreeze" }, { "created", time_of "createTime" },
})
local status = assert(broker:sub_account_status { subAccount = "acmedesk01" }).status
print(("  the broker's list has %d, and acmedesk01 has status %s"):format(
  #assert(broker:list_sub_accounts { limit = 50 }), status))

local desk_key = assert(broker:create_api_key {
  subAccount = "acmedesk01", note = "desk robot", ip = { "127.0.0.1" },
  permissions = { "SPOT_ACCOUNT_READ", "SPOT_TRANSFER_READ", "SPOT_DEPOSIT_READ", "SPOT_DEPOSIT_WRITE",
    "SPOT_WITHDRAW_READ", "SPOT_WITHDRAW_WRITE" },
})
local spare = assert(broker:create_api_key {
  subAccount = "acmedesk01", note = "spare", permissions = { "SPOT_ACCOUNT_READ" },
})
assert(sub_account:create_api_key {
  subAccount = "acmesaving1", note = "auditor", permissions = { "SPOT_ACCOUNT_READ", "SPOT_DEAL_READ" },
})
assert(broker:delete_api_key { subAccount = "acmedesk01", apiKey = spare.apiKey })
local key_columns = {
  { "note", "note" }, { "key", shortened "apiKey" }, { "permissions", shortened "permissions" }, { "ip", "ip" },
}
show(assert(broker:list_api_keys { subAccount = "acmedesk01" }), key_columns)
local audit_keys = assert(sub_account:list_api_keys { subAccount = "acmesaving1" })
show(audit_keys, key_columns)
assert(sub_account:delete_api_key { subAccount = "acmesaving1", apiKey = audit_keys[1].apiKey })
print(("  the auditor's key is deleted; %d left"):format(
  #assert(sub_account:list_api_keys { subAccount = "acmesaving1" })))

-- The desk signs with its own key.
local desk = client_of { api_key = desk_key.apiKey, secret_key = desk_key.secretKey }

------------------------------------------------------------------------------------------------- deposits

section "Deposit addresses, and deposits that arrive (A8-A11, C4, C6, C7)"
local own = assert(wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
local desks = assert(desk.broker:create_deposit_address { coin = "XRP", network = "Ripple(XRP)" })
show({ own, desks }, { { "coin", "coin" }, { "network", "network" }, { "address", "address" }, { "memo", "memo" } })
print(("  %d USDT address of ours, %d XRP address of the desk"):format(
  #assert(wallet:deposit_addresses { coin = "USDT" }), #assert(desk.broker:deposit_addresses { coin = "XRP" })))

assert(world:deposit { address = own.address, coin = "USDT", network = own.network, amount = "1250.123456" })
assert(world:deposit {
  address = desks.address, memo = desks.memo, coin = "XRP", network = desks.network, amount = "300",
})
local deposit_columns = {
  { "coin", "coin" }, { "amount", "amount" }, { "state", state(deposit_states) },
  { "confirmations", function(r) return (r.confirmTimes or "") .. "/" .. (r.unlockConfirm or "") end },
  { "seen", time_of "insertTime" },
}
show(assert(wallet:deposit_history { coin = "USDT" }), deposit_columns)
assert(world:advance(2 * 3600 * seconds))
print("  two hours later:")
show(assert(wallet:deposit_history { coin = "USDT" }), deposit_columns)
show(assert(desk.broker:deposit_history {}), deposit_columns)
print(("  all sub-accounts together: %d deposit"):format(#assert(broker:all_deposit_history {})))

------------------------------------------------------------------------------------------------- transfers

section "Transfers there and back (A1, A13, B6-B8, C9-C11)"
assert(broker:transfer {
  clientTranId = purser.client_id(), toAccount = "acmedesk01", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "2000.5",
})
assert(broker:transfer {
  clientTranId = purser.client_id(), fromAccount = "acmedesk01", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "500.25",
})
assert(sub_account:transfer {
  clientTranId = purser.client_id(), toAccount = "acmesaving1", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "BTC", amount = "0.1",
})
local transfer_columns = {
  { "from", function(r) return r.fromAccount or "parent" end },
  { "to", function(r) return r.toAccount or "parent" end },
  { "asset", "asset" }, { "amount", "amount" }, { "state", "status" }, { "when", time_of "timestamp" },
}
local to_desk = { toAccount = "acmedesk01", fromAccountType = "SPOT", toAccountType = "SPOT" }
local from_desk = { fromAccount = "acmedesk01", fromAccountType = "SPOT", toAccountType = "SPOT" }
local to_savings = { toAccount = "acmesaving1", fromAccountType = "SPOT", toAccountType = "SPOT" }
local transfers = {}
for _, list in ipairs {
  assert(broker:transfer_history(to_desk)), assert(broker:transfer_history(from_desk)),
  assert(sub_account:transfer_history(to_savings)),
} do
  for _, transfer in ipairs(list) do transfers[#transfers + 1] = transfer end
end
show(transfers, transfer_columns)
show(assert(sub_account:balances { subAccount = "acmedesk01", accountType = "SPOT" }), {
  { "acmedesk01", "asset" }, { "free", "free" }, { "locked", "locked" },
})
local out = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "750" }
local back = { fromAccountType = "FUTURES", toAccountType = "SPOT", asset = "USDT", amount = "250" }
local moved = assert(wallet:transfer(out))
assert(wallet:transfer(back))
show(assert(wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" }).rows, {
  { "from", "fromAccountType" }, { "to", "toAccountType" }, { "asset", "asset" }, { "amount", "amount" },
  { "state", "status" },
})
print(("  transfer %s by its id: %s"):format(moved.tranId,
  assert(wallet:get_transfer { tranId = moved.tranId }).status))

------------------------------------------------------------------------------------------------- withdrawals

section "Withdrawals, one cancelled (A12, C2, C3, C5, C8, C17)"
local address = "TSampLeAddressThatNobodyHarzyqGjJi"
assert(world:save_address { account = acme.uid, coin = "USDT", network = "Tron(TRC20)", address = address })
show(assert(wallet:withdrawal_addresses { coin = "USDT" }).data, {
  { "saved for", "coin" }, { "network", "network" }, { "address", "address" },
})
assert(wallet:withdraw {
  coin = "USDT", netWork = "TRX", address = address, amount = "100.5", withdrawOrderId = "invoice-4711",
  remark = "invoice 4711",
})
local regretted = assert(wallet:withdraw {
  coin = "USDT", netWork = "TRX", address = address, amount = "900", withdrawOrderId = "invoice-4712",
})
assert(wallet:withdraw_legacy {
  coin = "USDT", network = "Tron(TRC20)", address = address, amount = "42", withdrawOrderId = "invoice-4713",
})
assert(wallet:cancel_withdrawal { id = regretted.id })
assert(desk.broker:withdraw {
  coin = "USDT", network = "Tron(TRC20)", address = address, amount = "60", funds_password = "desk password",
  remark = "desk profit",
})
assert(world:advance(1 * 3600 * seconds))
show(assert(wallet:withdrawal_history { coin = "USDT" }), {
  { "order", "withdrawOrderId" }, { "amount", "amount" }, { "fee", "transactionFee" },
  { "state", state(withdrawal_states) }, { "transaction", shortened "txId" },
})

------------------------------------------------------------------------------------------------- conversion

section "Small balances into the platform's token (C12-C14)"
show(assert(wallet:convertible_balances()), {
  { "asset", "asset" }, { "balance", "balance" }, { "in MX", "convertPlatformToken" }, { "in USDT", "convertUsdt" },
  { "why not", function(record) return record.message and record.message:gsub("^The balance is ", "") end },
})
local converted = assert(wallet:convert { asset = { "DOGE", "XRP", "TRX" } })
print(("  converted %s into %s MX for a fee of %s"):format(
  table.concat(converted.successList, ", "), converted.totalConvert, converted.convertFee))
for _, batch in ipairs(assert(wallet:conversion_history { limit = 10 }).data) do
  show(batch.convertDetails, { { "asset", "asset" }, { "amount", "amount" }, { "MX", "convert" }, { "fee", "fee" } })
end

------------------------------------------------------------------------------------------------- to a friend

section "To another user (C15, C16)"
assert(wallet:internal_transfer {
  toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT", amount = "12.34",
})
show(assert(wallet:internal_transfer_history {}).data, {
  { "to", "toAccount" }, { "asset", "asset" }, { "amount", "amount" }, { "state", "status" },
})

------------------------------------------------------------------------------------------------- rebates

section "Rebates (A15)"
assert(world:rebate { account = acme.uid, asset = "USDT", amount = "3.1415", type = "spot", uid = friend.uid })
show(assert(broker:rebates { pageSize = 5 }).data, {
  { "day", "time" }, { "asset", "asset" }, { "amount", "amount" }, { "type", "type" }, { "from user", "uid" },
})

------------------------------------------------------------------------------------------------- what must not happen

section "What Purser rejects, and how it says so"
-- Prints an error in lines of 80 columns.
local function tell(err)
  local line = " "
  for word in tostring(err):gmatch "%S+" do
    if #line + #word > 78 then
      print(line)
      line = "   "
    end
    line = line .. " " .. word
  end
  print(line)
end
local _, rejected = wallet:withdraw { coin = "USDT", adress = address, amount = "1" }
tell(rejected)
_, rejected = wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = 0.1 + 0.2 }
tell(rejected)
_, rejected = wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "1000000" }
tell(rejected)

print()
assert(world:verify())
print("Every unit of every asset is accounted for.")
main:close()
desk:close()

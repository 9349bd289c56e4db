-- SPDX-License-Identifier: MIT
-- One runnable example an operation. On a page they run in the page's order, in one world of the simulator: `client`
-- signs with the key of a main account that is also a broker, `desk` with that of its sub-account `tradingdesk1`.

return {
  ["broker.transfer_history"] = [[
for _, transfer in ipairs(assert(client.broker:transfer_history {
  fromAccountType = "SPOT", toAccountType = "SPOT", limit = 20,
})) do
  print(transfer.tranId, transfer.asset, transfer.amount, transfer.status)
end]],
  ["broker.create_sub_account"] = [[
local made = assert(client.broker:create_sub_account { subAccount = "tradingdesk2", note = "second desk" })
assert(made.subAccount == "tradingdesk2")]],
  ["broker.list_sub_accounts"] = [[
for _, account in ipairs(assert(client.broker:list_sub_accounts { limit = 200 })) do
  print(account.subAccount, account.note)
end]],
  ["broker.sub_account_status"] = [[
local state = assert(client.broker:sub_account_status { subAccount = "tradingdesk1" })
print(state.status == "1" and "normal" or "frozen")]],
  ["broker.create_api_key"] = [[
local key = assert(client.broker:create_api_key {
  subAccount = "tradingdesk1", note = "reporting " .. purser.client_id(), ip = { "203.0.113.7" },
  permissions = { "SPOT_ACCOUNT_READ", "SPOT_TRANSFER_READ" },
})
assert(key.apiKey and key.secretKey) -- keep the secret now: it is never shown again]],
  ["broker.list_api_keys"] = [[
for _, key in ipairs(assert(client.broker:list_api_keys { subAccount = "tradingdesk1" })) do
  print(key.apiKey, key.note, key.permissions, key.ip)
end]],
  ["broker.delete_api_key"] = [[
for _, key in ipairs(assert(client.broker:list_api_keys { subAccount = "tradingdesk1" })) do
  if key.note:find("^reporting ") then
    assert(client.broker:delete_api_key { subAccount = "tradingdesk1", apiKey = key.apiKey })
  end
end]],
  ["broker.create_deposit_address"] = [[
local made = assert(desk.broker:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
print(made.address, made.memo or "no memo")]],
  ["broker.deposit_addresses"] = [[
for _, entry in ipairs(assert(desk.broker:deposit_addresses { coin = "USDT" })) do
  print(entry.network, entry.address, entry.memo or "")
end]],
  ["broker.deposit_history"] = [[
for _, deposit in ipairs(assert(desk.broker:deposit_history { coin = "USDT", limit = 50 })) do
  print(deposit.amount, deposit.network, deposit.status)
end]],
  ["broker.all_deposit_history"] = [[
local deposits = assert(client.broker:all_deposit_history { limit = 1000 })
print(#deposits .. " deposits of all sub-accounts in three days")]],
  ["broker.withdraw"] = [[
local done = assert(desk.broker:withdraw {
  coin = "USDT", network = "Tron(TRC20)", address = saved_address, amount = "25.5",
  remark = "payout 2024-05-17 " .. purser.client_id(), -- the only mark by which it can be found again
})
print(done.id)]],
  ["broker.transfer"] = [[
local id = purser.client_id()
local moved = assert(client.broker:transfer {
  clientTranId = id, toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "100.25",
})
print(id, moved.tranId)]],
  ["broker.enable_futures"] = [[
local state = assert(client.broker:enable_futures { subAccount = "tradingdesk1" })
assert(state.isFuturesEnabled)]],
  ["broker.rebates"] = [[
local page = assert(client.broker:rebates { pageSize = 50 })
for _, rebate in ipairs(page.data) do print(rebate.time, rebate.asset, rebate.amount, rebate.uid) end
print(("page %d of %d"):format(page.page, page.totalPageNum))]],

  ["sub_account.create_sub_account"] = [[
local made = assert(client.sub_account:create_sub_account { subAccount = "savings2024", note = "savings" })
assert(made.subAccount == "savings2024")]],
  ["sub_account.list_sub_accounts"] = [[
for _, account in ipairs(assert(client.sub_account:list_sub_accounts { isFreeze = false, limit = 200 })) do
  print(account.subAccount, account.uid)
end]],
  ["sub_account.create_api_key"] = [[
local key = assert(client.sub_account:create_api_key {
  subAccount = "tradingdesk1", note = "auditor " .. purser.client_id(), permissions = { "SPOT_ACCOUNT_READ" },
})
assert(key.apiKey and key.secretKey) -- keep the secret now: it is never shown again]],
  ["sub_account.list_api_keys"] = [[
for _, key in ipairs(assert(client.sub_account:list_api_keys { subAccount = "tradingdesk1" })) do
  print(key.apiKey, key.note, key.permissions, key.ip)
end]],
  ["sub_account.delete_api_key"] = [[
for _, key in ipairs(assert(client.sub_account:list_api_keys { subAccount = "tradingdesk1" })) do
  if key.note:find("^auditor ") then
    assert(client.sub_account:delete_api_key { subAccount = "tradingdesk1", apiKey = key.apiKey })
  end
end]],
  ["sub_account.transfer"] = [[
local id = purser.client_id() -- keep it before the call: it reconciles an unknown outcome
local moved = assert(client.sub_account:transfer {
  clientTranId = id, toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "40",
})
print(id, moved.tranId)]],
  ["sub_account.transfer_history"] = [[
for _, transfer in ipairs(assert(client.sub_account:transfer_history {
  toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
})) do
  print(transfer.clientTranId, transfer.amount, transfer.asset, transfer.status)
end]],
  ["sub_account.balances"] = [[
for _, balance in ipairs(assert(client.sub_account:balances { subAccount = "tradingdesk1", accountType = "SPOT" })) do
  print(balance.asset, balance.free, balance.locked)
end]],

  ["wallet.coins"] = [[
for _, coin in ipairs(assert(client.wallet:coins())) do
  for _, network in ipairs(coin.networkList) do
    if network.withdrawEnable then print(coin.coin, network.netWork, network.withdrawFee, network.withdrawMin) end
  end
end]],
  ["wallet.withdraw"] = [[
local done, err = client.wallet:withdraw {
  coin = "USDT", netWork = "TRX", address = saved_address, amount = "12.5", withdrawOrderId = "invoice-4711",
}
if not done and err.outcome == "unknown" then
  error(err.advice) -- never run it again before the history has been read
end
print(assert(done, err).id)]],
  ["wallet.cancel_withdrawal"] = [[
local pending = assert(client.wallet:withdraw {
  coin = "USDT", netWork = "TRX", address = saved_address, amount = "15", withdrawOrderId = "invoice-4712",
})
assert(client.wallet:cancel_withdrawal { id = pending.id })]],
  ["wallet.deposit_history"] = [[
local now = assert(client:server_time())
for _, deposit in ipairs(assert(client.wallet:deposit_history {
  coin = "USDT", startTime = now - 7 * 86400000, endTime = now,
})) do
  print(deposit.insertTime, deposit.amount, deposit.network, deposit.status)
end]],
  ["wallet.withdrawal_history"] = [[
for _, withdrawal in ipairs(assert(client.wallet:withdrawal_history { coin = "USDT" })) do
  print(withdrawal.withdrawOrderId, withdrawal.amount, withdrawal.status, withdrawal.txId)
end]],
  ["wallet.create_deposit_address"] = [[
local made = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
print(made.address, made.memo or "no memo")]],
  ["wallet.deposit_addresses"] = [[
for _, entry in ipairs(assert(client.wallet:deposit_addresses { coin = "USDT" })) do
  print(entry.network, entry.address, entry.memo or "")
end]],
  ["wallet.withdrawal_addresses"] = [[
local page = assert(client.wallet:withdrawal_addresses { coin = "USDT", limit = 50 })
for _, entry in ipairs(page.data) do print(entry.network, entry.address) end]],
  ["wallet.transfer"] = [[
local moved = assert(client.wallet:transfer {
  fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "50",
})
print(moved.tranId)]],
  ["wallet.transfer_history"] = [[
local page = assert(client.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES", size = 100 })
for _, transfer in ipairs(page.rows) do print(transfer.tranId, transfer.amount, transfer.status) end
print(page.total .. " in all")]],
  ["wallet.get_transfer"] = [[
local moved = assert(client.wallet:transfer {
  fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5",
})
print(assert(client.wallet:get_transfer { tranId = moved.tranId }).status)]],
  ["wallet.convertible_balances"] = [[
for _, entry in ipairs(assert(client.wallet:convertible_balances())) do
  print(entry.asset, entry.balance, entry.convertPlatformToken or entry.message)
end]],
  ["wallet.convert"] = [[
local result = assert(client.wallet:convert { asset = { "DOGE", "XRP" } })
print(table.concat(result.successList, ", "), result.totalConvert, result.convertFee)
for _, failed in ipairs(result.failedList) do print(failed.asset, failed.message) end]],
  ["wallet.conversion_history"] = [[
for _, batch in ipairs(assert(client.wallet:conversion_history { limit = 100 }).data) do
  print(batch.convertTime, batch.totalConvert, batch.totalFee, #batch.convertDetails)
end]],
  ["wallet.internal_transfer"] = [[
local sent = assert(client.wallet:internal_transfer {
  toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT", amount = "12.34",
})
print(sent.tranId)]],
  ["wallet.internal_transfer_history"] = [[
local page = assert(client.wallet:internal_transfer_history { limit = 50 })
for _, transfer in ipairs(page.data) do print(transfer.toAccount, transfer.amount, transfer.asset) end]],
  ["wallet.withdraw_legacy"] = [[
local done = assert(client.wallet:withdraw_legacy {
  coin = "USDT", network = "Tron(TRC20)", address = saved_address, amount = "10", withdrawOrderId = "invoice-4713",
})
print(done.id)]],
}

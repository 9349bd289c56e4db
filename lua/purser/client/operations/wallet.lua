-- SPDX-License-Identifier: MIT
-- Group C: an account's own wallet.

local coin = { "coin", "text", type = "string", required = true }
local coin_filter = { "coin", "text", type = "string" }
local asset = { "asset", "text", type = "string", required = true }
local amount = { "amount", "amount", type = "string", required = true }
local address = { "address", "address", type = "string", required = true }
local memo = { "memo", "memo", type = "string", note = "required when the address needs one" }
local remark = { "remark", "text", type = "string" }
local order_id = { "withdrawOrderId", "own_id", type = "string", note = "your own id of the withdrawal" }
local from_type = { "fromAccountType", "choice", type = "string", required = true, choices = "account_types" }
local to_type = { "toAccountType", "choice", type = "string", required = true, choices = "account_types" }
local start_time = { "startTime", "time", type = "long" }
local end_time = { "endTime", "time", type = "long" }
local page = { "page", "count", type = "int", default = 1 }

-- No history gives deposits an id.
local deposit_key = { "coin", "network", "txId", "address", "memo", "amount", "insertTime" }

-- Counts of the interface document; the vendor's samples of A15, C14 and C16 show other numbers of records.
local page_counts = { totalRecords = "records", totalPageNum = "pages" }

return {
  {
    id = "C1", name = "coins", method = "GET", path = "/api/v3/capital/config/getall",
    summary = "Every coin with its networks, fees and limits.",
    permission = "SPOT_WITHDRAW_READ", weight = 10, effect = "read",
    params = {},
    result = { list = "coin" },
  },
  {
    id = "C2", name = "withdraw", method = "POST", path = "/api/v3/capital/withdraw",
    summary = "Withdraws to an address.",
    permission = "SPOT_WITHDRAW_WRITE", weight = 1, effect = "transfer",
    params = {
      coin, order_id,
      { "netWork", "text", type = "string", note = "short network id from `netWork` of wallet.coins, such as TRX" },
      { "contractAddress", "address", type = "string" },
      address, memo, amount, remark,
    },
    result = { record = "withdrawal_id", required_member = "id" },
    moves = { asset = "coin", amount = "amount", to = "address", address = "address", memo = "memo",
      network = "netWork", contract = "contractAddress" },
    reconcile = { strategy = "client_id", client_id = "withdrawOrderId", generated_id = true,
      lookup = "wallet.withdrawal_history",
      match_on = { "coin", "address", "amount", "memo" },
      time_member = "applyTime" },
  },
  {
    id = "C3", name = "cancel_withdrawal", method = "DELETE", path = "/api/v3/capital/withdraw",
    summary = "Cancels a withdrawal. An answer does not prove that the withdrawal existed.",
    permission = "SPOT_WITHDRAW_WRITE", weight = 1, effect = "change",
    params = { { "id", "text", type = "string", required = true, note = "withdrawal id" } },
    result = { record = "withdrawal_id", required_member = "id" },
    reconcile = { strategy = "state", client_id = "id", lookup = "wallet.withdrawal_history",
      target_state = "cancelled", time_member = "applyTime" },
  },
  {
    id = "C4", name = "deposit_history", method = "GET", path = "/api/v3/capital/deposit/hisrec",
    summary = "Deposits of the last 7 days, or of a window within the last 90.",
    permission = "SPOT_WITHDRAW_READ", weight = 1, effect = "read",
    params = {
      coin_filter, { "status", "status", type = "string", choices = "deposit_states", note = "deposit status" },
      start_time, end_time,
      { "limit", "count", type = "int", default = 1000, max = 1000 },
    },
    paging = { iterator = "deposit", size = "limit", page_size = 1000, time_member = "insertTime", key = deposit_key,
      unstable_filters = { "status" } },
    result = { list = "deposit" },
  },
  {
    id = "C5", name = "withdrawal_history", method = "GET", path = "/api/v3/capital/withdraw/history",
    summary = "Withdrawals of the last 7 days, or of a window within the last 90.",
    permission = "SPOT_WITHDRAW_READ", weight = 1, effect = "read",
    params = {
      coin_filter, { "status", "status", type = "string", choices = "withdrawal_states", note = "withdrawal status" },
      { "limit", "count", type = "int", default = 1000, max = 1000 }, start_time, end_time,
    },
    paging = { iterator = "withdrawal", size = "limit", page_size = 1000, time_member = "applyTime", id = "id",
      unstable_filters = { "status" } },
    result = { list = "withdrawal" },
  },
  {
    id = "C6", name = "create_deposit_address", method = "POST", path = "/api/v3/capital/deposit/address",
    summary = "Generates a deposit address.",
    permission = "SPOT_WITHDRAW_WRITE", weight = 1, effect = "create",
    params = {
      coin,
      { "network", "text", type = "string", required = true, note = "long network name, such as Tron(TRC20)" },
    },
    result = { record = "deposit_address", required_member = "address" },
    reconcile = { strategy = "state", client_id = "network", lookup = "wallet.deposit_addresses",
      copy_params = { "coin" }, narrow = { "network" }, target_state = "present" },
  },
  {
    id = "C7", name = "deposit_addresses", method = "GET", path = "/api/v3/capital/deposit/address",
    summary = "The deposit addresses of a coin.",
    permission = "SPOT_WITHDRAW_READ", weight = 10, effect = "read",
    params = {
      coin, { "network", "text", type = "string", note = "long network name, such as Tron(TRC20)" },
    },
    result = { list = "deposit_address" },
  },
  {
    id = "C8", name = "withdrawal_addresses", method = "GET", path = "/api/v3/capital/withdraw/address",
    summary = "The saved withdrawal addresses.",
    permission = "SPOT_WITHDRAW_READ", weight = 10, effect = "read",
    params = {
      coin_filter,
      { "page", "count", type = "number", default = 1 },
      { "limit", "count", type = "number" },
    },
    paging = {
      iterator = "withdrawal_address", size = "limit", page_size = 100, page = "page",
      key = { "coin", "network", "address", "addressTag", "memo" },
    },
    result = { page = "withdrawal_address", counts = page_counts },
  },
  {
    id = "C9", name = "transfer", method = "POST", path = "/api/v3/capital/transfer",
    summary = "Moves funds between the spot and futures accounts of one user.",
    permission = "SPOT_TRANSFER_WRITE", weight = 1, effect = "transfer",
    params = { from_type, to_type, asset, amount },
    result = { record = "transfer_id", required_member = "tranId" },
    moves = { asset = "asset", amount = "amount", to = "own" },
    reconcile = { strategy = "match", match_on = { "fromAccountType", "toAccountType", "asset", "amount" },
      lookup = "wallet.transfer_history", copy_params = { "fromAccountType", "toAccountType" },
      time_member = "timestamp", failed_status = "FAILED" },
  },
  {
    id = "C10", name = "transfer_history", method = "GET", path = "/api/v3/capital/transfer",
    summary = "Transfers between the spot and futures accounts of one user, within the last 6 months.",
    permission = "SPOT_TRANSFER_READ", weight = 1, effect = "read",
    params = {
      from_type, to_type, start_time, end_time, page,
      { "size", "count", type = "int", default = 10, max = 100 },
    },
    paging = { iterator = "transfer", size = "size", page_size = 100, page = "page", time_member = "timestamp",
      id = "tranId" },
    result = { rows = "wallet_transfer", counts = { total = "records" } }, -- by the interface document
  },
  {
    id = "C11", name = "get_transfer", method = "GET", path = "/api/v3/capital/transfer/tranId",
    summary = "One transfer between spot and futures, by its id, within the last 6 months.",
    permission = "SPOT_TRANSFER_READ", weight = 1, effect = "read",
    params = { { "tranId", "text", type = "string", required = true } },
    result = { record = "wallet_transfer", required_member = "tranId" },
  },
  {
    id = "C12", name = "convertible_balances", method = "GET", path = "/api/v3/capital/convert/list",
    summary = "Small balances with their value in the platform token, or why they cannot be converted.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read",
    params = {},
    result = { list = "convertible_balance" },
  },
  {
    id = "C13", name = "convert", method = "POST", path = "/api/v3/capital/convert",
    summary = "Converts small balances into the platform token.",
    permission = "SPOT_ACCOUNT_WRITE", weight = 10, effect = "transfer",
    params = { { "asset", "coins", type = "string", required = true, max = 15 } },
    result = { record = "conversion", required_member = "totalConvert" },
    moves = { asset = "asset", to = "none" },
    reconcile = { strategy = "conversion", match_on = { "asset" }, lookup = "wallet.conversion_history",
      second_list = "wallet.convertible_balances", time_member = "convertTime" },
  },
  {
    id = "C14", name = "conversion_history", method = "GET", path = "/api/v3/capital/convert",
    summary = "Past conversions of small balances. Without `limit` the service returns one batch.",
    permission = "SPOT_DEAL_READ", weight = 1, effect = "read",
    params = {
      start_time, end_time, page,
      { "limit", "count", type = "int", default = 1, max = 1000 },
    },
    paging = { iterator = "conversion", size = "limit", page_size = 1000, page = "page", time_member = "convertTime" },
    result = { page = "conversion_batch", counts = page_counts },
  },
  {
    id = "C15", name = "internal_transfer", method = "POST", path = "/api/v3/capital/transfer/internal",
    summary = "Sends funds to another user of the platform.",
    permission = "SPOT_WITHDRAW_WRITE", weight = 1, effect = "transfer",
    params = {
      { "toAccountType", "choice", type = "string", required = true, choices = "identifier_types" },
      { "toAccount", "text", type = "string", required = true, note = "e-mail, UID or phone number" },
      { "areaCode", "area_code", type = "string", note = "required when toAccount is a phone number" },
      asset, amount,
    },
    rules = { "area_code_with_mobile", "account_of_type" },
    result = { record = "transfer_id", required_member = "tranId" },
    moves = { asset = "asset", amount = "amount", to = "user", account_type = "toAccountType", account = "toAccount",
      area_code = "areaCode" },
    reconcile = { strategy = "match", match_on = { "toAccountType", "toAccount", "asset", "amount" },
      lookup = "wallet.internal_transfer_history", time_member = "timestamp", failed_status = "FAILED" },
  },
  {
    id = "C16", name = "internal_transfer_history", method = "GET", path = "/api/v3/capital/transfer/internal",
    summary = "Transfers to other users of the platform.",
    permission = "SPOT_WITHDRAW_READ", weight = 1, effect = "read",
    params = {
      start_time, end_time, page,
      { "limit", "count", type = "int", default = 10 },
      { "tranId", "text", type = "string" },
    },
    paging = {
      iterator = "internal_transfer", size = "limit", page_size = 100, page = "page", time_member = "timestamp",
      id = "tranId",
    },
    result = { page = "internal_transfer", counts = page_counts },
  },
  {
    id = "C17", name = "withdraw_legacy", method = "POST", path = "/api/v3/capital/withdraw/apply",
    summary = "Withdraws to an address, by the old operation. Use wallet.withdraw.",
    permission = "SPOT_WITHDRAW_WRITE", weight = 1, effect = "transfer", deprecated = "wallet.withdraw",
    params = {
      coin, order_id,
      { "network", "text", type = "string", note = "network name from `networkList` of wallet.coins" },
      address, memo, amount, remark,
    },
    result = { record = "withdrawal_id", required_member = "id" },
    moves = { asset = "coin", amount = "amount", to = "address", address = "address", memo = "memo",
      network = "network" },
    reconcile = { strategy = "client_id", client_id = "withdrawOrderId", generated_id = true,
      lookup = "wallet.withdrawal_history",
      match_on = { "coin", "address", "amount", "memo" },
      time_member = "applyTime" },
  },
}

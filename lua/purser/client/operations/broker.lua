-- SPDX-License-Identifier: MIT
-- Group A: a broker's calls for its sub-accounts.

local client_id = { "clientTranId", "client_id", type = "string" }
local from_account = { "fromAccount", "text", type = "string", note = "sub-account name; the parent when omitted" }
local to_account = { "toAccount", "text", type = "string", note = "sub-account name; the parent when omitted" }
local from_type = { "fromAccountType", "text", type = "string", required = true, note = "such as SPOT, FUTURES" }
local to_type = { "toAccountType", "text", type = "string", required = true, note = "such as SPOT, FUTURES" }
local sub_account = { "subAccount", "text", type = "string", required = true, note = "sub-account name" }
local key_note = { "note", "text", type = "string", required = true, note = "remark of the key" }
local coin = { "coin", "text", type = "string", required = true }
local network = { "network", "text", type = "string", required = true, note = "network name, such as Tron(TRC20)" }
local coin_filter = { "coin", "text", type = "string" }
local status_filter = { "status", "named_status", type = "string", choices = "deposit_states",
  note = "deposit status; a name is sent as it is" }
local start_time = { "startTime", "time", type = "string" }
local end_time = { "endTime", "time", type = "string" }
local page = { "page", "count", type = "string", default = 1 }

-- No history gives deposits an id.
local deposit_key = { "coin", "network", "txId", "address", "memo", "amount", "insertTime" }

-- Counts of the interface document; the vendor's samples of A15, C14 and C16 show other numbers of records.
local page_counts = { totalRecords = "records", totalPageNum = "pages" }

return {
  {
    id = "A1", name = "transfer_history", method = "GET", path = "/api/v3/broker/sub-account/universalTransfer",
    summary = "Transfers between the parent and its sub-accounts.",
    permission = "SPOT_TRANSFER_READ", effect = "read", signer = "main",
    params = {
      client_id, from_account, to_account, from_type, to_type, start_time, end_time, page,
      { "limit", "count", type = "string", default = 500, max = 500 },
    },
    paging = { iterator = "transfer", size = "limit", page_size = 500, page = "page", time_member = "timestamp",
      id = "tranId" },
    -- totalCount: records by the live answers that were read, pages by Mexc.Net (TotalPages, 2026-08)
    result = { list = "sub_account_transfer", wrappers = { "result" }, counts = { totalCount = "either" } },
  },
  {
    id = "A2", name = "create_sub_account", method = "POST", path = "/api/v3/broker/sub-account/virtualSubAccount",
    summary = "Creates a virtual sub-account.",
    effect = "create", signer = "main", body = "object",
    params = {
      { "subAccount", "text", type = "string", required = true, note = "name of the new sub-account" },
      { "note", "text", type = "string", required = true, note = "remark" },
      { "password", "md5", type = "string", plain = "funds_password", note = "funds password as hexadecimal MD5" },
    },
    result = { record = "created_sub_account", required_member = "subAccount" },
    reconcile = { strategy = "name", client_id = "subAccount", lookup = "broker.list_sub_accounts",
      narrow = { "subAccount" }, time_member = "timestamp" },
  },
  {
    id = "A3", name = "list_sub_accounts", method = "GET", path = "/api/v3/broker/sub-account/list",
    summary = "The broker's sub-accounts.",
    effect = "read", signer = "main",
    params = {
      { "subAccount", "text", type = "string", note = "sub-account name" }, page,
      { "limit", "count", type = "string", default = 10, max = 200 },
    },
    paging = { iterator = "sub_account", size = "limit", page_size = 200, page = "page", id = "subAccount" },
    result = { list = "broker_sub_account" },
  },
  {
    id = "A4", name = "sub_account_status", method = "GET", path = "/api/v3/broker/sub-account/status",
    summary = "Whether a sub-account is normal (1) or frozen (2).",
    effect = "read", signer = "main",
    params = { sub_account },
    result = { record = "sub_account_status", required_member = "status" },
  },
  {
    id = "A5", name = "create_api_key", method = "POST", path = "/api/v3/broker/sub-account/apiKey",
    summary = "Creates an API key for a sub-account. The answer holds the secretKey, this once.",
    effect = "create", signer = "main", body = "object",
    params = {
      sub_account,
      { "permissions", "permissions", type = "string", required = true, choices = "broker_permissions" },
      { "ip", "ips", type = "string", max = 4 },
      key_note,
    },
    result = { record = "api_key", required_member = "apiKey" },
    reconcile = { strategy = "token", client_id = "note", lookup = "broker.list_api_keys",
      delete_operation = "broker.delete_api_key",
      accounts = "broker.list_sub_accounts", copy_params = { "subAccount" }, match_on = { "note" },
      time_member = "createTime" },
  },
  {
    id = "A6", name = "list_api_keys", method = "GET", path = "/api/v3/broker/sub-account/apiKey",
    summary = "The API keys of a sub-account.",
    effect = "read", signer = "main",
    params = { sub_account },
    result = { list = "api_key", wrappers = { "subAccount" }, lone = "apiKey" },
  },
  {
    id = "A7", name = "delete_api_key", method = "DELETE", path = "/api/v3/broker/sub-account/apiKey",
    summary = "Deletes an API key of a sub-account.",
    effect = "change", signer = "main", body = "object",
    params = { sub_account, { "apiKey", "text", type = "string", required = true, note = "public key" } },
    result = { record = "named_sub_account", required_member = "subAccount" },
    reconcile = { strategy = "state", client_id = "apiKey", lookup = "broker.list_api_keys",
      copy_params = { "subAccount" }, accounts = "broker.list_sub_accounts", target_state = "absent" },
  },
  {
    id = "A8", name = "create_deposit_address", method = "POST", path = "/api/v3/broker/capital/deposit/subAddress",
    summary = "Generates a deposit address of the sub-account whose key signs.",
    permission = "SPOT_DEPOSIT_WRITE", effect = "create", signer = "sub", body = "object",
    params = { coin, network },
    result = { record = "deposit_address", required_member = "address" },
    reconcile = { strategy = "state", client_id = "network", lookup = "broker.deposit_addresses",
      copy_params = { "coin" }, target_state = "present" },
  },
  {
    id = "A9", name = "deposit_addresses", method = "GET", path = "/api/v3/broker/capital/deposit/subAddress",
    summary = "The deposit addresses of the sub-account whose key signs.",
    permission = "SPOT_DEPOSIT_READ", effect = "read", signer = "sub",
    params = { coin },
    result = { list = "deposit_address" },
  },
  {
    id = "A10", name = "deposit_history", method = "GET", path = "/api/v3/broker/capital/deposit/subHisrec",
    summary = "Deposits of the sub-account whose key signs.",
    effect = "read", signer = "sub",
    params = {
      coin_filter, status_filter, start_time, end_time,
      { "limit", "count", type = "string", default = 20 }, page,
    },
    paging = {
      iterator = "deposit", size = "limit", page_size = 1000, page = "page", time_member = "insertTime",
      key = deposit_key, unstable_filters = { "status" },
    },
    result = { list = "sub_account_deposit" },
  },
  {
    id = "A11", name = "all_deposit_history", method = "GET", path = "/api/v3/broker/capital/deposit/subHisrec/getall",
    summary = "Deposits of all sub-accounts, from 00:00 three days ago.",
    effect = "read", signer = "main",
    params = {
      coin_filter, status_filter, start_time, end_time,
      { "limit", "count", type = "string", default = 100, max = 1000 }, page,
    },
    paging = {
      iterator = "sub_account_deposit", size = "limit", page_size = 1000, page = "page", time_member = "insertTime",
      key = deposit_key, unstable_filters = { "status" },
    },
    result = { list = "deposit" },
  },
  {
    id = "A12", name = "withdraw", method = "POST", path = "/api/v3/broker/capital/withdraw/apply",
    summary = "Withdraws from the sub-account whose key signs; never from the parent, nor from it into a sub-account.",
    permission = "SPOT_TRANSFER_READ", effect = "transfer", signer = "sub", body = "object",
    params = {
      coin, network,
      { "address", "address", type = "string", required = true },
      { "amount", "amount", type = "string", required = true },
      { "password", "md5", type = "string", plain = "funds_password",
        note = "funds password as hexadecimal MD5; when sent, the address book is not checked" },
      { "remark", "text", type = "string" },
    },
    result = { record = "withdrawal_id", required_member = "id" },
    moves = { asset = "coin", amount = "amount", to = "address", address = "address", network = "network",
      has_memo_behind = true },
    reconcile = { strategy = "nothing", lookup = "wallet.withdrawal_history",
      match_on = { "coin", "address", "amount", "remark" },
      time_member = "applyTime" },
  },
  {
    id = "A13", name = "transfer", method = "POST", path = "/api/v3/broker/sub-account/universalTransfer",
    summary = "Moves funds between the parent and its sub-accounts.",
    permission = "SPOT_TRANSFER_READ", effect = "transfer", signer = "main", body = "object",
    params = {
      client_id, from_account, to_account, from_type, to_type,
      { "asset", "text", type = "string", required = true },
      { "amount", "amount", type = "string", required = true },
    },
    result = { record = "transfer_id", required_member = "tranId" },
    moves = { asset = "asset", amount = "amount", to = "sub_account", sub_accounts = { "fromAccount", "toAccount" } },
    reconcile = { strategy = "client_id", client_id = "clientTranId", generated_id = true,
      lookup = "broker.transfer_history",
      copy_params = { "fromAccount", "toAccount", "fromAccountType", "toAccountType" },
      narrow = { "clientTranId" }, accounts = "broker.list_sub_accounts",
      match_on = { "asset", "amount" }, time_member = "timestamp", failed_status = "FAILED" },
  },
  {
    id = "A14", name = "enable_futures", method = "POST", path = "/api/v3/broker/sub-account/futures",
    summary = "Enables the futures business of a sub-account.",
    effect = "change", signer = "main", body = "object",
    params = { sub_account },
    result = { record = "futures_state", required_member = "subAccount" },
    reconcile = { strategy = "repeat" },
  },
  {
    id = "A15", name = "rebates", method = "GET", path = "/api/v3/broker/rebate/taxQuery",
    summary = "The broker's rebates.",
    effect = "read", signer = "main",
    params = {
      start_time, end_time, page,
      { "pageSize", "count", type = "string", default = 10 },
    },
    paging = { iterator = "rebate", size = "pageSize", page_size = 100, page = "page" },
    result = { page = "rebate", counts = page_counts },
  },
}

-- SPDX-License-Identifier: MIT
-- Group B: a main account's calls for its sub-accounts.

local client_id = { "clientTranId", "client_id", type = "string" }
local from_account = { "fromAccount", "text", type = "string", note = "sub-account name; the parent when omitted" }
local to_account = { "toAccount", "text", type = "string", note = "sub-account name; the parent when omitted" }
local from_type = { "fromAccountType", "choice", type = "string", required = true, choices = "account_types" }
local to_type = { "toAccountType", "choice", type = "string", required = true, choices = "account_types" }
local sub_account = { "subAccount", "text", type = "string", required = true, note = "sub-account name" }

return {
  {
    id = "B1", name = "create_sub_account", method = "POST", path = "/api/v3/sub-account/virtualSubAccount",
    summary = "Creates a virtual sub-account.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "create", signer = "main",
    params = {
      { "subAccount", "new_name", type = "string", required = true, note = "name of the new sub-account" },
      { "note", "text", type = "string", required = true, note = "remark" },
    },
    result = { record = "created_sub_account", required_member = "subAccount" },
    reconcile = { strategy = "name", client_id = "subAccount", lookup = "sub_account.list_sub_accounts",
      narrow = { "subAccount" },
      time_member = "createTime" },
  },
  {
    id = "B2", name = "list_sub_accounts", method = "GET", path = "/api/v3/sub-account/list",
    summary = "The main account's sub-accounts.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read", signer = "main",
    params = {
      { "subAccount", "text", type = "string", note = "sub-account name" },
      { "isFreeze", "flag", type = "string" },
      { "page", "count", type = "int", default = 1 },
      { "limit", "count", type = "int", default = 10, max = 200 },
    },
    paging = {
      iterator = "sub_account", size = "limit", page_size = 200, page = "page", id = "subAccount",
      unstable_filters = { "isFreeze" },
    },
    result = { list = "sub_account", wrappers = { "subAccounts" } },
  },
  {
    id = "B3", name = "create_api_key", method = "POST", path = "/api/v3/sub-account/apiKey",
    summary = "Creates an API key for a sub-account. The answer holds the secretKey, this once.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "create", signer = "main", body = "array",
    params = {
      sub_account,
      { "note", "text", type = "string", required = true, note = "remark of the key" },
      { "permissions", "permissions", type = "string", required = true, choices = "permissions" },
      { "ip", "ips", type = "string", max = 20 },
    },
    result = { record = "api_key", required_member = "apiKey" },
    reconcile = { strategy = "token", client_id = "note", lookup = "sub_account.list_api_keys",
      delete_operation = "sub_account.delete_api_key", accounts = "sub_account.list_sub_accounts",
      copy_params = { "subAccount" }, match_on = { "note" }, time_member = "createTime" },
  },
  {
    id = "B4", name = "list_api_keys", method = "GET", path = "/api/v3/sub-account/apiKey",
    summary = "The API keys of a sub-account.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read", signer = "main",
    params = { sub_account },
    result = { list = "api_key", wrappers = { "subAccount" } },
  },
  {
    id = "B5", name = "delete_api_key", method = "DELETE", path = "/api/v3/sub-account/apiKey",
    summary = "Deletes an API key of a sub-account.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "change", signer = "main", body = "array",
    params = { sub_account, { "apiKey", "text", type = "string", required = true, note = "public key" } },
    result = { record = "named_sub_account", required_member = "subAccount" },
    reconcile = { strategy = "state", client_id = "apiKey", lookup = "sub_account.list_api_keys",
      copy_params = { "subAccount" }, accounts = "sub_account.list_sub_accounts", target_state = "absent" },
  },
  {
    id = "B6", name = "transfer", method = "POST", path = "/api/v3/capital/sub-account/universalTransfer",
    summary = "Moves funds between the parent and its sub-accounts.",
    permission = "SPOT_TRANSFER_WRITE", weight = 1, effect = "transfer", signer = "main",
    params = {
      client_id, from_account, to_account, from_type, to_type,
      { "asset", "text", type = "string", required = true },
      { "amount", "amount", type = "string", required = true },
    },
    result = { record = "transfer_id", required_member = "tranId" },
    moves = { asset = "asset", amount = "amount", to = "sub_account", sub_accounts = { "fromAccount", "toAccount" } },
    reconcile = { strategy = "client_id", client_id = "clientTranId", generated_id = true,
      lookup = "sub_account.transfer_history",
      copy_params = { "fromAccount", "toAccount", "fromAccountType", "toAccountType" },
      narrow = { "clientTranId" }, accounts = "sub_account.list_sub_accounts",
      match_on = { "asset", "amount" }, time_member = "timestamp", failed_status = "FAILED" },
  },
  {
    id = "B7", name = "transfer_history", method = "GET", path = "/api/v3/capital/sub-account/universalTransfer",
    summary = "Transfers between the parent and its sub-accounts.",
    permission = "SPOT_TRANSFER_READ", weight = 1, effect = "read", signer = "main",
    params = {
      client_id, from_account, to_account, from_type, to_type,
      { "startTime", "time", type = "string" },
      { "endTime", "time", type = "string" },
      { "page", "count", type = "string", default = 1 },
      { "limit", "count", type = "string", default = 500, max = 500 },
    },
    paging = { iterator = "transfer", size = "limit", page_size = 500, page = "page", time_member = "timestamp",
      id = "tranId" },
    -- totalCount: records by the live answers that were read, pages by Mexc.Net (TotalPages, 2026-08)
    result = { list = "sub_account_transfer", wrappers = { "result" }, counts = { totalCount = "either" } },
  },
  {
    id = "B8", name = "balances", method = "GET", path = "/api/v3/sub-account/asset",
    summary = "The balances of one sub-account.",
    permission = "SPOT_TRANSFER_READ", weight = 1, effect = "read", signer = "main",
    params = {
      sub_account,
      { "accountType", "choice", type = "string", required = true, choices = "account_types",
        note = "only SPOT is supported by the service" },
    },
    result = { list = "balance", wrappers = { "balances" } },
  },
}

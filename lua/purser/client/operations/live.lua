-- SPDX-License-Identifier: MIT
-- Operations of the live service beyond the interface document: an account's balances, keys and identity. A profile
-- allows them (`live_operations`).

return {
  {
    id = "L1", name = "account", method = "GET", path = "/api/v3/account", live = true,
    summary = "The balances of the account whose key signs, and what the account may do.",
    permission = "SPOT_ACCOUNT_READ", weight = 10, effect = "read",
    params = {},
    result = { record = "live_account", required_member = "accountType" },
  },
  {
    id = "L2", name = "api_key", method = "GET", path = "/api/v3/apiKeyInfo", live = true,
    summary = "What the service has on record of a key: permissions, IP list, days left.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read",
    params = { { "accessKey", "text", type = "string", required = true, note = "the public key" } },
    result = { record = "live_api_key", required_member = "accessKey" },
  },
  {
    id = "L3", name = "change_api_key", method = "POST", path = "/api/v3/apiKeyInfo", live = true,
    summary = "Changes the IP list of a key.",
    permission = "SPOT_ACCOUNT_WRITE", weight = 1, effect = "change",
    params = {
      { "apiKey", "text", type = "string", required = true, note = "the public key" },
      { "ipWhiteList", "ips", type = "string", required = true, max = 20 },
      { "note", "text", type = "string", note = "remark of the key" },
    },
    result = { record = "live_api_key", required_member = "accessKey" },
    reconcile = { strategy = "repeat" },
  },
  {
    id = "L4", name = "kyc_status", method = "GET", path = "/api/v3/kyc/status", live = true,
    summary = "How far the account is identified: 1 not, 2 primary, 3 advanced, 4 institutional.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read",
    params = {},
    result = { record = "live_kyc_status", required_member = "status" },
  },
  {
    id = "L5", name = "uid", method = "GET", path = "/api/v3/uid", live = true,
    summary = "The user id of the account.",
    permission = "SPOT_ACCOUNT_READ", weight = 1, effect = "read",
    params = {},
    result = { record = "live_uid", required_member = "uid" },
  },
}

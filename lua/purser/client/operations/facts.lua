-- SPDX-License-Identifier: MIT
-- Facts that the interface document lacks or has otherwise, and the windows of histories: value, source and date, the
-- reading in force first. A fact of several readings is contested; `purser doctor` says what it `means`.

local ADAPTER = "gocryptotrader 02c5508, after the vendor's pages"
local FIFTY = "a list of such calls takes fifty times as long with the larger one, and may meet 429 with the smaller"

local M = {}

--- Request weights, by operation.
M.weights = {
  ["broker.transfer"] = { means = FIFTY, { 50, "stated nowhere: assumed, as for the other transfers", "2026-11" },
    { 1, "ccxt 4.5.84 and gocryptotrader's newest test", "2026-09" } },
  ["sub_account.transfer"] = { means = FIFTY, { 50, ADAPTER, "2026-09" }, { 1, "ccxt 4.5.84; Mexc.Net", "2026-09" } },
  ["wallet.transfer"] = { { 50, ADAPTER .. "; ccxt 4.5.84", "2026-09" } },
  ["wallet.deposit_history"] = { { 10, ADAPTER .. "; ccxt 4.5.84", "2026-09" } },
  ["wallet.withdraw_legacy"] = { { 10, ADAPTER, "2026-09" } },
}

--- Weight in 10 s that all calls of an address or an account share, by pool.
M.pools = {
  ip = { means = "calls within the larger ones may meet 429; the strictest is `requests_per_second = 20`",
    { 300, ADAPTER, "2026-09" }, { 500, "the vendor's general page: each endpoint alone", "2026-09" },
    { 200, "the vendor's support in Mexc.Net#42: 20 a second", "2026-01" } },
  account = { { 500, ADAPTER, "2026-09" } },
}

local function stated(window) return { { window, "the interface document", "2026-11" } } end

--- Days of a history, by operation: without times, in one request, and back from now.
M.windows = {
  ["broker.deposit_history"] = stated { default_days = 10 },
  ["broker.all_deposit_history"] = stated { default_days = 3, retention_days = 3, from_midnight = true },
  ["wallet.deposit_history"] = stated { default_days = 7, max_window_days = 7, retention_days = 90 },
  ["wallet.withdrawal_history"] = stated { default_days = 7, max_window_days = 7, retention_days = 90 },
  ["wallet.transfer_history"] = stated { default_days = 7, retention_months = 6 },
  ["wallet.get_transfer"] = stated { retention_months = 6 },
  ["wallet.internal_transfer_history"] = stated { default_days = 7 },
}

--- The greatest recvWindow in ms, and the days of a key without an IP list.
M.limits = { max_recv_window = { { 60000, "the vendor's table of codes: 700005", "2026-09" } },
  key_days = { { 90, "the vendor's FAQ", "2026-09" } } }

--- Members of live records beyond the document, by shape: names, source, date.
M.members = {
  withdrawal = { "netWork explorerUrl", "Mexc.Net#61", "2026-08" },
  withdrawal_address = { "netWork chainNames chainDisplayName", "Mexc.Net#61", "2026-08" },
  deposit_address = { "netWork", "dv-merchant 195fc8b", "2026-08" },
  network = { "depositPreConfirms", "dv-merchant's responses", "2026-08" },
  convertible_balance = { "currencyId", "dv-merchant's responses", "2026-08" },
}

--- Other spellings of members of live records, by shape: spelling, source, date. The shapes read them.
M.spellings = {
  live_api_key = { "apikey", "gocryptotrader 00c168c8: the answer to POST, where GET has accessKey", "2026-09" },
}

--- Values of live records in a form beyond the document, by operation and member: example, source, date. Each is read
--- as it is shown.
M.forms = {
  ["wallet.deposit_history"] = { confirmTimes = { "1/1", "gocryptotrader 00c168c8", "2026-09" } },
  ["wallet.withdrawal_history"] = { coin = { "USDT-ETH", "ccxt#26667", "2025-08" } },
}

--- Members of answers that are errors, beyond code and message: meaning and source, date. An error does not have them.
M.error_members = { announcement = { "a URL, beside code 500 under maintenance: ccxt 006e9cc3", "2026-09" } }

--- IP addresses in the list of an API key.
M.addresses_of_key = { means = "a longer list may be refused", { 20, "the interface document", "2026-11" },
  { 10, "the vendor's FAQ", "2026-09" } }

return M

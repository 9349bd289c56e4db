-- SPDX-License-Identifier: MIT
-- The shapes of results: which members a record has, in the document's order, and of which type.
--
-- A field is { name, type, aliases = {...}, prefix = "..." }; the type is "string", "integer", "boolean", "address",
-- { list = type } or { record = shape name }. Names are canonical; `aliases` are the other spellings that arrive.

return {
  -- A1, B7
  sub_account_transfer = {
    { "tranId", "string" }, { "fromAccount", "string" }, { "toAccount", "string" }, { "clientTranId", "string" },
    { "asset", "string" }, { "amount", "string" }, { "fromAccountType", "string" }, { "toAccountType", "string" },
    { "fromSymbol", "string", aliases = { "fromsymbol" } }, { "toSymbol", "string", aliases = { "tosymbol" } },
    { "status", "string" }, { "timestamp", "integer" },
  },
  -- A2, B1
  created_sub_account = { { "subAccount", "string" }, { "note", "string" }, { "timestamp", "integer" } },
  -- A3
  broker_sub_account = { { "subAccount", "string" }, { "note", "string" }, { "timestamp", "integer" } },
  -- A4
  sub_account_status = { { "status", "string" } },
  -- A5, A6, B3, B4
  api_key = {
    { "subAccount", "string" }, { "note", "string" }, { "apiKey", "string", aliases = { "apikey" } },
    { "secretKey", "string" }, { "permissions", "string" }, { "ip", "string" },
    { "createTime", "integer", aliases = { "creatTime" } },
  },
  -- A7, B5
  named_sub_account = { { "subAccount", "string" } },
  -- A8, A9, C6, C7
  deposit_address = {
    { "address", "address" }, { "coin", "string" }, { "network", "string" }, { "memo", "string" },
  },
  -- A10: as a deposit, but its status is text
  sub_account_deposit = {
    { "amount", "string" }, { "coin", "string" }, { "network", "string" }, { "status", "string" },
    { "address", "address" }, { "addressTag", "string" }, { "txId", "string" }, { "unlockConfirm", "string" },
    { "confirmTimes", "string" }, { "insertTime", "integer" }, { "memo", "string" },
  },
  -- A11, C4
  deposit = {
    { "amount", "string" }, { "coin", "string" }, { "network", "string" }, { "status", "integer" },
    { "address", "address" }, { "addressTag", "string" }, { "txId", "string" }, { "unlockConfirm", "string" },
    { "confirmTimes", "string" }, { "insertTime", "integer" }, { "memo", "string" },
  },
  -- A12, C2, C3, C17
  withdrawal_id = { { "id", "string" } },
  -- A13, B6, C9, C15
  transfer_id = { { "tranId", "string" } },
  -- A14
  futures_state = { { "subAccount", "string" }, { "isFuturesEnabled", "boolean" }, { "timestamp", "string" } },
  -- A15
  rebate = {
    { "asset", "string" }, { "amount", "string" }, { "type", "string" }, { "uid", "string" }, { "time", "string" },
  },
  -- B2
  sub_account = {
    { "subAccount", "string" }, { "isFreeze", "boolean" }, { "createTime", "integer", aliases = { "creatTime" } },
    { "uid", "string" },
  },
  -- B8
  balance = { { "asset", "string" }, { "free", "string" }, { "locked", "string" } },
  -- C1
  coin = {
    { "coin", "string" }, { "name", "string", aliases = { "Name" } },
    { "networkList", { list = { record = "network" } } },
  },
  network = {
    { "coin", "string" }, { "name", "string", aliases = { "Name" } }, { "network", "string" },
    { "netWork", "string" }, { "depositEnable", "boolean" }, { "withdrawEnable", "boolean" },
    { "withdrawFee", "string" }, { "withdrawMin", "string" }, { "withdrawMax", "string" },
    { "withdrawIntegerMultiple", "string" }, { "minConfirm", "integer" }, { "sameAddress", "boolean" },
    { "contract", "string" }, { "depositDesc", "string" }, { "depositTips", "string" }, { "withdrawTips", "string" },
  },
  -- C5
  withdrawal = {
    { "id", "string" }, { "withdrawOrderId", "string" }, { "txId", "string" }, { "coin", "string" },
    { "network", "string" }, { "address", "string" }, { "amount", "string" }, { "transferType", "integer" },
    { "status", "integer" }, { "transactionFee", "string" }, { "confirmNo", "integer" }, { "applyTime", "integer" },
    { "updateTime", "integer" }, { "remark", "string" }, { "memo", "string" }, { "transHash", "string" },
    { "coinId", "string" }, { "vcoinId", "string" },
  },
  -- C8
  withdrawal_address = {
    { "coin", "string" }, { "network", "string" }, { "address", "string" }, { "addressTag", "string" },
    { "memo", "string" },
  },
  -- C10, C11
  wallet_transfer = {
    { "tranId", "string" }, { "clientTranId", "string" }, { "asset", "string" }, { "amount", "string" },
    { "fromAccountType", "string" }, { "toAccountType", "string" }, { "symbol", "string" },
    { "fromSymbol", "string", aliases = { "fromsymbol" } }, { "toSymbol", "string", aliases = { "tosymbol" } },
    { "status", "string" }, { "timestamp", "integer" },
  },
  -- C12
  convertible_balance = {
    { "convertPlatformToken", "string", prefix = "convert" }, { "convertUsdt", "string" }, { "balance", "string" },
    { "asset", "string" }, { "code", "string" }, { "message", "string" },
  },
  -- C13
  conversion = {
    { "successList", { list = "string" } }, { "failedList", { list = { record = "failed_conversion" } } },
    { "totalConvert", "string" }, { "convertFee", "string" },
  },
  failed_conversion = { { "asset", "string" }, { "message", "string" }, { "code", "string" } },
  -- C14
  conversion_batch = {
    { "totalConvert", "string" }, { "totalFee", "string" }, { "convertTime", "integer" },
    { "convertDetails", { list = { record = "conversion_detail" } } },
  },
  conversion_detail = {
    { "id", "string" }, { "convert", "string" }, { "fee", "string" }, { "amount", "string" }, { "time", "integer" },
    { "asset", "string" },
  },
  -- C16
  internal_transfer = {
    { "tranId", "string" }, { "asset", "string" }, { "amount", "string" }, { "toAccountType", "string" },
    { "toAccount", "string" }, { "fromAccount", "string" }, { "status", "string" }, { "timestamp", "integer" },
  },
  -- L1
  live_account = {
    { "canTrade", "boolean" }, { "canWithdraw", "boolean" }, { "canDeposit", "boolean" }, { "accountType", "string" },
    { "balances", { list = { record = "live_balance" } } }, { "permissions", { list = "string" } },
  },
  live_balance = { { "asset", "string" }, { "free", "string" }, { "locked", "string" } },
  -- L2, L3: the time is text, or a number of milliseconds
  live_api_key = {
    { "note", "string" }, { "accessKey", "string" }, { "status", "string" }, { "permissions", "string" },
    { "ipWhiteList", "string" }, { "createTime", "string" }, { "remainingValidity", "integer" },
  },
  -- L4
  live_kyc_status = { { "status", "string" } },
  -- L5
  live_uid = { { "uid", "string" } },
}

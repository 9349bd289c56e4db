-- SPDX-License-Identifier: MIT
-- The answers of each operation, in the interface document's own spelling, order and types.
--
-- Transcribed from the document, not from the decoder's shapes: the simulator must not share a mistake with the
-- decoder. A form is { list | record | page | rows = members } and a wrapping. Members are words:
--
--   name<canonical:kind?     `canonical` where the document's spelling differs from the canonical name; `kind` where it
--                            is not text; `?` where the document says "or null", else left out
--
-- `seen` of a list of members: further members seen in live answers.
--
-- Kinds: text, number, number_text (a number's digits) and flag; address, memo_beside, bare_id, coin, deposit_amount,
-- withdrawal_amount, deposit_network, withdrawal_network and output: texts that the live service shows differently;
-- always, a text that is empty where there is none; texts, a list of texts;
-- records, whose members are the next argument.

local function members(words, ...)
  local list, nested, used = {}, { ... }, 0
  for word in words:gmatch("%S+") do
    local name, canonical, kind, nullable = word:match("^(%a+)<?(%a*):?([%a_]*)(%??)$")
    local member = {
      name = name, canonical = canonical ~= "" and canonical or name, kind = kind ~= "" and kind or "text",
      nullable = nullable == "?",
    }
    if kind == "records" then
      used = used + 1
      member.members = nested[used]
    end
    list[#list + 1] = member
  end
  return list
end

local function with_seen(words, list)
  list.seen = members(words)
  return list
end

local transfer_ids = "tranId fromAccount toAccount clientTranId asset amount fromAccountType toAccountType "
local created = members "subAccount note timestamp:number"
local listed_key = members "note apiKey permissions ip creatTime<createTime:number"
local named = members "subAccount"
local address = with_seen("netWork", members "address:address coin network memo:memo_beside?")
local wallet_address = with_seen("netWork", members "address coin network memo?")
local live_key = members "note accessKey createTime permissions remainingValidity:number ipWhiteList status"
local changed_key = members "note apikey<accessKey createTime permissions remainingValidity:number ipWhiteList status"
local deposit_seen = "netWork transHash updateTime:number"
local withdrawal_id = members "id"
local transfer_id = members "tranId"
local wallet_transfer = "tranId clientTranId? asset amount fromAccountType toAccountType "
local numbers_first = { "page", "totalRecords", "totalPageNum", "data" }
local data_first = { "data", "totalRecords", "page", "totalPageNum" }

local network = members(
  "coin name network netWork depositEnable:flag withdrawEnable:flag withdrawFee withdrawMin "
  .. "withdrawMax withdrawIntegerMultiple? minConfirm:number sameAddress:flag contract "
  .. "depositDesc? depositTips? withdrawTips?")

return {
  A1 = {
    list = members(transfer_ids .. "fromsymbol<fromSymbol tosymbol<toSymbol status timestamp:number"), counted = true,
  },
  A2 = { record = created, envelope = true, single = "array" },
  A3 = { list = created, envelope = true },
  A4 = { record = members "status:number_text" },
  A5 = { record = members "subAccount permissions note apikey<apiKey secretKey createTime:number ip" },
  A6 = { list = listed_key, inside = "subAccount" },
  A7 = { record = named },
  A8 = { record = address },
  A9 = { list = address },
  A10 = { list = with_seen(deposit_seen, members("amount:deposit_amount coin network:deposit_network "
    .. "status:number_text address addressTag:always txId:output unlockConfirm confirmTimes insertTime:number "
    .. "memo:always")) },
  A11 = { list = with_seen(deposit_seen, members("amount:deposit_amount coin network:deposit_network status:number "
    .. "address txId:output unlockConfirm confirmTimes insertTime:number memo:always")) },
  A12 = { record = withdrawal_id },
  A13 = { record = transfer_id },
  A14 = {
    record = members "subAccount isFuturesEnabled:flag timestamp:number_text", envelope = true, single = "array",
  },
  A15 = { page = members "asset amount type uid time", order = numbers_first },

  B1 = { record = members "subAccount note" },
  B2 = { list = members "subAccount isFreeze:flag createTime:number uid", inside = "subAccounts" },
  B3 = { record = members "subAccount note apiKey secretKey permissions ip creatTime<createTime:number" },
  B4 = { list = listed_key, inside = "subAccount" },
  B5 = { record = named },
  B6 = { record = members "tranId:bare_id", single = "array" },
  B7 = { list = members(transfer_ids .. "fromSymbol toSymbol status timestamp:number"), counted = true },
  B8 = { list = members "asset free locked", inside = "balances" },

  C1 = { list = members("coin name networkList:records", network) },
  C2 = { record = withdrawal_id, single = "object" },
  C3 = { record = withdrawal_id },
  C4 = { list = with_seen(deposit_seen, members("amount:deposit_amount coin:coin network:deposit_network status:number "
    .. "address addressTag:always txId:output unlockConfirm confirmTimes insertTime:number memo:always")) },
  C5 = { list = with_seen("netWork", members("id withdrawOrderId txId:output? coin:coin "
    .. "network:withdrawal_network address amount:withdrawal_amount transferType:number status:number "
    .. "transactionFee:withdrawal_amount confirmNo:number? applyTime:number updateTime:number remark memo:always "
    .. "transHash coinId vcoinId")) },
  C6 = { record = wallet_address, single = "object" },
  C7 = { list = wallet_address },
  C8 = { page = members "coin network address addressTag memo?", order = data_first },
  C9 = { record = transfer_id, single = "array" },
  C10 = { rows = with_seen("symbol?", members(wallet_transfer .. "fromSymbol? toSymbol? status timestamp:number")) },
  C11 = { record = members(wallet_transfer .. "symbol? status timestamp:number") },
  C12 = { list = members "convertPlatformToken convertUsdt balance asset code message" },
  C13 = { record = members("successList:texts failedList:records totalConvert convertFee",
    members "asset message code") },
  C14 = { page = members("totalConvert totalFee convertTime:number convertDetails:records",
    members "id convert fee amount time:number asset"), order = data_first },
  C15 = { record = transfer_id, single = "object" },
  C16 = { page = members("tranId asset amount toAccountType toAccount fromAccount status timestamp:number"),
    order = numbers_first },
  C17 = { record = withdrawal_id, single = "array" },

  L1 = { record = members("makerCommission? takerCommission? canTrade:flag canWithdraw:flag canDeposit:flag "
    .. "updateTime? accountType balances:records permissions:texts", members "asset free locked") },
  L2 = { record = live_key },
  L3 = { record = changed_key },
  L4 = { record = members "status" },
  L5 = { record = members "uid" },
}

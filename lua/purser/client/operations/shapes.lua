-- SPDX-License-Identifier: MIT
-- The shapes of results: members in the document's order, and types.
--
-- A member is `name|other spelling|prefix*:type`. Types: string (default), integer, boolean, address; `string...` is a
-- list of texts, another name with dots a list of records of that shape. A text is read at the first use.

local texts = {
  -- A1, B7
  sub_account_transfer = [[
    tranId fromAccount toAccount clientTranId asset amount fromAccountType toAccountType
    fromSymbol|fromsymbol toSymbol|tosymbol status timestamp:integer]],
  -- A2, B1
  created_sub_account = "subAccount note timestamp:integer",
  -- A3
  broker_sub_account = "subAccount note timestamp:integer",
  -- A4
  sub_account_status = "status",
  -- A5, A6, B3, B4
  api_key = "subAccount note apiKey|apikey secretKey permissions ip createTime|creatTime:integer",
  -- A7, B5
  named_sub_account = "subAccount",
  -- A8, A9, C6, C7
  deposit_address = "address:address coin network memo",
  -- A10: as a deposit, but its status is text
  sub_account_deposit = [[
    amount coin network status address:address addressTag txId unlockConfirm confirmTimes insertTime:integer
    memo]],
  -- A11, C4
  deposit = [[
    amount coin network status:integer address:address addressTag txId unlockConfirm confirmTimes
    insertTime:integer memo]],
  -- A12, C2, C3, C17
  withdrawal_id = "id",
  -- A13, B6, C9, C15
  transfer_id = "tranId",
  -- A14
  futures_state = "subAccount isFuturesEnabled:boolean timestamp",
  -- A15
  rebate = "asset amount type uid time",
  -- B2
  sub_account = "subAccount isFreeze:boolean createTime|creatTime:integer uid",
  -- B8
  balance = "asset free locked",
  -- C1
  coin = "coin name|Name networkList:network...",
  network = [[
    coin name|Name network netWork depositEnable:boolean withdrawEnable:boolean withdrawFee withdrawMin
    withdrawMax withdrawIntegerMultiple minConfirm:integer sameAddress:boolean contract depositDesc
    depositTips withdrawTips]],
  -- C5
  withdrawal = [[
    id withdrawOrderId txId coin network address amount transferType:integer status:integer transactionFee
    confirmNo:integer applyTime:integer updateTime:integer remark memo transHash coinId vcoinId]],
  -- C8
  withdrawal_address = "coin network address addressTag memo",
  -- C10, C11
  wallet_transfer = [[
    tranId clientTranId asset amount fromAccountType toAccountType symbol fromSymbol|fromsymbol
    toSymbol|tosymbol status timestamp:integer]],
  -- C12
  convertible_balance = "convertPlatformToken|convert* convertUsdt balance asset code message",
  -- C13
  conversion = "successList:string... failedList:failed_conversion... totalConvert convertFee",
  failed_conversion = "asset message code",
  -- C14
  conversion_batch = "totalConvert totalFee convertTime:integer convertDetails:conversion_detail...",
  conversion_detail = "id convert fee amount time:integer asset",
  -- C16
  internal_transfer = "tranId asset amount toAccountType toAccount fromAccount status timestamp:integer",
  -- L1
  live_account = [[
    canTrade:boolean canWithdraw:boolean canDeposit:boolean accountType balances:live_balance...
    permissions:string...]],
  live_balance = "asset free locked",
  -- L2, L3: the time is text, or a number of milliseconds
  live_api_key = "note accessKey|apikey status permissions ipWhiteList createTime remainingValidity:integer",
  -- L4
  live_kyc_status = "status",
  -- L5
  live_uid = "uid",
}

local function type_of(word)
  local inner = word:match "^(.*)%.%.%.$"
  if not inner then return word end
  return { list = texts[inner] and { record = inner } or inner }
end

-- Returns the fields of a shape: { name, type, aliases = {...}, prefix = "..." }.
local function read(text)
  local fields = {}
  for names, type_ in text:gmatch "([^%s:]+):?(%S*)" do
    local field = { names:match "^[^|]+", type_of(type_ ~= "" and type_ or "string") }
    for other in names:gmatch "|([^|]+)" do
      field.prefix = field.prefix or other:match "^(.*)%*$"
      if not field.prefix then
        field.aliases = field.aliases or {}
        table.insert(field.aliases, other)
      end
    end
    fields[#fields + 1] = field
  end
  return fields
end

local M = setmetatable({}, { __index = function(shapes, name)
  local fields = texts[name] and read(texts[name])
  if fields then shapes[name] = fields end
  return fields
end })

--- Returns all shapes by name.
---@return table<string, table[]>
function M.every()
  local all = {}
  for name in pairs(texts) do all[name] = M[name] end
  return all
end

return M

-- SPDX-License-Identifier: MIT
--- The service's known error codes: meanings and cures. Another code passes through untouched.

---@class purser.modules.codes
local M = {}

-- `on` says who may answer it: "*" all, "broker.*" a group, "*.transfer" an operation of any group, or a full name.
local signed = { "*" }
local sub_accounts = { "*.create_sub_account" }
local keys = { "*.create_api_key" }
local outgoing = { "wallet.withdraw", "wallet.withdraw_legacy", "broker.withdraw" }
local spending = {
  "wallet.withdraw", "wallet.withdraw_legacy", "broker.withdraw", "*.transfer", "wallet.internal_transfer",
  "wallet.convert",
}
local named = {
  "broker.sub_account_status", "broker.enable_futures", "*.list_api_keys", "*.create_api_key", "*.delete_api_key",
  "broker.transfer", "sub_account.transfer", "broker.transfer_history", "sub_account.transfer_history",
  "sub_account.balances",
}
local with_coin = {
  "wallet.withdraw", "wallet.withdraw_legacy", "broker.withdraw", "*.create_deposit_address", "*.deposit_addresses",
  "*.deposit_history", "broker.all_deposit_history", "wallet.withdrawal_history", "*.transfer",
  "wallet.internal_transfer",
}

-- The cure after a code of the profile's unknown_codes.
local OPEN = "after a write call `client:reconcile(err)` finds out what became of it; a read may be retried later"

local SIGNATURE = "check `secret_key`, then the profile; the simulator shows the text it expected to be signed"
local BALANCE = "read the balance; funds in open orders or waiting withdrawals are locked"

---@class purser.Code
---@field meaning string
---@field cure string  what to do, as it stands in the `hint` of an error
---@field on string[]  which operations may answer it: "*", "group.*", "*.name" or "group.name"
---@field source string  where the code was read, and when

---@type table<string, purser.Code>
M.list = {
  ["-2011"] = { meaning = "The service rejects the cancellation.",
    cure = "read the record: it may not exist, or have ended", on = { "wallet.cancel_withdrawal" } },
  ["26"] = { meaning = "Seen in answers of the live service; what it means is not documented.",
    cure = "do what the message asks for on the platform's own page, or ask its support", on = signed },
  ["400"] = { meaning = "The start time is more than 90 days back; with the message `api key required`, the key is "
      .. "missing.",
    cure = "where it is the time, ask for a window within the last 90 days; where it is the key, check that no proxy "
      .. "removes its header", on = signed },
  ["401"] = { meaning = "The request is not authorised.",
    cure = "check `api_key`, and that no proxy removes its header", on = signed },
  ["403"] = { meaning = "Access is forbidden, often because of too many requests.",
    cure = "stop calling for some minutes; then check the key's IP list", on = signed },
  ["429"] = { meaning = "Too many requests.", cure = "stop calling for some minutes", on = signed },
  ["500"] = { meaning = "Internal error. It proves nothing.", cure = OPEN, on = signed },
  ["503"] = { meaning = "The service is not available. It proves nothing.", cure = OPEN, on = signed },
  ["504"] = { meaning = "The gateway waited too long. It proves nothing.", cure = OPEN, on = signed },
  ["602"] = { meaning = "The signature is not valid.", cure = SIGNATURE, on = signed },
  ["10001"] = { meaning = "The user does not exist.",
    cure = "check `api_key`, and the user that the call names", on = signed },
  ["10007"] = { meaning = "The symbol is not known.", cure = "take coins from `wallet.coins`", on = spending },
  ["10015"] = { meaning = "The user id is missing.",
    cure = "check `api_key`; a proxy may have removed the header", on = signed },
  ["10072"] = { meaning = "The API key is not known.",
    cure = "check `api_key`; a deleted or expired key answers the same", on = signed },
  ["10073"] = { meaning = "The request's time is not acceptable.",
    cure = "set the machine's clock; `client:server_time()` shows the difference", on = signed },
  ["10095"] = { meaning = "The amount is missing.", cure = "give `amount`", on = spending },
  ["10096"] = { meaning = "The amount has too many decimals.",
    cure = "round it down to the `withdrawIntegerMultiple` of `wallet.coins`", on = spending },
  ["10097"] = { meaning = "The amount is wrong.",
    cure = "send a plain decimal within the limits of `wallet.coins`", on = spending },
  ["10098"] = { meaning = "Risk control noticed something unusual. It proves nothing.", cure = OPEN, on = spending },
  ["10099"] = { meaning = "The sub-account is not open for this.",
    cure = "open it on the platform, or with `enable_futures`", on = spending },
  ["10100"] = { meaning = "This coin cannot be transferred.",
    cure = "ask the platform which coins can", on = spending },
  ["10101"] = { meaning = "The balance is too small.",
    cure = BALANCE, on = spending },
  ["10102"] = { meaning = "The amount is not positive.", cure = "send an amount greater than zero", on = spending },
  ["10103"] = { meaning = "This kind of account cannot be transferred from or to.",
    cure = "check both types of account", on = spending },
  ["10200"] = { meaning = "The transfer is being processed. It proves nothing.", cure = OPEN, on = spending },
  ["10201"] = { meaning = "Transferring in failed. It proves nothing.", cure = OPEN, on = spending },
  ["10202"] = { meaning = "Transferring out failed. It proves nothing.", cure = OPEN, on = spending },
  ["10206"] = { meaning = "Transfers are switched off.", cure = "wait; ask the platform", on = spending },
  ["10211"] = { meaning = "The transfer is forbidden.",
    cure = "ask the platform; the account may be restricted", on = spending },
  ["10212"] = { meaning = "The address is not in the account's address book.",
    cure = "save the address on the platform first; `wallet.withdrawal_addresses` lists the saved ones",
    on = outgoing },
  ["10216"] = { meaning = "There is no deposit address for this coin and network.",
    cure = "make one with `create_deposit_address`, unless `wallet.coins` says that deposits are suspended",
    on = { "*.deposit_addresses", "*.create_deposit_address" } },
  ["10219"] = { meaning = "The entry in the books failed. It proves nothing.", cure = OPEN, on = spending },
  ["10222"] = { meaning = "The coin is missing.", cure = "give `coin` or `asset`", on = with_coin },
  ["10232"] = { meaning = "The coin or the network is not known.",
    cure = "take coin and network as `wallet.coins` shows them: `netWork` to withdraw, `network` for deposit addresses",
    on = with_coin },
  ["10255"] = { meaning = "The amount is above the network's maximum.",
    cure = "withdraw it in parts of at most the network's `withdrawMax` of `wallet.coins`", on = outgoing },
  ["10259"] = { meaning = "The service lacks an account in between. It proves nothing.", cure = OPEN, on = spending },
  ["10265"] = { meaning = "Risk control blocks withdrawals.",
    cure = "stop withdrawing from this account; ask the platform", on = outgoing },
  ["10268"] = { meaning = "The remark is too long.", cure = "give a shorter `remark`", on = outgoing },
  ["16021"] = { meaning = "The balance is locked.", cure = BALANCE, on = spending },
  ["20001"] = { meaning = "This part of the service is not supported.", cure = "ask the platform", on = signed },
  ["20002"] = { meaning = "Internal system error. It proves nothing.", cure = OPEN, on = signed },
  ["22222"] = { meaning = "The record does not exist.", cure = "check the id, and that the record is the caller's own",
    on = { "wallet.get_transfer", "wallet.cancel_withdrawal", "wallet.internal_transfer" } },
  ["30004"] = { meaning = "The balance is too small.", cure = BALANCE, on = spending },
  ["30005"] = { meaning = "The balance is too small.", cure = BALANCE, on = spending },
  ["33333"] = { meaning = "A parameter is wrong.", cure = "compare the values with the operation's table",
    on = { "wallet.*" } },
  ["44444"] = { meaning = "A parameter is null.", cure = "leave a parameter out instead of sending it empty",
    on = { "wallet.*" } },
  ["60005"] = { meaning = "Risk control blocks withdrawals.",
    cure = "stop withdrawing from this account; ask the platform", on = outgoing },
  ["70011"] = { meaning = "The user may not trade with this key.", cure = "ask the platform", on = signed },
  ["140001"] = { meaning = "The sub-account does not exist.",
    cure = "check the name with `list_sub_accounts`; names are case-sensitive", on = named },
  ["140002"] = { meaning = "The sub-account is forbidden.", cure = "it is frozen or restricted; ask the platform",
    on = named },
  ["152073"] = { meaning = "There is a deposit address for this coin and network already.",
    cure = "read it with `deposit_addresses`", on = { "*.create_deposit_address" } },
  ["700001"] = { meaning = "The API key has the wrong form.", cure = "copy it again, without blanks", on = signed },
  ["700002"] = { meaning = "The signature is not valid.",
    cure = SIGNATURE, on = signed },
  ["700003"] = { meaning = "The timestamp is outside of the accepted window.",
    cure = "set the machine's clock, or give a larger `recv_window` on a slow line", on = signed },
  ["700004"] = { meaning = "A mandatory parameter is missing.", cure = "compare with the operation's table",
    on = signed },
  ["700005"] = { meaning = "`recvWindow` is over 60000.", cure = "give a smaller `recv_window`", on = signed },
  ["700006"] = { meaning = "The caller's IP address is not on the key's list.",
    cure = "add the address to the key on the platform, or call from a listed machine", on = signed },
  ["700007"] = { meaning = "The key lacks the permission.",
    cure = "give the key the permission that the operation names", on = signed },
  ["700008"] = { meaning = "A parameter holds characters that are not allowed.",
    cure = "use letters, digits and plain punctuation", on = signed },
  ["700013"] = { meaning = "The content type is missing or wrong.",
    cure = "keep the profile's `content_type`; a proxy may have removed the header", on = signed },
  ["730000"] = { meaning = "The request failed. It proves nothing.", cure = OPEN,
    on = { "broker.*", "sub_account.*", "wallet.cancel_withdrawal" } },
  ["730001"] = { meaning = "The information about the user is wrong.",
    cure = "check the names and the key of the call", on = { "broker.*", "sub_account.*" } },
  ["730002"] = { meaning = "A parameter is wrong.", cure = "compare the values with the operation's table",
    on = { "broker.*", "sub_account.*" } },
  ["730003"] = { meaning = "The operation is not supported.",
    cure = "ask the platform", on = { "broker.*", "sub_account.*" } },
  ["730100"] = { meaning = "The user's status does not allow it.",
    cure = "the account is restricted; ask the platform", on = signed },
  ["730101"] = { meaning = "A sub-account of that name exists.", cure = "choose another name", on = sub_accounts },
  ["730600"] = { meaning = "The sub-account's name is missing.", cure = "give `subAccount`",
    on = { "*.create_sub_account", "broker.sub_account_status", "broker.enable_futures", "*.list_api_keys",
      "*.create_api_key", "*.delete_api_key", "sub_account.balances" } },
  ["730601"] = { meaning = "The name is not 8 to 32 letters and digits.", cure = "choose another name",
    on = sub_accounts },
  ["730602"] = { meaning = "The sub-account's note is missing.", cure = "give `note`", on = sub_accounts },
  ["730603"] = { meaning = "The caller is not a broker.",
    cure = "use the operations of `client.sub_account`, or a broker's key", on = { "broker.*" } },
  ["730700"] = { meaning = "The key's note is missing.", cure = "give `note`", on = keys },
  ["730701"] = { meaning = "The key's permissions are missing.", cure = "give `permissions`", on = keys },
  ["730702"] = { meaning = "A permission does not exist.", cure = "use the names that the operation lists",
    on = keys },
  ["730703"] = { meaning = "An IP address is wrong, or there are too many.",
    cure = "a broker's key takes 4 addresses, a main account's 20; the live service may take 10", on = keys },
  ["730704"] = { meaning = "An IP address has the wrong form.", cure = "send plain IPv4 or IPv6 addresses",
    on = keys },
  ["730705"] = { meaning = "The sub-account has 30 keys already.", cure = "delete one first", on = keys },
  ["730706"] = { meaning = "The key does not exist.", cure = "`list_api_keys` lists those that do",
    on = { "*.delete_api_key" } },
  ["730707"] = { meaning = "The key is missing.", cure = "give `apiKey`, the public key",
    on = { "*.delete_api_key" } },
}

--- Where the codes were read: source, date, codes. A code stands with the source that met it.
---@type string[][]
M.sources = {
  { "the vendor's table of codes, as the crate mexc-rs has it", "2026-11", "-2011 26 400 401 403 429 500 503 504 602 "
    .. "10001 10007 10015 10072 10073 10095 10096 10097 10098 10099 10100 10101 10102 10103 10200 10201 10202 10206 "
    .. "10211 10212 10216 10219 10222 10232 10259 10265 10268 20001 20002 22222 30005 33333 44444 60005 70011 140001 "
    .. "140002 700001 700002 700003 700004 700005 700006 700007 700008 730000 730001 730002 730003 730100 730101 "
    .. "730600 730601 730602 730700 730701 730702 730703 730704 730705 730706 730707" },
  { "answers of the live service", "2026-09", "152073 700013 730603" },
  { "DFXswiss/api#4741", "2026-08", "10255" },
  { "dv-merchant b56efaa and 96c8ed5", "2026-08", "16021 30004" },
}
for _, source in ipairs(M.sources) do
  for code in source[3]:gmatch "%S+" do M.list[code].source = ("%s, %s"):format(source[1], source[2]) end
end

local function matches(pattern, full_name)
  if pattern == "*" or pattern == full_name then return true end
  local group, name = pattern:match("^([^.]+)%.([^.]+)$")
  local own_group, own_name = full_name:match("^([^.]+)%.([^.]+)$")
  return (group == own_group and name == "*") or (group == "*" and name == own_name)
end

--- Returns the meaning and cure of a code, or nil.
---@param code string|integer|nil
---@return purser.Code|nil
function M.get(code)
  return code ~= nil and M.list[tostring(code)] or nil
end

--- Returns an operation's codes, ascending. With `own` only codes that some operation lacks.
---@param full_name string  such as "wallet.withdraw"
---@param own boolean|nil
---@return string[]
function M.of(full_name, own)
  local result = {}
  for code, entry in pairs(M.list) do
    for _, pattern in ipairs(entry.on) do
      if matches(pattern, full_name) and not (own and pattern == "*") then
        result[#result + 1] = code
        break
      end
    end
  end
  table.sort(result, function(a, b) return tonumber(a) < tonumber(b) end)
  return result
end

return M

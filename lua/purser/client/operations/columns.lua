-- SPDX-License-Identifier: MIT
-- Columns by type: one function a type says what is good. Lists, customers' files, the agent and single calls ask the
-- same. A judge returns "good"; or "doubtful" (a person looks at it) or "refused", a message and what to do.

local lazy = require "purser.client.util.lazy"
local memos = require "purser.client.operations.memos"
local plain_text = require "purser.client.util.plain_text"
local text_rules = require "purser.client.operations.text"
local write_kinds = lazy "purser.client.operations.write_kinds"
local address_ = lazy "purser.address"

local M = {}

local find, format, gmatch, lower, match = string.find, string.format, string.gmatch, string.lower, string.match

local function refused(message, hint) return "refused", message, hint end
local function doubtful(message, hint) return "doubtful", message, hint end

---@alias purser.ColumnJudge fun(text: string, of: table): "good"|"doubtful"|"refused", string|nil, string|nil

---@type table<string, purser.ColumnJudge>
local judge = {}
M.types = judge

local UID_DIGITS = 12

function judge.uid(text)
  if not find(text, "^%d+$") then return refused("is no UID", "a UID has digits alone") end
  if find(text, "^0") then return doubtful("is a UID with a zero in front", "compare it with its source") end
  if #text > UID_DIGITS then return doubtful(format("has %d digits", #text), "compare it with its source") end
  return "good"
end

judge.area_code = text_rules.judge_area_code

local SHORTEST_PHONE, LONGEST_PHONE = 7, 14

function judge.phone(text, of)
  local area = of.areaCode and match(tostring(of.areaCode), "^%+?0*(%d+)$")
  if not area then return refused("is a phone without an area code", "give areaCode, such as 86") end
  if not find(text, "^%d+$") then return refused("is no phone", "write digits alone, without the area code") end
  if find(text, "^00") or find(text, "^" .. area) and #text > 11 then
    return doubtful("begins with the area code", "write the number without it")
  elseif find(text, "^0") then
    return doubtful("begins with 0, which numbers with an area code do not", "compare it with its source")
  elseif #text < SHORTEST_PHONE or #text > LONGEST_PHONE then
    return doubtful(format("has %d digits", #text), "compare it with its source")
  end
  return "good"
end

local LONGEST_EMAIL = 254

function judge.email(text)
  local front, domain = match(text, "^([%w!#$%%&'*+/=?^_`{|}~.-]+)@([%w.-]+)$")
  local is_good = front and #text <= LONGEST_EMAIL and find(domain, ".", 1, true) and not find(text, "[^!-~]")
  for _, part in ipairs(is_good and { front, domain } or {}) do
    is_good = is_good and not (find(part, "^%.") or find(part, "%.$") or find(part, "..", 1, true))
  end
  for label in gmatch(is_good and domain or "", "[^.]+") do
    is_good = is_good and not (find(label, "^%-") or find(label, "%-$"))
  end
  if is_good then return "good" end
  return refused("is no e-mail address", "write one address alone, such as name@example.org")
end

function judge.own_id(text)
  if not plain_text.is_name(text) then
    return refused("is no text of 1 to 200 characters, all of which can be seen", "remove what cannot be seen")
  end
  if memos.is_rewritten(text) then
    return doubtful("may be a program's word for another text", "compare it with its source")
  end
  return "good"
end

-- Quotes of a word processor, as UTF-8: U+2018 to U+201F, and those of other languages.
local function has_curly_quote(text)
  return find(text, "\226\128[\152-\159]") or find(text, "\194[\171\187]") or find(text, "\226\128[\185\186]")
end

function judge.key(text)
  if has_curly_quote(text) then return doubtful("has the quotes of a word processor", "write it without quotes") end
  if memos.is_rewritten(text) then
    return doubtful("may be a program's word for another text", "compare it with its source")
  end
  return "good"
end

function judge.memo(text, of) return address_.judge_memo(of.network or of.netWork, text, of.record) end

local function by_kind(name)
  return function(text)
    local value, message, hint = write_kinds[name].check(text)
    if value then return "good" end
    return refused(message, hint)
  end
end

judge.sub_account, judge.amount = by_kind "new_name", by_kind "amount"

function judge.customer_address(text)
  if find(text, "[^!-~]") then return refused("has a blank or a character that no address has", "copy it again") end
  if find(text, "...", 1, true) or find(text, "*", 1, true) then
    return refused("is cut or masked", "give the whole address")
  elseif memos.is_rewritten(text) then
    return refused("is a program's word for another text", "give the address")
  elseif address_.mistyped(text) then
    return refused("has a wrong checksum, so a character of it is", "copy it again from where it comes from")
  end
  local front = match(text, "^([^:]+):.+$")
  if address_.read(text)[1] or front and address_.read(front)[1] then return "good" end
  return doubtful("is an address of no network that is known", "compare it with the service's page")
end

local accounts = { EMAIL = "email", UID = "uid", MOBILE = "phone" }

--- Returns a user's name in one spelling, for comparing: zeros in front of a UID are no part of it.
---@param kind string|nil  EMAIL, UID or MOBILE
---@param account string
---@return string
function M.canonical(kind, account)
  if kind == "UID" then return match(account, "^0*(%d+)$") or account end
  return kind == "EMAIL" and lower(account) or account
end

--- Returns the type of a parameter's column; nil for one that has none beside its kind.
---@param name string
---@param params table
---@return string|nil
function M.type_of(name, params)
  if name == "toAccount" then return accounts[params.toAccountType] end
  if name == "areaCode" then return "area_code" end
  if name == "withdrawOrderId" or name == "clientTranId" then return "own_id" end
  return name == "memo" and "memo" or nil
end

--- Judges a value by the column's type.
---@param type_ string  a member of `types`
---@param value any
---@param of table|nil  the whole row: areaCode of a phone, the network of a memo
---@return "good"|"doubtful"|"refused" state, string|nil message, string|nil hint
function M.judge(type_, value, of)
  local text = tostring(value)
  if text == "" then return refused("is empty", "give it a value or leave it out") end
  return judge[type_](text, of or {})
end

return M

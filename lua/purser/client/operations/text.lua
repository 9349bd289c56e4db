-- SPDX-License-Identifier: MIT
-- The rules for every text that travels, and the texts to choose from.

local lazy = require "purser.client.util.lazy"
local plain_text = lazy "purser.client.util.plain_text"
local suggest = lazy "purser.client.util.suggest"

local M = {}

local find, floor, format, match = string.find, math.floor, string.format, string.match

-- Far above what a service stores, far below a request line's limit.
local MAX_TEXT_BYTES = 1024

M.choices = {
  account_types = { "SPOT", "FUTURES" },
  identifier_types = { "EMAIL", "UID", "MOBILE" },
  permissions = {
    "SPOT_ACCOUNT_READ", "SPOT_ACCOUNT_WRITE", "SPOT_DEAL_READ", "SPOT_DEAL_WRITE", "CONTRACT_ACCOUNT_READ",
    "CONTRACT_ACCOUNT_WRITE", "CONTRACT_DEAL_READ", "CONTRACT_DEAL_WRITE", "SPOT_TRANSFER_READ",
    "SPOT_TRANSFER_WRITE",
  },
  broker_permissions = { "SPOT_WITHDRAW_READ", "SPOT_WITHDRAW_WRITE", "SPOT_DEPOSIT_READ", "SPOT_DEPOSIT_WRITE" },
  -- by number, from 1
  deposit_states = {
    "SMALL", "TIME_DELAY", "LARGE_DELAY", "PENDING", "SUCCESS", "AUDITING", "REJECTED", "REFUND", "PRE_SUCCESS",
    "INVALID", "RESTRICTED", "COMPLETED",
  },
  withdrawal_states = {
    "APPLY", "AUDITING", "WAIT", "PROCESSING", "WAIT_PACKAGING", "WAIT_CONFIRM", "SUCCESS", "FAILED", "CANCEL",
    "MANUAL",
  },
}

for i, name in ipairs(M.choices.permissions) do table.insert(M.choices.broker_permissions, i, name) end

-- Lua 5.3 and later tell integers from floats; elsewhere an integral number is an integer.
local math_type = math.type or function(number) return floor(number) == number and "integer" or "float" end

--- Returns the digits of a number that is an exact integer here, or nil.
function M.digits_of(number)
  if math_type(number) ~= "integer" then return nil end
  if not math.type and (number > 2 ^ 53 or number < -2 ^ 53) then return nil end
  return format("%d", number)
end

--- Returns the text, nil, and whether it has letters and digits alone; or nil, a message and what to do.
function M.clean_text(value)
  local is = type(value)
  if is == "number" then
    local digits = M.digits_of(value)
    if not digits then return nil, "is a float", "pass it as a string" end
    return digits
  end
  if is ~= "string" then return nil, "is a " .. is, "pass a string" end
  if value == "" then return nil, "is empty", "give it a value or leave it out" end
  if #value > MAX_TEXT_BYTES then
    return nil, format("is %d bytes long", #value), format("at most %d are sent", MAX_TEXT_BYTES)
  end
  if find(value, "^[0-9A-Za-z]+$") then return value, nil, true end -- most texts are, and it is found out quickly
  if find(value, "[%z\1-\31\127]") then return nil, "holds a control character (line break, tab, NUL)", "remove it" end
  if not plain_text.is_utf8(value) then return nil, "is not valid UTF-8", "convert it" end
  return value
end

--- Returns a value that is in `names`; or nil, a message and a hint.
function M.one_of(value, names)
  for _, name in ipairs(names) do
    if name == value then return value end
  end
  local near = suggest.hint(value, names)
  return nil, format('is "%s"%s', value, near), "allowed are " .. table.concat(names, ", ")
end

--- Judges a telephone area code, as columns.lua does other types.
---@param text string
---@return "good"|"doubtful"|"refused" state, string|nil message, string|nil hint
function M.judge_area_code(text)
  if not find(text, "^%+?%d%d?%d?%d?%d?$") or find(text, "^%d%d%d%d%d") then
    return "refused", "is not an area code", "pass 1 to 4 digits, such as 86"
  end
  local digits = match(text, "^%+?0*(%d*)$")
  if digits ~= text then return "doubtful", "is an area code with signs in front", "write " .. digits end
  return "good"
end

return M

-- SPDX-License-Identifier: MIT
-- The kinds of parameters: { text = for the documentation, check = function(value, param) -> wire value | nil, message,
-- hint }. A message completes `parameter "x" ...`; the hint is the cure.

local lazy = require "purser.client.util.lazy"
local text_rules = require "purser.client.operations.text"
local write_kinds = lazy "purser.client.operations.write_kinds"

local find, format = string.find, string.format
local clean_text, digits_of, one_of = text_rules.clean_text, text_rules.digits_of, text_rules.one_of

local M = { choices = text_rules.choices }

--- The times with 13 digits: from 2001-09-09 to 2286-11-20.
local FIRST_TIME, LAST_TIME = 1000000000000, 9999999999999

local function integer_of(value)
  if type(value) == "number" then return digits_of(value) and value end
  return type(value) == "string" and #value <= 15 and find(value, "^%d+$") and tonumber(value)
end

-- Returns a state's number as it travels, and a given name; or nil, nil, a message and a hint.
local function status_of(value, param)
  local number = integer_of(value)
  if number and number >= 0 then return format("%d", number) end
  local names = M.choices[param.choices]
  if number or type(value) ~= "string" then
    return nil, nil, "is not a status", "pass its number, such as 5, or its name"
  end
  local name, message, hint = one_of(value, names)
  for i = 1, #names do
    if names[i] == name then return format("%d", i), name end
  end
  return nil, nil, message, hint .. ", or the number"
end

local function status_kind(is_named)
  return { text = "status number, or its name", check = function(value, param)
    local number, name, message, hint = status_of(value, param)
    return is_named and name or number, message, hint
  end }
end

M.kinds = {
  text = { text = "text", check = clean_text },

  time = {
    text = "epoch milliseconds (13 digits)",
    check = function(value)
      local time = integer_of(value)
      if not time then return nil, "is not a time", "pass an integer of epoch milliseconds (13 digits)" end
      if time < FIRST_TIME or time > LAST_TIME then
        return nil, "does not have 13 digits", "times are epoch milliseconds (seconds times 1000)"
      end
      return format("%d", time)
    end,
  },

  count = {
    text = "integer from 1",
    check = function(value, param)
      local count = integer_of(value)
      if not count then return nil, "is not an integer", "pass a whole number from 1" end
      if count < 1 then return nil, "is less than 1", "pass a whole number from 1" end
      if param.max and count > param.max then
        return nil, format("is %d", count), format("at most %d is allowed", param.max)
      end
      return format("%d", count)
    end,
  },

  status = status_kind(false),
  named_status = status_kind(true), -- of an operation whose names travel as they are

  choice = {
    text = "one of",
    check = function(value, param)
      local text, message, hint = clean_text(value)
      if not text then return nil, message, hint end
      return one_of(text, M.choices[param.choices])
    end,
  },
}

local helps = {
  address = "where the withdrawal goes", asset = "such as USDT", clientTranId = "your own id of the transfer",
  coin = "such as USDT", contractAddress = "contract of the coin on the network", remark = "a remark of yours",
  isFreeze = "only those that are frozen, or only those that are not", tranId = "id of the transfer",
}

--- Returns a parameter's own words beyond its kind, or nil.
---@param param table  of a row
---@return string|nil
function M.help_of(param) return param.note or helps[param[1]] end

-- The kinds of write calls are read with their first parameter.
setmetatable(M.kinds, { __index = function(kinds, name)
  local kind = write_kinds[name]
  kinds[name] = kind
  return kind
end })

return M

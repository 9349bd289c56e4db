-- SPDX-License-Identifier: MIT
--- States of deposits and withdrawals by number and name. Most records show the number, others a text.
--
--     states.name("deposit", 5)              -- SUCCESS
--     states.number("withdrawal", "SUCCESS") -- 7

local text_rules = require "purser.client.operations.text"

---@class purser.modules.states
local M = {}

---@alias purser.StateKind "deposit"|"withdrawal"

local tables = { deposit = text_rules.choices.deposit_states, withdrawal = text_rules.choices.withdrawal_states }

-- Returns a state's number from its number, digits or name; or nil and a message.
local function find(where, kind, status)
  local names = tables[kind]
  if not names then
    return nil, ("%s: there are no states of %q; give deposit or withdrawal"):format(where, tostring(kind))
  end
  local number = (type(status) == "number" or type(status) == "string" and status:find "^%d+$") and tonumber(status)
  for i, name in ipairs(names) do
    if i == number or name == status then return i end
  end
  if number then
    return nil, ("%s: there is no %s state %s; give 1 to %d"):format(where, kind, tostring(status), #names)
  end
  if type(status) ~= "string" then
    return nil, ("%s: the state is a %s; give its number or its name"):format(where, type(status))
  end
  local _, message, hint = text_rules.one_of(text_rules.clean_text(status) or "", names)
  return nil, ("%s: the %s state %s; %s"):format(where, kind, message, hint)
end

--- Returns a state's name from its number, digits or name; nil and a message for a state that is not known.
---@param kind purser.StateKind
---@param status integer|string
---@return string|nil name, string|nil message
function M.name(kind, status)
  local number, message = find("states.name", kind, status)
  if not number then return nil, message end
  return tables[kind][number]
end

--- Returns a state's number from what `states.name` takes.
---@param kind purser.StateKind
---@param status integer|string
---@return integer|nil number, string|nil message
function M.number(kind, status)
  return find("states.number", kind, status)
end

-- Successful, taken back or refused, and disputed by the sources; other states come before these.
local for_credit = { [5] = "credit", [7] = "refused", [8] = "refused", [10] = "refused", [12] = "ask" }

---@alias purser.CreditKind "pending"|"credit"|"refused"|"ask"

--- Returns what a deposit's state means for a credit; "ask" for an unknown state.
---@param status any  as a record shows it
---@return purser.CreditKind
function M.credit(status)
  local number = status ~= nil and find("states.credit", "deposit", status)
  return number and (for_credit[number] or "pending") or "ask"
end

--- Returns a list of the names; a place is a number.
---@param kind purser.StateKind
---@return string[]|nil names, string|nil message
function M.list(kind)
  local _, message = find("states.list", kind, 1)
  if message then return nil, message end
  local list = {}
  for i, name in ipairs(tables[kind]) do list[i] = name end
  return list
end

return M

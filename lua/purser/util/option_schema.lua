-- SPDX-License-Identifier: MIT
-- Options by name: which there are, and what each may be. A rule is one of
--
--   "string", "string or table", "any"  types
--   { 1, 3600000 }                       a whole number between these; { 1 }: or infinite
--   { "wait", "reject" }                 one of these texts
--
-- What is said of one that does not fit is in option_messages.lua.

local lazy = require "purser.util.lazy"
local option_messages = lazy "purser.util.option_messages"

local M = {}

local floor, infinite = math.floor, math.huge

--- The bound of numbers that are exact on every host.
M.EXACT = 2 ^ 53

M.TIME = { 1e12, 1e13 - 1, says = "a time in epoch milliseconds (13 digits)" }

local function matches(value, rule)
  local is = type(value)
  if type(rule) == "string" then return is == rule or rule == "any" or rule:find(is, 1, true) ~= nil end
  if type(rule[1]) == "number" then
    return is == "number" and value == floor(value) and value >= rule[1] and value <= (rule[2] or infinite)
  end
  for i = 1, #rule do
    if rule[i] == value then return true end
  end
  return false
end

local function all_fit(given, rules)
  for name, value in pairs(given) do
    local rule = rules[name]
    if rule == nil or not matches(value, rule) then return false end
  end
  return true
end

--- Whether a value is what a rule says.
M.matches = matches

--- nil when all that is given is known and matches, else a message that begins with `label`, and the name it is about.
---@param rules table<string, any>
---@param label string  such as "retry option"
---@return string|nil message, string|nil name
function M.check(given, rules, label)
  if type(given) == "table" and all_fit(given, rules) then return nil end
  return option_messages.first(given, rules, label, M)
end

--- Everything that is wrong with what is given, in the order of the names: { message, name } each.
---@return table[]
function M.all(given, rules, label)
  return option_messages.all(given, rules, label, M)
end

return M

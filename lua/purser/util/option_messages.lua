-- SPDX-License-Identifier: MIT
-- The words for options that are not what their rules say (option_schema.lua). Loaded with the first mistake.

local names_of = require "purser.util.names_of"
local suggest = require "purser.util.suggest"

local M = {}

local EXACT = 2 ^ 53 -- numbers that are exact on every host

-- Returns what a rule asks for, of the option `name`.
local function requested(name, rule)
  if type(rule) == "string" then return "a " .. rule end
  if rule.says then return rule.says end
  if type(rule[1]) == "string" then
    return #rule > 2 and "one of " .. table.concat(rule, ", ") or table.concat(rule, " or ")
  end
  local unit = name:find "_ms$" and " of milliseconds" or ""
  local max = (rule[2] or EXACT) < EXACT and (" to %d"):format(rule[2]) or ""
  return ("a whole number%s from %d%s"):format(unit, rule[1], max)
end

-- Returns what was given instead. A value is quoted only where texts or numbers are chosen from, so that no secret is.
local function instead(value, rule)
  if type(rule) == "table" and rule.is_list then return "is no plain list of texts" end
  if type(rule) ~= "table" or type(value) ~= type(rule[1]) then return "is a " .. type(value) end
  return (type(value) == "string" and 'is "%s"' or "is %.14g"):format(value)
end

-- Returns what is wrong with one option, and what to give; or nil.
local function message_of(name, value, rules, label, matches)
  local rule = rules[name]
  if rule == nil then
    local near = suggest.among(name, rules)
    return ('%s "%s" is not known%s'):format(label, tostring(name), near),
      near == "" and "there are " .. table.concat(names_of(rules), ", ") or nil
  end
  if matches(value, rule) then return nil end
  return ('%s "%s" %s'):format(label, name, instead(value, rule)), "it must be " .. requested(name, rule)
end

--- Returns everything that is wrong with what is given, in the order of the names: { message, name, hint } each.
---@param matches fun(value: any, rule: any): boolean
---@return table[]
function M.all(given, rules, label, matches)
  if type(given) ~= "table" then
    return { { ("%ss are given as a %s"):format(label, type(given)), nil, "give a table" } }
  end
  for _, maker in ipairs { "new", "open" } do -- purser:new { ... } gives the module itself
    if type(rawget(given, maker)) == "function" and not rules[maker] then
      return { { ("%s() is called with a colon"):format(maker), nil, ("write .%s { ... }"):format(maker) } }
    end
  end
  local list = {}
  for _, name in ipairs(names_of(given)) do
    local message, hint = message_of(name, given[name], rules, label, matches)
    if message then list[#list + 1] = { message, tostring(name), hint } end
  end
  return list
end

return M

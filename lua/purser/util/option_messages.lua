-- SPDX-License-Identifier: MIT
-- What to say of an option that is unknown or does not fit its rule (option_schema.lua): its name, what it is, and what
-- it must be. `schema` is that module, which loads this one when something is wrong.

local suggest = require "purser.util.suggest"

local M = {}

-- What a rule asks for, of the option `name`.
local function requested(name, rule, schema)
  if type(rule) == "string" then return "a " .. rule end
  if rule.says then return rule.says end
  if type(rule[1]) == "string" then
    return #rule > 2 and "one of " .. table.concat(rule, ", ") or table.concat(rule, " or ")
  end
  local unit = name:find "_ms$" and " of milliseconds" or ""
  local max = (rule[2] or schema.EXACT) < schema.EXACT and (" to %d"):format(rule[2]) or ""
  return ("a whole number%s from %d%s"):format(unit, rule[1], max)
end

-- What was given instead. A value is quoted only where texts are chosen from, so that no secret is.
local function instead(value, rule)
  if type(rule) == "table" and type(value) == type(rule[1]) then
    return type(value) == "string" and ('is "%s"; it '):format(value) or ""
  end
  return ("is a %s; it "):format(type(value))
end

-- What is wrong with one option, or nil.
local function message_of(name, value, rules, label, schema)
  local rule = rules[name]
  if rule == nil then
    local hint = suggest.among(name, rules)
    if hint == "" then hint = "; there are " .. table.concat(suggest.names_of(rules), ", ") end
    return ('%s "%s" is not known%s'):format(label, tostring(name), hint)
  end
  if schema.matches(value, rule) then return nil end
  return ('%s "%s" %smust be %s'):format(label, name, instead(value, rule), requested(name, rule, schema))
end

--- Everything that is wrong with what is given, in the order of the names: { message, name } each.
---@return table[]
function M.all(given, rules, label, schema)
  if type(given) ~= "table" then return { { ("%ss are given in a table, not as a %s"):format(label, type(given)) } } end
  local names, list = {}, {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local message = message_of(name, given[name], rules, label, schema)
    if message then list[#list + 1] = { message, tostring(name) } end
  end
  return list
end

--- The first of them.
---@return string message, string|nil name
function M.first(given, rules, label, schema)
  local found = M.all(given, rules, label, schema)[1]
  return found[1], found[2]
end

return M

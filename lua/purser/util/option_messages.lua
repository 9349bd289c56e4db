-- SPDX-License-Identifier: MIT
-- What to say of an option that is unknown or does not fit its rule (option_schema.lua): its name, what it is, and what
-- it must be. `schema` is that module, which loads this one when something is wrong.

local nearest = require "purser.util.suggest"

local M = {}

-- What a rule asks for, of the option `name`.
local function wanted(name, rule, schema)
  if type(rule) == "string" then return "a " .. rule end
  if rule.says then return rule.says end
  if type(rule[1]) == "string" then
    return #rule > 2 and "one of " .. table.concat(rule, ", ") or table.concat(rule, " or ")
  end
  local unit = name:find "_ms$" and " of milliseconds" or ""
  local most = (rule[2] or schema.EXACT) < schema.EXACT and (" to %d"):format(rule[2]) or ""
  return ("a whole number%s from %d%s"):format(unit, rule[1], most)
end

-- What was given instead. A value is quoted only where texts are chosen from, so that no secret is.
local function instead(value, rule)
  if type(rule) == "table" and type(value) == type(rule[1]) then
    return type(value) == "string" and ('is "%s"; it '):format(value) or ""
  end
  return ("is a %s; it "):format(type(value))
end

-- What is wrong with one option, or nil.
local function complaint_of(name, value, rules, noun, schema)
  local rule = rules[name]
  if rule == nil then
    local hint = nearest.among(name, rules)
    if hint == "" then hint = "; there are " .. table.concat(nearest.names_of(rules), ", ") end
    return ('%s "%s" is not known%s'):format(noun, tostring(name), hint)
  end
  if schema.fits(value, rule) then return nil end
  return ('%s "%s" %smust be %s'):format(noun, name, instead(value, rule), wanted(name, rule, schema))
end

--- Everything that is wrong with what is given, in the order of the names: { complaint, name } each.
---@return table[]
function M.all(given, rules, noun, schema)
  if type(given) ~= "table" then return { { ("%ss are given in a table, not as a %s"):format(noun, type(given)) } } end
  local names, list = {}, {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local complaint = complaint_of(name, given[name], rules, noun, schema)
    if complaint then list[#list + 1] = { complaint, tostring(name) } end
  end
  return list
end

--- The first of them.
---@return string complaint, string|nil name
function M.first(given, rules, noun, schema)
  local found = M.all(given, rules, noun, schema)[1]
  return found[1], found[2]
end

return M

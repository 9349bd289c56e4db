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

-- What was given instead. A value is quoted only where texts or numbers are chosen from, so that no secret is.
local function instead(value, rule)
  if type(rule) ~= "table" or type(value) ~= type(rule[1]) then return "is a " .. type(value) end
  return (type(value) == "string" and 'is "%s"' or "is %.14g"):format(value)
end

-- What is wrong with one option, and what to give; or nil.
local function message_of(name, value, rules, label, schema)
  local rule = rules[name]
  if rule == nil then
    local near = suggest.among(name, rules)
    return ('%s "%s" is not known%s'):format(label, tostring(name), near),
      near == "" and "there are " .. table.concat(suggest.names_of(rules), ", ") or nil
  end
  if schema.matches(value, rule) then return nil end
  return ('%s "%s" %s'):format(label, name, instead(value, rule)), "it must be " .. requested(name, rule, schema)
end

--- Everything that is wrong with what is given, in the order of the names: { message, name, hint } each.
---@return table[]
function M.all(given, rules, label, schema)
  if type(given) ~= "table" then
    return { { ("%ss are given as a %s"):format(label, type(given)), nil, "give a table" } }
  end
  for _, maker in ipairs { "new", "open" } do -- purser:new { ... } gives the module itself
    if type(rawget(given, maker)) == "function" and not rules[maker] then
      return { { ("%s() is called with a colon"):format(maker), nil, ("write .%s { ... }"):format(maker) } }
    end
  end
  local names, list = {}, {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local message, hint = message_of(name, given[name], rules, label, schema)
    if message then list[#list + 1] = { message, tostring(name), hint } end
  end
  return list
end

--- The first of them.
---@return string message, string|nil name, string|nil hint
function M.first(given, rules, label, schema)
  local found = M.all(given, rules, label, schema)[1]
  return found[1], found[2], found[3]
end

return M

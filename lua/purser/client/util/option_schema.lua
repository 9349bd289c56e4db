-- SPDX-License-Identifier: MIT
-- Checks options by name. The rule of an option is
--
--   "string", "string or table", "any"  types
--   { 1, 3600000 }                       a whole number between the bounds; { 1 }: or infinite
--   { "wait", "reject" }                 a text of the list
--   M.TEXTS                              a plain list of texts
--   M.NAME                               a text that distinguishes payments

local lazy = require "purser.client.util.lazy"
local names_of = lazy "purser.client.util.names_of"
local plain_text = lazy "purser.client.util.plain_text"
local suggest = lazy "purser.client.util.suggest"

local M = {}

local floor, infinite = math.floor, math.huge

--- The bound of numbers that are exact on every host.
M.EXACT = 2 ^ 53

M.TIME = { 1e12, 1e13 - 1, says = "a time in epoch milliseconds (13 digits)" }

M.TEXTS = { is_list = true, says = 'a list such as { "A", "B" }' }

M.NAME = { says = "a text of 1 to 200 characters, all of which can be seen" }

--- Tells a list without holes and further members, which would be read in part or as empty.
function M.is_list(value)
  local count, last = 0, 0
  for _ in pairs(value) do count = count + 1 end
  for i in ipairs(value) do last = i end
  return count == last
end

local function is_list_of_texts(value)
  if type(value) ~= "table" or not M.is_list(value) then return false end
  for _, text in ipairs(value) do
    if type(text) ~= "string" then return false end
  end
  return true
end

local function matches(value, rule)
  local is = type(value)
  if type(rule) == "string" then return is == rule or rule == "any" or rule:find(is, 1, true) ~= nil end
  if rule.is_list then return is_list_of_texts(value) end
  if rule == M.NAME then return is == "string" and plain_text.is_name(value) end
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

M.matches = matches

-- Returns a rule in words.
local function requested(name, rule)
  if type(rule) == "string" then return "a " .. rule end
  if rule.says then return rule.says end
  if type(rule[1]) == "string" then
    return #rule > 2 and "one of " .. table.concat(rule, ", ") or table.concat(rule, " or ")
  end
  local unit = name:find "_ms$" and " of milliseconds" or ""
  local min = rule[1] > -M.EXACT and (" from %d"):format(rule[1]) or ""
  local max = (rule[2] or M.EXACT) < M.EXACT and (" to %d"):format(rule[2]) or ""
  return "a whole number" .. unit .. min .. max
end

-- Returns a given value in words. Only a choice of texts or numbers quotes the value, so that no secret is quoted.
local function instead(value, rule)
  if type(rule) == "table" and rule.is_list then return "is no plain list of texts" end
  if rule == M.NAME and type(value) == "string" then return value == "" and "is empty" or "is no name" end
  if type(rule) ~= "table" or type(value) ~= type(rule[1]) then return "is a " .. type(value) end
  return (type(value) == "string" and 'is "%s"' or "is %.14g"):format(value)
end

-- Returns an option's fault, and the cure; or nil.
local function message_of(name, value, rules, label)
  local rule = rules[name]
  if rule == nil then
    local near = suggest.among(name, rules)
    return ('%s "%s" is not known%s'):format(label, tostring(name), near),
      near == "" and "there are " .. table.concat(names_of(rules), ", ") or nil
  end
  if matches(value, rule) then return nil end
  return ('%s "%s" %s'):format(label, name, instead(value, rule)), "it must be " .. requested(name, rule)
end

--- Returns every fault of options, in the order of names: { message, name, hint } each.
function M.all(given, rules, label)
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
    local message, hint = message_of(name, given[name], rules, label)
    if message then list[#list + 1] = { message, tostring(name), hint } end
  end
  return list
end

--- Returns nil where every option is known and fits; else a message that begins with `label`, the option, and the cure.
---@param rules table<string, any>
---@param label string  such as "retry option"
---@return string|nil message, string|nil name, string|nil hint
function M.check(given, rules, label)
  if type(given) == "table" and all_fit(given, rules) then return nil end
  local found = M.all(given, rules, label)[1]
  return found[1], found[2], found[3]
end

--- Returns fault and cure as one text, for a caller that raises; or nil.
function M.text(given, rules, label)
  local message, _, hint = M.check(given, rules, label)
  return message and hint and message .. "; " .. hint or message
end

return M

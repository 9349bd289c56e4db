-- SPDX-License-Identifier: MIT
--- Writes JSON in the caller's order, with exact numbers.
--
--     json.encode(json.object { { "id", 12 }, { "amount", json.raw "0.00000001" }, { "tags", json.list {} } })
--     --> {"id":12,"amount":0.00000001,"tags":[]}
--
-- Strings must be UTF-8. Integers are exact; a float is rejected: send a string, or the text through `json.raw`. A
-- plain table with elements is a list, with string keys an object in sorted order; both, or none, is an error.

local plain_text = require "purser.client.util.plain_text"

---@class purser.modules.json
---@field null table  the value null
local M = {}

local List, Object, Raw = {}, {}, {}
local MAX_DEPTH = 100
local TOO_DEEP = ("it is nested more than %d deep; give a flatter value"):format(MAX_DEPTH)
local EXACT = 2 ^ 53
local math_type = rawget(math, "type") -- absent before Lua 5.3

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t" }
for byte = 0, 31 do
  local char = string.char(byte)
  ESCAPES[char] = ESCAPES[char] or ("\\u%04x"):format(byte)
end

local function quoted(text)
  if not text:find '[%c"\\\128-\255]' then return '"' .. text .. '"' end
  if not plain_text.is_utf8(text) then error("a string is not UTF-8; convert it", 0) end
  return '"' .. text:gsub('[%z\1-\31"\\]', ESCAPES) .. '"'
end

local function integer(value)
  if math_type and math_type(value) ~= "integer" or value % 1 ~= 0 then
    error("a float is not exact; give a text, an integer or json.raw", 0)
  elseif not math_type and (value > EXACT or value < -EXACT) then
    error("a number beyond the exact integers; give a text or json.raw", 0)
  end
  return ("%d"):format(value)
end

local function sorted_names(object)
  local names = {}
  for name in pairs(object) do
    if type(name) ~= "string" then error("a key of an object is not a string; give texts as keys", 0) end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local write

-- Writes parts between brackets; `newline` is the line break and indent of the bracket's line, nil without blanks.
local function enclose(out, open, close, newline, indent, each)
  local inner = newline and newline .. indent
  local empty = true
  out[#out + 1] = open
  each(function()
    if not empty then out[#out + 1] = "," end
    empty = false
    out[#out + 1] = inner
    return inner
  end)
  if not empty then out[#out + 1] = newline end
  out[#out + 1] = close
end

local function write_list(out, list, newline, indent, depth)
  for key in pairs(list) do
    if type(key) ~= "number" then error("a list also has members by name; give a list or an object", 0) end
  end
  enclose(out, "[", "]", newline, indent, function(begin)
    for i = 1, #list do write(out, list[i], begin(), indent, depth) end
  end)
end

local function write_object(out, members, newline, indent, depth)
  enclose(out, "{", "}", newline, indent, function(begin)
    for _, member in ipairs(members) do
      if member[2] ~= nil then
        local inner = begin()
        out[#out + 1] = quoted(member[1]) .. (newline and ": " or ":")
        write(out, member[2], inner, indent, depth)
      end
    end
  end)
end

local function write_map(out, map, newline, indent, depth)
  local inner, colon = newline and newline .. indent or "", newline and ": " or ":"
  for i, name in ipairs(sorted_names(map)) do
    out[#out + 1] = (i > 1 and "," or "{") .. inner .. quoted(name) .. colon
    write(out, map[name], newline and inner, indent, depth)
  end
  out[#out + 1] = (newline or "") .. "}"
end

local function write_table(out, value, newline, indent, depth)
  if depth >= MAX_DEPTH then error(TOO_DEEP, 0) end
  local kind = getmetatable(value)
  if kind == Raw then
    out[#out + 1] = value[1]
  elseif kind == Object then
    write_object(out, value, newline, indent, depth + 1)
  elseif kind == List or value[1] ~= nil then
    write_list(out, value, newline, indent, depth + 1)
  elseif next(value) == nil then
    error("an empty table is neither a list nor an object; mark it with json.list or json.object", 0)
  else
    write_map(out, value, newline, indent, depth + 1)
  end
end

function write(out, value, newline, indent, depth)
  local kind = type(value)
  if kind == "table" then return write_table(out, value, newline, indent, depth) end
  if kind == "string" then
    out[#out + 1] = quoted(value)
  elseif kind == "number" then
    out[#out + 1] = integer(value)
  elseif kind == "boolean" then
    out[#out + 1] = tostring(value)
  else
    error(("a %s cannot be written; give a text, an integer, a boolean, a table or json.null"):format(kind), 0)
  end
end

--- Marks a table as a list, also when empty.
---@generic T
---@param values T[]
---@return T[]
function M.list(values)
  return setmetatable(values, List)
end

--- Returns an object with members in the given order, without nil values.
---@param members table[]  { { key, value }, ... }
---@return table
function M.object(members)
  return setmetatable(members, Object)
end

--- Returns a bare number of any length, from its text.
---@param text string
---@return table
function M.raw(text)
  local whole, rest = text:match("^%-?(%d+)(.*)$")
  local exponent = rest and (rest:match("^%.%d+(.*)$") or rest)
  if not whole or whole:find("^0%d") or not (exponent == "" or exponent:find("^[eE][+-]?%d+$")) then
    error("json.raw: the text is not one JSON number; give its digits, such as 0.00000001", 2)
  end
  return setmetatable({ text }, Raw)
end

M.null = setmetatable({ "null" }, Raw)

-- Returns the place of the part that cannot be written, such as `[2].amount`; "" for the value itself.
local function place_of(value, depth)
  if type(value) ~= "table" or getmetatable(value) == Raw or depth >= MAX_DEPTH then return "" end
  local is_object = getmetatable(value) == Object
  local is_list = not is_object and (getmetatable(value) == List or value[1] ~= nil)
  for key, child in pairs(value) do
    local name = is_object and child[1] or key
    if is_object then child = child[2] end
    if child ~= nil and not pcall(write, {}, child, nil, nil, depth + 1) then
      return (is_list and "[%d]" or ".%s"):format(is_list and key or plain_text.clean(tostring(name), 40))
        .. place_of(child, depth + 1)
    end
  end
  return ""
end

--- Returns a value as JSON. Raises for a value without an exact form, at the caller's line and with the part's place.
---@param value any
---@param options? { indent?: string }  the blanks of one level; without it the text holds no blanks
---@return string
function M.encode(value, options)
  local out, indent = {}, options and options.indent
  local ok, problem = pcall(write, out, value, indent and "\n", indent, 0)
  if not ok then
    local place = problem == TOO_DEEP and "" or place_of(value, 0)
    error(("json.encode: value%s: %s"):format(place, tostring(problem)), 2)
  end
  return table.concat(out)
end

return M

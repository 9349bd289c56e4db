-- SPDX-License-Identifier: MIT
--- Writes JSON in an order the caller chooses, with exact numbers.
--
--     json.encode(json.object { { "id", 12 }, { "amount", json.raw "0.00000001" }, { "tags", json.list {} } })
--     --> {"id":12,"amount":0.00000001,"tags":[]}
--
-- Strings must be UTF-8. Integers are written exactly; a float is rejected, since its digits are not what was meant:
-- send a string, or the literal text through `json.raw`. A plain table with elements is a list, one with string keys an
-- object in the order of its sorted keys; an empty one is neither, so it has to be marked.

local plain_text = require "purser.util.plain_text"

---@class purser.modules.json
---@field null table  the value null
local M = {}

local List, Object, Raw = {}, {}, {}
local MAX_DEPTH = 100
local EXACT = 2 ^ 53
local math_type = rawget(math, "type") -- absent before Lua 5.3

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t" }
for byte = 0, 31 do
  local char = string.char(byte)
  ESCAPES[char] = ESCAPES[char] or ("\\u%04x"):format(byte)
end

local function quoted(text)
  if not plain_text.is_utf8(text) then error("json: a string is not UTF-8", 0) end
  return '"' .. text:gsub('[%z\1-\31"\\]', ESCAPES) .. '"'
end

local function integer(value)
  if math_type then
    if math_type(value) ~= "integer" then error("json: a float is not exact", 0) end
  elseif value % 1 ~= 0 or value > EXACT or value < -EXACT then
    error("json: a number beyond the exact integers", 0)
  end
  return ("%d"):format(value)
end

local function sorted_members(object)
  local members = {}
  for key, value in pairs(object) do
    if type(key) ~= "string" then error("json: a key of an object is not a string", 0) end
    members[#members + 1] = { key, value }
  end
  table.sort(members, function(a, b) return a[1] < b[1] end)
  return members
end

local write

-- Writes the parts of a list or an object between its brackets; `newline` is the line break and the indent of the
-- bracket's own line, or nil for the form without blanks.
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

local function write_table(out, value, newline, indent, depth)
  if depth >= MAX_DEPTH then error("json: nested too deeply", 0) end
  local kind = getmetatable(value)
  if kind == Raw then
    out[#out + 1] = value[1]
  elseif kind == Object then
    write_object(out, value, newline, indent, depth + 1)
  elseif kind == List or value[1] ~= nil then
    write_list(out, value, newline, indent, depth + 1)
  elseif next(value) == nil then
    error("json: an empty table is neither a list nor an object: mark it", 0)
  else
    write_object(out, sorted_members(value), newline, indent, depth + 1)
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
    error("json: a " .. kind .. " cannot be written", 0)
  end
end

--- Marks a table as a list, also when it is empty.
---@generic T
---@param values T[]
---@return T[]
function M.list(values)
  return setmetatable(values, List)
end

--- An object with its members in the given order. A member whose value is nil is left out.
---@param members table[]  { { key, value }, ... }
---@return table
function M.object(members)
  return setmetatable(members, Object)
end

--- A bare number of any length, given as its text.
---@param text string
---@return table
function M.raw(text)
  local whole, rest = text:match("^%-?(%d+)(.*)$")
  local exponent = rest and (rest:match("^%.%d+(.*)$") or rest)
  if not whole or whole:find("^0%d") or not (exponent == "" or exponent:find("^[eE][+-]?%d+$")) then
    error("json: raw text must be one JSON number", 2)
  end
  return setmetatable({ text }, Raw)
end

M.null = setmetatable({ "null" }, Raw)

--- A value as JSON. Raises for one that has no exact JSON form.
---@param value any
---@param options? { indent?: string }  the blanks of one level; without it the text holds no blanks
---@return string
function M.encode(value, options)
  local out, indent = {}, options and options.indent
  write(out, value, indent and "\n", indent, 0)
  return table.concat(out)
end

return M

-- SPDX-License-Identifier: MIT
-- Reads JSON as a tree that keeps the order of members, equal names, and the digits of numbers.
--
-- A node is { type = "object", { name, node }, ... }, { type = "array", node, ... }, or a scalar { type = "string" |
-- "number" | "boolean" | "null", text = value, raw = JSON text }.

local core = require "purser.core"
local json = require "purser.json"

local M = {}

local MAX_DEPTH = 200

-- Returns the string at `at`: value, JSON text, and the rest; or nil.
local function read_string(text, at)
  local from = at + 1
  while true do
    local found = text:find('["\\]', from)
    if not found then return nil end
    if text:sub(found, found) == '"' then
      local raw = text:sub(at, found)
      return core.decode(raw), raw, found + 1
    end
    from = found + 2
  end
end

local function skip(text, at) return text:match("^[ \t\r\n]*()", at) end

local read

local function read_member(text, at, depth)
  if text:sub(at, at) ~= '"' then return nil end
  local name, _, after = read_string(text, at)
  at = name and skip(text, after)
  if not name or text:sub(at, at) ~= ":" then return nil end
  local value
  value, at = read(text, skip(text, at + 1), depth)
  if value then return { name, value }, at end
end

-- Returns the node with the items from `at` to the mark `close`.
local function read_items(node, close, read_item, text, at, depth)
  at = skip(text, at)
  if text:sub(at, at) == close then return node, at + 1 end
  while true do
    local item
    item, at = read_item(text, at, depth)
    if not item then return nil end
    node[#node + 1] = item
    at = skip(text, at)
    local mark = text:sub(at, at)
    if mark == close then return node, at + 1 end
    if mark ~= "," then return nil end
    at = skip(text, at + 1)
  end
end

local WORDS = { ["true"] = "boolean", ["false"] = "boolean", null = "null" }

local function read_number(text, at)
  local whole = text:match("^%-?%d+", at)
  if not whole or whole:find "^%-?0%d" then return nil end
  local rest = at + #whole
  local fraction = text:match("^%.%d+", rest) or ""
  local exponent = text:match("^[eE][+-]?%d+", rest + #fraction) or ""
  return whole .. fraction .. exponent
end

function read(text, at, depth)
  local mark = text:sub(at, at)
  if mark == "{" or mark == "[" then
    if depth >= MAX_DEPTH then return nil end
    if mark == "[" then return read_items({ type = "array" }, "]", read, text, at + 1, depth + 1) end
    return read_items({ type = "object" }, "}", read_member, text, at + 1, depth + 1)
  elseif mark == '"' then
    local value, raw, after = read_string(text, at)
    if not value then return nil end
    return { type = "string", text = value, raw = raw }, after
  end
  local word = text:match("^%a+", at)
  local kind = word and WORDS[word]
  if kind then return { type = kind, text = word, raw = word }, at + #word end
  local number = read_number(text, at)
  if not number then return nil end
  return { type = "number", text = number, raw = number }, at + #number
end

--- Returns the tree of a JSON text, or nil.
function M.read(text)
  local node, at = read(text, skip(text, 1), 0)
  if node and skip(text, at) > #text then return node end
end

local function write(out, node)
  if node.raw then
    out[#out + 1] = node.raw
    return
  end
  local is_object = node.type == "object"
  out[#out + 1] = is_object and "{" or "["
  for i = 1, #node do
    if i > 1 then out[#out + 1] = "," end
    if is_object then out[#out + 1] = json.encode(node[i][1]) .. ":" end
    write(out, is_object and node[i][2] or node[i])
  end
  out[#out + 1] = is_object and "}" or "]"
end

--- Returns the JSON text of a tree, without blanks.
function M.write(node)
  local out = {}
  write(out, node)
  return table.concat(out)
end

--- Returns a tree as Lua values; each list gets the metatable `list`, so that an empty list is no empty object.
function M.value(node, list)
  if node.type == "number" then return tonumber(node.text) end
  if node.raw then return node.type == "string" and node.text or node.text == "true" end
  local is_list = node.type == "array"
  local value = setmetatable({}, is_list and list or nil)
  for i, item in ipairs(node) do
    if is_list then value[i] = M.value(item, list) else value[item[1]] = M.value(item[2], list) end
  end
  return value
end

--- Calls `visit(node, name)` for every scalar; `name` is the nearest member's, or nil.
---@param node table
---@param visit fun(node: table, name: string|nil)
function M.each_scalar(node, visit, name)
  if node.raw then return visit(node, name) end
  for i = 1, #node do
    if node.type == "object" then M.each_scalar(node[i][2], visit, node[i][1])
    else M.each_scalar(node[i], visit, name) end
  end
end

return M

-- SPDX-License-Identifier: MIT
-- Reads the types of annotations (LuaLS's notation). A type is a table with a `kind`:
--
--   name   name                     "string", "purser.Client", ...
--   text   value, quoted            one literal
--   union  the members, from 1
--   list   of                       T[]
--   map    key, value               table<K, V>
--   fun    params, returns          lists of { name, type, optional }; `rest`: the type of `...`
--   table  fields                   { a: T, b?: T }: a list as above

local M = {}

local parse -- needs itself

local function skip(text, at)
  return text:match("^%s*()", at)
end

local function take(text, at, token)
  at = skip(text, at)
  return text:sub(at, at + #token - 1) == token and at + #token or nil
end

-- Named types between brackets: `a: T, b?: T, ...: T`. A name alone is `any`.
local function parse_named(text, at, close)
  local list = {}
  while not take(text, at, close) do
    local name, mark, after = text:match("^%s*([%w_.]+)%s*(%??)()", at)
    assert(name, "a name was expected in: " .. text:sub(at))
    local colon = take(text, after, ":")
    local type_ = { kind = "name", name = "any" }
    if colon then type_, after = parse(text, colon, true) end
    list[#list + 1] = { name = name, type = type_, optional = mark == "?" or M.may_be_nil(type_) }
    at = take(text, after, ",") or after
  end
  return list, take(text, at, close)
end

local function parse_fun(text, at, is_inner)
  local fun = { kind = "fun", params = {}, returns = {} }
  local open = take(text, at, "(")
  if not open then return { kind = "name", name = "function" }, at end
  fun.params, at = parse_named(text, open, ")")
  local following = take(text, at, ":")
  while following do
    local name = text:match("^%s*[%l_]+%s*:()", following) -- `: name: T`
    local type_
    type_, at = parse(text, name or following, true)
    fun.returns[#fun.returns + 1] = { type = type_ }
    following = not is_inner and take(text, at, ",")
  end
  return fun, at
end

local function parse_one(text, at, is_inner)
  at = skip(text, at)
  local literal, after = text:match('^(%b"")()', at)
  if literal then return { kind = "text", value = literal:sub(2, -2), quoted = true }, after end
  if take(text, at, "{") then
    local fields
    fields, after = parse_named(text, at + 1, "}")
    return { kind = "table", fields = fields }, after
  end
  if take(text, at, "(") then
    local inner
    inner, after = parse(text, at + 1)
    return inner, assert(take(text, after, ")"), text)
  end
  local name
  name, after = text:match("^(%-?[%w_.]+)()", at)
  assert(name, "a type was expected in: " .. text:sub(at))
  if name == "fun" then return parse_fun(text, after, is_inner) end
  if tonumber(name) then return { kind = "text", value = name }, after end
  if name == "table" and text:sub(after, after) == "<" then
    local key, value
    key, after = parse(text, after + 1, true)
    value, after = parse(text, assert(take(text, after, ",")), true)
    return { kind = "map", key = key, value = value }, assert(take(text, after, ">"))
  end
  return { kind = "name", name = name }, after
end

-- `is_inner`: a comma after it does not belong to it.
function parse(text, at, is_inner)
  local members = {}
  repeat
    local type_
    type_, at = parse_one(text, at, is_inner)
    while text:find("^%[%]", at) do type_, at = { kind = "list", of = type_ }, at + 2 end
    members[#members + 1] = type_
    if text:find("^%?", at) then members[#members + 1], at = { kind = "name", name = "nil" }, at + 1 end
    local bar = text:match("^%s*|()", at)
    at = bar or at
  until not bar
  if #members == 1 then return members[1], at end
  members.kind = "union"
  return members, at
end

--- Tells whether nil is among a type's values.
function M.may_be_nil(type_)
  if type_.kind == "name" then return type_.name == "nil" end
  for _, member in ipairs(type_.kind == "union" and type_ or {}) do
    if M.may_be_nil(member) then return true end
  end
  return false
end

--- The type at the beginning of a text, and what comes after it.
---@param text string
---@return table type_, string rest
function M.parse(text)
  local type_, at = parse(text, 1)
  return type_, text:sub(at)
end

local function join(list, separator, show)
  local parts = {}
  for i, entry in ipairs(list) do parts[i] = show(entry) end
  return table.concat(parts, separator)
end

--- A type as text, without the nil among its members where `optional` says it elsewhere.
---@param type_ table
---@param without_nil? boolean
---@return string
function M.show(type_, without_nil)
  local function named(entry)
    return entry.name .. (entry.optional and "?" or "") .. ": " .. M.show(entry.type, entry.optional)
  end
  if type_.kind == "name" then return type_.name end
  if type_.kind == "text" then return type_.quoted and ('"%s"'):format(type_.value) or type_.value end
  if type_.kind == "list" then
    local of = M.show(type_.of)
    return (of:find("|", 1, true) and "(" .. of .. ")" or of) .. "[]"
  end
  if type_.kind == "map" then return ("table<%s, %s>"):format(M.show(type_.key), M.show(type_.value)) end
  if type_.kind == "table" then return "{ " .. join(type_.fields, ", ", named) .. " }" end
  if type_.kind == "fun" then
    local returns = join(type_.returns, ", ", function(entry) return M.show(entry.type) end)
    return ("fun(%s)%s"):format(join(type_.params, ", ", named), returns ~= "" and ": " .. returns or "")
  end
  local kept = {}
  for _, member in ipairs(type_) do
    if not (without_nil and member.name == "nil") then
      local text = M.show(member)
      kept[#kept + 1] = member.kind == "fun" and #type_ > 1 and "(" .. text .. ")" or text
    end
  end
  return table.concat(kept, "|")
end

return M

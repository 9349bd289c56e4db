-- SPDX-License-Identifier: MIT
-- The meaning of the declared types, for type_check: members, what may be called or walked, which literals they take.

local types = require "docs.types"

local M = {}

local function name_type(name) return { kind = "name", name = name } end

-- The members of a type, aliases resolved, nil and false left out. "any" for what is not judged.
function M:members(type_, list)
  list = list or {}
  if not type_ then
    list.any = true
  elseif type_.kind == "union" then
    for _, member in ipairs(type_) do self:members(member, list) end
  elseif type_.kind == "name" and self.model.aliases[type_.name] then
    self:members(self.model.aliases[type_.name].type, list)
  elseif type_.kind ~= "name" or type_.name ~= "nil" and type_.name ~= "false" then
    list[#list + 1] = type_
    local is_class = type_.kind == "name" and self.model.classes[type_.name]
    list.any = list.any or type_.kind == "name" and not is_class
  end
  return list
end

-- A type without nil.
local function sure(type_)
  if not type_ or type_.kind ~= "union" then return type_ end
  local list = { kind = "union" }
  for _, member in ipairs(type_) do
    if member.name ~= "nil" then list[#list + 1] = member end
  end
  return #list == 1 and list[1] or list
end

function M:class_of(type_)
  return type_.kind == "name" and self.model.classes[type_.name] or nil
end

function M:field(class, name)
  while class do
    if class.by_name[name] then return class.by_name[name] end
    class = class.parent and self.model.classes[class.parent]
  end
end

local function named(fields, name)
  for _, field in ipairs(fields) do
    if field.name == name then return field end
  end
end

-- The type of a member, and whether it is certain that there is none.
function M:member(type_, name)
  local missing = false
  for _, one in ipairs(self:members(type_)) do
    local class, field = self:class_of(one), nil
    if class then field = self:field(class, name) elseif one.kind == "table" then field = named(one.fields, name) end
    if field then return field.type, false end
    if one.kind == "map" then return one.value, false end
    if class or one.kind == "table" or one.kind == "list" then missing = true end
  end
  return nil, missing and not self:members(type_).any
end

-- The types of the keys and values of a list or map.
function M:each(type_)
  for _, one in ipairs(type_ and self:members(type_) or {}) do
    local class = self:class_of(one)
    local map = class and class.index or one
    if map.kind == "map" then return map.key, map.value end
    if one.kind == "list" then return name_type "integer", one.of end
  end
end

-- Returns what is called when a value of this type is: a "fun", or a function of the program ("code").
function M:callee(type_)
  for _, one in ipairs(type_ and self:members(type_) or {}) do
    if one.kind == "fun" or one.kind == "code" then return one end
    local class = self:class_of(one)
    while class do
      if class.call then return class.call end
      class = class.parent and self.model.classes[class.parent]
    end
  end
end

local literals = { String = "string", Number = "number", True = "boolean", False = "boolean" }

-- Tells whether a literal may be a value of a type.
function M:accepts(type_, node)
  local list = self:members(type_)
  local kind = literals[node.tag]
  for _, one in ipairs(list) do
    if one.kind == "text" then
      if one.value == tostring(node[1]) then return true end
    elseif one.kind == "name" then
      local name = one.name == "integer" and "number" or one.name
      if name == kind or name == "any" or name == "true" and kind == "boolean" then return true end
    end
  end
  return #list == 0 or kind == "boolean" and node.tag == "False" and types.show(type_):find "false" ~= nil
end

-- Every field of the classes and inline tables among a type's members: by name; nil where any table will do.
function M:fields_of(type_)
  local fields, list = {}, self:members(type_)
  if list.any and types.show(type_):find "%f[%w]table%f[^%w<]" or types.show(type_) == "any" then return nil end
  for _, one in ipairs(list) do
    local class = self:class_of(one)
    if one.kind == "map" or one.kind == "list" or one.kind == "code" or class and class.index then return nil end
    for _, field in ipairs(one.kind == "table" and one.fields or {}) do fields[field.name] = field end
    while class do
      for _, field in ipairs(class.fields) do fields[field.name] = fields[field.name] or field end
      class = class.parent and self.model.classes[class.parent]
    end
  end
  return next(fields) and fields
end

-- Tells whether a class is another, or made of it.
function M:is_a(class, list)
  while class do
    for _, one in ipairs(list) do
      if one.kind ~= "name" or one.name == class.name or not self:class_of(one) then return true end
    end
    class = class.parent and self.model.classes[class.parent]
  end
  return false
end

M.sure, M.name_type, M.literals = sure, name_type, literals

return M

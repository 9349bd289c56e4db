-- SPDX-License-Identifier: MIT
-- What users hold of an object with methods, such as a walk: a table that has the object's methods and none of its
-- tables, as private.lua says of clients.

local veiled = setmetatable({}, { __mode = "k" }) -- table that users hold -> the object

-- The metatables of what users hold, one for each kind of object.
local faces = {}

local function forward(name)
  return function(face, ...)
    local object = veiled[face]
    if not object then error(("call it with a colon: :%s(...)"):format(name), 2) end
    return object[name](object, ...)
  end
end

local function face_of(class)
  local methods = {}
  local function index(face, name)
    if methods[name] then return methods[name] end
    local value = veiled[face][name]
    if type(value) == "function" then
      if class.__index[name] ~= value then return nil end
      methods[name] = forward(name)
      return methods[name]
    end
    if type(value) ~= "table" and type(value) ~= "userdata" then return value end
  end
  return {
    __name = class.__name, __index = index, __metatable = class.__name,
    __call = function(face) return veiled[face]() end,
    __tostring = function(face) return tostring(veiled[face]) end,
  }
end

--- Stands for an object that has a class as its metatable: it has the object's methods and reads its texts, numbers and
--- booleans. The tables the object works with stay out of reach.
---@param object table
---@return table
return function(object)
  local class = getmetatable(object)
  faces[class] = faces[class] or face_of(class)
  local face = setmetatable({}, faces[class])
  veiled[face] = object
  return face
end

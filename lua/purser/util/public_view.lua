-- SPDX-License-Identifier: MIT
-- Makes what users hold of an object with methods, such as a walk: a table that has the object's methods and none of
-- its tables, as private.lua says of clients.

local object_of = setmetatable({}, { __mode = "k" }) -- table that users hold -> the object

-- The metatables of what users hold, one for each kind of object.
local view_types = {}

local function forward(name)
  return function(view, ...)
    local object = object_of[view]
    if not object then error(("call it with a colon: :%s(...)"):format(name), 2) end
    return object[name](object, ...)
  end
end

local function view_type_of(class)
  local methods = {}
  local function index(view, name)
    if methods[name] then return methods[name] end
    local value = object_of[view][name]
    if type(value) == "function" then
      if class.__index[name] ~= value then return nil end
      methods[name] = forward(name)
      return methods[name]
    end
    if type(value) ~= "table" and type(value) ~= "userdata" then return value end
  end
  return {
    __name = class.__name, __index = index, __metatable = class.__name,
    __call = function(view) return object_of[view]() end,
    __tostring = function(view) return tostring(object_of[view]) end,
  }
end

--- Stands for an object that has a class as its metatable: it has the object's methods and reads its texts, numbers and
--- booleans. The tables the object works with stay out of reach.
---@param object table
---@return table
return function(object)
  local class = getmetatable(object)
  view_types[class] = view_types[class] or view_type_of(class)
  local view = setmetatable({}, view_types[class])
  object_of[view] = object
  return view
end

-- SPDX-License-Identifier: MIT
-- Tables for users: they show an object and hide its own tables (private.lua).

local M = {}

----------------------------------------------------------------------------------- methods called with a dot

--- Has each method of a whole class check the object's class, at the caller's line.
---@param class table  the methods
---@param label string  what messages call an object
---@param meta table|nil  the metatable of the objects, where it is not the class
function M.check_colon(class, label, meta)
  meta = meta or class
  for name, method in pairs(class) do
    if type(method) == "function" and not name:find "^__" then
      class[name] = function(self, ...)
        if getmetatable(self) ~= meta then
          error(("call it with a colon: %s:%s(...)"):format(label, name), 2)
        end
        return method(self, ...)
      end
    end
  end
end

--------------------------------------------------------------------------------------- objects with methods

local object_of = setmetatable({}, { __mode = "k" }) -- table that users hold -> the object

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

--- Returns a stand-in for an object: it has the methods, and reads texts, numbers and booleans.
function M.view(object)
  local class = getmetatable(object)
  view_types[class] = view_types[class] or view_type_of(class)
  local view = setmetatable({}, view_types[class])
  object_of[view] = object
  return view
end

------------------------------------------------------------------------------------------------------ tables

local function reject(_, name)
  error(('"%s" cannot be set: this table is read-only; make a table of your own'):format(tostring(name)), 2)
end

--- Returns a read-only view of a table and nested tables. On Lua 5.1 and LuaJIT `pairs` and `#` see nothing of it.
function M.frozen(value)
  local inside = {}
  for name, member in pairs(value) do inside[name] = type(member) == "table" and M.frozen(member) or member end
  return setmetatable({}, {
    __index = inside, __newindex = reject, __metatable = "read-only", __len = function() return #inside end,
    __pairs = function() return function(_, name) return next(inside, name) end end,
  })
end

return M

-- SPDX-License-Identifier: MIT
--- A view of a table, and of the tables in it, that can be read and not changed. Lua 5.1 and LuaJIT read single members
--- through it; `pairs` and `#` see them from Lua 5.2 on.

local function reject(_, name)
  error(('"%s" cannot be set: this table is read-only; make a table of your own'):format(tostring(name)), 2)
end

local function frozen(value)
  local inside = {}
  for name, member in pairs(value) do inside[name] = type(member) == "table" and frozen(member) or member end
  return setmetatable({}, {
    __index = inside, __newindex = reject, __metatable = "read-only", __len = function() return #inside end,
    __pairs = function() return function(_, name) return next(inside, name) end end,
  })
end

return frozen

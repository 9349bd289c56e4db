-- SPDX-License-Identifier: MIT
--- A module that is loaded at its first use. So the head of a file shows all it depends on, and a start costs no more
--- than what it uses:
---
---     local suggest = lazy "purser.util.suggest"
---     suggest.hint(name, names)
---
--- What stands for the module reads its fields and calls it, and no more: `pairs` finds nothing, so a module that is
--- handed on as a value is taken with `require`. Once the module is loaded this makes nothing, so that it cannot fail.

-- The first read of a field: from then on the module itself is looked in.
local function load_at_read(stand_in, field)
  local module = require(stand_in[1])
  getmetatable(stand_in).__index = module
  return module[field]
end

local function load_and_call(stand_in, ...)
  return require(stand_in[1])(...)
end

local M = { names = {} } -- of all modules that something stands for, in the order in which they were named

--- What stands for the module of this name.
---@param name string  of a module that is a table, a function or both
---@return any
local function stand_in_of(_, name)
  M.names[#M.names + 1] = name
  return setmetatable({ name }, { __index = load_at_read, __call = load_and_call })
end

local function member(stand_in, name)
  return stand_in[name]
end

--- A member of the module that something stands for; or nil and why the module cannot be loaded, where it may be needed
--- when no file can be opened any more.
---@param stand_in any
---@param name string
---@return any member, string|nil problem
function M.try(stand_in, name)
  local is_loaded, value = pcall(member, stand_in, name)
  if is_loaded then return value end
  local line = tostring(value):match "^[^\n]*" -- the others list all places that were looked at
  return nil, (line:gsub("^[^\n]-util[/\\]lazy%.lua:%d+: ", ""):gsub(":$", ""))
end

return setmetatable(M, { __call = stand_in_of })

-- SPDX-License-Identifier: MIT
--- Loads a module at the first use. A file's head still shows every dependency:
---
---     local suggest = lazy "purser.client.util.suggest"
---     suggest.hint(name, names)
---
--- The stand-in reads and calls fields, and no more: take a module that is handed on as a value, or walked by `pairs`,
--- by `require`. After loading, a use allocates nothing and cannot fail.

local rocks = require "purser.client.util.rocks"

local function load_at_read(stand_in, field)
  local module = rocks.require(stand_in[1], stand_in[2])
  getmetatable(stand_in).__index = module
  return module[field]
end

local function load_and_call(stand_in, ...)
  return rocks.require(stand_in[1], stand_in[2])(...)
end

---@param name string  of a module that is a table, a function or both
---@param shown string|nil  what a person calls it, where its rock may be missing
---@return any
return function(name, shown)
  return setmetatable({ name, shown or name }, { __index = load_at_read, __call = load_and_call })
end

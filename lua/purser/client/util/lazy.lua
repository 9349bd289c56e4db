-- SPDX-License-Identifier: MIT
--- A module that is loaded at its first use. So the head of a file shows all it depends on, and a start costs no more
--- than what it uses:
---
---     local suggest = lazy "purser.client.util.suggest"
---     suggest.hint(name, names)
---
--- The stand-in reads the module's fields and calls it, and no more: `pairs` finds nothing, so a module that is
--- handed on as a value is taken with `require`. Once the module is loaded this makes nothing, so that it cannot fail.

-- Answers the first read of a field; from then on the module itself is looked in.
local function load_at_read(stand_in, field)
  local module = require(stand_in[1])
  getmetatable(stand_in).__index = module
  return module[field]
end

local function load_and_call(stand_in, ...)
  return require(stand_in[1])(...)
end

--- Returns what stands for the module of this name.
---@param name string  of a module that is a table, a function or both
---@return any
return function(name)
  return setmetatable({ name }, { __index = load_at_read, __call = load_and_call })
end

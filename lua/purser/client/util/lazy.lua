-- SPDX-License-Identifier: MIT
--- A module that is loaded at the first use: the head of a file shows all modules, and a start costs no unused module:
---
---     local suggest = lazy "purser.client.util.suggest"
---     suggest.hint(name, names)
---
--- The stand-in reads fields of the module and calls the module, and no more: `pairs` finds nothing, so a module that
--- is handed on as a value is taken with `require`. A loaded module makes nothing new, so that a use cannot fail.

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

-- SPDX-License-Identifier: MIT
--- Loads a module at the first use. The head of a file then shows every dependency, and a start costs only the used
--- modules:
---
---     local suggest = lazy "purser.client.util.suggest"
---     suggest.hint(name, names)
---
--- The stand-in reads and calls the module's fields, and no more: `pairs` finds nothing, so take a module that is
--- handed on as a value by `require`. After loading, a use allocates nothing and cannot fail.

-- Answers the first read of a field; from then on the module itself is looked in.
local function load_at_read(stand_in, field)
  local module = require(stand_in[1])
  getmetatable(stand_in).__index = module
  return module[field]
end

local function load_and_call(stand_in, ...)
  return require(stand_in[1])(...)
end

--- Returns a stand-in for the module of this name.
---@param name string  of a module that is a table, a function or both
---@return any
return function(name)
  return setmetatable({ name }, { __index = load_at_read, __call = load_and_call })
end

-- SPDX-License-Identifier: MIT
-- `purser.transport`: makers of transports, by name. Rooms above register theirs.

local lazy = require "purser.client.util.lazy"
local names_of = lazy "purser.client.util.names_of"
local rocks = require "purser.client.util.rocks"
local suggest = lazy "purser.client.util.suggest"

local M = {}

local modules = { curl = "purser.client.transport.curl", multi = "purser.client.transport.multi" }

---@param name string
---@param module string  has `new`
function M.register(name, module)
  modules[name] = module
end

local function no_transport(name)
  local names = names_of(modules)
  error(('purser.transport has no "%s"%s; there are %s, and an object of your own is given as it is'):format(
    tostring(name), suggest.hint(tostring(name), names), table.concat(names, ", ")), 3)
end

M.by_name = setmetatable({}, { __index = function(made, requested)
  if not modules[requested] then no_transport(requested) end
  made[requested] = rocks.require(modules[requested], "purser.transport." .. requested).new
  return made[requested]
end })

return M

-- SPDX-License-Identifier: MIT
-- `purser.transport`: what makes transports, by name.

local lazy = require "purser.util.lazy"
local harmless = lazy "purser.recording.harmless"
local suggest = lazy "purser.util.suggest"

local modules = {
  curl = "purser.transport.curl", multi = "purser.transport.multi",
  openresty = "purser.nginx.openresty", cosocket = "purser.nginx.cosocket",
  record = "purser.recording.record", replay = "purser.recording.replay",
}
local names = { "curl", "multi", "openresty", "cosocket", "record", "replay" }

-- What makes a transport. Those of recordings get the list of what may stay in one.
local function transport_of(name)
  local make = require(modules[name]).new
  if name ~= "record" and name ~= "replay" then return make end
  return function(first, options) return make(first, options, harmless) end
end

local function no_transport(name)
  error(('purser.transport has no "%s"%s; there are %s, and an object of your own is given as it is'):format(
    tostring(name), suggest.hint(tostring(name), names), table.concat(names, ", ")), 3)
end

return setmetatable({}, { __index = function(made, requested)
  for _, name in ipairs(names) do
    if name == requested then
      made[name] = transport_of(name)
      return made[name]
    end
  end
  no_transport(requested)
end })

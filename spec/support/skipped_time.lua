-- SPDX-License-Identifier: MIT
-- Time that nobody waits for. A sleep of the command in this process (in_process.lua) ends at once; the clocks of this
-- process, and of the simulators that it started (service.lua), are that much later from then on.

local core = require "purser.core"

local M = { services = {} } -- what the clocks belong to that go along

local skipped_ms = 0

for name, units in pairs { now_ms = 1, monotonic_ms = 1, monotonic_us = 1000 } do
  local read = core[name]
  core[name] = function() return read() + skipped_ms * units end
end

--- Takes the place of core.sleep_ms.
---@param ms number
function M.sleep(ms)
  skipped_ms = skipped_ms + math.ceil(ms)
  for service in pairs(M.services) do assert(service.world:advance(math.ceil(ms))) end
end

return M

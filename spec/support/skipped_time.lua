-- SPDX-License-Identifier: MIT
-- Time that nobody waits for. A sleep of the command in this process (in_process.lua) ends at once; the clocks of this
-- process, and of the simulators that it started (service.lua), are that much later from then on.

local core = require "purser.core"

local M = { services = {} } -- what the clocks belong to that go along

local skipped_ms, since_reset = 0, 0
local now_ms, monotonic_ms, monotonic_us = core.now_ms, core.monotonic_ms, core.monotonic_us

function core.now_ms() return now_ms() + since_reset end
function core.monotonic_ms() return monotonic_ms() + skipped_ms end
function core.monotonic_us() return monotonic_us() + skipped_ms * 1000 end

--- Sets the time of this process back to the machine's, for simulators that are started from now on.
function M.reset() since_reset = 0 end

--- Takes the place of core.sleep_ms.
---@param ms number
function M.sleep(ms)
  skipped_ms, since_reset = skipped_ms + math.ceil(ms), since_reset + math.ceil(ms)
  for service in pairs(M.services) do assert(service.world:advance(math.ceil(ms))) end
end

return M

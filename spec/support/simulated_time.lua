-- SPDX-License-Identifier: MIT
-- Clients that take a simulator's time, which a spec moves by months, for the machine's. Where that clock stands still
-- until it is advanced, a pause of the client advances it; the machine sleeps a moment only, so that other programs
-- come to their turn.
--
--   require("simulated_time").new { base_url = service.url, ... }
--
-- Loaded before an example (LUA_INIT) it takes the place of purser.new. The examples themselves know nothing of it.

local core = require "purser.core"
local purser = require "purser"

local M = {}

local new, MOMENT_MS = purser.new, 10

-- The transport of a client whose pauses move a simulator's clock.
local function with_pauses(transport, world)
  return {
    send = function(_, request) return transport:send(request) end,
    sleep = function(_, ms)
      assert(world:advance(ms))
      core.sleep_ms(math.min(ms, MOMENT_MS))
    end,
  }
end

function M.new(options)
  local world = assert(purser.sim.connect(options.base_url))
  options.clock = function() return assert(world:refresh()) end -- other programs move it, too
  if not world.offset then options.transport = with_pauses(assert(purser.transport.curl()), world) end
  return new(options)
end

if not ... then purser.new = M.new end

return M

-- SPDX-License-Identifier: MIT
-- The service's time, as far as it is known.
--
-- A client begins with the host's clock. When the service says that a timestamp lies outside of its window (700003),
-- the client asks it for its time, or takes the Date header of that rejection, and from then on counts from there. It
-- counts with the monotonic clock, which nobody sets; the host's clock shows only that something jumped (it was set,
-- or the machine slept), and then the service is asked again before the next request is signed.
--
-- A clock that the user gave is believed to count well: the offset to it is kept, and nothing else.

local core = require "purser.core"
local lazy = require "purser.util.lazy"
local service_time = lazy "purser.call.service_time"

local M = {}

--- The service's code for a timestamp outside of its window.
M.OUTSIDE_WINDOW = "700003"

local Clock = {}
Clock.__index = Clock
setmetatable(Clock, { __index = service_time }) -- methods, too

--- Makes a clock.
---@param wall (fun(): integer)|nil       epoch ms; nil: the host's
---@param monotonic (fun(): integer)|nil  ms that only ever grow; nil: the host's, or none when `wall` was given
function M.new(wall, monotonic)
  local is_hosts = not wall
  if is_hosts then wall, monotonic = core.now_ms, monotonic or core.monotonic_ms end
  -- `false`, not nil: an absent field is looked for in Clock, too, in every call
  return setmetatable({
    wall = wall, monotonic = monotonic or false, is_exact = is_hosts and monotonic == core.monotonic_ms,
    offset = false, apart = false, corrections = 0, asking = false,
  }, Clock)
end

--- Returns what is counted with: the monotonic clock where there is one.
function Clock:count()
  return (self.monotonic or self.wall)()
end

--- Returns the service's time in epoch ms, or whatever a user's clock returned.
function Clock:now()
  local offset = self.offset
  if not offset then return self.wall() end
  local counted = self:count()
  return type(counted) == "number" and counted + offset or counted
end

--- Returns the service's time in epoch ms as an exact integer; or nil, what is wrong with a user's clock, and what to
--- do.
---@return integer|nil now, string|nil problem, string|nil hint
function Clock:read()
  if self.is_exact then
    local offset = self.offset
    return offset and self.monotonic() + offset or self.wall()
  end
  local now = self:now()
  if type(now) == "number" and now > 0 and now < 2 ^ 53 and now % 1 == 0 then return math.floor(now) end
  return nil, "the option clock did not give a time", "it must return whole epoch milliseconds"
end

return M

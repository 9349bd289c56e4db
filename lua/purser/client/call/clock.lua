-- SPDX-License-Identifier: MIT
-- The service's time. A client begins with the host's clock. A timestamp outside of the window (700003) makes the
-- client learn the service's time, or the rejection's Date header, and count on with the monotonic clock. A jump of the
-- host's clock makes the client ask before the next signature. A user's clock counts well: only the offset is kept.

local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local utc = lazy "purser.client.util.utc"
local errors = lazy "purser.client.call.errors"

local M = {}

--- A timestamp outside of the service's window.
M.OUTSIDE_WINDOW = "700003"

local Clock = {}
Clock.__index = Clock

---@param wall (fun(): integer)|nil       epoch ms; nil: the host's
---@param monotonic (fun(): integer)|nil  ms that only ever grow; nil: the host's, or none when `wall` was given
function M.new(wall, monotonic)
  local is_hosts = not wall
  if is_hosts then wall, monotonic = core.now_ms, monotonic or core.monotonic_ms end
  -- false, not nil: each call would look for an absent field in Clock, too
  return setmetatable({
    wall = wall, monotonic = monotonic or false, is_exact = is_hosts and monotonic == core.monotonic_ms,
    offset = false, apart = false, corrections = 0, asking = false,
    uncertain_ms = 0, -- by how much the last correction may be wrong
  }, Clock)
end

--- Returns the reading of the monotonic clock, or else of the user's clock.
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

--- Returns the service's time in epoch ms as an exact integer; or nil, the problem of a user's clock, and what to do.
function Clock:read()
  if self.is_exact then
    local offset = self.offset
    return offset and self.monotonic() + offset or self.wall()
  end
  local now = self:now()
  if type(now) == "number" and now >= 1e12 and now < 1e13 and now % 1 == 0 then return math.floor(now) end
  return nil, "the option clock did not give a time", "it must return whole epoch milliseconds (13 digits; os.time() "
    .. "gives seconds)"
end

-- The longest drift between the host's clock and the monotonic clock that is no jump.
local JUMP_MS = 1000

--- Tells, once, whether the host's clock jumped since the last learning.
function Clock:jumped()
  if not self.offset or not self.monotonic then return false end
  local apart = self.wall() - self.monotonic()
  if math.abs(apart - self.apart) <= JUMP_MS then return false end
  self.apart = apart
  return true
end

-- The farthest believed distance from the host's clock: an impostor must not get requests signed for another year.
local FARTHEST_MS = 86400000

-- Returns why a time of the service is not believed, or nil.
local function doubt(self, time)
  local apart = time - self.wall()
  if math.abs(apart) <= FARTHEST_MS then return nil end
  return ("the service's time is %.0f hours %s %s, and more than 24 are not believed; set it"):format(
    math.floor(math.abs(apart) / 3600000), apart > 0 and "ahead of" or "behind",
    self.monotonic and "this machine's clock" or "the option clock")
end

local function set(self, time, counted, uncertain_ms)
  local apart = self.monotonic and self.wall() - self.monotonic() -- a user's clock may raise
  self.offset, self.apart, self.corrections = time - counted, apart, self.corrections + 1
  self.uncertain_ms = uncertain_ms
end

local QUICK_MS = 1000

-- Asks for the time. Returns it, the clock's reading before, and the counter's before and after; or nil and an error.
local function asked(self, ask, ...)
  local before, wrong, hint = self:read()
  if not before then return nil, errors.config(wrong, hint, "clock") end
  local sent = self:count()
  local time, err = ask(...)
  if not time then return nil, err end
  return time, before, sent, self:count()
end

--- Learns the time that `ask(...)` returns, as of the middle of the call. Asks once more where that took long: a first
--- request waits for the name and the connection before the service reads its clock. Returns the correction, or nil and
--- the error.
---@param ask fun(...): integer|nil, any
---@return integer|nil correction_ms, any err
function Clock:learn(ask, ...)
  local time, before, sent, received = asked(self, ask, ...)
  if not time then return nil, before end
  if received - sent > QUICK_MS then
    local again, before_again, sent_again, received_again = asked(self, ask, ...)
    if again and received_again - sent_again < received - sent then
      time, before, sent, received = again, before_again, sent_again, received_again
    end
  end
  local wrong = doubt(self, time)
  if wrong then
    return nil, errors.new { kind = "decode", outcome = "rejected", message = wrong }
  end
  local half = math.floor((received - sent) / 2)
  set(self, time + half, received, half)
  return self.offset + sent - before
end

--- Learns from a Date header, whose whole seconds make the clock late: a window bears a late clock, and no early one.
--- Returns true, or nil without a believed header.
function Clock:learn_date(text)
  local time = utc.http_ms(text or "", self.wall())
  if not time or doubt(self, time) then return nil end
  set(self, time, self:count(), 1000) -- a date has whole seconds
  return true
end

return M

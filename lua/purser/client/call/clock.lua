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
local lazy = require "purser.client.util.lazy"
local utc = lazy "purser.client.util.utc"
local errors = lazy "purser.client.call.errors"

local M = {}

--- The service's code for a timestamp outside of its window.
M.OUTSIDE_WINDOW = "700003"

local Clock = {}
Clock.__index = Clock

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
  if type(now) == "number" and now >= 1e12 and now < 1e13 and now % 1 == 0 then return math.floor(now) end
  return nil, "the option clock did not give a time", "it must return whole epoch milliseconds (13 digits; os.time() "
    .. "gives seconds)"
end

-- The host's clock and the monotonic one may drift apart so far before one of them is said to have jumped.
local JUMP_MS = 1000

--- Tells whether the host's clock was set, or the machine slept, since the service's time was learned. Reported once.
function Clock:jumped()
  if not self.offset or not self.monotonic then return false end
  local apart = self.wall() - self.monotonic()
  if math.abs(apart - self.apart) <= JUMP_MS then return false end
  self.apart = apart
  return true
end

-- The service's time may lie so far from the host's. A clock is not wrong by more unless it was never set; and whoever
-- answers in the service's place must not have requests signed for another year.
local FARTHEST_MS = 86400000

-- Returns why a time is not believed, or nil.
local function doubt(self, time)
  local apart = time - self.wall()
  if math.abs(apart) <= FARTHEST_MS then return nil end
  return ("the service's time is %.0f hours %s %s, and more than 24 are not believed; set it"):format(
    math.floor(math.abs(apart) / 3600000), apart > 0 and "ahead of" or "behind",
    self.monotonic and "this machine's clock" or "the option clock")
end

-- The service's time was `time` when `counted` was read.
local function set(self, time, counted)
  local apart = self.monotonic and self.wall() - self.monotonic() -- a user's clock may raise
  self.offset, self.apart, self.corrections = time - counted, apart, self.corrections + 1
end

--- Learns from the service's own time. `ask()` returns it in epoch ms, or nil and an error: it is taken to be that of
--- the middle of the call. Returns by how much the clock was corrected, or nil and the error.
---@param ask fun(): integer|nil, any
---@return integer|nil correction_ms, any err
function Clock:learn(ask)
  local before, wrong, hint = self:read()
  if not before then return nil, errors.config(wrong, hint, "clock") end
  local sent = self:count()
  local time, err = ask()
  if not time then return nil, err end
  local received = self:count()
  wrong = doubt(self, time)
  if wrong then
    return nil, errors.new { kind = "decode", outcome = "rejected", message = wrong }
  end
  set(self, time + math.floor((received - sent) / 2), received)
  return self.offset + sent - before
end

local months = {
  Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12,
}

-- Returns the time of a Date header in epoch ms, or nil.
local function parse_date(text)
  local day, month, year, hour, minute, second =
    (text or ""):match("^%a%a%a, (%d%d) (%a%a%a) (%d%d%d%d) (%d%d):(%d%d):(%d%d) GMT$")
  if not months[month] then return nil end
  local days = utc.days(year, months[month], day)
  return math.floor(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
end

--- Learns from a Date header. It counts whole seconds, so the clock is late by one at most, which a request's window
--- bears; it would not bear one that is ahead. Returns true, or nil when there is no such header, or none to believe.
function Clock:learn_date(text)
  local time = parse_date(text)
  if not time or doubt(self, time) then return nil end
  set(self, time, self:count())
  return true
end

return M

-- SPDX-License-Identifier: MIT
-- What a clock learns of the service's time, and what it does not believe.

local calendar = require "purser.util.calendar"
local errors = require "purser.call.errors"

local M = {}

-- How far the service's time may lie from the host's. A clock is not wrong by more unless it was never set; and whoever
-- answers in the service's place must not have requests signed for another year.
local FARTHEST_MS = 86400000

-- Why a time is not believed, or nil.
local function doubt(self, time)
  local apart = time - self.wall()
  if math.abs(apart) <= FARTHEST_MS then return nil end
  return ("the service's time is %.0f hours %s this machine's clock, and more than 24 are not believed; set it, "
    .. "or give the option clock"):format(math.floor(math.abs(apart) / 3600000), apart > 0 and "ahead of" or "behind")
end

-- The service's time was `time` when `counted` was read.
local function set(self, time, counted)
  local apart = self.monotonic and self.wall() - self.monotonic() -- a user's clock may raise
  self.offset, self.apart, self.corrections = time - counted, apart, self.corrections + 1
end

--- What Clock:learn does.
function M.learn(self, ask)
  local before, sent = self:now(), self:count()
  local time, err = ask()
  if not time then return nil, err end
  local received = self:count()
  local wrong = doubt(self, time)
  if wrong then
    return nil, errors.new { kind = "decode", outcome = "rejected", message = wrong }
  end
  set(self, time + math.floor((received - sent) / 2), received)
  return self.offset + sent - before
end

local months = {
  Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12,
}

-- The time of a Date header in epoch ms, or nil.
local function parse_date(text)
  local day, month, year, hour, minute, second =
    (text or ""):match("^%a%a%a, (%d%d) (%a%a%a) (%d%d%d%d) (%d%d):(%d%d):(%d%d) GMT$")
  month = months[month]
  if not month then return nil end
  local days = calendar.days(year, month, day)
  return math.floor(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
end

--- What Clock:learn_date does.
function M.learn_date(self, text)
  local time = parse_date(text)
  if not time or doubt(self, time) then return nil end
  set(self, time, self:count())
  return true
end

return M

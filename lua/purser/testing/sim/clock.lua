-- SPDX-License-Identifier: MIT
-- The simulator's clock, in epoch milliseconds, and the due events. "virtual" stands still until advanced; "real"
-- follows the wall clock plus all advances. The clock never goes back.

local core = require "purser.core"
local heaps = require "purser.client.util.heap"
local utc = require "purser.client.util.utc"

local M = {}

M.DAY = 86400000

-- Where a virtual clock starts when nothing else is asked for: 2023-11-14 22:13:20 UTC.
local START = 1700000000000

local Clock = {}
Clock.__index = Clock

--- Returns a clock, which is plain data; or a snapshot's clock: a real clock went on while nothing ran.
---@param mode "virtual"|"real"
---@param start integer|nil  epoch milliseconds
---@param saved table|nil
function M.new(mode, start, saved)
  if saved then return setmetatable(saved, Clock) end
  local clock = setmetatable({ mode = mode, latest = start or START, offset = 0 }, Clock)
  if mode == "real" then
    clock.offset = start and start - core.now_ms() or 0
    clock.latest = start or core.now_ms()
  end
  return clock
end

function Clock:now()
  if self.mode == "real" then
    local now = core.now_ms() + self.offset
    if now > self.latest then self.latest = now end
  end
  return self.latest
end

--- Moves on by `ms`, which is whole.
function Clock:advance(ms)
  ms = math.floor(ms) -- an integer also when it came as a float
  self.latest = self:now() + ms
  self.offset = self.offset + ms
end

-- A heap of { at, order, kind, id }. Events of equal times keep the order of adding, so a run can be replayed. Items
-- are plain data: init.lua names the functions behind the kinds.
local Schedule = {}
Schedule.__index = Schedule

--- Returns a schedule: empty, or with the items of a snapshot.
function M.schedule(items)
  local schedule = setmetatable({ heap = {}, added = 0 }, Schedule)
  for _, item in ipairs(items or {}) do
    heaps.push(schedule.heap, item)
    schedule.added = math.max(schedule.added, item.order)
  end
  return schedule
end

function Schedule:add(at, kind, id)
  self.added = self.added + 1
  heaps.push(self.heap, { at = at, order = self.added, kind = kind, id = id })
end

--- Removes and returns the earliest item that is due at `now`, or nil.
function Schedule:take(now)
  local top = self.heap[1]
  return top and top.at <= now and heaps.pop(self.heap) or nil
end

local weekdays = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" }
local months = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }

--- Returns the value of a Date header.
function M.http_date(ms)
  local t = utc.civil(ms)
  return ("%s, %02d %s %04d %02d:%02d:%02d GMT"):format(weekdays[t.wday], t.day, months[t.month], t.year, t.hour, t.min,
    t.sec)
end

--- Returns a time as the live service writes it: 2023-11-14T22:13:20.000+00:00.
function M.iso_date(ms)
  return (utc.text(ms):gsub("Z$", "+00:00"))
end

--- Returns the day of a time as yyyymmdd, in UTC.
function M.day_text(ms)
  return (utc.text(ms):sub(1, 10):gsub("%-", ""))
end

--- Returns 00:00 UTC of the day of a time.
function M.midnight(ms) return ms - ms % M.DAY end

--- Returns the day and time of day `count` calendar months earlier, or a shorter month's last day.
function M.months_before(ms, count)
  local t = utc.civil(ms)
  local index = t.year * 12 + t.month - 1 - count
  local month = index % 12 + 1
  local year = math.floor(index / 12)
  return utc.days(year, month, math.min(t.day, utc.days_in(year, month))) * M.DAY + ms % M.DAY
end

return M

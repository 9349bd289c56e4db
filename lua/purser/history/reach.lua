-- How far a history reaches back, and how long a window of it may be: the row's `window` in milliseconds.

local calendar = require "purser.calendar"

local M = {}

local DAY = 86400000

--- A walk that begins as early as possible begins this much later, so that it is not too late when it gets there.
M.MARGIN_MS = 60000

local function civil(ms)
  local t = os.date("!*t", math.floor(ms / 1000)) -- numbers only: no locale
  return t.year, t.month, t.day
end

-- `count` calendar months before; a day that the month lacks becomes the first of the next, which is never too early.
local function months_before(ms, count)
  local year, month, day = civil(ms)
  local index = year * 12 + month - 1 - count
  return calendar.days(math.floor(index / 12), index % 12 + 1, day) * DAY + ms % DAY
end

--- The earliest time the history tells of at `now`, or nil when no limit is documented.
---@param window table|nil
---@param now integer
---@return integer|nil
function M.earliest(window, now)
  if not window then return nil end
  if window.reach_months then return math.floor(months_before(now, window.reach_months)) end
  if not window.reach_days then return nil end
  if window.from_midnight then now = now - now % DAY end
  return now - window.reach_days * DAY
end

--- The reach in words.
function M.words(window)
  if window.reach_months then return ("the last %d months"):format(window.reach_months) end
  return ("the last %d days%s"):format(window.reach_days, window.from_midnight and ", from midnight UTC" or "")
end

--- The longest window that may be asked for at once, less the milliseconds at its edges; nil: no limit is documented.
function M.longest(window)
  if not window or not window.longest_days then return nil end
  return window.longest_days * DAY - 2
end

return M

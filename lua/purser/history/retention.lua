-- SPDX-License-Identifier: MIT
-- The reach of a history, and the length of its windows: the row's `window` in milliseconds.

local utc = require "purser.util.utc"

local M = {}

local DAY = 86400000

--- A walk that begins as early as possible begins this much later, so that it is not too late when it gets there.
M.MARGIN_MS = 60000

-- Returns the time `count` calendar months before; a day that the month lacks becomes the first of the next, which is
-- never too early.
local function months_before(ms, count)
  local date = utc.civil(ms)
  local index = date.year * 12 + date.month - 1 - count
  local year, month = math.floor(index / 12), index % 12 + 1
  local day = math.min(date.day, utc.days_in(year, month) + 1)
  return utc.days(year, month, day) * DAY + ms % DAY
end

--- Returns the earliest time the history shows at `now`, or nil when no limit is documented. A history that begins at a
--- midnight is not documented to say whose: this is the latest that midnight can be anywhere.
---@param window table|nil
---@param now integer
---@return integer|nil
function M.earliest(window, now)
  if not window then return nil end
  if window.retention_months then return math.floor(months_before(now, window.retention_months)) end
  return window.retention_days and now - window.retention_days * DAY
end

--- Returns where a walk begins that was not given a beginning. Time goes on while it does, so at the very edge it would
--- be beyond it when its turn comes. A month of a reach may be 30 days to the service.
---@param window table
---@param now integer
function M.default(window, now)
  return now - (window.retention_days or window.retention_months * 30) * DAY + M.MARGIN_MS
end

--- Returns the reach in words.
function M.words(window)
  if window.retention_months then return ("the last %d months"):format(window.retention_months) end
  return ("the last %d days"):format(window.retention_days)
end

--- Returns the longest window that may be asked for at once, less the seconds at its edges; nil: no limit is
--- documented.
function M.max_window(window)
  if not window or not window.max_window_days then return nil end
  return window.max_window_days * DAY - 3000
end

return M

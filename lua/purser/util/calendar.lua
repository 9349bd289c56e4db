-- SPDX-License-Identifier: MIT
-- Dates in UTC.

local M = {}

--- Days from 1970-01-01 to a civil date. (The year starts in March, so that the leap day is the last of it.)
---@return integer
function M.days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  local floor = math.floor
  return 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400) + floor((153 * (month - 3) + 2) / 5)
    + day - 719469
end

return M

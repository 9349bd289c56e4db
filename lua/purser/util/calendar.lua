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

local month_days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

--- Returns how many days a month has.
---@return integer
function M.days_in(year, month)
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return month == 2 and leap and 29 or month_days[month]
end

--- The civil date and time of day of epoch milliseconds. It needs no `os`, which a host may lack.
---@param ms integer
---@return { year: integer, month: integer, day: integer, hour: integer, min: integer, sec: integer, wday: integer }
function M.civil(ms)
  local floor = math.floor
  local seconds = floor(ms / 1000)
  local days = floor(seconds / 86400)
  seconds = seconds - days * 86400
  local shifted = days + 719468 -- since 0000-03-01
  local era = floor(shifted / 146097)
  local of_era = shifted - era * 146097
  local year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
  local index = floor((5 * of_year + 2) / 153) -- 0: March
  local month = index < 10 and index + 3 or index - 9
  return {
    year = year + era * 400 + (month <= 2 and 1 or 0), month = month,
    day = of_year - floor((153 * index + 2) / 5) + 1,
    hour = floor(seconds / 3600), min = floor(seconds % 3600 / 60), sec = seconds % 60,
    wday = (days + 4) % 7 + 1, -- 1: Sunday
  }
end

return M

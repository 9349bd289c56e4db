-- SPDX-License-Identifier: MIT
--- UTC times to and from epoch milliseconds, exactly. It needs no `os`, which a host may lack.
--
--     utc.text(1795348800123)          -- 2026-11-22T12:00:00.123Z
--     utc.ms "2026-11-22"              -- 1795305600000
--     utc.ms "2026-11-22T13:00+01:00"  -- 1795348800000

local plain_text = require "purser.client.util.plain_text"

---@class purser.modules.utc
local M = {}

local DAY = 86400000
local MAX_OFFSET = 14 -- hours: no place is further from UTC
local MAX_QUOTED = 40 -- bytes

---@private
--- Returns the days from 1970-01-01 to a date. (A year starts in March: the leap day is the last.)
---@return integer
function M.days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  local floor = math.floor
  return 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400) + floor((153 * (month - 3) + 2) / 5)
    + day - 719469
end

local month_days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

---@private
---@return integer
function M.days_in(year, month)
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return month == 2 and leap and 29 or month_days[month]
end

---@private
--- Returns date and time of day of epoch milliseconds.
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

local http_months = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10,
  Nov = 11, Dec = 12 }

-- Returns day, name of the month, year and time of day of a text in one of HTTP's forms, as texts; or nothing.
local function http_parts(text)
  local day, month, year, time = text:match "^%u%l%l, (%d%d) (%u%l%l) (%d%d%d%d) ([%d:]+) GMT$"
  if day then return day, month, year, time end
  day, month, year, time = text:match "^%u%l+day, (%d%d)%-(%u%l%l)%-(%d%d) ([%d:]+) GMT$" -- RFC 850
  if day then return day, month, year, time end
  month, day, time, year = text:match "^%u%l%l (%u%l%l) ([ %d]%d) ([%d:]+) (%d%d%d%d)$" -- asctime
  return day, month, year, time
end

---@private
--- Returns the epoch milliseconds of HTTP's date in each form of RFC 9110 (`Sun, 06 Nov 1994 08:49:37 GMT`,
--- `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`); nil for another text. Two digits are the last year
--- that ends so and is at most 50 years after now. The second 60 is a leap second's, so the last one of a day.
---@param text string
---@param now integer  epoch milliseconds
---@return integer|nil
function M.http_ms(text, now)
  local day, name, digits, time = http_parts(text)
  local hour, min, sec = (time or ""):match "^(%d%d):(%d%d):(%d%d)$"
  local month, year = http_months[name], tonumber(digits)
  if not (hour and month) then return nil end
  day, hour, min, sec = tonumber(day), tonumber(hour), tonumber(min), tonumber(sec)
  local function ms_in(of_year)
    return M.days(of_year, month, day) * DAY + hour * 3600000 + min * 60000 + sec * 1000
  end
  if #digits == 2 then
    local last = M.civil(now).year + 50
    year = last - (last - year) % 100
    if year == last and ms_in(year - 50) > now then year = year - 100 end
  end
  if day < 1 or day > M.days_in(year, month) or hour > 23 or min > 59 then return nil end
  if sec > 59 and not (sec == 60 and hour == 23 and min == 59) then return nil end
  return ms_in(year)
end

local FIRST, LAST = M.days(0, 1, 1) * DAY, M.days(10000, 1, 1) * DAY - 1

--- Returns a time as `2026-11-22T12:00:00.123Z`. Nil and a message outside of the years 0 to 9999.
---@param ms integer  epoch milliseconds
---@return string|nil text, string|nil message
function M.text(ms)
  if type(ms) ~= "number" then
    return nil, ("utc.text: the time is a %s; give an integer of epoch milliseconds"):format(type(ms))
  end
  if ms % 1 ~= 0 then
    return nil, ("utc.text: %s is not a whole number; give an integer of epoch milliseconds"):format(tostring(ms))
  end
  if ms < FIRST or ms > LAST then
    return nil, ("utc.text: %.0f is not in the years 0 to 9999; give epoch milliseconds (13 digits)"):format(ms)
  end
  local t = M.civil(ms)
  return ("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ"):format(t.year, t.month, t.day, t.hour, t.min, t.sec, ms % 1000)
end

-- Returns the minutes of a zone ahead of UTC, or nil.
local function read_zone(zone)
  if zone == "" or zone == "Z" then return 0 end
  local sign, hours, minutes = zone:match "^([+-])(%d%d):?(%d%d)$"
  if not sign or tonumber(hours) > MAX_OFFSET or tonumber(minutes) > 59 then return nil end
  return (sign == "+" and 1 or -1) * (hours * 60 + minutes)
end

-- Returns the milliseconds of a time of day; nil for another text. A fraction of a second has up to three digits.
local function read_time(text)
  local hour, minute, zone = text:match "^[T ](%d%d):(%d%d)(.*)$"
  local second, fraction, after = (zone or ""):match "^:(%d%d)(%.?%d*)(.*)$"
  local ahead = hour and read_zone(after or zone)
  if not ahead or tonumber(hour) > 23 or tonumber(minute) > 59 or tonumber(second or 0) > 59 then return nil end
  if (fraction or "") ~= "" and not fraction:find "^%.%d%d?%d?$" then return nil end
  return ((hour * 60 + minute - ahead) * 60 + (second or 0)) * 1000 + ((fraction or ""):sub(2) .. "000"):sub(1, 3)
end

local function parse(text)
  local year, month, day, rest = text:match "^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$"
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  if not year or month < 1 or month > 12 or day < 1 or day > M.days_in(year, month) then return nil end
  local of_day = rest == "" and 0 or read_time(rest)
  local ms = of_day and M.days(year, month, day) * DAY + of_day
  return ms and ms >= FIRST and ms <= LAST and math.floor(ms) or nil
end

local FORMS = "give a day such as 2026-01-31, or a time such as 2026-01-31T09:30, 2026-01-31T09:30:05.250Z or "
  .. "2026-01-31T09:30+02:00"

--- Returns the epoch milliseconds of a date (`2026-11-22`, its first moment), or of date and time of day with `T` or a
--- blank between (`2026-11-22T12:00`, `2026-11-22 12:00:00.123`), in UTC or with `Z` or an offset like `+02:00`. Nil
--- and a message for any further text.
---@param text string
---@return integer|nil ms, string|nil message
function M.ms(text)
  if type(text) ~= "string" then
    return nil, ("utc.ms: the time is a %s; give a text such as 2026-11-22T12:00:00Z"):format(type(text))
  end
  local ms = parse(text)
  if ms then return ms end
  return nil, ('utc.ms: there is no time "%s"; %s'):format(plain_text.clean(text, MAX_QUOTED), FORMS)
end

return M

-- SPDX-License-Identifier: MIT
-- Values as people type them: times, durations, sources of a password.

local parameters = require "purser.api.parameters"

local M = {}

local unit_ms = { s = 1000, m = 60000, h = 3600000, d = 86400000, w = 604800000 }

-- Days from 1970-01-01 to a date of the Gregorian calendar; years are counted from March, so that the leap day is last.
local function days_of(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = math.floor(year / 400)
  local of_era = year - era * 400
  local of_year = math.floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

local month_days = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function is_date(year, month, day)
  if month < 1 or month > 12 or day < 1 or day > month_days[month] then return false end
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return month ~= 2 or day < 29 or leap
end

-- Milliseconds that a zone ("", "Z", "+02:00") is ahead of UTC, or nil.
local function zone_ms(zone)
  if zone == "" or zone == "Z" then return 0 end
  local sign, hours, minutes = zone:match("^([+-])(%d%d):?(%d%d)$")
  if not sign or tonumber(hours) > 14 or tonumber(minutes) > 59 then return nil end
  local ms = (tonumber(hours) * 60 + tonumber(minutes)) * 60000
  return sign == "+" and ms or -ms
end

local function time_of_day(text)
  if text == "" then return 0 end
  local hours, minutes, rest = text:match("^[T ](%d%d):(%d%d)(.*)$")
  if not hours then return nil end
  local seconds, fraction, zone = 0, 0, rest
  if rest:find("^:") then
    seconds, rest = rest:match("^:(%d%d)(.*)$")
    if not seconds then return nil end
    local digits, after = rest:match("^%.(%d%d?%d?)(.*)$")
    zone = digits and after or rest
    fraction = digits and tonumber((digits .. "00"):sub(1, 3)) or 0
  end
  local ahead = zone_ms(zone)
  hours, minutes, seconds = tonumber(hours), tonumber(minutes), tonumber(seconds)
  if not ahead or hours > 23 or minutes > 59 or seconds > 59 then return nil end
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction - ahead
end

local TIME_FORMS = "a duration before now (30d, 12h, 90m, 45s, 2w), a date (2026-01-31, 2026-01-31T10:00, with Z or "
  .. "+02:00, else UTC), or epoch milliseconds (13 digits)"

--- Epoch milliseconds of a time as people type it; nil and a message for anything else.
---@param text string
---@param now integer  epoch milliseconds
---@return integer|nil, string|nil
function M.time(text, now)
  if text == "now" then return now end
  local count, unit = text:match("^(%d%d?%d?%d?%d?)([smhdw])$")
  if count then return now - tonumber(count) * unit_ms[unit] end
  if text:find("^%d%d%d%d%d%d%d%d%d%d%d%d%d$") then return tonumber(text) end
  local year, month, day, rest = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$")
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  if not year or not is_date(year, month, day) then return nil, "is not a time; give " .. TIME_FORMS end
  local within = time_of_day(rest)
  if not within then return nil, "is not a time; give " .. TIME_FORMS end
  return math.floor(days_of(year, month, day) * 86400000 + within)
end

--- "2026-01-31 10:00:00" (UTC) of epoch milliseconds; the milliseconds are shown when there are any.
---@param ms integer
---@param style string|nil  utc (default), local, iso or ms
---@return string
function M.show_time(ms, style)
  if style == "ms" then return ("%d"):format(ms) end
  if style == "local" then return os.date("%Y-%m-%d %H:%M:%S %Z", math.floor(ms / 1000)) end
  if style == "iso" then
    return os.date("!%Y-%m-%dT%H:%M:%S", math.floor(ms / 1000)) .. (".%03dZ"):format(ms % 1000)
  end
  local seconds = math.floor(ms / 1000)
  local rest = ms - seconds * 1000
  return os.date("!%Y-%m-%d %H:%M:%S", seconds) .. (rest > 0 and (".%03d"):format(rest) or "")
end

--- Milliseconds of a duration as people type it ("45s", "30m", "2h", "1d"); nil for anything else.
---@param text string
---@return integer|nil
function M.duration(text)
  local count, unit = text:match("^(%d%d?%d?%d?%d?)([smhdw])$")
  return count and math.max(1, tonumber(count) * unit_ms[unit]) or nil
end

-- A state by its number and its name.
local function state(names, value)
  local name = names[tonumber(value) or 0]
  return name and ("%s %s"):format(tostring(value), name) or tostring(value)
end

--- "5 SUCCESS" of 5.
function M.deposit_state(value) return state(parameters.choices.deposit_states, value) end

--- "7 SUCCESS" of 7.
function M.withdrawal_state(value) return state(parameters.choices.withdrawal_states, value) end

--- `text` as one word of a shell command line.
function M.shell_word(text)
  if text:find("^[%w_%-%./:@,+=]+$") then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

return M

-- SPDX-License-Identifier: MIT
--- UTC times to and from epoch milliseconds, exactly. It needs no `os`, which a host may lack.
--
--     utc.text(1795348800123)          -- 2026-11-22T12:00:00.123Z
--     utc.ms "2026-11-22"              -- 1795305600000
--     utc.ms "2026-11-22T13:00+01:00"  -- 1795348800000

local calendar = require "purser.util.calendar"
local plain_text = require "purser.util.plain_text"

---@class purser.modules.utc
local M = {}

local MINUTE, DAY = 60000, 86400000
local FIRST, LAST = calendar.days(0, 1, 1) * DAY, calendar.days(10000, 1, 1) * DAY - 1
local MAX_OFFSET = 14 -- hours: no place is further from UTC
local MAX_QUOTED = 40 -- bytes

--- A time as a text such as `2026-11-22T12:00:00.123Z`. nil and a message for what is no time of the years 0 to 9999.
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
  local t = calendar.civil(ms)
  return ("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ"):format(t.year, t.month, t.day, t.hour, t.min, t.sec, ms % 1000)
end

-- The fields of a time in their order: how many digits each has, its range, what stands before it.
local fields = {
  { "year", 4, 0, 9999, "^" }, { "month", 2, 1, 12, "^%-" }, { "day", 2, 1, 31, "^%-" },
  { "hour", 2, 0, 23, "^[T ]" }, { "minute", 2, 0, 59, "^:" }, { "second", 2, 0, 59, "^:" },
}
-- A time may end once so many fields are read. A date alone is a time; an hour alone is none.
local is_whole = { [3] = true, [5] = true, [6] = true }

-- Reads the fields from the first byte on. Returns their values and the byte after them; or nil, a byte and what is
-- wrong there.
local function read_fields(text)
  local values, at = {}, 1
  for i, field in ipairs(fields) do
    local name, digits, min, max, before = field[1], field[2], field[3], field[4], field[5]
    local _, last = text:find(before, at)
    if not last then
      if is_whole[i - 1] then break end
      return nil, at, ("there is no %s; give %s"):format(name, i > 3 and "hours and minutes, such as 09:30"
        or "a date, such as 2026-01-31")
    end
    local from = last + 1
    local written = text:match("^" .. ("%d"):rep(digits), from)
    if not written then return nil, from, ("the %s is not %d digits; give them"):format(name, digits) end
    values[i] = tonumber(written)
    if values[i] < min or values[i] > max then
      return nil, from, ("there is no %s %s; give %02d to %02d"):format(name, written, min, max)
    end
    at = from + digits
  end
  local days = calendar.days_in(values[1], values[2])
  if values[3] > days then
    return nil, 9, ("the month has %d days; give 01 to %d"):format(days, days)
  end
  return values, at
end

-- The milliseconds after the second, and the byte after them; or nil, a byte and what is wrong there.
local function read_fraction(text, at)
  local digits = text:match("^%.(%d*)", at)
  if not digits then return 0, at end
  if #digits == 0 or #digits > 3 then
    return nil, at + 1, ("the fraction of a second has %d digits; give 1 to 3"):format(#digits)
  end
  return tonumber((digits .. "00"):sub(1, 3)), at + 1 + #digits
end

-- Returns the minutes by which the time is ahead of UTC, and the byte after; or nil, a byte and what is wrong there.
local function read_zone(text, at)
  if text:find("^Z", at) then return 0, at + 1 end
  local sign, hours, minutes = text:match("^([+-])(%d%d):?(%d%d)", at)
  if not sign then
    if at > #text then return 0, at end
    return nil, at, "the time ends before this; give nothing more, Z, or an offset such as +02:00"
  end
  if tonumber(hours) > MAX_OFFSET or tonumber(minutes) > 59 then
    return nil, at, ("no place is so far from UTC; give an offset up to %s%d:00"):format(sign, MAX_OFFSET)
  end
  local ahead = hours * 60 + minutes
  return sign == "+" and ahead or -ahead, text:match("^.%d%d:?%d%d()", at)
end

local function parse(text)
  local values, at, wrong = read_fields(text)
  if not values then return nil, at, wrong end
  local fraction, ahead = 0, 0
  if values[6] then
    fraction, at, wrong = read_fraction(text, at)
    if not fraction then return nil, at, wrong end
  end
  if values[4] then
    ahead, at, wrong = read_zone(text, at)
    if not ahead then return nil, at, wrong end
  end
  if at <= #text then
    return nil, at, values[4] and "the time ends before this; remove the rest"
      or "the date ends before this; give nothing more, or a time of day such as T09:30"
  end
  local hour, minute, second = values[4] or 0, values[5] or 0, values[6] or 0
  local ms = calendar.days(values[1], values[2], values[3]) * DAY + ((hour * 60 + minute) * 60 + second) * 1000
    + fraction - ahead * MINUTE
  if ms < FIRST or ms > LAST then return nil, 1, "in UTC this is not in the years 0 to 9999; give another time" end
  return math.floor(ms)
end

--- Epoch milliseconds of a time: a date (`2026-11-22`, its first moment), or a date and a time of day with `T` or a
--- blank between them: `2026-11-22T12:00`, `2026-11-22 12:00:00.123`. `Z` or an offset such as `+02:00` may follow a
--- time of day; without one it is UTC. Anything else is an error that says at which byte.
---@param text string
---@return integer|nil ms, string|nil message, integer|nil position  the byte where the text is wrong, from 1
function M.ms(text)
  if type(text) ~= "string" then
    return nil, ("utc.ms: the time is a %s; give a text such as 2026-11-22T12:00:00Z"):format(type(text)), 1
  end
  local ms, position, wrong = parse(text)
  if ms then return ms end
  return nil, ('utc.ms: "%s", byte %d: %s'):format(plain_text.clean(text, MAX_QUOTED), position, wrong), position
end

return M

-- SPDX-License-Identifier: MIT
-- Reads a file of the tz database (TZif, RFC 9636): the changes of a place's clock, and the rule of POSIX that holds
-- after the last change.

local utc = require "purser.client.util.utc"

local M = {}

local DAY, HOUR = 86400, 3600 -- seconds
local MAX_COUNT = 100000

-- Returns a signed integer of so many bytes, the first the highest.
local function integer(text, at, size)
  local value = text:byte(at)
  if value > 127 then value = value - 256 end
  for i = at + 1, at + size - 1 do value = value * 256 + text:byte(i) end
  return value
end

-- Returns the seconds of `[+-]h[h[h]][:mm[:ss]]` at a place, and the place behind; nil for another text.
local function read_duration(text, at)
  local sign, hours, rest = text:match("^([+-]?)(%d%d?%d?)()", at)
  if not hours then return nil end
  local seconds = tonumber(hours) * HOUR
  for _, unit in ipairs { 60, 1 } do
    local number, behind = text:match("^:(%d%d)()", rest)
    if not number then break end
    seconds, rest = seconds + tonumber(number) * unit, behind
  end
  return sign == "-" and -seconds or seconds, rest
end

-- Each form of a rule's day returns the days from 1970-01-01 of its day in a year.
local forms = {}

-- Mm.w.d: the w-th weekday d of the month m; 5 is the last.
function forms.M(year, month, week, weekday)
  local first = utc.days(year, month, 1)
  local day = first + (weekday - (first + 4)) % 7 + (week - 1) * 7
  return day < first + utc.days_in(year, month) and day or day - 7
end

-- Jn: the n-th day of a year, which counts no 29th of February.
function forms.J(year, day)
  local is_behind = day > 59 and utc.days_in(year, 2) == 29
  return utc.days(year, 1, 1) + day - (is_behind and 0 or 1)
end

function forms.n(year, day) return utc.days(year, 1, 1) + day end

-- Reads `,DATE[/TIME]` at a place. Returns a change { numbers; form, time } and the place behind; nil for other texts.
local function read_change(text, at)
  local month, week, weekday, behind = text:match("^,M(%d+)%.(%d)%.(%d)()", at)
  local change
  if month then
    change = { form = forms.M, tonumber(month), tonumber(week), tonumber(weekday) }
    if change[1] < 1 or change[1] > 12 or change[2] < 1 or change[2] > 5 or change[3] > 6 then return nil end
  else
    local letter, day
    letter, day, behind = text:match("^,(J?)(%d+)()", at)
    if not day or tonumber(day) > 365 then return nil end
    change = { form = letter == "J" and forms.J or forms.n, tonumber(day) }
  end
  change.time = 2 * HOUR
  if text:sub(behind, behind) == "/" then change.time, behind = read_duration(text, behind + 1) end
  if not change.time then return nil end
  return change, behind
end

-- Reads a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`: { offset }, or { offset, summer, starts, ends }; nil for none.
local function read_rule(text)
  local function name_at(at) return text:match("^<[%w+-]+>()", at) or text:match("^%a+()", at) end
  local behind, west = name_at(1), nil
  if behind then west, behind = read_duration(text, behind) end
  if not west then return nil end
  local rule = { offset = -west }
  if behind > #text then return rule end
  behind = name_at(behind)
  if not behind then return nil end
  rule.summer = rule.offset + HOUR
  if text:sub(behind, behind) ~= "," then
    west, behind = read_duration(text, behind)
    if not west then return nil end
    rule.summer = -west
  end
  rule.starts, behind = read_change(text, behind)
  if behind then rule.ends, behind = read_change(text, behind) end
  return behind == #text + 1 and rule or nil
end

-- Returns the time of a change in a year, in seconds; the clock before the change has this offset.
local function time_of(change, year, offset)
  return change.form(year, change[1], change[2], change[3]) * DAY + change.time - offset
end

local function by_rule(rule, seconds)
  if not rule.summer then return rule.offset end
  local year = utc.civil((seconds + rule.offset) * 1000).year
  local starts, ends = time_of(rule.starts, year, rule.offset), time_of(rule.ends, year, rule.summer)
  local is_summer
  if starts < ends then is_summer = seconds >= starts and seconds < ends
  else is_summer = seconds >= starts or seconds < ends end -- south of the equator
  return is_summer and rule.summer or rule.offset
end

-- Reads the counts of a block's head; nil where the bytes are none.
local function head_of(text, at)
  if text:sub(at, at + 3) ~= "TZif" or #text < at + 43 then return nil end
  local head = { at = at + 44 }
  for i, name in ipairs { "utc", "standard", "leaps", "times", "types", "letters" } do
    head[name] = integer(text, at + 16 + i * 4, 4)
    if head[name] < 0 or head[name] > MAX_COUNT then return nil end
  end
  return head
end

-- Returns the place behind a block, whose times have so many bytes.
local function behind_of(head, size)
  return head.at + head.times * (size + 1) + head.types * 6 + head.letters + head.leaps * (size + 4) + head.standard
    + head.utc
end

-- Returns the changes of a block: times and offsets in seconds; the offset 0 is that before the first.
local function read_block(text, head, size)
  local times, offsets = {}, {}
  local kinds = head.at + head.times * size
  local function offset_of(kind)
    return kind < head.types and integer(text, kinds + head.times + kind * 6, 4) or nil
  end
  for i = 1, head.times do
    times[i] = integer(text, head.at + (i - 1) * size, size)
    offsets[i] = offset_of(text:byte(kinds + i - 1))
    if not offsets[i] or i > 1 and times[i] <= times[i - 1] then return nil end
  end
  offsets[0] = offset_of(0)
  return offsets[0] and times, offsets
end

local UNREADABLE = "it is no file of the tz database that can be read"

--- Reads the bytes of a file. Returns a function from epoch seconds to the seconds ahead of UTC; or nil and a message.
---@param text string
---@return (fun(seconds: number): integer)|nil offset_at, string|nil message
function M.read(text)
  local head, size = head_of(text, 1), 4
  if head and text:byte(5) >= 50 then -- "2" and later: a second block has times of 8 bytes
    head, size = head_of(text, behind_of(head, size)), 8
  end
  local behind = head and behind_of(head, size)
  if not behind or behind > #text + 1 then return nil, UNREADABLE end
  if head.leaps > 0 then return nil, "it counts leap seconds, which epoch times do not" end
  local times, offsets = read_block(text, head, size)
  if not times then return nil, UNREADABLE end
  local footer, rule = size == 8 and text:match("^\n([^\n]*)\n", behind) or "", nil
  if footer ~= "" then
    rule = read_rule(footer)
    if not rule then return nil, UNREADABLE end
  end
  local count = #times
  return function(seconds)
    if rule and (count == 0 or seconds >= times[count]) then return by_rule(rule, seconds) end
    local low, high = 0, count -- the last change that is not later
    while low < high do
      local middle = math.ceil((low + high) / 2)
      if times[middle] <= seconds then low = middle else high = middle - 1 end
    end
    return offsets[low]
  end
end

return M

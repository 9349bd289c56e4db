-- SPDX-License-Identifier: MIT
-- The days of a place: UTC, an offset such as `+02:00`, or a name of the system's tz database such as `Europe/Berlin`.
--
--     local zone = assert(zones.open "Europe/Berlin")
--     zone:date(1774746000000)     -- 2026-03-29
--     zone:ms "2026-03-29"         -- 1774738800000, the day's first moment; the day has 23 hours

local files = require "purser.client.util.files"
local plain_text = require "purser.client.util.plain_text"
local suggest = require "purser.client.util.suggest"
local tz_file = require "purser.client.util.tz_file"
local utc = require "purser.client.util.utc"

local Zone = { __name = "purser.zone" }
Zone.__index = Zone

local M = {}

local MINUTE, DAY = 60000, 86400000
local MAX_OFFSET = 14 -- hours: no place is further from UTC
local MAX_QUOTED = 40 -- bytes

--- The folders that may hold the tz database; the first that holds a name counts. The variable TZDIR changes nothing:
--- the hours of a signed policy depend on no environment.
M.FOLDERS = { "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo" }

local FORMS = "give a name of the tz database such as Europe/Berlin, an offset such as +02:00, or UTC"

-- Returns the names of a folder's table of places.
local function names_in(folder)
  local names = {}
  for line in (files.read(folder .. "/tzdata.zi") or ""):gmatch "[^\n]+" do
    names[#names + 1] = line:match "^Z (%S+)" or line:match "^L %S+ (%S+)"
  end
  for line in (#names == 0 and files.read(folder .. "/zone.tab") or ""):gmatch "[^\n]+" do
    names[#names + 1] = line:match "^%u%u\t%S+\t(%S+)"
  end
  return names
end

-- Reads a named place. Returns a function from epoch seconds to seconds ahead of UTC; or nil and a message.
local function read(name)
  local found
  for _, folder in ipairs(M.FOLDERS) do
    local text, problem, is_missing = files.read_trusted(folder .. "/" .. name)
    if not text and not is_missing then return nil, problem end
    if text then
      local offset_at, message = tz_file.read(text)
      return offset_at, message and ("%s/%s: %s"):format(folder, name, message)
    end
    found = found or files.read(folder .. "/UTC") and folder
  end
  if not found then
    return nil, ('the zone "%s" needs a tz database, and this system has none in %s; install the package tzdata, or '
      .. "give an offset such as +02:00"):format(name, table.concat(M.FOLDERS, ", "))
  end
  return nil, ('there is no zone "%s"%s; %s'):format(name, suggest.hint(name, names_in(found)), FORMS)
end

local known = {} -- by name: equal names are one object

-- Returns the minutes ahead of UTC of `+02:00`; nil for another text.
local function fixed(name)
  if name == "UTC" then return 0 end
  local sign, hours, minutes = name:match "^([+-])(%d%d):(%d%d)$"
  if not sign or tonumber(hours) > MAX_OFFSET or tonumber(minutes) > 59 then return nil end
  return (sign == "-" and -1 or 1) * (tonumber(hours) * 60 + tonumber(minutes))
end

--- Returns the zone of a name, the same object each time; or nil and a message with a cure.
---@param name string
---@return purser.Zone|nil zone, string|nil message
function M.open(name)
  if type(name) ~= "string" then return nil, ("the zone is a %s; %s"):format(type(name), FORMS) end
  if known[name] then return known[name] end
  local minutes, offset_at, message = fixed(name), nil, nil
  if minutes then
    offset_at = function() return minutes * 60 end
  elseif name:find "^%a[%w_+-]*$" or name:find "^%a[%w_+-]*/[%w_+/-]*[%w_+-]$" then
    offset_at, message = read(name)
  else
    message = ('there is no zone "%s"; %s'):format(plain_text.clean(name, MAX_QUOTED), FORMS)
  end
  if not offset_at then return nil, message end
  known[name] = setmetatable({ name = name, offset_at = offset_at }, Zone)
  return known[name]
end

---@class purser.Zone
---@field name string

--- Returns the milliseconds that the clock of the place is ahead of UTC at a time.
---@param ms integer  epoch ms
---@return integer
function Zone:offset(ms) return self.offset_at(math.floor(ms / 1000)) * 1000 end

--- Returns the number of a time's day, from 1970-01-01 on.
---@param ms integer
---@return integer
function Zone:day(ms) return math.floor((ms + self:offset(ms)) / DAY) end

--- Returns a time's minute of the day, from 0 to 1439.
---@param ms integer
---@return integer
function Zone:minute_of_day(ms) return math.floor((ms + self:offset(ms)) / MINUTE) % 1440 end

-- Returns the first time at which a clock of the place shows the date and time of `shown`, which is ms as of UTC. A
-- clock that is set forward never shows some times: the time of that change is returned for them.
local function first_time(self, shown)
  local before, after = self:offset(shown - DAY), self:offset(shown + DAY)
  local earliest, latest = shown - math.max(before, after), shown - math.min(before, after)
  if earliest + self:offset(earliest) == shown then return earliest end
  if latest + self:offset(latest) == shown then return latest end
  -- the clock changes between, at a whole second
  local low, high = math.floor(earliest / 1000), math.ceil(latest / 1000)
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if middle * 1000 + self:offset(middle * 1000) >= shown then high = middle else low = middle end
  end
  return high * 1000
end

--- Returns the first moment of a day, whose number is as of Zone:day.
---@param day integer
---@return integer ms
function Zone:begin(day) return first_time(self, day * DAY) end

--- Returns the epoch milliseconds of a text as of `purser.utc.ms`, which is of this place where the text has no `Z` and
--- no offset; or nil and a message.
---@param text string
---@return integer|nil ms, string|nil message
function Zone:ms(text)
  local ms, message = utc.ms(text)
  if not ms then return nil, message end
  local time = text:sub(11)
  if time:find "Z$" or time:find "[+-]%d%d:?%d%d$" then return ms end
  return first_time(self, ms)
end

--- Returns the date of a time: 2026-03-29.
---@param ms integer
---@return string
function Zone:date(ms) return utc.text(self:day(ms) * DAY):sub(1, 10) end

--- Returns the date and the minute of a time: 2026-03-29 03:00.
---@param ms integer
---@return string
function Zone:minute(ms) return (utc.text(math.floor(ms + self:offset(ms))):sub(1, 16):gsub("T", " ")) end

return M

-- SPDX-License-Identifier: MIT
-- The days of the books: those of a place, by its zone.

local utc = require "purser.client.util.utc"

local M = {}

---@class purser.books.Days
local Days = {}
Days.__index = Days

local DAY = 86400000

--- Returns the days of a zone.
---@param zone purser.Zone
---@return purser.books.Days
function M.of(zone) return setmetatable({ zone = zone, dates = {} }, Days) end

--- Returns the number of a time's day; `time` is a time text or epoch ms.
---@param time string|integer
---@return integer
function Days:number(time) return self.zone:day(math.floor(tonumber(time))) end

--- Returns the date of a day's number.
---@param number integer
---@return string
function Days:date_of(number)
  self.dates[number] = self.dates[number] or utc.text(number * DAY):sub(1, 10)
  return self.dates[number]
end

--- Returns the date of a time; a word for no time.
---@param time string|integer
---@return string
function Days:date(time) return time == "" and "no date" or self:date_of(self:number(time)) end

--- Returns the date and the minute of a time.
---@param time string|integer
---@return string
function Days:minute(time) return self.zone:minute(math.floor(tonumber(time))) end

return M

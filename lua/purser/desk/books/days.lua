-- SPDX-License-Identifier: MIT
-- The days of the books.

local utc = require "purser.client.util.utc"

local M = {}

local dates = {} -- by day

--- Returns the date of a time text; a word for no time.
function M.date(time)
  if time == "" then return "no date" end
  local day = math.floor(tonumber(time) / 86400000)
  dates[day] = dates[day] or utc.text(day * 86400000):sub(1, 10)
  return dates[day]
end

--- Returns the date and the minute of a time text.
function M.minute(time) return (utc.text(math.floor(tonumber(time))):sub(1, 16):gsub("T", " ")) end

return M

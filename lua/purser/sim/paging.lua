-- SPDX-License-Identifier: MIT
-- Pages, and the windows of time that histories cover.

local clock = require "purser.sim.clock"

local M = {}

--- The page result over `total` records of which `data` are on this page.
function M.result(data, page, limit, total)
  return { data = data, page = page, totalRecords = total, totalPageNum = math.ceil(total / limit) }
end

--- Cuts a page out of a list and makes the page result of it.
function M.of_list(list, page, limit)
  return M.result(M.cut(list, page, limit), page, limit, #list)
end

--- The records of a list that are on a page.
function M.cut(list, page, limit)
  local found = {}
  for i = (page - 1) * limit + 1, math.min(#list, page * limit) do found[#found + 1] = list[i] end
  return found
end

local SEVEN_DAYS, NINETY_DAYS = 7 * clock.DAY, 90 * clock.DAY

--- C4, C5: 7 days by default and at most, up to 90 days back. A bound that is not given is 7 days from the one that is.
---@return integer|nil first, integer|string last_or_code, string|nil message
function M.seven_days(now, values)
  local first, last = values.startTime, values.endTime
  if first and not last then last = math.min(now, first + SEVEN_DAYS) end
  last = last or now
  first = first or last - SEVEN_DAYS
  if first < now - NINETY_DAYS then return nil, "400", "start time cannot be earlier than 90 days" end
  if last - first > SEVEN_DAYS then
    return nil, "33333", "The interval between startTime and endTime is at most 7 days"
  end
  return first, last
end

--- A10: the last 10 days when there is no startTime.
function M.ten_days(now, values)
  local last = values.endTime or now
  return values.startTime or last - 10 * clock.DAY, last
end

--- A11: never more than from 00:00 three days ago.
function M.three_days(now, values)
  local earliest = clock.midnight(now) - 3 * clock.DAY
  return math.max(values.startTime or earliest, earliest), values.endTime or now
end

--- The earliest time within the most recent 6 months.
function M.six_months_ago(now)
  return clock.months_before(now, 6)
end

--- C10: the most recent 6 months; the last 7 days when neither bound is given.
function M.six_months(now, values)
  local reach = M.six_months_ago(now)
  if values.startTime and values.startTime < reach then
    return nil, "33333", "Only the most recent 6 months can be queried"
  end
  local last = values.endTime or now
  return math.max(values.startTime or (values.endTime and reach or now - SEVEN_DAYS), reach), last
end

--- C16: the last 7 days when neither bound is given.
function M.default_seven_days(now, values)
  if not values.startTime and not values.endTime then return now - SEVEN_DAYS, now end
  return values.startTime, values.endTime
end

return M

-- SPDX-License-Identifier: MIT
-- A page of a history, as the service answers a read of it.

--- The page that was asked for, of the records between `first` and `last`; without these, between the times asked for.
---@param row table      the operation that reads
---@param time string    the member that holds a record's time
---@param asked table    its parameters
return function(row, records, time, asked, first, last)
  first, last = first or asked.startTime, last or asked.endTime
  local inside, page = {}, {}
  for _, record in ipairs(records) do
    if record[time] >= first and record[time] <= last then inside[#inside + 1] = record end
  end
  local size = asked.limit or asked.size
  local from = ((asked.page or 1) - 1) * size
  for i = from + 1, math.min(#inside, from + size) do page[#page + 1] = inside[i] end
  if row.result.page then return { data = page, totalRecords = #inside } end
  return row.result.rows and { rows = page, total = #inside } or page
end

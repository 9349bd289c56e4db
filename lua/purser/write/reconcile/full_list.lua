-- SPDX-License-Identifier: MIT
-- Every record of a list or history, for who concludes from one that is missing: purser.history does the reading.

local history = require "purser.history"
local record_id = require "purser.history.record_id"

local M = {}

-- Where the service does not keep to the window that it was asked for, two windows may show the same record.
local function each_once(row, records)
  local key_of, seen, list = record_id.of(row.paging or {}), {}, {}
  for _, record in ipairs(records) do
    local key, is_id = key_of(record)
    if not (is_id and seen[key]) then list[#list + 1] = record end
    seen[key] = true
  end
  return list
end

--- All records of a read operation between `first` and `last` (epoch ms; not used where the operation has no windows).
--- Returns nil, nil and why when the service shows too few of them to conclude; and the records, nil and why when
--- nothing shows that they are all.
---@param run fun(row: table, params: table): any, purser.Error|nil
---@param row table        the operation that lists
---@param params table     its other parameters
---@param first integer
---@param last integer
---@param time_name string|nil  the member that holds a record's time
---@return table[]|nil records, purser.Error|nil err, string|nil why_incomplete
function M.all(run, row, params, first, last, time_name)
  local walk = history.strict(run, row, params, first, last, time_name)
  local records, err = walk:collect()
  if records then return each_once(row, records), nil, walk.source.incomplete end
  if err.details and err.details.crowded then
    return nil, nil, "the history holds more records at one moment than it shows"
  end
  return nil, err
end

local ASKED_TIMES = 3 -- at most

--- Calls `run(...)`, which reads, and once more where the answer shows no list: of a service that gives such an answer
--- now and then, no reading of many requests would ever be complete.
---@return any value, purser.Error|nil err
function M.ask(run, ...)
  local value, err
  for _ = 1, ASKED_TIMES do
    value, err = run(...)
    if value ~= nil or err.kind ~= "decode" then break end
  end
  return value, err
end

return M

-- Reads a history or list to its end: every window of time, every page of each, every record once.

local errors = require "purser.errors"

local M = {}

local DAY = 86400000
local size_names = { "limit", "size", "pageSize" }

-- The parameter that sets how many records an answer holds, with the most it may be. Where the most is not known, an
-- answer that says how many there are may be asked for more: a service that gives less than that says so.
local function page_size(row)
  for _, name in ipairs(size_names) do
    local param = row.by_name[name]
    if param then return name, param.max or row.result.page and 100 or param.default end
  end
end

-- The records of one answer, whatever its form. An answer that makes no sense must not pass for one that lacks a
-- record: every record of a history has a time, and numbers of pages are numbers. Returns nil and an error when it
-- does not hold.
local function records_of(row, answer, time_name)
  local records = row.result.page and answer.data or row.result.rows and answer.rows or answer
  local wrong = row.result.page and answer.totalPageNum ~= nil and type(answer.totalPageNum) ~= "number"
    or row.result.page and not answer.data or row.result.rows and not answer.rows
  for _, record in ipairs(records) do
    local at = time_name and record[time_name]
    if time_name and type(at) ~= "number" and (at ~= nil or row.by_name.startTime) then wrong = true end
  end
  if not wrong then return records end
  return nil, errors.new { kind = "decode", outcome = "unknown", phase = "decode", operation = row.full_name,
    retryable = true, message = "the answer has records or pages that make no sense" }
end

local function identity(record)
  return record.tranId or record.id or record.apiKey
end

-- Collects records that were not seen before. Pages shift while new records come in, so one may be met twice.
local function collect(found, seen, records)
  local fresh = 0
  for _, record in ipairs(records) do
    local id = identity(record)
    if not id or not seen[id] then
      if id then seen[id] = true end
      found[#found + 1] = record
      fresh = fresh + 1
    end
  end
  return fresh
end

local function copy(params)
  local result = {}
  for name, value in pairs(params) do result[name] = value end
  return result
end

-- Whether an answer is the last: by what it says of the whole, and by its own length where it does not.
local function is_last(row, answer, page, records, size)
  if #records == 0 then return true end
  if row.result.page and type(answer.totalPageNum) == "number" then return page >= answer.totalPageNum end
  if row.result.page then return false end
  return #records < size
end

-- All pages of one window, where the operation knows pages.
local function read_pages(run, row, params, size, time_name, found, seen)
  local page = 1
  while true do
    params.page = page
    local answer, err = run(row, params)
    if not answer then return nil, err end
    local records
    records, err = records_of(row, answer, time_name)
    if not records then return nil, err end
    collect(found, seen, records)
    if is_last(row, answer, page, records, size) then return true end
    page = page + 1
  end
end

-- The time of the oldest record of an answer.
local function oldest(records, time_name)
  local time
  for _, record in ipairs(records) do
    local at = record[time_name]
    if type(at) == "number" and (not time or at < time) then time = at end
  end
  return time
end

-- One window where there are no pages: a full answer is followed by one that ends where it began.
local function read_backwards(run, row, params, size, time_name, found, seen)
  while true do
    local answer, err = run(row, params)
    if not answer then return nil, err end
    local records
    records, err = records_of(row, answer, time_name)
    if not records then return nil, err end
    collect(found, seen, records)
    if not size or #records < size then return true end
    local time = oldest(records, time_name)
    if not time or not params.endTime or time >= params.endTime then
      return nil, nil, "the history holds more records at one moment than it shows"
    end
    params.endTime = time
  end
end

--- All records of a read operation between `first` and `last` (epoch ms; left out where the operation has no window).
---@param run fun(row: table, params: table): any, purser.Error|nil
---@param row table        the operation that lists
---@param params table     its other parameters
---@param first integer
---@param last integer
---@param time_name string|nil  the member that holds a record's time
---@return table[]|nil records, purser.Error|nil err, string|nil why_incomplete
function M.all(run, row, params, first, last, time_name)
  local found, seen = {}, {}
  local size_name, size = page_size(row)
  local length = (row.window and row.window.longest_days or 30) * DAY
  local windowed = row.by_name.startTime ~= nil
  repeat
    local wanted = copy(params)
    local from = math.max(first, last - length)
    if windowed then wanted.startTime, wanted.endTime = from, last end
    if size_name then wanted[size_name] = size end
    local ok, err, why
    if row.by_name.page then
      ok, err = read_pages(run, row, wanted, size, time_name, found, seen)
    else
      ok, err, why = read_backwards(run, row, wanted, size, time_name, found, seen)
    end
    if not ok then return nil, err, why end
    last = from
  until not windowed or from <= first
  return found
end

return M

-- Long listings: a window of time that is longer than the service answers at once, and all pages of what has pages.

local errors = require "purser.errors"
local json = require "purser.json"
local output = require "purser.cli.output"
local values = require "purser.cli.values"

local M = {}

local DAY = 86400000
local MARGIN = 60000 -- between our clock and the service's, and for the time a listing takes

local function page_size_of(row)
  return row.by_name.limit or row.by_name.size or row.by_name.pageSize
end

local function copy(params)
  local result = {}
  for name, value in pairs(params) do result[name] = value end
  return result
end

------------------------------------------------------------------------------------------------------- windows

-- Adds records that are not there yet. Windows share their edge, so that none of its milliseconds is lost whichever
-- way the service reads "until"; what it gives twice is left out here.
local function add_new(row, list, seen, records)
  local fresh = {}
  for _, record in ipairs(records) do
    local text = json.encode(output.ordered({ result = { record = row.result.list } }, record))
    fresh[text] = true
    if not seen[text] then list[#list + 1] = record end
  end
  return fresh
end

local function out_of_reach(row, from, now)
  local reach = row.window.reach_days
  if not reach or now - from <= reach * DAY + MARGIN then return nil end
  return errors.new { kind = "argument", outcome = "not_sent", operation = row.full_name, phase = "check",
    message = ("the service reaches back %d days; %s is earlier"):format(reach, values.show_time(from)) }
end

-- The windows of [from, to], the newest first, none longer than the service allows.
local function windows_of(row, from, to)
  local longest, windows = row.window.longest_days * DAY, {}
  repeat
    local first = math.max(from, to - longest)
    windows[#windows + 1] = { first, to }
    to = first
  until first <= from
  return windows
end

local function walk_windows(client, row, params, state)
  local from, to = state.from, state.to
  local reach = row.window.reach_days
  if reach and from < state.now - reach * DAY + MARGIN then
    from = state.now - reach * DAY + MARGIN
    state.note(("the service reaches back %d days; this lists from %s"):format(reach, values.show_time(from)))
  end
  local windows, list, seen = windows_of(row, from, to), {}, {}
  local param = page_size_of(row)
  local size = tonumber(params.limit) or param.max
  while windows[1] do
    local window = table.remove(windows, 1)
    state.progress(("%d records, back to %s"):format(#list, values.show_time(window[2])))
    local asked = copy(params)
    asked.startTime, asked.endTime, asked.limit = window[1], window[2], size
    local records, err = client:call(row.full_name, asked, state.options)
    if not records then return nil, err end
    if #records >= size and not params.limit and window[2] - window[1] > 1 then -- perhaps cut short: ask for its halves
      local middle = math.floor((window[1] + window[2]) / 2)
      table.insert(windows, 1, { window[1], middle })
      table.insert(windows, 1, { middle, window[2] })
    else
      seen = add_new(row, list, seen, records)
      if params.limit and #list >= size then break end
    end
  end
  while params.limit and #list > size do list[#list] = nil end
  return list
end

--------------------------------------------------------------------------------------------------------- pages

local function records_of(row, result)
  return row.result.page and result.data or row.result.rows and result.rows or result
end

-- Whether the page `number` of `size` records was the last one.
local function is_last(row, result, number, size, count)
  if row.result.page and type(result.totalPageNum) == "number" then return number >= result.totalPageNum end
  if row.result.rows and type(result.total) == "number" then return count >= result.total end
  return #records_of(row, result) < size
end

local function walk_pages(client, row, params, state)
  local param = page_size_of(row)
  local size = tonumber(params[param[1]]) or param.max or param.default or 100
  local list, number, result, err = {}, 0
  repeat
    number = number + 1
    state.progress(("%d records, page %d"):format(#list, number))
    local asked = copy(params)
    asked.page, asked[param[1]] = number, size
    result, err = client:call(row.full_name, asked, state.options)
    if not result then return nil, err end
    local records = records_of(row, result)
    for _, record in ipairs(records) do list[#list + 1] = record end
  until #records == 0 or is_last(row, result, number, size, #list)
  if row.result.page then return { data = list, totalRecords = result.totalRecords } end
  if row.result.rows then return { rows = list, total = result.total } end
  return list
end

--- Whether `--all` means something for this operation.
function M.has_pages(row)
  return row.by_name.page ~= nil
end

--- Runs a read, in as many calls as it takes. `state`: options (of each call), now, all (every page), from and to (a
--- window in epoch milliseconds), progress(text), note(text).
---@return any result, purser.Error|nil err
function M.run(client, row, params, state)
  if state.from and row.window and row.window.longest_days then
    local err = out_of_reach(row, state.from, state.now)
    if err then return nil, err end
    local whole = state.to - state.from
    local near = row.window.reach_days and state.from < state.now - row.window.reach_days * DAY + MARGIN
    if whole > row.window.longest_days * DAY or near then return walk_windows(client, row, params, state) end
  end
  if state.all then return walk_pages(client, row, params, state) end
  return client:call(row.full_name, params, state.options)
end

return M

-- SPDX-License-Identifier: MIT
-- Long listings: every page of a list, or a window of time that is longer than the service answers at once. A walk does
-- the reading; here a history is put in order, newest first.

local errors = require "purser.client.call.errors"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local DAY = 86400000
local MARGIN_MS = 60000 -- a walk that begins as early as possible begins this much later: time goes on while it does
local EDGES_MS = 3000   -- of a window, which are asked for, too
local STEP = 20         -- records between two lines of progress

local function out_of_reach(row, from)
  local days = row.window.retention_days
  local err = errors.argument("startTime", ("the service reaches back %d days; %s is earlier; give --since %dd or less")
    :format(days, values.show_time(from), days))
  err.operation = row.full_name
  return err
end

-- Returns what a walk takes besides its window.
local function without_window(row, params)
  local rest = {}
  for name, value in pairs(params) do
    if name ~= "startTime" and name ~= "endTime" and name ~= row.paging.size then rest[name] = value end
  end
  return rest
end

-- Walks the longest windows that the service takes from the newest to the oldest, so that a limit ends it early.
local function list_windows(client, row, params, state, from)
  local limit, max_window = tonumber(params[row.paging.size]) or math.huge, row.window.max_window_days * DAY - EDGES_MS
  local list, last = {}, state.to
  while last >= from and #list < limit do
    state.progress(("%d records, back to %s"):format(#list, values.show_time(last)))
    local first, asked = math.max(from, last - max_window + 1), without_window(row, params)
    asked.from, asked.to = first, last
    local records, err = client:each(row.full_name, asked, state.options):collect()
    if not records then return nil, err end
    for i = #records, math.max(1, #records - limit + #list + 1), -1 do list[#list + 1] = records[i] end
    last = first - 1
  end
  return list
end

-- Says how far a walk is; the last record says up to which time.
local function progress_of(row, count, record)
  local at = record and record[row.paging.time_member or ""]
  return ("%s: %d records%s"):format(row.full_name, count,
    type(at) == "number" and ", up to " .. values.show_time(at) or "")
end

--- Reads on in a walk, with a line of progress.
---@param walk purser.Walk
---@param row table
---@param count integer  of the records that were read before
---@param most integer   fewer are all that are left, or all up to an error
---@return table[] records, purser.Error|nil err
function M.read(walk, row, count, most)
  local show, clear = terminal.progress_line()
  local records = {}
  local record, err
  repeat
    if (count + #records) % STEP == 0 then show(progress_of(row, count + #records, record)) end
    record, err = walk:next()
    records[#records + 1] = record
  until not record or #records == most
  clear()
  return records, err
end

-- Reads every page, in the form of one answer.
local function list_all(client, row, params, state, from)
  local asked = without_window(row, params)
  asked.from, asked.to = from, tonumber(params.endTime)
  local list, err = M.read(client:each(row.full_name, asked, state.options), row, 0, math.huge)
  if err and err.parameter == "from" then err.hint = err.hint or "give it as --since" end
  if err then return nil, err end
  for i = 1, row.paging.time_member and math.floor(#list / 2) or 0 do
    list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i]
  end
  if row.result.list then return list end
  local whole = { [row.result.page and "data" or "rows"] = list }
  for name, what in pairs(row.result.counts) do whole[name] = what == "records" and #list or 1 end
  return whole
end

-- Returns from when on a history shows what it has where nothing was asked, and how far back it can be asked for.
local function reach_of(window, now)
  local days = window.retention_days or window.retention_months and 30 * window.retention_months
  local more = days and days > window.default_days and ("; --since %dd shows more"):format(days) or ""
  return ("since %s%s"):format(os.date("!%Y-%m-%d", math.floor((now - window.default_days * DAY) / 1000)), more)
end

-- Returns which page of how much an answer is; nil where it is all.
local function page_of(row, result, params, count)
  local size, page, total = tonumber(params[row.paging.size]), tonumber(params.page) or 1, nil
  for name, what in pairs(row.result.counts or {}) do total = what == "records" and tonumber(result[name]) or total end
  if size and not row.paging.page then return nil end -- so many of the newest were asked for
  size = size or row.by_name[row.paging.size].default or math.huge
  if count == 0 or page == 1 and count >= (total or 0) and (total or count < size) then return nil end
  return ("%s%d%s; --all shows the rest"):format(page > 1 and ("page %d, "):format(page) or "the first ", count,
    total and (" of %d"):format(total) or "")
end

-- Returns what an answer leaves out, and how to see it; nil where it is all.
local function part_of(row, result, params, now)
  if row.result.record then return nil end
  local count, window = #(result.data or result.rows or result), row.window
  local parts = { row.paging and page_of(row, result, params, count) }
  if window and window.default_days and not params.startTime then
    parts[#parts + 1] = (count == 0 and "none " or "") .. reach_of(window, now)
  end
  return parts[1] and "(" .. table.concat(parts, "; ") .. ")" or nil
end

--- Runs a read, in as many calls as it takes. `state`: options (of each call), now, all (every page), from and to (a
--- window in epoch milliseconds), progress(text).
---@return any result, purser.Error|nil err, string|nil part  what the result leaves out
function M.run(client, row, params, state)
  local from = state.from
  for _, name in ipairs(state.all and { row.paging.size, row.paging.page } or {}) do
    if params[name] then
      return nil, errors.parameter(row, name, "has no meaning together with --all, which fetches every page",
        "leave one of them out")
    end
  end
  if from and row.window and row.window.max_window_days then
    local earliest = state.now - row.window.retention_days * DAY + MARGIN_MS
    if from < earliest - 2 * MARGIN_MS then return nil, out_of_reach(row, from) end
    if from < earliest then
      from = earliest
      terminal.clear_line()
      terminal.say("the service reaches back %d days; this lists from %s", row.window.retention_days,
        values.show_time(from))
    end
    if not state.all and (from > state.from or state.to - from > row.window.max_window_days * DAY - EDGES_MS) then
      return list_windows(client, row, params, state, from)
    end
  end
  if state.all then return list_all(client, row, params, state, from) end
  local result, err = client:call(row.full_name, params, state.options)
  return result, err, result and part_of(row, result, params, state.now)
end

return M

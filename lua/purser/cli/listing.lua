-- SPDX-License-Identifier: MIT
-- Long listings: a window of time that is longer than the service answers at once. A walk does the reading; here it is
-- put in order, newest first.

local errors = require "purser.call.errors"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local DAY = 86400000
local MARGIN_MS = 60000 -- a walk that begins as early as possible begins this much later: time goes on while it does
local EDGES_MS = 3000   -- of a window, which are asked for, too

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

-- Returns from when on a history shows what it has where nothing was asked, and how far back it can be asked for.
local function reach_of(window, now)
  local days = window.retention_days or window.retention_months and 30 * window.retention_months
  local more = days and days > window.default_days and ("; --since %dd shows more"):format(days) or ""
  return ("since %s%s"):format(os.date("!%Y-%m-%d", math.floor((now - window.default_days * DAY) / 1000)), more)
end

--- Returns what a listing leaves out, and how to see it; nil where it is all.
---@param row table
---@param result table
---@param params table  of the call
---@param now integer
---@return string|nil
function M.part(row, result, params, now)
  local parts, count = {}, #(result.data or result.rows or result)
  local size = row.paging and (row.by_name[row.paging.size] or {}).default
  local requested, has_pages = row.paging and tonumber(params[row.paging.size]), row.by_name.page ~= nil
  local total, page = nil, tonumber(params.page) or 1
  for name, what in pairs(row.result.counts or {}) do total = what == "records" and tonumber(result[name]) or total end
  if has_pages and size then
    local first, last = (page - 1) * (requested or size) + 1, (page - 1) * (requested or size) + count
    if count > 0 and (page > 1 or total and total > last or not total and count >= (requested or size)) then
      parts[1] = ("%d to %d%s; `purser export %s` writes all"):format(first, last,
        total and (" of %d"):format(total) or "", row.full_name)
    end
  elseif size and not has_pages and not requested and count >= size and not params.startTime then
    parts[1] = ("the newest %d; `purser export %s` writes all"):format(count, row.full_name)
  end
  if row.window and row.window.default_days and not params.startTime then
    parts[#parts + 1] = (count == 0 and "none " or "") .. reach_of(row.window, now)
  end
  return parts[1] and "(" .. table.concat(parts, "; ") .. ")" or nil
end

--- Runs a read, in as many calls as it takes. `state`: options (of each call), now, from and to (a window in epoch
--- milliseconds), progress(text).
---@return any result, purser.Error|nil err
function M.run(client, row, params, state)
  if state.from and row.window and row.window.max_window_days then
    local from, earliest = state.from, state.now - row.window.retention_days * DAY + MARGIN_MS
    if from < earliest - 2 * MARGIN_MS then return nil, out_of_reach(row, from) end
    if from < earliest then
      from = earliest
      terminal.clear_line()
      terminal.say("the service reaches back %d days; this lists from %s", row.window.retention_days,
        values.show_time(from))
    end
    if from > state.from or state.to - from > row.window.max_window_days * DAY - EDGES_MS then
      return list_windows(client, row, params, state, from)
    end
  end
  return client:call(row.full_name, params, state.options)
end

return M

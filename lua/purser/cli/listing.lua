-- SPDX-License-Identifier: MIT
-- Long listings: every page of a list, or a long window of time, newest first; with --cursor oldest first.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local files = require "purser.client.util.files"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local DAY = 86400000
local MARGIN_MS = 60000 -- a walk that begins as early as possible begins this much later: time goes on while it does
local EDGES_MS = 3000   -- of a window, which are asked for, too
local STEP = 20         -- records between two lines of progress
local CHUNK = 500       -- records that are written together

local function out_of_reach(row, from)
  local days = row.window.retention_days
  local err = errors.argument("startTime", ("the service reaches back %d days; %s is earlier; give --since %dd or less")
    :format(days, values.show_time(from), days))
  err.operation = row.full_name
  return err
end

local function without_window(row, params)
  local rest = {}
  for name, value in pairs(params) do
    if name ~= "startTime" and name ~= "endTime" and name ~= row.paging.size then rest[name] = value end
  end
  return rest
end

local function progress_of(row, count, record)
  local at = record and record[row.paging.time_member or ""]
  return ("%s: %s%s"):format(row.full_name, plain_text.counted(count, "record"),
    type(at) == "number" and ", up to " .. values.show_time(at) or "")
end

-- Reads at most `most` records behind the first `count` of a walk, with a line of progress; and an error.
local function read(walk, row, count, most)
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

-- Reads every page, in the form of one answer; a long window's newest records alone, where a limit says how many.
local function list_all(client, row, params, state, from)
  local asked = without_window(row, params)
  asked.from, asked.to = from, tonumber(params.endTime)
  local list, err = read(client:each(row.full_name, asked, state.options), row, 0, math.huge)
  if err and err.parameter == "from" then err.hint = err.hint or "give it as --since" end
  if err then return nil, err end
  for i = 1, row.paging.time_member and math.floor(#list / 2) or 0 do
    list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i]
  end
  for i = #list, (tonumber(params[row.paging.size]) or math.huge) + 1, -1 do list[i] = nil end
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

local function page_of(row, result, params, count)
  local size, page, total = tonumber(params[row.paging.size]), tonumber(params.page) or 1, nil
  for name, what in pairs(row.result.counts or {}) do total = what == "records" and tonumber(result[name]) or total end
  if size and not row.paging.page then return nil end -- so many of the newest were asked for
  size = size or row.by_name[row.paging.size].default or math.huge
  if count == 0 or page == 1 and count >= (total or 0) and (total or count < size) then return nil end
  return ("%s%d%s; --all shows the rest"):format(page > 1 and ("page %d, "):format(page) or "the first ", count,
    total and (" of %d"):format(total) or "")
end

local function part_of(row, result, params, now)
  if row.result.record then return nil end
  local count, window = #(result.data or result.rows or result), row.window
  local parts = { row.paging and page_of(row, result, params, count) }
  if window and window.default_days and not params.startTime then
    parts[#parts + 1] = (count == 0 and "none " or "") .. reach_of(window, now)
  end
  return parts[1] and "(" .. table.concat(parts, "; ") .. ")" or nil
end

--- Runs a read. `state`: options (of each call), now, all (every page), from and to (epoch milliseconds).
---@return any result, purser.Error|nil err, string|nil part  what the result leaves out
function M.run(client, row, params, state)
  local from, is_long = state.from, false
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
      terminal.say("the service reaches back %d days; this lists from %s", row.window.retention_days,
        values.show_time(from))
    end
    is_long = from > state.from or state.to - from > row.window.max_window_days * DAY - EDGES_MS
  end
  if state.all or is_long then return list_all(client, row, params, state, from) end
  local result, err = client:call(row.full_name, params, state.options)
  return result, err, result and part_of(row, result, params, state.now)
end

local function render(row, records, options, first)
  records = output.records({ result = { list = true }, members = row.members, shape = row.shape }, records, options)
  if options.format == "json" then
    for i, record in ipairs(records) do records[i] = output.json(record) end
    return table.concat(records)
  end
  local text = output.listed(row, records, options)
  return first and text or (text:gsub("^[^\n]*\n", "", 1))
end

--- Returns the first line of the file of --cursor; nil at the first run. An unwritable file ends the command here.
function M.read_cursor(path)
  local text, message, is_missing = files.read(path)
  if not text and not is_missing then report.bad_input("--cursor %s", message) end
  local ok, reason = files.can_replace(path)
  if not ok then report.bad_input("--cursor %s cannot be written: %s", path, tostring(reason)) end
  return text and text:match "^[^\n]+"
end

--- Keeps how far the run came, in the file of --cursor. Returns the exit code.
function M.keep_cursor(path, cursor)
  local ok, reason = files.replace(path, cursor .. "\n")
  if ok then return report.DONE end
  report.say("the cursor could not be written to %s: %s", path, tostring(reason))
  return report.NOT_WRITTEN
end

-- Keeps how far the run came: with --output only when its file is there. Returns the exit code.
local function keep(options, place)
  if not options.output then return M.keep_cursor(options.cursor, place) end
  terminal.settings.after_output = function() return M.keep_cursor(options.cursor, place) end
  return report.DONE
end

--- Writes every record that came since the run before, as CSV or JSON lines, the oldest first. Returns the exit code.
---@param see (fun(records: table[]))|nil  is given the records
function M.follow(client, row, params, options, see)
  local cursor, asked = M.read_cursor(options.cursor), without_window(row, params)
  if options.format == "table" then options.format = "csv" end
  if cursor and options.output and core.file_mode(options.output) then
    report.bad_input("--output %s is there already, with what an earlier run wrote; give a new file, or leave "
      .. "--cursor out to write all once more", options.output)
  end
  asked.cursor, asked.to = cursor, tonumber(params.endTime)
  asked.from = not cursor and tonumber(params.startTime) or nil
  local walk = client:each(row.full_name, asked)
  local kept, without = walk:cursor()
  if not walk.problem and not kept then report.bad_input("--cursor %s", without) end
  local count, first, records, err = 0, not cursor -- luacheck: ignore
  repeat
    records, err = read(walk, row, count, CHUNK)
    if see then see(records) end
    if #records > 0 or first then output.write(render(row, records, options, first), options) end
    count, first = count + #records, false
  until #records < CHUNK
  local code, place = err and report.failure(row, {}, err) or report.DONE, walk:cursor()
  if place then code = math.max(code, keep(options, place)) end
  if err and not options.output then
    report.say("%s written before that", plain_text.counted(count, "record was", "records were"))
  end
  if err then terminal.settings.has_output = nil end -- it is not whole
  return code
end

return M

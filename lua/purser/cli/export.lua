-- SPDX-License-Identifier: MIT
-- `purser export HISTORY`: every record of a history or list, once, as CSV or JSON lines; see docs/histories.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "purser.util.files"
local suggest = require "purser.util.suggest"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = { summary = "Write every record of a history, complete, as CSV or JSON lines." }

local CHUNK = 500
local STEP = 20 -- records between two lines of progress

local function history_names()
  local names = {}
  for _, row in ipairs(operations.list) do
    if row.paging then names[#names + 1] = row.full_name end
  end
  return names
end

function M.define(command)
  command:description("Write every record of a history or list once, whatever its windows and pages.\n"
    .. "With --cursor the next run writes what came since: append it to the same file, or give --output a new file.\n"
    .. "json is an object a line.")
  local history = command:argument("history", "One of " .. table.concat(history_names(), ", ") .. ".")
  history:argname("<history>")
  history.suggested, history.takes_no_file = history_names(), true
  command:option("--since", "From when on: 30d, 12h, 2026-01-31, 2026-01-31T10:00Z; default: all it reaches.")
    :argname("<when>")
  command:option("--until", "Until when, in the same forms; default: now."):argname("<when>")
  command:option("--param", "A parameter of the operation, as name=value; may be repeated."):argname("<name=value>")
    :count("*")
  command:option("--columns", "Members to write, joined by commas (csv)."):argname("<names>")
  output.define(command, nil, { default = "csv", filters = true })
  command:option("--cursor", "File that keeps how far it came; made at the first run."):argname("<file>")
  connection.define(command)
end

-- The first line of the file; nil alone at the first run.
local function read_cursor(path)
  if not path then return nil end
  local text, message, is_missing = files.read(path)
  if not text then return nil, not is_missing and "--cursor " .. message or nil end
  return text:match "^[^\n]+"
end

-- The walk's parameters; nil and a message when an option cannot be read.
local function params_of(options, cursor)
  local params = { cursor = cursor }
  for _, text in ipairs(options.param or {}) do
    local name, value = text:match("^([^=]+)=(.*)$")
    if not name then return nil, "--param takes name=value" end
    if params[name] then return nil, ("--param gives %s twice"):format(name) end
    params[name] = value
  end
  local window, message = values.window(options, core.now_ms())
  if not window then return nil, message end
  params.from, params.to = window.since or params.from, window["until"] or params.to
  if cursor then params.from = nil end -- where it came from is behind it
  return params
end

-- What output.lua takes for a result of this row.
local function as_result(row, records)
  if row.result.page then return { data = records } end
  if row.result.rows then return { rows = records } end
  return records
end

local function render(row, records, options, first)
  if #records > 0 then
    local result = output.filtered(row, as_result(row, records), options.filters)
    records = row.result.page and result.data or row.result.rows and result.rows or result
  end
  if options.format == "json" then
    local lines, list_row = {}, { result = { record = row.result.list or row.result.page or row.result.rows } }
    for i, record in ipairs(records) do lines[i] = output.json(output.ordered(list_row, record)) end
    return table.concat(lines)
  end
  local text = output.render(row, as_result(row, records), "csv", options.shown, options.raw)
  return first and text or (text:gsub("^[^\n]*\n", "", 1))
end

-- How far it is, as a line; the last record says up to which time.
local function progress_of(row, count, record)
  local at = record and record[row.paging.time_member or ""]
  return ("%s: %d records%s"):format(row.full_name, count,
    type(at) == "number" and ", up to " .. values.show_time(at) or "")
end

-- Writes everything that is left. Returns whether it was written, how many were read, and the walk's error.
local function write_all(walk, row, options, with_header)
  local count, first = 0, with_header
  local show, clear = terminal.progress_line()
  local record, err
  repeat
    local records = {}
    repeat
      if (count + #records) % STEP == 0 then show(progress_of(row, count + #records, record)) end
      record, err = walk:next()
      records[#records + 1] = record
    until not record or #records == CHUNK
    clear()
    if #records > 0 or first then
      if not report.write(render(row, records, options, first), options.raw) then return false, count end
    end
    count, first = count + #records, false
  until not record
  return true, count, err
end

-- The row of a history that can be exported; nil and a message. A blank or a dash will do for what stands in names.
local function row_of(text)
  local row = operations.by_name[(text:gsub("[ :/]", ".", 1):gsub("%-", "_"))]
  if row and row.paging then return row end
  local group, word = text:match "^(%w+_?%w*)[. :/](.*)$"
  local names, near = history_names(), {}
  for _, name in ipairs(names) do
    if name:find((word or text):gsub("s$", ""), 1, true) and (not group or name:find(group .. ".", 1, true)) then
      near[#near + 1] = name
    end
  end
  return nil, ('"%s" is no history%s; there are %s'):format(text, near[1] and (" (did you mean %s?)"):format(
    table.concat(near, " or ")) or suggest.hint(text, names), table.concat(names, ", "))
end

-- How a parameter that the walk misses is given on this command line.
local function advise(err)
  if err.kind ~= "argument" or not err.parameter then return nil end
  return "give it as " .. (err.parameter == "from" and "--since" or err.parameter == "to" and "--until"
    or ("--param %s=..."):format(err.parameter))
end

-- The row, the columns and the parameters that the options ask for; nil and a message.
local function read_options(options, cursor)
  local row, message = row_of(options.history)
  if not row then return nil, message end
  options.shown, message = output.columns(options, row)
  message = message or output.message(options)
  if message then return nil, message end
  options.filters, message = output.filters(options, row)
  if message then return nil, message end
  local params
  params, message = params_of(options, cursor)
  return params and row, message, params
end

-- Keeps how far the export came. With --output only when its file is there: a record that was not written must come
-- with the next run. Returns the exit code.
local function keep_cursor(options, place)
  local function keep()
    local ok, reason = files.replace(options.cursor, place .. "\n")
    if ok then return report.DONE end
    report.say("the cursor could not be written to %s: %s", options.cursor, tostring(reason))
    return report.NOT_WRITTEN
  end
  if not options.output then return keep() end
  terminal.settings.after_output = keep
  return report.DONE
end

function M.start(options)
  local cursor, message = read_cursor(options.cursor)
  if message then return report.bad_input("%s", message) end
  if cursor and options.output and core.file_mode(options.output) then
    return report.bad_input("--output %s is there already, with what an earlier run wrote; give a new file, or leave "
      .. "--cursor out to write all once more", options.output)
  end
  if options.cursor then -- after the records it would be too late
    local ok, reason = files.can_replace(options.cursor)
    if not ok then return report.bad_input("--cursor %s cannot be written: %s", options.cursor, tostring(reason)) end
  end
  local row, params
  row, message, params = read_options(options, cursor)
  if not row then return report.bad_input("%s", message) end
  local client
  client, message = connection.open(options)
  if not client then return report.bad_input("%s", message) end
  local walk = client:each(row.full_name, params)
  local kept, without = walk:cursor()
  if options.cursor and not walk.problem and not kept then
    client:close()
    return report.bad_input("--cursor %s", without)
  end
  local written, count, err = write_all(walk, row, options, cursor == nil)
  local code = not written and report.NOT_WRITTEN or err and report.failure(row, {}, err, advise(err)) or report.DONE
  local place = written and walk:cursor()
  if options.cursor and place then
    code = math.max(code, keep_cursor(options, place))
  end
  if written and err and not options.output then report.say("%d records were written before that", count) end
  client:close()
  return code
end

return M

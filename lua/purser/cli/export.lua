-- SPDX-License-Identifier: MIT
-- `purser export HISTORY`: every record of a history or list, once, as CSV or JSON lines; see docs/client/histories.md.

local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local cursors = require "purser.cli.cursor"
local listing = require "purser.cli.listing"
local suggest = require "purser.client.util.suggest"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local CHUNK = 500

local function history_names() return catalogue.names(function(row) return row.paging end) end

-- Returns the row of a history that can be exported. A blank or a dash will do for what stands in names.
local function row_of(text)
  local row = catalogue.find(text)
  if row and row.paging then return row end
  local names = history_names()
  report.bad_input('"%s" is no history%s; there are %s', text, suggest.hint((text:gsub("[ :/]", ".", 1)), names),
    table.concat(names, ", "))
end

function M.grammar()
  return {
    text = "Write every record of a history or list once, whatever its windows and pages.\n"
      .. "With --cursor the next run writes what came since: append it to the same file, or give --output a new file.\n"
      .. "json is an object a line.",
    arguments = { { "history", "One of " .. table.concat(history_names(), ", ") .. ".", values = history_names() } },
    { "Options",
      values.since "From when on: 30d, 12h, 2026-01-31, 2026-01-31T10:00Z; default: all it reaches.",
      { "--until", "<when>", "Until when, in the same forms; default: now." },
      { "--param", "<name=value>", "A parameter of the operation.", many = true },
      { "--cursor", "<file>", "File that keeps how far it came; made at the first run." } },
    output.group(function(options) return output.members(row_of(options.history)) end, { format = "csv" }),
    connection.service, connection.messages,
  }
end

-- Returns the walk's parameters.
local function params_of(options, cursor)
  local params = { cursor = cursor }
  for _, pair in ipairs(options.param) do params[pair[1]] = pair[2] end
  params.from, params.to = options.since or params.from, options["until"] or params.to
  if cursor then params.from = nil end -- where it came from is behind it
  return params
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

-- Writes everything that is left. Returns how many were read, and the walk's error.
local function write_all(walk, row, options, with_header)
  local count, first = 0, with_header
  local records, err
  repeat
    records, err = listing.read(walk, row, count, CHUNK)
    if #records > 0 or first then report.write(render(row, records, options, first), options.raw) end
    count, first = count + #records, false
  until #records < CHUNK
  return count, err
end

-- Says how a parameter that the walk misses is given on this command line.
local function advise(err)
  if err.kind ~= "argument" or not err.parameter then return nil end
  return "give it as " .. (err.parameter == "from" and "--since" or err.parameter == "to" and "--until"
    or ("--param %s=..."):format(err.parameter))
end

-- Keeps how far the export came. With --output only when its file is there: a record that was not written must come
-- with the next run. Returns the exit code.
local function keep_cursor(options, place)
  if not options.output then return cursors.keep(options.cursor, place) end
  terminal.settings.after_output = function() return cursors.keep(options.cursor, place) end
  return report.DONE
end

function M.start(options)
  local cursor, row = cursors.read(options.cursor), row_of(options.history)
  if cursor and options.output and core.file_mode(options.output) then
    report.bad_input("--output %s is there already, with what an earlier run wrote; give a new file, or leave "
      .. "--cursor out to write all once more", options.output)
  end
  local walk = connection.open(options):each(row.full_name, params_of(options, cursor))
  local kept, without = walk:cursor()
  if options.cursor and not walk.problem and not kept then report.bad_input("--cursor %s", without) end
  local count, err = write_all(walk, row, options, cursor == nil)
  local code = err and report.failure(row, {}, err, advise(err)) or report.DONE
  local place = walk:cursor()
  if options.cursor and place then code = math.max(code, keep_cursor(options, place)) end
  if err and not options.output then report.say("%d records were written before that", count) end
  if err then terminal.settings.has_output = nil end -- it is not whole
  return code
end

return M

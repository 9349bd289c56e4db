-- SPDX-License-Identifier: MIT
-- `purser journal list|show|recover --journal FILE`: what was recorded, and what became of it; see docs/journal.md.

local confirm = require "purser.cli.confirm"
local connection = require "purser.cli.connection"
local credentials = require "purser.cli.credentials"
local csv = require "purser.csv"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local output = require "purser.cli.output"
local plain_text = require "purser.util.plain_text"
local report = require "purser.cli.report"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = { summary = "List the write calls that a journal holds, and find out what became of open ones." }

function M.define(command)
  command:description("What a journal holds.\n"
    .. "  list         the write calls, oldest first\n"
    .. "  show ID      everything about one\n"
    .. "  recover      look what became of those that a crash or a lost answer left open; needs the keys")
  command:argument("action", "list, show or recover."):choices { "list", "show", "recover" }
  command:argument("id", "show: the id that list prints."):args("?")
  command:option("--state", "list: open, unknown, done, rejected, not_sent, not_done or undecided."):argname("<state>")
    :choices { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" }
  command:option("--limit", "list: at most so many, the oldest (all)."):argname("<n>"):convert(tonumber)
  output.define(command)
  connection.define_writes(command)
  connection.define(command)
end

local function open(options)
  local path = options.journal or credentials.variable "PURSER_JOURNAL"
  if not path then return nil, report.bad_input("journal: the file is missing; give --journal FILE") end
  local file = io.open(path, "rb") -- to look must make none
  if not file then return nil, report.bad_input("journal: %s cannot be read; is it the file of --journal?", path) end
  file:close()
  local journal, err = purser.journal.open { sqlite = path }
  if not journal then return nil, report.bad_input("journal: %s: %s", path, err.message) end
  return journal
end

local TITLES = { "sent", "state", "operation", "account", "amount", "asset", "to", "record", "id" }

local function cells_of(entry)
  local intent, params = entry.intent, entry.intent.params or {}
  local record = entry.record and (entry.record.id or entry.record.tranId) or ""
  return { values.show_time(intent.sent_at), entry.state, intent.operation, intent.account or "",
    tostring(params.amount or ""), tostring(params.coin or params.asset or ""),
    tostring(params.address or params.toAccount or params.subAccount or ""), tostring(record), intent.id }
end

local function as_json(entry)
  local params = {}
  for name, value in pairs(entry.intent.params or {}) do params[#params + 1] = { name, value } end
  table.sort(params, function(a, b) return a[1] < b[1] end)
  local members = { { "id", entry.intent.id }, { "sent_at", entry.intent.sent_at }, { "state", entry.state },
    { "operation", entry.intent.operation }, { "account", entry.intent.account }, { "params", json.object(params) } }
  if entry.record then
    local record = {}
    for name, value in pairs(entry.record) do
      if type(value) ~= "table" then record[#record + 1] = { name, value } end
    end
    table.sort(record, function(a, b) return a[1] < b[1] end)
    members[#members + 1] = { "record", json.object(record) }
  end
  members[#members + 1] = { "message", entry.message }
  return json.object(members)
end

local actions = {}

function actions.list(options)
  local journal, code = open(options)
  if not journal then return code end
  local entries, err = journal:entries { state = options.state, account = options.account, limit = options.limit }
  if not entries then return confirm.failure(err) end
  local lines = {}
  for i, entry in ipairs(entries) do lines[i] = options.format == "json" and as_json(entry) or cells_of(entry) end
  local text
  if options.format == "json" then
    text = output.json(json.list(lines), "  ")
  elseif options.format == "csv" then
    text = { csv.line(TITLES) }
    for i, line in ipairs(lines) do text[i + 1] = csv.line(line, { is_number = { [5] = true } }) end
    text = table.concat(text)
  else
    for _, line in ipairs(lines) do
      for c, cell in ipairs(line) do line[c] = plain_text.clean(cell) end
    end
    text = #lines > 0 and output.aligned(TITLES, lines) or "(none)\n"
  end
  journal:close()
  return report.write(text) and report.DONE or report.NOT_WRITTEN
end

function actions.show(options)
  if not options.id then
    return report.bad_input("journal show: the id is missing; `purser journal list` prints them")
  end
  local journal, code = open(options)
  if not journal then return code end
  local entries, err = journal:entries { id = options.id }
  journal:close()
  if not entries then return confirm.failure(err) end
  if not entries[1] then
    return report.bad_input("journal show: no call has the id %s; `purser journal list` prints them", options.id)
  end
  return report.write(output.json(as_json(entries[1]), "  ")) and report.DONE or report.NOT_WRITTEN
end

-- What became of one call, as a line.
local function outcome_of(open_call)
  local answer, err = open_call.answer, open_call.err
  if answer then return answer.outcome, answer.reason or "" end
  return "unknown", err and err.message or ""
end

function actions.recover(options)
  local journal, code = open(options)
  if not journal then return code end
  journal:close()
  local client, place, sources = connection.open(options)
  if not client then return report.bad_input("%s", place) end
  local found, err = sources.journal:recover(client)
  if not found then return confirm.failure(err) end
  local lines, is_open = {}, false
  for i, open_call in ipairs(found) do
    local outcome, reason = outcome_of(open_call)
    is_open = is_open or outcome ~= "done" and outcome ~= "not_done"
    lines[i] = { outcome, open_call.intent.operation, plain_text.clean(tostring(open_call.intent.params.amount or "")),
      open_call.intent.id, plain_text.clean(reason) }
  end
  client:close()
  local text = #lines > 0 and output.aligned({ "outcome", "operation", "amount", "id", "reason" }, lines)
    or "nothing is open\n"
  if not report.write(text) then return report.NOT_WRITTEN end
  return is_open and report.UNKNOWN or report.DONE
end

function M.start(options)
  return actions[options.action](options)
end

return M

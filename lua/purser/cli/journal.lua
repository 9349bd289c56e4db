-- SPDX-License-Identifier: MIT
-- `purser journal list|show|recover --journal FILE`: what was recorded, and what became of it; see docs/journal.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.util.lazy"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

function M.grammar()
  return {
    text = "What a journal holds.\n"
      .. "  list         the write calls, oldest first\n"
      .. "  show ID      everything about one\n"
      .. "  recover      look what became of those that a crash or a lost answer left open; needs the keys",
    arguments = { { "action", "list, show or recover.", choices = { "list", "show", "recover" } },
      { "id", "show: the id that list prints.", optional = true, values = {} } },
    { "Options",
      { "--state", "<state>", "list: open, unknown, done, rejected, not_sent, not_done or undecided.",
        choices = { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" } },
      { "--limit", "<n>", "list: at most so many, the oldest (all)." } },
    output.group { filters = true }, connection.safety, connection.service, connection.messages,
  }
end

local function open(options)
  local path = options.journal or credentials.variable "PURSER_JOURNAL"
  if not path then return nil, report.bad_input("journal: the file is missing; give --journal FILE") end
  if not core.file_mode(path) then -- to look must make none
    return nil, report.bad_input("journal: there is no file %s; give the --journal that the write calls were given",
      path)
  end
  local journal, err = purser.journal.open { sqlite = path }
  if not journal then return nil, report.bad_input("%s", report.sentence(err)) end
  return journal
end

local TITLES = { "sent", "state", "operation", "account", "amount", "asset", "to", "record", "id" }

local function cells_of(entry)
  local intent, params = entry.intent, entry.intent.params or {}
  local record = entry.record and (entry.record.id or entry.record.tranId) or ""
  return { intent.sent_at, entry.state, intent.operation, intent.account or "",
    tostring(params.amount or ""), tostring(params.coin or params.asset or ""),
    tostring(params.address or params.toAccount or params.subAccount or ""), tostring(record), intent.id }
end

-- An entry as a program reads it.
local function whole(entry)
  return { id = entry.intent.id, sent_at = entry.intent.sent_at, state = entry.state,
    operation = entry.intent.operation, account = entry.intent.account, params = entry.intent.params or {},
    record = entry.record, message = entry.message }
end

local actions = {}

function actions.list(options)
  local journal, code = open(options)
  if not journal then return code end
  local entries, err = journal:entries { state = options.state, account = options.account, limit = options.limit }
  if not entries then return report.workflow_failure(err) end
  journal:close()
  local lines, as = {}, options.format == "json" and whole or cells_of
  for i, entry in ipairs(output.passing(TITLES, entries, options, cells_of)) do lines[i] = as(entry) end
  local text = as == whole and output.plain_json(lines, "  ")
    or output.rows(TITLES, lines, { format = options.format, raw = options.raw })
  return report.write(text, options.raw) and report.DONE or report.NOT_WRITTEN
end

function actions.show(options)
  if not options.id then
    return report.bad_input("journal show: the id is missing; `purser journal list` prints them")
  end
  local journal, code = open(options)
  if not journal then return code end
  local entries, err = journal:entries { id = options.id }
  journal:close()
  if not entries then return report.workflow_failure(err) end
  if not entries[1] then
    return report.bad_input("journal show: no call has the id %s; `purser journal list` prints them", options.id)
  end
  return report.write(output.plain_json(whole(entries[1]), "  ")) and report.DONE or report.NOT_WRITTEN
end

-- Returns what became of one call, and why.
local function outcome_of(open_call)
  local answer, err = open_call.answer, open_call.err
  if answer then return answer.outcome, answer.reason or "" end
  return "unknown", err and err.message or ""
end

local RECOVERED = { "outcome", "operation", "amount", "id", "reason" }

-- Says which payments are sent or undecided: their queues find out about them, and no one else. Returns whether there
-- are any; or nil and an error.
local function tell_of_payments(journal, options)
  local queues, err = purser.payouts.queues(journal)
  local has_any = false
  for _, queue in ipairs(queues or {}) do
    if queue.sent + queue.undecided > 0 then
      has_any = true
      local words = connection.words(setmetatable({ account = queue.account }, { __index = options }))
        .. (queue.queue ~= "default" and " --queue " .. values.shell_word(queue.queue) or "")
      report.say('the queue "%s" of the account "%s" has %d payments that are sent and %d undecided: `purser payouts '
        .. 'run%s` finds out about those that are sent, `purser payouts report%s` lists all', queue.queue,
        queue.account, queue.sent, queue.undecided, words, words)
    end
  end
  return has_any, err
end

function actions.recover(options)
  local journal, code = open(options)
  if not journal then return code end
  journal:close()
  options.journal = options.journal or credentials.variable "PURSER_JOURNAL"
  local client, place, sources = connection.open(options)
  if not client then return report.bad_input("%s", place) end
  local found, err = sources.journal:recover(client)
  if not found then return report.workflow_failure(err) end
  local lines, is_open = {}, false
  for i, open_call in ipairs(found) do
    local outcome, reason = outcome_of(open_call)
    is_open = is_open or outcome ~= "done" and outcome ~= "not_done"
    lines[i] = { outcome, open_call.intent.operation, tostring(open_call.intent.params.amount or ""),
      open_call.intent.id, reason }
  end
  local has_payments
  has_payments, err = tell_of_payments(sources.journal, options)
  client:close()
  if err then return report.workflow_failure(err) end
  local empty = has_payments and "no single call is open\n" or "nothing is open\n"
  local text = output.rows(RECOVERED, lines, options, empty)
  if not report.write(text, options.raw) then return report.NOT_WRITTEN end
  return (is_open or has_payments) and report.UNKNOWN or report.DONE
end

function M.start(options)
  local message = output.message(options, options.action == "recover" and RECOVERED or TITLES)
  if message then return report.bad_input("journal: %s", message) end
  return actions[options.action](options)
end

return M

-- SPDX-License-Identifier: MIT
-- The queue of a command of `purser payouts`, opened, and its printed commands.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

--- Returns a function that makes commands of payouts for the queue of the options.
function M.commands(options)
  return function(...)
    local list = { "purser payouts" }
    for i, word in ipairs { ... } do list[i + 1] = values.shell_word(word) end
    if options.queue then list[#list + 1] = "--queue " .. values.shell_word(options.queue) end
    return table.concat(list, " ") .. (options.journal and "" or " --journal FILE") .. connection.words(options)
  end
end

-- Shows progress in a line of a terminal; elsewhere the reason of a wait.
local function progress()
  local show, clear = terminal.progress_line()
  if core.is_terminal(2) then return function(at)
    show(function(columns) return purser.payouts.progress_line(at, columns) end)
  end, clear end
  local has_said = false
  return function(at)
    -- that calls wait for the rate limit is said by the hook of the client
    if not at.waiting_for or has_said or at.waiting_for:find "^the rate limit" then return end
    report.note("waiting: %s", at.waiting_for)
    has_said = true
  end, clear
end

--- Returns the client and the queue of a plan; a plan needs no journal.
function M.open_for_plan(options)
  local journal = options.journal
  if journal and not connection.has_journal(journal) then options.journal = nil end
  local client, sources = connection.open(options, { concurrent = true, policy = false })
  options.journal = journal
  local file = sources.journal and values.journal(journal).sqlite
  local witness = file and core.file_mode(file .. ".witness") and file .. ".witness" or nil
  return { client = client, sources = sources, queue = sources.journal and sources.is_named
    and purser.payouts.new { client = client, journal = sources.journal, queue = options.queue, witness = witness,
      worker = witness and "shell" } or nil }
end

function M.open(options)
  for _, name in ipairs { "queue", "worker" } do -- an empty variable; under another name the list would be paid again
    if options[name] == "" then report.bad_input("payouts: --%s is empty; give a name, or leave it out", name) end
  end
  if not options.journal then
    report.bad_input("payouts: the journal is missing; give --journal FILE%s", options.action == "run"
      and options.file and ", which is made when it is not there" or ", as the run was given it")
  end
  if not (options.action == "run" and options.file) then connection.need_journal("payouts", options.journal) end
  local client, sources = connection.open(options, { concurrent = true, is_draft = true })
  if not sources.is_named then
    report.bad_input("payouts: the account is missing; give --account NAME (of `purser login NAME`), or name that of "
      .. "the environment's keys with PURSER_ACCOUNT: a name of yours, which stays the same when the key is another "
      .. "one, because with another name the list would be paid again")
  end
  local show, clear = progress()
  local at = { client = client, sources = sources, clear = clear }
  -- A name of one file's runs, which its witness locks. On a server the runs of several hosts have a name each.
  local function queue_of(file)
    at.queue = report.must(purser.payouts.new { client = at.client, journal = sources.journal, queue = options.queue,
      worker = options.worker or file and "shell" or nil, witness = file and file .. ".witness" or nil,
      progress = show })
  end
  local file = values.journal(options.journal).sqlite
  queue_of(not sources.is_draft and file)
  --- Opens the journal where a stand-in was shown. Returns whether there was one, and whether the journal was missing.
  function at.begin()
    if not sources.is_draft then return false, false end
    local was_missing = not connection.has_journal(options.journal)
    at.client = sources.begin()
    queue_of(file)
    return true, was_missing
  end
  return at
end

--- Ends the command with an error of the queue; an error of one payment has the line.
function M.fail(err, payments, path)
  local key = err.details and err.details.key
  for _, payment in ipairs(key and payments or {}) do
    if payment.key == key then report.bad_input("%s:%d: %s", path, payment.line, report.sentence(err)) end
  end
  report.stop(report.workflow_failure(err))
end

function M.got(result, err) return result or M.fail(err) end

-- Returns what an empty queue may be instead.
local function other_queues(options, at)
  if options.file or M.got(at.queue:report()).total > 0 then return nil end
  local names = {}
  for i, other in ipairs(M.got(purser.payouts.queues(at.sources.journal))) do names[i] = other.queue end
  return ('the queue "%s" of %s holds no payment of the account "%s"%s'):format(options.queue or "default",
    options.journal, at.client:account(), names[1] and "; there are the queues " .. table.concat(names, ", ") or "")
end

function M.look(options)
  local at = M.open(options)
  local others = other_queues(options, at)
  if others then report.bad_input("payouts: %s", others) end
  return at
end

return M

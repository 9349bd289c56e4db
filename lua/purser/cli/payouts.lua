-- SPDX-License-Identifier: MIT
-- `purser payouts FILE.csv --journal FILE`: a list of payments, each made once; see docs/payouts.md.

local confirm = require "purser.cli.confirm"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local output = require "purser.cli.output"
local payments_file = require "purser.cli.payments_file"
local payments_plan = require "purser.cli.payments_plan"
local report = require "purser.cli.report"
local rows = require "purser.cli.rows"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = { summary = "Pay a list of payments, each once, however often it is started or killed." }

local actions = {}

function M.define(command)
  command:description("Pay a list of payments, each once, however often the command is started or killed.\n"
    .. "The first line of FILE names columns: key, and the parameters of the operation.\n"
    .. "A key names its payment for good.\n"
    .. "  plan FILE    what would be paid, with sums and balances; nothing is sent\n"
    .. "  run [FILE]   add the payments, and make those that are not made;\n"
    .. "               without FILE go on where it stopped\n"
    .. "  status       how many are in which state; sends nothing\n"
    .. "  report       every payment with its state and the service's id\n"
    .. "  retry KEY    look again for one that failed or is undecided, and put it\n"
    .. "               back when it was not made\n"
    .. "`purser payouts FILE` is `purser payouts run FILE`.\n"
    .. "run and status exit with 4 while a payment is sent or undecided, else with 1 while one\n"
    .. "is failed, else with 3 while one is blocked (not sent before a person has acted),\n"
    .. "else with 0: for status that means that others may still be waiting to be sent.")
  command:argument("action", "plan, run, status, report, retry; or the file."):argname("<action>")
    .suggested = { "plan", "run", "status", "report", "retry" }
  command:argument("file", "The file; of retry the key."):target("subject"):argname("<file>"):args("?")
  command:option("--operation", "The operation of payments without a column `operation`, such as wallet.withdraw.")
    :argname("<name>")
  command:option("--queue", "Name of the queue (default)."):argname("<name>")
  command:option("--worker", "Name of this worker (shell); one running process may have it at a time.")
    :argname("<name>")
  command:flag("--dry-run", "The same as plan.")
  command:flag("--force", "retry: you know that it was not made; it is put back without looking.")
  command:flag("--yes", "Do it without asking.")
  output.define(command, nil, { filters = true })
  connection.define_writes(command)
  connection.define(command)
end

-- A command for the same list, with what this one was given for it.
local function next_command(options, words)
  local queue = options.queue and " --queue " .. values.shell_word(options.queue) or ""
  return "purser payouts " .. words .. (options.journal and "" or " --journal FILE") .. connection.words(options)
    .. queue
end

-- Where the payments are: the client, its queue and its journal; or nil and the exit code.
local function open(options, needs_queue)
  for _, name in ipairs { "queue", "worker" } do -- an empty variable; under another name the list would be paid again
    if options[name] == "" then
      return nil, report.bad_input("payouts: --%s is empty; give a name, or leave it out", name)
    end
  end
  local path = options.journal or credentials.variable "PURSER_JOURNAL"
  if needs_queue and not path then
    return nil, report.bad_input("payouts: the journal is missing; give --journal FILE, which is made when it is not "
      .. "there")
  end
  if needs_queue and not (options.action == "run" and options.subject) and not core.file_mode(path) then
    return nil, report.bad_input("payouts: there is no journal %s; give the one that the list was paid with", path)
  end
  local client, place, sources = connection.open(options, { concurrent = true })
  if not client then return nil, report.bad_input("%s", place) end
  if not needs_queue then return { client = client, sources = sources } end
  if not sources.is_named then
    return nil, report.bad_input("payouts: the account is missing; give --account NAME (of `purser login NAME`), or "
      .. "name that of the environment's keys with PURSER_ACCOUNT: a name of your own, which stays the same when the key "
      .. "is another one, because with another name the list would be paid again")
  end
  options.journal = path
  terminal.settings.resume = ("`%s` finds out what became of it, and makes the rest"):format(
    next_command(options, "run"))
  local show, clear = terminal.progress_line()
  local reports, has_said = core.is_terminal(2), false
  local function report_progress(progress)
    if reports then return show(purser.payouts.progress_line(progress)) end
    -- that calls wait for the rate limit is said by the hook of the client
    if not progress.waiting_for or has_said or progress.waiting_for:find "^the rate limit" then return end
    report.note("waiting: %s", progress.waiting_for)
    has_said = true
  end
  local queue, err = purser.payouts.new {
    client = client, journal = sources.journal, queue = options.queue, worker = options.worker or "shell",
    witness = path .. ".witness",
    progress = report_progress,
  }
  if not queue then return nil, report.bad_input("payouts: %s", report.sentence(err)) end
  return { client = client, sources = sources, queue = queue, clear = clear, path = path }
end

-- Says what a call of the queue failed with; an error of one payment is named with its line. Returns the exit code.
local function failure(err, payments, path)
  local key = err.details and err.details.key
  for _, payment in ipairs(key and payments or {}) do
    if payment.key == key then return report.bad_input("%s:%d: %s", path, payment.line, report.sentence(err)) end
  end
  if err.kind == "workflow" then
    report.say("%s", tostring(err))
    return err.outcome == "unknown" and report.UNKNOWN or report.NOT_SENT
  end
  return confirm.failure(err)
end

-- The keys of the payments that a queue has made already; or nil and an error.
local function made_by(queue)
  local made = {}
  local list, err = {}, nil
  if queue then list, err = queue:list "done" end
  if not list then return nil, err end
  for _, payment in ipairs(list) do made[payment.key] = true end
  return made
end

-- Reads and checks the file. Returns the payments, the plan as text, how many have problems, and the sums of those that
-- are not made yet; or nil and the code.
local function planned(options, client, path, queue)
  local payments, messages = payments_file.read(path, options.operation)
  if not payments then
    for i, message in ipairs(messages) do
      if i > 20 then
        report.say("and %d more", #messages - 20)
        break
      end
      report.say("%s", message)
    end
    return nil, report.BAD_INPUT
  end
  if payments.comments > 0 then
    report.note("%d of the lines of %s begin with #, so they are no payments", payments.comments, path)
  end
  local err = payments_plan.check(client, payments)
  if err then return nil, report.failure({ effect = "read" }, {}, err) end
  local made
  made, err = made_by(queue)
  if not made then return nil, report.failure({ effect = "read" }, {}, err) end
  local totals = payments_plan.totals(payments, made)
  payments_plan.add_balances(client, totals)
  local text, bad = payments_plan.show(payments, totals, path, made)
  return payments, text, bad, totals
end

function actions.plan(options)
  if not options.subject then return report.bad_input("payouts plan: the file is missing; give FILE.csv") end
  local at, code = open(options, false)
  if not at then return code end
  local payments, text, bad, totals = planned(options, at.client, options.subject)
  at.client:close()
  if not payments then return text end
  if not report.write(text) then return report.NOT_WRITTEN end
  if bad > 0 then return report.bad_input("%d of %d payments have errors; nothing was sent", bad, #payments) end
  for _, total in ipairs(totals) do
    if total.is_short then return report.bad_input "the balance does not cover all payments; nothing was sent" end
  end
  local operation = options.operation and " --operation " .. options.operation or ""
  report.note("next: %s%s", next_command(options, "run " .. values.shell_word(options.subject) .. operation),
    options.account and "" or " --account NAME")
  return report.DONE
end

--------------------------------------------------------------------------------------------------------- the result

local TITLES = { "key", "state", "amount", "asset", "to", "id", "message" }

local function show_list(list, options)
  local cells = {}
  for i, payment in ipairs(list) do
    local params = payment.params
    cells[i] = { payment.key, payment.state, params.amount or "", params.coin or params.asset or "",
      params.address or params.toAccount or "", payment.record_id or "", payment.message or "" }
  end
  return report.write(rows.render(TITLES, cells, options, { is_number = { [3] = true } }), options.raw)
end

local STATES = { "total", "done", "waiting", "taken", "sent", "failed", "undecided", "blocked" }

local function show_counts(counts, format)
  if format == "json" then
    local members = {}
    for i, name in ipairs(STATES) do members[i] = { name, counts[name] } end
    return report.write(output.json(json.object(members), "  "))
  end
  local line = {}
  for i, name in ipairs(STATES) do line[i] = counts[name] end
  return report.write(rows.render(STATES, { line }, { format = format }))
end

-- The exit code that the state of a queue asks for. A run leaves nothing to make but what is blocked.
local function code_of(counts)
  if counts.undecided + counts.sent > 0 then return report.UNKNOWN end
  if counts.failed > 0 then return report.REJECTED end
  return counts.blocked > 0 and report.NOT_SENT or report.DONE
end

local function finish(at, counts, options)
  if not show_counts(counts, options.format) then return report.NOT_WRITTEN end
  for _, state in ipairs { "failed", "undecided" } do
    for _, payment in ipairs(counts[state] > 0 and at.queue:list(state) or {}) do
      report.say('%s: payment "%s": %s', state, payment.key, payment.message or "")
    end
  end
  for _, payment in ipairs(counts.blocked_payments) do
    report.say('blocked: payment "%s": %s', payment.key, payment.message or "")
  end
  if counts.failed + counts.undecided > 0 then
    report.note("next: %s, once the cause is gone", next_command(options, "retry KEY"))
  elseif counts.done == counts.total then
    report.note("all %d payments are made; `%s` lists them", counts.total, next_command(options, "report"))
  end
  return code_of(counts)
end

------------------------------------------------------------------------------------------------------------- paying

-- What is to be said where the account has no payments in a queue in which other accounts have some: its name may be
-- misspelt, and then the list would be paid once more. Nil otherwise; or nil and an error.
local function other_accounts(options, at)
  local counts, err = at.queue:report()
  if not counts then return nil, err end
  if counts.total > 0 then return nil end
  if not counts.other_accounts[1] then
    if options.subject then return nil end
    return ('the queue "%s" of %s holds no payment of the account "%s"'):format(options.queue or "default", at.path,
      at.client:account())
  end
  local names = {}
  for i, other in ipairs(counts.other_accounts) do names[i] = ('"%s" (%d)'):format(other.account, other.payments) end
  return ('the account "%s" has no payments in the queue "%s" of %s, which holds those of %s'):format(
    at.client:account(), options.queue or "default", at.path, table.concat(names, ", "))
end

-- Adds what the file has, after a question. Returns nil when the run may begin, else the exit code.
local function add(options, at)
  local path = options.subject
  local others, problem = other_accounts(options, at)
  if problem then return failure(problem) end
  if others and options.yes then
    return report.bad_input("payouts: %s; correct the account, or give a queue of its own (--queue NAME), or confirm "
      .. "the first list without --yes", others)
  end
  local payments, text, bad, totals = planned(options, at.client, path, at.queue)
  if not payments then return text end
  if bad > 0 then
    report.write(text)
    return report.bad_input("%d of %d payments have errors; nothing was sent", bad, #payments)
  end
  if options.yes then
    for _, warning in ipairs(payments_plan.shortages(totals)) do report.say("warning: %s", warning) end
  else
    report.write(text)
    local fields = { { "file", path }, { "journal", at.path }, { "payments", ("%d"):format(#payments) } }
    for _, total in ipairs(totals) do
      fields[#fields + 1] = { "sum", ("%s %s, %s with fees%s%s"):format(tostring(total.amount), total.asset,
        tostring(total.amount + total.fees), total.source ~= "" and " from " .. payments_plan.payer(total) or "",
        total.is_short and ": NOT COVERED by the balance of " .. total.balance or "") }
    end
    fields[#fields + 1] = others and { "warning", others .. ". Under another name a list is paid once more" } or nil
    local code = confirm.ask(options, "This moves money", at.sources, fields)
    if code then return code end
  end
  for _, payment in ipairs(payments) do payment.row = nil end
  local counts, err = at.queue:add_all(payments)
  if not counts then return failure(err, payments, path) end
  report.note("%d added, %d known", counts.added, counts.repeated)
end

function actions.run(options)
  if options.dry_run then return actions.plan(options) end
  local at, code = open(options, true)
  if not at then return code end
  code = options.subject and add(options, at)
  if not options.subject and not options.yes then
    local counts, err = at.queue:report()
    if not counts then return failure(err) end
    local left = counts.waiting + counts.taken + counts.sent
    code = left > 0 and confirm.ask(options, "This moves money", at.sources,
      { { "journal", at.path }, { "payments", ("%d of %d are left"):format(left, counts.total) } }) or nil
  end
  if code then return code end
  local counts, err = at.queue:run()
  at.clear()
  code = counts and finish(at, counts, options) or failure(err)
  at.client:close()
  return code
end

------------------------------------------------------------------------------------------------------------- looking

function actions.status(options)
  local at, code = open(options, true)
  if not at then return code end
  local counts, err = at.queue:report()
  if not counts then return failure(err) end
  local others = other_accounts(options, at)
  if others then report.say("warning: %s", others) end
  if not show_counts(counts, options.format) then return report.NOT_WRITTEN end
  if counts.sent > 0 then
    report.say("%d payments are sent, and what became of them is not known yet: `%s` finds out", counts.sent,
      next_command(options, "run"))
  end
  return code_of(counts)
end

function actions.report(options)
  local at, code = open(options, true)
  if not at then return code end
  local list, err = at.queue:list()
  if not list then return failure(err) end
  local others = other_accounts(options, at)
  if others then report.say("warning: %s", others) end
  return show_list(list, options) and report.DONE or report.NOT_WRITTEN
end

function actions.retry(options)
  if not options.subject then
    return report.bad_input("payouts retry: the key is missing; give the key of a payment")
  end
  local at, code = open(options, true)
  if not at then return code end
  local found, err = at.queue:find(options.subject)
  if found == nil then return failure(err) end
  if not found then return report.bad_input('payouts retry: no payment has the key "%s"', options.subject) end
  code = confirm.ask(options, "This puts a payment back, which the next run makes", at.sources, {
    { "key", options.subject }, { "state", found.state }, { "message", found.message or "" },
    { "looks", options.force and "no: --force is given" or "yes, whether it was made" } })
  if code then return code end
  local put
  put, err = at.queue:retry(options.subject, options.force and { force = true } or nil)
  if put == nil then
    report.say("%s", report.sentence(err))
    return err.code == "payouts.done" and report.DONE or report.UNKNOWN
  end
  if not put then
    return report.bad_input('payouts retry: payment "%s" is %s; only one that failed or is undecided is put back',
      options.subject, found.state)
  end
  report.note("next: %s", next_command(options, "run"))
  return report.DONE
end

function M.start(options)
  local message = rows.message(TITLES, options)
  if message then return report.bad_input("payouts: %s", message) end
  if not actions[options.action] then
    if options.subject then
      return report.bad_input("payouts: %q is no action; give plan, run, status, report or retry", options.action)
    end
    options.subject, options.action = options.action, "run"
  end
  return actions[options.action](options)
end

return M

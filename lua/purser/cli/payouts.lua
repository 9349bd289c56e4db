-- SPDX-License-Identifier: MIT
-- `purser payouts FILE.csv --journal FILE`: a list of payments, each made once; see docs/payouts.md.

local approvals = require "purser.cli.approvals"
local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local payments_plan = require "purser.cli.payments_plan"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local utc = require "purser.client.util.utc"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

local TITLES = { "key", "state", "amount", "asset", "to", "id", "message" }

local actions = {}

function M.grammar()
  return {
    text = "Pay a list of payments, each once, however often the command is started or killed.\n"
      .. "The first line of FILE names columns: key, and the parameters of the operation.\n"
      .. "A key names its payment for good.\n"
      .. "  plan FILE          what would be paid, with sums and balances; nothing is sent; with --policy and --output "
      .. "the plan that persons sign (docs/approvals.md)\n"
      .. "  show PLAN          such a plan, with what is odd first\n"
      .. "  run [FILE]         add the payments, and make those that are not made; without FILE go on where it "
      .. "stopped\n"
      .. "  status             how many are in which state; sends nothing\n"
      .. "  report             every payment with its state and the service's id\n"
      .. "  retry KEY          look again for one that failed or is undecided, and put it back when it was not made\n"
      .. "  drop KEY           the same, and give it up\n"
      .. "  replace KEY FILE   the same, and make it what FILE now has under the key\n"
      .. "`purser payouts FILE` is `purser payouts run FILE`.\n"
      .. "run and status exit with 4 while a payment is sent or undecided, else with 1 while one is failed, else with "
      .. "3 while one is blocked (not sent before a person has acted), else with 0: for status that means that others "
      .. "may still be waiting to be sent.",
    arguments = {
      { "action", "plan, show, run, status, report, retry, drop, replace; or the file.",
        values = { "plan", "show", "run", "status", "report", "retry", "drop", "replace", "<file>" } },
      { "file", "The file; of retry, drop and replace the key.", target = "subject", optional = true },
      { "list", "replace: the file.", optional = true },
    },
    { "Options",
      { "--operation", "<operation>", "That of payments without a column `operation`, such as wallet.withdraw.",
        values = function() return catalogue.names(function(row) return row.effect == "transfer" end) end },
      { "--queue", "<name>", "Name of the queue; without it \"default\"." },
      { "--worker", "<name>", "Name of this worker; without it \"shell\", or a new one for a journal on a server. One "
        .. "running process may have it at a time." },
      { "--unchecked", "plan, run, replace: take addresses as they are, whatever their form and checksum say." },
      { "--allow-equal", "run: with --yes pay rows that look like a mistake, too: equal ones, keys that differ only in "
        .. "case, what was paid in the last 7 days, an amount far above the others." },
      { "--maker", "<name>", "plan: who makes it, and so does not approve it; without it USER." },
      { "--until", "<day>", "plan: its last day, such as 2026-11-30." },
      { "--journal-id", "<id>", "plan: the payer's journal, where it is on another machine." },
      { "--html", "<file>", "show: write a page for a browser." },
      { "--records", "<file>", "show: what you signed before; what is neither there nor in --journal is new to you." },
      { "--force", "retry, drop, replace: you know that it was not made; nothing is looked for." },
      { "--yes", "Do it without asking." },
    },
    output.group(function(options) return options.action == "plan" and payments_plan.TITLES or TITLES end),
    connection.safety, connection.service, connection.messages,
  }
end

-- Returns a command for the same list, with what this one was given for it.
local function next_command(options, words)
  local queue = options.queue and " --queue " .. values.shell_word(options.queue) or ""
  return "purser payouts " .. words .. (options.journal and "" or " --journal FILE") .. connection.words(options)
    .. queue
end

-- Shows how far a run is: as a line of a terminal, else only what it waits for.
local function progress()
  local show, clear = terminal.progress_line()
  if core.is_terminal(2) then return function(at) show(purser.payouts.progress_line(at)) end, clear end
  local has_said = false
  return function(at)
    -- that calls wait for the rate limit is said by the hook of the client
    if not at.waiting_for or has_said or at.waiting_for:find "^the rate limit" then return end
    report.note("waiting: %s", at.waiting_for)
    has_said = true
  end, clear
end

-- Returns the client and the queue of a plan, which makes no journal and needs none.
local function open_for_plan(options)
  local journal = options.journal
  if journal and not connection.has_journal(journal) then options.journal = nil end
  local client, _, sources = connection.open(options, { concurrent = true, policy = false })
  options.journal = journal
  return { client = client, sources = sources, queue = sources.journal and sources.is_named
    and purser.payouts.new { client = client, journal = sources.journal, queue = options.queue } or nil }
end

-- Opens where the payments are: the client, its queue and its journal.
local function open(options)
  for _, name in ipairs { "queue", "worker" } do -- an empty variable; under another name the list would be paid again
    if options[name] == "" then report.bad_input("payouts: --%s is empty; give a name, or leave it out", name) end
  end
  if not options.journal then
    report.bad_input "payouts: the journal is missing; give --journal FILE, which is made when it is not there"
  end
  if not (options.action == "run" and options.subject) then connection.need_journal("payouts", options.journal) end
  local client, _, sources = connection.open(options, { concurrent = true })
  if not sources.is_named then
    report.bad_input("payouts: the account is missing; give --account NAME (of `purser login NAME`), or name that of "
      .. "the environment's keys with PURSER_ACCOUNT: a name of yours, which stays the same when the key is another "
      .. "one, because with another name the list would be paid again")
  end
  terminal.settings.resume = ("`%s` finds out what became of it, and makes the rest"):format(
    next_command(options, "run"))
  local show, clear = progress()
  -- A name of one file's runs, which its witness locks. On a server the runs of several hosts have a name each.
  local file = values.journal(options.journal).sqlite
  local queue, err = purser.payouts.new { client = client, journal = sources.journal, queue = options.queue,
    worker = options.worker or file and "shell" or nil, witness = file and file .. ".witness", progress = show }
  if not queue then report.bad_input("payouts: %s", report.sentence(err)) end
  return { client = client, sources = sources, queue = queue, clear = clear }
end

-- Ends the command with what a call of the queue failed with; an error of one payment is named with its line.
local function fail(err, payments, path)
  local key = err.details and err.details.key
  for _, payment in ipairs(key and payments or {}) do
    if payment.key == key then report.bad_input("%s:%d: %s", path, payment.line, report.sentence(err)) end
  end
  if err.kind ~= "workflow" then report.stop(report.workflow_failure(err)) end
  report.say("%s", tostring(err))
  report.stop(err.outcome == "unknown" and report.UNKNOWN or report.NOT_SENT)
end

-- Returns the result of a call of the queue, or ends the command.
local function got(result, err) return result or fail(err) end

-- Reads the file, before a journal is made for it.
local function read_list(options)
  local path = options.subject
  local payments = report.must(purser.payouts.read(path, options.operation))
  if payments.comments > 0 then
    report.note("%d of the lines of %s begin with #, so they are no payments", payments.comments, path)
  end
  if not payments[1] then
    report.bad_input("payouts: %s has no payment; give a line for each below the names of the columns", path)
  end
  return payments
end

-- Checks what the file has. Returns the plan, with its `path`.
local function planned(options, at, payments)
  local plan, err = purser.payouts.plan(at.client, payments, { unchecked = options.unchecked, queue = at.queue,
    journal = at.sources.journal })
  if not plan then report.stop(report.failure({ effect = "read" }, {}, err)) end
  plan.path = options.subject
  return plan
end

-- Writes a plan: for a person, or each payment for a program.
local function show_plan(plan, options)
  if not output.is_text(options) then
    return report.write(output.rows(payments_plan.TITLES, payments_plan.records(plan), options), options.raw)
  end
  report.write(payments_plan.show(plan))
  for _, note in ipairs(payments_plan.notes(plan)) do report.say("%s", note) end
end

-- Says that a plan has errors, and ends the command.
local function reject(plan)
  local is_doubtful = false
  for _, payment in ipairs(plan.payments) do
    is_doubtful = is_doubtful or payment.problems[1] and payment.has_doubtful_address
  end
  report.bad_input("%d of %d payments have errors; nothing was sent%s", plan.bad, #plan.payments,
    is_doubtful and "; --unchecked takes addresses as they are" or "")
end

function actions.show(options)
  return approvals.show(options, approvals.read(options.subject, "payouts show: the file of the plan"))
end

function actions.plan(options)
  if not options.subject then report.bad_input "payouts plan: the file is missing; give FILE.csv" end
  local payments = read_list(options)
  local at = open_for_plan(options)
  local plan = planned(options, at, payments)
  if plan.bad == 0 and connection.policy(options) then return approvals.write_plan(options, at, plan.payments) end
  show_plan(plan, options)
  if plan.bad > 0 then reject(plan) end
  for _, total in ipairs(plan.totals) do
    if total.is_short then report.bad_input "the balance does not cover all payments; nothing was sent" end
  end
  if plan.odd > 0 then
    report.say("%d of %d payments look like a mistake (odd, above): --yes alone does not pay them, --allow-equal does",
      plan.odd, #plan.payments)
  end
  local words = "run " .. values.shell_word(options.subject)
    .. (options.operation and " --operation " .. options.operation or "")
    .. (options.unchecked and " --unchecked" or "")
  report.note("next: %s%s", next_command(options, words), at.sources.is_named and "" or " --account NAME")
end

--------------------------------------------------------------------------------------------------------- the result

-- Returns a key as it is sorted: inv-2 before inv-10.
local function sortable(key)
  return (key:gsub("%d+", function(digits) return ("0"):rep(20 - #digits) .. digits end))
end

local function show_list(list, options)
  table.sort(list, function(a, b) return sortable(a.key) < sortable(b.key) end)
  for _, payment in ipairs(list) do
    local params = payment.params
    payment.amount, payment.asset, payment.id = params.amount, params.coin or params.asset, payment.record_id
    payment.to = params.address or params.toAccount
  end
  report.write(output.rows(TITLES, list, options), options.raw)
end

local STATES = { "total", "done", "waiting", "taken", "sent", "failed", "undecided", "blocked", "dropped" }

-- Shows how many payments are in which state: for a program as one object.
local function show_counts(counts, options)
  if options.format ~= "json" then
    return report.write(output.rows(STATES, { counts }, { format = options.format }))
  end
  local made = {}
  for _, name in ipairs(STATES) do made[name] = counts[name] end
  report.write(output.json(made, "  "))
end

-- Returns the exit code that the state of a queue asks for.
local function code_of(counts)
  if counts.undecided + counts.sent > 0 then return report.UNKNOWN end
  if counts.failed > 0 then return report.REJECTED end
  return counts.blocked > 0 and report.NOT_SENT or report.DONE
end

local function finish(at, counts, options)
  show_counts(counts, options)
  for _, state in ipairs { "failed", "undecided", "blocked" } do
    local list = state == "blocked" and counts.blocked_payments or counts[state] > 0 and at.queue:list(state) or {}
    for _, line in ipairs(payments_plan.outcomes(state, list)) do report.say("%s", line) end
  end
  if counts.next_due_at then
    report.note("%d wait, and the next is due at %s: `%s` makes it then", counts.waiting - counts.blocked,
      utc.text(counts.next_due_at), next_command(options, "run"))
  end
  if counts.failed + counts.undecided > 0 then
    report.note("next: correct it with `%s`, or give it up with `%s`; `%s` sends it as it is. Pay none of these under "
      .. "another key before", next_command(options, "replace KEY FILE"), next_command(options, "drop KEY"),
      next_command(options, "retry KEY"))
  elseif counts.total > 0 and counts.done + counts.dropped == counts.total then
    report.note("all %d payments are made; `%s` lists them", counts.total, next_command(options, "report"))
  end
  local code = code_of(counts)
  return code == report.DONE and counts.next_due_at and report.NOT_SENT or code
end

------------------------------------------------------------------------------------------------------------- paying

-- Warns where the account has no payments in a queue in which other accounts have some: its name may be
-- misspelt, and then the list would be paid once more. Nil otherwise.
local function other_accounts(options, at)
  local counts = got(at.queue:report())
  if counts.total > 0 then return nil end
  if not counts.other_accounts[1] then
    if options.subject then return nil end
    return ('the queue "%s" of %s holds no payment of the account "%s"'):format(options.queue or "default",
      options.journal, at.client:account())
  end
  local names = {}
  for i, other in ipairs(counts.other_accounts) do names[i] = ('"%s" (%d)'):format(other.account, other.payments) end
  return ('the account "%s" has no payments in the queue "%s" of %s, which holds those of %s'):format(
    at.client:account(), options.queue or "default", options.journal, table.concat(names, ", "))
end

-- Opens the queue without a file, and warns where it holds nothing. Returns where the payments are.
local function look(options)
  local at = open(options)
  local others = other_accounts(options, at)
  if others then report.say("warning: %s", others) end
  return at
end

-- Shows what would be paid, and asks.
local function confirm(plan, options, at, others)
  show_plan(plan, options)
  local fields = { { "file", plan.path }, { "journal", options.journal },
    { "payments", ("%d"):format(#plan.payments) } }
  for _, total in ipairs(plan.totals) do
    fields[#fields + 1] = { "sum", ("%s %s, %s with fees%s%s"):format(tostring(total.amount), total.asset,
      tostring(total.amount + total.fees), total.source ~= "" and " from " .. total.payer or "",
      total.is_short and ": NOT COVERED by the balance of " .. total.balance or "") }
  end
  fields[#fields + 1] = others and { "warning", others .. ". Under another name a list is paid once more" } or nil
  if plan.odd > 0 and not options.allow_equal then
    fields[#fields + 1] = { "warning", ("%d payments look like a mistake: see odd, above"):format(plan.odd) }
  end
  report.ask(options, "This moves money", at.sources, fields)
end

-- Adds what the file has, after a question.
local function add(options, at, payments)
  local others = other_accounts(options, at)
  if others and options.yes then
    report.bad_input("payouts: %s; correct the account, or give a queue of its own (--queue NAME), or confirm the "
      .. "first list without --yes", others)
  end
  local plan = planned(options, at, payments)
  payments = plan.payments
  if plan.bad > 0 then
    show_plan(plan, options)
    reject(plan)
  end
  if options.yes and plan.odd > 0 and not options.allow_equal then
    for _, line in ipairs(payments_plan.notes(plan, true)) do report.say("%s", line) end
    report.bad_input("payouts: %d of %d payments look like a mistake, so nothing was sent; if they are right, give "
      .. "--allow-equal, or confirm them without --yes", plan.odd, #payments)
  end
  if not options.yes then confirm(plan, options, at, others) end
  for _, warning in ipairs(options.yes and plan.shortages or {}) do report.say("warning: %s", warning) end
  local list = {}
  for i, payment in ipairs(payments) do
    list[i] = { key = payment.key, operation = payment.operation, params = payment.params }
  end
  local counts, err = at.queue:add_all(list)
  if not counts then fail(err, payments, plan.path) end
  report.note("%d added, %d known", counts.added, counts.repeated)
end

function actions.run(options)
  local payments = options.subject and read_list(options)
  local at = (payments and open or look)(options)
  if payments then add(options, at, payments)
  elseif not options.yes then
    local counts = got(at.queue:report())
    local left = counts.waiting + counts.taken + counts.sent
    if left > 0 then
      report.ask(options, "This moves money", at.sources,
        { { "journal", options.journal }, { "payments", ("%d of %d are left"):format(left, counts.total) } })
    end
  end
  local counts, err = at.queue:run()
  at.clear()
  if not counts then fail(err) end
  return finish(at, counts, options)
end

------------------------------------------------------------------------------------------------------------- looking

function actions.status(options)
  local counts = got(look(options).queue:report())
  show_counts(counts, options)
  if counts.sent > 0 then
    report.say("%d payments are sent, and what became of them is not known yet: `%s` finds out", counts.sent,
      next_command(options, "run"))
  end
  return code_of(counts)
end

function actions.report(options) show_list(got(look(options).queue:list()), options) end

-- Returns the payment of that key in the file.
local function payment_in(options)
  if not options.list then report.bad_input "payouts replace: the file is missing; give KEY FILE" end
  for _, payment in ipairs(report.must(purser.payouts.read(options.list, options.operation))) do
    if payment.key == options.subject then return payment end
  end
  report.bad_input('payouts replace: %s has no payment "%s"', options.list, options.subject)
end

-- The actions on one payment: the question, the state it needs, its past form, the command that follows, and how.
local acts = {
  retry = { "This puts a payment back, which the next run makes", "failed or is undecided", "put back", "run",
    function(at, options, force) return at.queue:retry(options.subject, force) end },
  drop = { "This gives a payment up", "waits, failed or is undecided", "dropped", "status",
    function(at, options, force) return at.queue:drop(options.subject, force) end },
  replace = { "This replaces a payment, which the next run makes", "waits, failed or is undecided", "replaced", "run",
    function(at, options, force)
      local payment = options.payment
      local plan, err = purser.payouts.plan(at.client, { payment }, { unchecked = options.unchecked })
      if plan and payment.problems[1] then
        err = errors.argument(nil, ("%s:%d: %s"):format(options.list, payment.line, payment.problems[1]))
      end
      if err then return nil, err end
      return at.queue:replace(payment.key, payment.operation, payment.params, force)
    end },
}

local function act_on(options)
  local words = acts[options.action]
  if not options.subject then
    report.bad_input("payouts %s: the key is missing; give the key of a payment", options.action)
  end
  options.payment = options.action == "replace" and payment_in(options)
  local at = open(options)
  local found, err = at.queue:find(options.subject)
  if found == nil then fail(err) end
  if not found then
    report.bad_input('payouts %s: no payment has the key "%s"; `%s` lists them', options.action, options.subject,
      next_command(options, "report"))
  end
  report.ask(options, words[1], at.sources, {
    { "key", options.subject }, { "state", found.state }, { "message", found.message or "" },
    { "looks", options.force and "no: --force is given" or "yes, whether it was made" } })
  local done
  done, err = words[5](at, options, options.force and { force = true } or nil)
  if done == nil then
    report.say("%s", report.sentence(err))
    if err.code == "payouts.done" then return report.DONE end
    return err.outcome == "unknown" and report.UNKNOWN or report.BAD_INPUT
  end
  if not done then
    report.bad_input('payouts %s: payment "%s" is %s; only one that %s is %s', options.action, options.subject,
      found.state, words[2], words[3])
  end
  report.note("next: %s", next_command(options, words[4]))
end

actions.retry, actions.drop, actions.replace = act_on, act_on, act_on

function M.start(options)
  if not actions[options.action] then
    if options.subject then
      report.bad_input("payouts: %q is no action; give plan, show, run, status, report, retry, drop or replace",
        options.action)
    end
    options.subject, options.action = options.action, "run"
  end
  return actions[options.action](options)
end

return M

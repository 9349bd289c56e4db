-- SPDX-License-Identifier: MIT
-- `purser payouts`: shows, confirms and sends one plan of payments (desk/payouts/runs.lua); see docs/desk/payouts.md.

local approvals = require "purser.cli.approvals"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local payments_plan = require "purser.cli.payments_plan"
local payouts_grammar = require "purser.cli.payouts_grammar"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local utc = require "purser.client.util.utc"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore

M.grammar = payouts_grammar.grammar

-- Returns a function that makes commands of payouts for the queue of the options.
local function commands(options)
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
  if core.is_terminal(2) then return function(at) show(purser.payouts.progress_line(at)) end, clear end
  local has_said = false
  return function(at)
    -- that calls wait for the rate limit is said by the hook of the client
    if not at.waiting_for or has_said or at.waiting_for:find "^the rate limit" then return end
    report.note("waiting: %s", at.waiting_for)
    has_said = true
  end, clear
end

-- Returns the client and the queue of a plan; a plan needs no journal.
local function open_for_plan(options)
  local journal = options.journal
  if journal and not connection.has_journal(journal) then options.journal = nil end
  local client, sources = connection.open(options, { concurrent = true, policy = false })
  options.journal = journal
  return { client = client, sources = sources, queue = sources.journal and sources.is_named
    and purser.payouts.new { client = client, journal = sources.journal, queue = options.queue } or nil }
end

local function open(options)
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
  --- Makes the journal where there was none; tells whether it did.
  function at.begin()
    if not sources.is_draft then return false end
    at.client = sources.begin()
    queue_of(file)
    return true
  end
  return at
end

-- Ends the command with an error of the queue; an error of one payment has the line.
local function fail(err, payments, path)
  local key = err.details and err.details.key
  for _, payment in ipairs(key and payments or {}) do
    if payment.key == key then report.bad_input("%s:%d: %s", path, payment.line, report.sentence(err)) end
  end
  report.stop(report.workflow_failure(err))
end

local function got(result, err) return result or fail(err) end

-- Returns the payments of a file: a list, or a plan that was written for persons to sign, as `written`.
local function read_list(options)
  local path = options.file
  local written = approvals.written(path)
  if written then
    if options.queue and options.queue ~= written.head.queue then
      report.bad_input('payouts: %s is of the queue "%s"; leave --queue out', path, written.head.queue)
    end
    options.queue = written.head.queue
    local payments = { written = written }
    for i, row in ipairs(written.rows) do
      payments[i] = { key = row.key, operation = row.operation, params = row.params, payee = row.payee }
    end
    return payments
  end
  local payments = report.must(purser.payouts.read(path, options.operation, options.decimal))
  if payments.comments > 0 then
    report.note("%d of the lines of %s begin with #, so they are no payments", payments.comments, path)
  end
  if not payments[1] then
    report.bad_input("payouts: %s has no payment; give a line for each below the names of the columns", path)
  end
  return payments
end

local function filtered(payments, options)
  local records = {}
  for i, payment in ipairs(payments) do
    records[i] = payments_plan.record(payment)
    records[i].payment = payment
  end
  local kept = output.passing(payments_plan.TITLES, records, options)
  for i, record in ipairs(kept) do kept[i] = record.payment end
  if not kept[1] then report.bad_input "payouts: --filter leaves no payment of the list" end
  return kept, #payments - #kept
end

local function planned(options, at, payments)
  local plan, err, left_out
  local signed = payments and payments.written and approvals.signed(payments.written, at, options)
  if options.filter[1] then
    if not payments then report.bad_input "payouts: --filter makes a list smaller; give the file of a list" end
    payments, left_out = filtered(payments, options)
  end
  if at.queue then
    plan, err = at.queue:plan { payments = payments, unchecked = options.unchecked }
  else
    plan, err = purser.payouts.plan(at.client, payments, { unchecked = options.unchecked,
      journal = at.sources.journal })
  end
  if not plan then
    if err.code == "payouts.no_queue" then report.bad_input("payouts: %s", report.sentence(err)) end
    report.stop(report.failure({ effect = "read" }, {}, err))
  end
  plan.path, plan.filtered, plan.signed = options.file, left_out and left_out > 0 and left_out or nil, signed
  return plan
end

local function screen_of(plan, options)
  return payments_plan.show(plan, options.queue or "default", commands(options))
end

-- Returns all that a person is shown of a plan.
local function shown_of(plan, options)
  return screen_of(plan, options) .. table.concat(payments_plan.notes(plan), "\n")
end

local function show_plan(plan, options)
  local text = screen_of(plan, options)
  if options.format == "table" then report.write(text) else terminal.prompt(text) end
  for _, note in ipairs(payments_plan.notes(plan)) do report.say("%s", note) end
end

-- Ends the command where a plan has errors or refused rows.
local function reject(plan, options)
  if plan.bad > 0 then
    report.bad_input("%d of %d payments have errors; nothing was sent", plan.bad, #plan.payments)
  end
  if not plan.refused[1] then return end
  for _, line in ipairs(payments_plan.refused(plan, commands(options))) do report.say("%s", line) end
  report.bad_input "nothing was sent, nothing was changed"
end

local actions = {}

function actions.show(options) return approvals.show(options, approvals.read(options.file)) end

function actions.plan(options)
  local payments = options.file and read_list(options)
  local at = (payments and not payments.written and open_for_plan or open)(options)
  local plan = planned(options, at, payments)
  if plan.bad == 0 and not plan.signed and connection.policy(options) then
    report.note("%s", payments_plan.sums(plan))
    return approvals.write_plan(options, at, payments and plan.payments or plan.send)
  end
  if options.format == "table" and not options.shown then show_plan(plan, options) else
    report.write(output.rows(payments_plan.TITLES, payments_plan.records(plan), options), options.raw)
  end
  reject(plan, options)
  for _, total in ipairs(plan.totals) do
    if total.is_short then report.bad_input "the balance does not cover all payments; nothing was sent" end
  end
  if plan.odd > 0 then
    report.say("%d of %d payments look like a mistake (odd, above): --yes alone does not pay them, --allow-equal does",
      plan.odd, #plan.payments)
  end
  local words = { "run", options.file }
  for _, name in ipairs { "operation", "decimal" } do
    if options[name] then words[#words + 1], words[#words + 2] = "--" .. name, options[name] end
  end
  for _, filter in ipairs(options.filter) do
    words[#words + 1], words[#words + 2] = "--filter", table.concat(filter, "=")
  end
  if options.unchecked then words[#words + 1] = "--unchecked" end
  report.note("next: %s%s", commands(options)(unpack(words)), at.sources.is_named and "" or " --account NAME")
end

local STATES = { "total", "done", "waiting", "taken", "sent", "failed", "undecided", "blocked", "dropped" }

local function show_counts(counts, options)
  if options.format ~= "json" then
    return report.write(output.rows(STATES, { counts }, { format = options.format }), options.raw)
  end
  local made = {}
  for _, name in ipairs(STATES) do made[name] = counts[name] end
  report.write(output.json(made, "  "))
end

local function code_of(counts)
  if counts.undecided + counts.sent > 0 then return report.UNKNOWN end
  if counts.failed > 0 then return report.REJECTED end
  return counts.waiting + counts.taken > 0 and report.NOT_SENT or report.DONE
end

local function finish(at, plan, counts, options)
  show_counts(counts, options)
  for _, state in ipairs { "failed", "undecided", "blocked" } do
    local list = state == "blocked" and counts.blocked_payments or counts[state] > 0 and at.queue:list(state) or {}
    for _, line in ipairs(payments_plan.outcomes(state, list, commands(options))) do report.say("%s", line) end
  end
  local own = counts.of_run or { undecided = 0, sent = 0, failed = 0, waiting = 0, taken = 0, blocked = 0 }
  if own.waiting > own.blocked and counts.next_due_at then
    report.note("%d wait, and the next is due at %s: `%s` makes it then", own.waiting - own.blocked,
      utc.text(counts.next_due_at), terminal.settings.line)
  end
  if counts.failed + counts.undecided > 0 then
    report.note("next: `%s` looks again, `%s` gives it up, `%s` says what you know. Do not pay it under another key: "
      .. "it may be made already", commands(options)("retry", "KEY"), commands(options)("drop", "KEY"),
      commands(options)("settle", "KEY", "not_done"))
    if counts.undecided > 1 then
      report.note("where none was made: `%s` lists all that is undecided, and ends them by one word",
        commands(options)("settle", "--all", "not_done"))
    end
  elseif counts.total > 0 and counts.done + counts.dropped == counts.total then
    report.note("all %d payments are made; `%s` lists them", counts.total, commands(options) "report")
  end
  for _, row in ipairs(plan.held) do own[row.state] = (own[row.state] or 0) + 1 end
  return code_of(own)
end

-- Returns what an empty queue may be instead.
local function other_queues(options, at)
  if options.file or got(at.queue:report()).total > 0 then return nil end
  local names = {}
  for i, other in ipairs(got(purser.payouts.queues(at.sources.journal))) do names[i] = other.queue end
  return ('the queue "%s" of %s holds no payment of the account "%s"%s'):format(options.queue or "default",
    options.journal, at.client:account(), names[1] and "; there are the queues " .. table.concat(names, ", ") or "")
end

local function look(options)
  local at = open(options)
  local others = other_queues(options, at)
  if others then report.bad_input("payouts: %s", others) end
  return at
end

-- Ends an unattended command where a person has to decide.
local function check_unasked(plan, options)
  if plan.changed[1] then
    for line in payments_plan.changed(plan):gmatch "[^\n]+" do report.say("%s", line) end
    report.fail(report.NOT_SENT, "payouts: rows were changed, so nothing was sent; confirm them without --yes")
  end
  if plan.odd > 0 and not options.allow_equal then
    for _, line in ipairs(payments_plan.notes(plan, true)) do report.say("%s", line) end
    report.fail(report.NOT_SENT, "payouts: %d of %d payments look like a mistake, so nothing was sent; if they are "
      .. "right, give --allow-equal, or confirm them without --yes", plan.odd, #plan.payments)
  end
  for line in payments_plan.kept(plan, commands(options)):gmatch "[^\n]+" do report.say("%s", line) end
  for _, warning in ipairs(plan.shortages) do report.say("warning: %s", warning) end
end

local function confirm(plan, options, at)
  show_plan(plan, options)
  reject(plan, options)
  if not plan.send[1] then return end
  local fields = { { "journal", options.journal }, { "queue", options.queue or "default" } }
  for _, warning in ipairs(plan.shortages) do fields[#fields + 1] = { "warning", warning } end
  if plan.odd > 0 and not options.allow_equal then
    fields[#fields + 1] = { "warning", ("%d payments look like a mistake: see odd, above"):format(plan.odd) }
  end
  report.ask(options, "This moves money", at.sources, fields, payments_plan.question(plan))
end

-- Runs a confirmed plan. Returns the report; false where the queue changed since the screen. A new journal's plan has
-- the same screen, or is shown first.
local function run(at, plan, options, payments)
  if not plan.send[1] then return got(at.queue:report()) end
  if at.begin() then
    local shown = shown_of(plan, options)
    plan = planned(options, at, payments)
    if shown_of(plan, options) ~= shown then return false end
  end
  terminal.settings.again = terminal.settings.line
  terminal.settings.stopped = function()
    for _, line in ipairs(payments_plan.stopped(plan, at.queue, terminal.settings.line)) do terminal.say("%s", line) end
  end
  local counts, err = at.queue:run(plan)
  at.clear()
  terminal.settings.stopped = nil
  if counts then return counts end
  if err.code ~= "payouts.changed_since" then fail(err, plan.payments, plan.path) end
  if options.yes then report.fail(report.NOT_SENT, "%s", err.message) end
  report.say("%s", err.message)
  return false
end

function actions.run(options)
  local payments = options.file and read_list(options)
  local at = (payments and open or look)(options)
  while true do
    local plan = planned(options, at, payments)
    if options.yes then
      if plan.bad > 0 then show_plan(plan, options) end
      reject(plan, options)
      check_unasked(plan, options)
    else
      confirm(plan, options, at)
    end
    local counts = run(at, plan, options, payments)
    if counts then return finish(at, plan, counts, options) end
  end
end

function actions.status(options)
  local at = look(options)
  local counts = got(at.queue:report())
  show_counts(counts, options)
  for _, each in ipairs(got(at.queue:runs())) do
    local worker = each.workers[1]
    report.note("run %s of %s%s: %s", each.number, each.person, each.source ~= "" and " (" .. each.source .. ")" or "",
      worker and ("worker %s, pid %s on %s"):format(worker.name, worker.pid, worker.host) or "nobody works on it")
  end
  if counts.sent > 0 then
    report.say("%d payments are sent, and what became of them is not known yet: `%s` finds out", counts.sent,
      commands(options) "run")
  end
  return code_of(counts)
end

local function sortable(key) return (key:gsub("%d+", function(part) return ("0"):rep(20 - #part) .. part end)) end

function actions.report(options)
  local list = got(look(options).queue:list())
  table.sort(list, function(a, b) return sortable(a.key) < sortable(b.key) end)
  for i, payment in ipairs(list) do
    list[i] = payments_plan.record(payment, payment.state, payment.message)
    list[i].id = payment.record_id
  end
  report.write(output.rows(payouts_grammar.TITLES, list, options), options.raw)
end

local STOPPED = "failed, is undecided or was dropped"
-- The actions on one payment: question, states, past form, next command, function.
local acts = {
  retry = { "This puts a payment back, which the next run makes", STOPPED, "put back", "run",
    function(at, seen) return at.queue:retry(seen) end },
  drop = { "This gives a payment up", "waits, failed or is undecided", "dropped", "status",
    function(at, seen, _, by) return at.queue:drop(seen, { by = by }) end },
  settle = { "This says what you know of a payment", STOPPED, "settled", "run",
    function(at, seen, options, by)
      if options.word == "not_done" then return at.queue:retry(seen, { force = true, by = by }) end
      return at.queue:settle(seen, options.made_as, { by = by })
    end },
}

-- Settles all undecided payments of the screen as not done. Returns the exit code.
local function settle_all(options)
  local at, by = look(options), report.person(options, "payouts")
  local shown = got(at.queue:list "undecided")
  local text, count = payments_plan.undecided(shown)
  if not shown[1] then return report.note "no payment of the queue is undecided" end
  report.write(text)
  report.ask(options, "This says that payments were not made", at.sources, { { "journal", options.journal },
    { "queue", options.queue or "default" }, { "by", by } }, ("Type yes if none was made of %s: "):format(count))
  local put_back, others = at.queue:retry_all(shown, { force = true, by = by })
  local left = got(at.queue:list "undecided")
  for _, payment in ipairs(left) do
    local err = others[payment.key]
    payment.message = err and report.sentence(err) or "it became undecided after the list was shown"
  end
  for _, line in ipairs(payments_plan.outcomes("left undecided", left)) do report.say("%s", line) end
  report.note("%d of %d wait again; next: %s", #put_back, #shown, commands(options) "run")
  return left[1] and report.UNKNOWN or report.DONE
end

local function act_on(options)
  local act = acts[options.action]
  if options.all and not options.key then return settle_all(options) end
  local is_whole = options.key and options.word and (options.word == "done") == (options.made_as ~= nil)
  if options.action == "settle" and (options.all or not is_whole) then
    report.bad_input "payouts settle: give KEY done with the id that the service shows, KEY not_done, or --all not_done"
  end
  local at, by = open(options), options.action ~= "retry" and report.person(options, "payouts")
  local found, err = at.queue:find(options.key)
  if found == nil then fail(err) end
  if not found then
    report.bad_input('payouts %s: no payment has the key "%s"; `%s` lists them', options.action, options.key,
      commands(options) "report")
  end
  report.ask(options, act[1], at.sources, {
    { "key", options.key }, { "pays", payments_plan.pays(found) }, { "state", found.state },
    { "message", found.message or "" },
    { "looks", options.word and "no: you say " .. options.word or "yes, whether it was made" } })
  local done, why = act[5](at, found, options, by)
  if done == nil then
    local text = report.sentence(why):gsub("the option force = true says so", ("`%s` says so"):format(
      commands(options)("settle", options.key, "not_done")))
    local code = why.code == "payouts.done" and report.DONE or why.outcome == "unknown" and report.UNKNOWN
    report.fail(code or report.BAD_INPUT, "%s", text)
  end
  if not done then
    report.bad_input('payouts %s: payment "%s" is %s; only one that %s is %s, as it was shown', options.action,
      options.key, got(at.queue:find(options.key)).state, act[2], act[3])
  end
  report.note("next: %s", commands(options)(act[4]))
end

actions.retry, actions.drop, actions.settle = act_on, act_on, act_on

function M.start(options) return actions[options.action](options) end

return M

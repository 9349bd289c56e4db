-- SPDX-License-Identifier: MIT
-- `purser payouts`: one plan of payments (desk/payouts/runs.lua), shown, confirmed and sent in the four steps of
-- steps.lua; see docs/desk/payouts.md.

local approvals = require "purser.cli.approvals"
local candidates = require "purser.cli.candidates"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local decimal = require "purser.decimal"
local ends = require "purser.cli.ends"
local journals = require "purser.cli.journal"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local payouts_opened = require "purser.cli.payouts_opened"
local output = require "purser.cli.output"
local payments_plan = require "purser.cli.payments_plan"
local payouts_grammar = require "purser.cli.payouts_grammar"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local utc = require "purser.client.util.utc"
local purser = lazy "purser"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore
local commands, fail, got, open = payouts_opened.commands, payouts_opened.fail, payouts_opened.got, payouts_opened.open
local counted, look = plain_text.counted, payouts_opened.look

M.grammar = payouts_grammar.grammar

-- Returns the payments of a file: a list, or a plan that was written for persons to sign, as `written`.
local function read_list(options)
  local path, text = options.file, nil
  if path == "-" then text = terminal.input() end
  local written = not text and approvals.written(path)
  if written then
    if options.queue and options.queue ~= written.head.queue then
      report.bad_input('payouts: %s is of the queue "%s"; leave --queue out', path, written.head.queue)
    end
    options.queue = written.head.queue
    local payments = { written = written }
    for i, row in ipairs(written.rows) do
      payments[i] = { key = row.key, operation = row.operation, params = row.params, payee = row.payee,
        line = i + 1 }
    end
    return payments
  end
  local payments = report.must(purser.payouts.read(text and "standard input" or path, options.list.operation,
    options.list.decimal, text))
  local comments = payments.comments - (payments.is_empty and 1 or 0)
  if comments > 0 then
    report.note("%s: %s with #, so no payment is there", path, counted(comments, "line begins", "lines begin"))
  end
  if payments.is_empty then
    report.note("%s was written without payments: nothing is to be moved", path)
  elseif not payments[1] then
    report.bad_input("payouts: %s has no payment; give a line for each below the names of the columns", path)
  end
  return payments
end

-- Ends the command for an unexpected list: a copy may be cut.
local function expect(payments, options)
  if options.expect_count and #payments ~= options.expect_count then
    report.bad_input("payouts: the list has %s, and --expect-count says %d; nothing was sent",
      counted(#payments, "payment"), options.expect_count)
  end
  local sums = {}
  for _, payment in ipairs(payments) do
    local asset = payment.params.coin or payment.params.asset or ""
    sums[asset] = (sums[asset] or decimal "0") + (decimal(payment.params.amount or "") or decimal "0")
  end
  for _, pair in ipairs(options.expect_sum) do
    local sum = sums[pair[1]] or decimal "0"
    local wanted = decimal(pair[2]) or report.bad_input("payouts: --expect-sum takes ASSET=AMOUNT, not %s=%s", pair[1],
      pair[2])
    if sum:compare(wanted) ~= 0 then
      report.bad_input("payouts: the list pays %s %s, and --expect-sum says %s; nothing was sent", tostring(sum),
        pair[1], tostring(wanted))
    end
  end
  local last = payments[#payments]
  for _, pair in ipairs(options.expect_sum) do sums[pair[1]] = nil end
  if last and next(sums) == nil then last.cut = nil end -- the sum of each asset is as expected
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
  expect(payments or {}, options)
  if options.filter[1] then
    if not payments then report.bad_input "payouts: --filter makes a list smaller; give the file of a list" end
    payments, left_out = filtered(payments, options)
  end
  if at.queue then
    plan, err = at.queue:plan { payments = payments, unchecked = options.list.address_as_is }
  else
    plan, err = purser.payouts.plan(at.client, payments, { unchecked = options.list.address_as_is,
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
    report.bad_input("%s errors; nothing was sent", payments_plan.of_all(plan.bad, plan, "has", "have"))
  end
  if not plan.refused[1] then return end
  for _, line in ipairs(payments_plan.refused(plan, commands(options))) do report.say("%s", line) end
  report.bad_input "nothing was sent, nothing was changed"
end

local actions = { show = {}, plan = {}, run = {}, status = {}, report = {} }

-- A file is a plan; else the word is a payment's key.
function actions.show.look(options)
  if core.file_mode(options.what) then return { plan = approvals.read(options.what) } end
  if not options.journal then
    report.bad_input("payouts show: there is no file %s; for the payment of that key give --journal FILE", options.what)
  end
  local found = journals.found(connection.look_at_journal("payouts show", options.journal), options.what)
  if not found[1] then
    report.bad_input('payouts show: there is no file %s, and no payment has that key; `%s` lists them', options.what,
      commands(options) "report")
  end
  return { found = found }
end

function actions.show.say(screen, options)
  if screen.plan then return approvals.show(options, screen.plan) end
  journals.print(screen.found)
  return report.DONE
end

function actions.plan.look(options)
  local payments = options.file and read_list(options)
  local at = (payments and not payments.written and payouts_opened.open_for_plan or open)(options)
  return { at = at, payments = payments, plan = planned(options, at, payments) }
end

-- Returns the command that runs the planned list.
local function next_line(screen, options)
  local words = { "run", options.file }
  for _, name in ipairs { "operation", "decimal" } do
    if options.list[name] then words[#words + 1], words[#words + 2] = "--" .. name, options.list[name] end
  end
  for _, filter in ipairs(options.filter) do
    words[#words + 1], words[#words + 2] = "--filter", table.concat(filter, "=")
  end
  for _, path in ipairs(options.guard) do words[#words + 1], words[#words + 2] = "--guard", path end
  if options.expect_count then
    words[#words + 1], words[#words + 2] = "--expect-count", ("%d"):format(options.expect_count)
  end
  for _, sum in ipairs(options.expect_sum) do
    words[#words + 1], words[#words + 2] = "--expect-sum", table.concat(sum, "=")
  end
  if options.list.address_as_is then words[#words + 1] = "--address-as-is" end
  return commands(options)(unpack(words)) .. (screen.at.sources.is_named and "" or " --account NAME")
end

function actions.plan.say(screen, options)
  local plan = screen.plan
  if plan.bad == 0 and not plan.signed and connection.policy(options) then
    for _, note in ipairs(payments_plan.notes(plan)) do report.say("%s", note) end
    report.note("%s", payments_plan.sums(plan))
    return approvals.write_plan(options, screen.at, screen.payments and plan.payments or plan.send)
  end
  if output.is_table(options) then show_plan(plan, options) else
    output.print(payments_plan.TITLES, payments_plan.records(plan), options)
  end
  reject(plan, options)
  for _, total in ipairs(plan.totals) do
    if total.is_short then report.bad_input "the balance does not cover all payments; nothing was sent" end
  end
  if plan.odd > 0 then
    report.say("%s like a mistake (odd, above): --yes alone pays nothing, --yes --allow-odd does",
      payments_plan.of_all(plan.odd, plan, "looks", "look"))
  end
  report.note("next: %s", next_line(screen, options))
  if plan.wait and options.journal then
    report.note("its first payment leaves %s", payments_plan.leaves(plan.wait, not screen.at.queue))
  end
end

local STATES = { "total", "done", "waiting", "taken", "sent", "failed", "undecided", "blocked", "dropped" }

local function show_counts(counts, options)
  if options.format ~= "json" then
    return output.print(STATES, { counts }, { format = options.format })
  end
  local made = {}
  for _, name in ipairs(STATES) do made[name] = counts[name] end
  report.write(output.json(made, "  "))
end

-- Names the payments for a person, and the commands that end each.
local function say_open(screen, options)
  local at, counts = screen.at, screen.counts
  for _, state in ipairs { "failed", "undecided", "blocked" } do
    local list = state == "blocked" and counts.blocked_payments or counts[state] > 0 and at.queue:list(state) or {}
    for _, line in ipairs(payments_plan.outcomes(state, list, commands(options))) do report.say("%s", line) end
  end
  local over = counts.taken_over or {}
  if over[1] then
    report.note("%s of a process that ended (worker %s) taken over, the first %s: what may have been sent was looked "
      .. "for first", counted(#over, "payment"), over[1].worker, over[1].key)
  end
  local own = counts.of_run
  if own and own.waiting > own.blocked and counts.next_due_at then
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
  end
  if screen.came_back > 0 then
    report.say("%s cancelled later; `%s` shows that as arrival", counted(screen.came_back,
      "of %s that the service accepted failed or was", "of %s that the service accepted failed or were")
      :format(counted(counts.done, "payment")), commands(options) "report")
  elseif counts.total > 0 and counts.done + counts.dropped == counts.total then
    report.note("%s made; `%s` lists %s", counts.total == 1 and "the payment is"
      or ("all %d payments are"):format(counts.total), commands(options) "report", counts.total == 1 and "it" or "them")
  end
end

-- Ends an unattended command where a person has to decide.
local function check_unasked(plan, options, is_new)
  if plan.bad > 0 then show_plan(plan, options) end
  reject(plan, options)
  if plan.changed[1] then
    for line in payments_plan.changed(plan):gmatch "[^\n]+" do report.say("%s", line) end
    report.fail(report.NOT_SENT, "payouts: rows were changed, so nothing was sent; confirm them without --yes")
  end
  if plan.odd > 0 and not options.allow_odd then
    for _, line in ipairs(payments_plan.notes(plan, true)) do report.say("%s", line) end
    report.fail(report.NOT_SENT, "payouts: %s like a mistake, so nothing was sent; if all is right, give "
      .. "--allow-odd, or confirm without --yes", payments_plan.of_all(plan.odd, plan, "looks", "look"))
  end
  if plan.wait then report.note("the first payment leaves %s", payments_plan.leaves(plan.wait, is_new)) end
  for line in payments_plan.kept(plan, commands(options)):gmatch "[^\n]+" do report.say("%s", line) end
  for _, warning in ipairs(plan.shortages) do report.say("warning: %s", warning) end
end

local function confirm(screen, options)
  local plan = screen.plan
  show_plan(plan, options)
  reject(plan, options)
  if not plan.send[1] then return end
  local fields = { { "journal", options.journal }, { "queue", options.queue or "default" } }
  for _, warning in ipairs(plan.shortages) do fields[#fields + 1] = { "warning", warning } end
  fields[#fields + 1] = plan.wait and { "first payment", "leaves " .. payments_plan.leaves(plan.wait,
    screen.at.sources.is_draft) .. "; the time of this question counts" } or nil
  if plan.odd > 0 and not options.allow_odd then
    fields[#fields + 1] = { "warning",
      counted(plan.odd, "payment looks", "payments look") .. " like a mistake: see odd, above" }
  end
  report.ask(options, "This moves money", screen.at.sources, fields, payments_plan.question(plan))
end

-- Runs a confirmed plan. Returns the report; false where the queue changed since the screen. A new journal's plan has
-- the same screen, or is shown first.
local function run(screen, options)
  local at, plan = screen.at, screen.plan
  if not plan.send[1] then return got(at.queue:report()) end
  local since = plan.wait and plan.wait.since
  local is_begun, was_missing = at.begin()
  if is_begun then
    local shown = shown_of(plan, options)
    plan = planned(options, at, screen.payments)
    if shown_of(plan, options) ~= shown then return false end
    if was_missing and plan.wait then plan.wait.since = since end -- else another process made the journal meanwhile
    screen.plan = plan
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

-- Looks, or looks again where the queue changed since the screen before.
function actions.run.look(options, screen)
  if not screen then
    local payments = options.file and read_list(options)
    screen = { at = (payments and open or look)(options), payments = payments }
  end
  screen.plan = planned(options, screen.at, screen.payments)
  return screen
end

-- Returns the ends of the screen's rows: the rows of the list, without a file the rows of the queue that are not over.
-- Counts the queue's payments that the service accepted, and that were seen to fail or to be cancelled later.
local function ends_of(screen)
  local rows, state = {}, {}
  screen.came_back = 0
  for _, section in ipairs(screen.payments and { "send", "held", "made" } or { "send", "held", "left" }) do
    for _, row in ipairs(screen.plan[section]) do rows[#rows + 1] = row end
  end
  for _, payment in ipairs(got(screen.at.queue:list())) do
    state[payment.key] = payment.state
    local has_come_back = payment.arrival == "failed" or payment.arrival == "cancelled"
    screen.came_back = screen.came_back + (has_come_back and 1 or 0)
  end
  return ends.of_rows(rows, function(row) return state[row.key] end)
end

function actions.run.act(screen, options)
  if options.yes then check_unasked(screen.plan, options, screen.at.sources.is_draft) else confirm(screen, options) end
  screen.counts = run(screen, options)
  return screen.counts and ends_of(screen) or nil
end

function actions.run.say(screen, options, made)
  show_counts(screen.counts, options)
  say_open(screen, options)
  return ends.code(made)
end

function actions.status.look(options)
  local at = look(options)
  return { at = at, counts = got(at.queue:report()) }
end

function actions.status.say(screen, options)
  local at, counts = screen.at, screen.counts
  show_counts(counts, options)
  for _, each in ipairs(got(at.queue:runs())) do
    local worker = each.workers[1]
    report.note("run %s of %s%s: %s", each.number, each.person, each.source ~= "" and " (" .. each.source .. ")" or "",
      worker and ("worker %s, pid %s on %s"):format(worker.name, worker.pid, worker.host) or "nobody works on it")
  end
  if counts.sent > 0 then
    report.say("%s sent, and what came of that is not known yet: `%s` finds out",
      counted(counts.sent, "payment is", "payments are"), commands(options) "run")
  end
  return ends.code(ends.of_counts(counts))
end

local function sortable(key) return (key:gsub("%d+", function(part) return ("0"):rep(20 - #part) .. part end)) end

function actions.report.look(options) return got(look(options).queue:list()) end

function actions.report.say(list, options)
  table.sort(list, function(a, b) return sortable(a.key) < sortable(b.key) end)
  for i, payment in ipairs(list) do
    list[i] = payments_plan.record(payment, payment.state, payment.message)
    list[i].record_id, list[i].arrival = payment.record_id, payment.arrival
    local may = payment.candidates
    list[i].candidates = may and (options.format == "json" and json.list(may) or #may)
  end
  output.print(payouts_grammar.TITLES, list, options, nil, "payment")
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

-- Settles all undecided payments of the screen as not done. Returns their ends.
local function settle_all(screen, options)
  local at, by, shown = screen.at, report.person(options, "payouts"), screen.undecided
  local text, count = payments_plan.undecided(shown)
  if not shown[1] then report.note "no payment of the queue is undecided" return {} end
  report.write(text)
  report.ask(options, "This says that payments were not made", at.sources, { { "journal", options.journal },
    { "queue", options.queue or "default" }, { "by", by } }, ("Type yes if none was made of %s: "):format(count))
  local put_back, others = at.queue:retry_all(shown, { force = true, by = by })
  local left = got(at.queue:list "undecided")
  for i, payment in ipairs(left) do
    local err = others[payment.key]
    payment.message = err and report.sentence(err) or "it became undecided after the list was shown"
    screen.left[i] = "undecided"
  end
  for _, line in ipairs(payments_plan.outcomes("left undecided", left)) do report.say("%s", line) end
  report.note("%d of %d wait again; next: %s", #put_back, #shown, commands(options) "run")
  return screen.left
end

-- Ends the command where the words of `settle` are not whole.
local WHOLE = { ["key done made_as"] = true, ["key not_done"] = true, all = true }
local function check_words(options)
  local form = {}
  for _, name in ipairs { "key", "word", "made_as", "all" } do
    if options[name] ~= nil then form[#form + 1] = name == "word" and options.word or name end
  end
  if not WHOLE[table.concat(form, " ")] then
    report.bad_input "payouts settle: give KEY done with the id that the service shows, KEY not_done, or --all not_done"
  end
end

local act_on = {}

function act_on.look(options)
  local at = open(options)
  local found, err = at.queue:find(options.key)
  if found == nil then fail(err) end
  if not found then
    report.bad_input('payouts %s: no payment has the key "%s"; `%s` lists them', options.action, options.key,
      commands(options) "report")
  end
  return { at = at, found = found }
end

-- Ends the command with the error of an act on one payment.
local function refuse(why, key, options)
  local text = report.sentence(why):gsub("the option force = true says so", ("`%s` says so"):format(
    commands(options)("settle", key, "not_done")))
  local code = why.code == "payouts.done" and report.DONE or why.outcome == "unknown" and report.UNKNOWN
  report.fail(code or report.BAD_INPUT, "%s", text)
end

function act_on.act(screen, options)
  local act, found, at = acts[options.action], screen.found, screen.at
  local function not_taken(state)
    report.bad_input('payouts %s: payment "%s" is %s; only one that %s is %s', options.action, found.key, state,
      act[2], act[3])
  end
  if found.state == "done" then not_taken "done" end
  local by = options.action ~= "retry" and report.person(options, "payouts")
  candidates.show(found.operation, found.candidates)
  report.ask(options, act[1], at.sources, { { "payment", found.key }, { "pays", payments_plan.pays(found) },
    { "state", found.state }, { "message", found.message or "" },
    { "looks", options.word and "no: you say " .. options.word or "yes, whether it was made" } })
  local done, why = act[5](at, found, options, by)
  if done == nil then refuse(why, found.key, options) end
  if not done then not_taken(got(at.queue:find(found.key)).state) end
  return {}
end

function act_on.say(_, options, made)
  report.note("next: %s", commands(options)(acts[options.action][4]))
  return ends.code(made)
end

actions.retry, actions.drop, actions.settle = act_on, act_on, {}

function actions.settle.look(options)
  check_words(options)
  if options.key then return act_on.look(options) end
  local at = look(options)
  return { at = at, undecided = got(at.queue:list "undecided"), left = {} }
end

function actions.settle.act(screen, options)
  return (screen.undecided and settle_all or act_on.act)(screen, options)
end

function actions.settle.say(screen, options, made)
  return screen.undecided and ends.code(made) or act_on.say(screen, options, made)
end

M.actions = actions

return M

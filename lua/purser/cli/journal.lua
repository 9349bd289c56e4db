-- SPDX-License-Identifier: MIT
-- `purser journal ACTION --journal FILE`; see docs/write/journal.md.

local connection = require "purser.cli.connection"
local grammar = require "purser.cli.grammar"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

local TITLES = { "sent", "state", "operation", "key", "amount", "asset", "to", "record", "id" }
local LOGGED = { "at", "who", "tool", "reference", "outcome" }
local RECOVERED = { "outcome", "operation", "amount", "id", "reason" }

local BY = grammar.BY

function M.grammar()
  local function looks(titles)
    return function()
      local journal = { "Safety", connection.journal_option "The journal: a file of SQLite, or postgresql:DATABASE." }
      return titles and output.group(titles) or journal, titles and journal
    end
  end
  return grammar.actions("journal", "What a journal holds.", {
    { "list", "List the write calls, oldest first.", {}, "--journal pay.db --state open", {
      { "--state", "<state>", "Calls in this state alone.",
        choices = { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" } },
      { "--limit", "<n>", "At most so many, the oldest (all)." } }, looks(TITLES) },
    { "show", "Show everything about one call, as JSON.", { { "id", "The id or the key that list prints." } },
      "inv-17 --journal pay.db", {}, looks() },
    { "recover", "Look what became of the calls that a crash or a lost answer left open; needs the keys.", {},
      "--journal pay.db", {}, function() return output.group(RECOVERED), connection.safety, connection.service end },
    { "settle", "Say what became of a call that nobody finds out: it was made, as this record, or it was not, and its "
      .. "key is free again.", { { "id", "The id that list prints." },
        { "word", "done or not_done.", choices = { "done", "not_done" } },
        { "record", "Of one that was made: the id that the service shows.", optional = true } },
      "4VhlA9pIcLzvt9eIpwv4jYq9 not_done --journal pay.db", { BY }, looks() },
    { "vouch", "Say that an API key, by its digest, is of the journal's account: where the service does not say.",
      { { "identity", "The digest, as an error prints it." } }, "5d41402abc4b2a76 --journal pay.db", { BY }, looks() },
    { "rename", "Say that the journal's account has another name.", { { "name", "The new name." } },
      "treasury --journal pay.db", { BY }, looks() },
    { "moved", "Say that the journal's service has another host: calls of the old one are looked for there.",
      { { "host", "The new host, without https://." } }, "api.mexc.com --journal pay.db", { BY }, looks() },
    { "limit", "Say that the account has another spending limit of an asset, or none.",
      { { "asset", "The asset, as USDT." },
        { "amount", "What may be spent in a period, or none." } }, "USDT 10000 --journal pay.db",
      { { "--period-ms", "<n>", "The limit's period, where there are several." }, BY }, looks() },
    { "log", "List the messages that agents sent, and how each ended.", {}, "--journal pay.db --json", {},
      looks(LOGGED) },
  })
end

local function open(options)
  local path = options.journal or report.bad_input "journal: the file is missing; give --journal FILE"
  return connection.look_at_journal("journal", path)
end

function M.record_of(entry)
  local intent, params, record = entry.intent, entry.intent.params or {}, entry.record or {}
  return { sent = intent.sent_at, state = entry.state, operation = intent.operation,
    key = entry.key, amount = params.amount, asset = params.coin or params.asset,
    record = record.id or record.tranId, id = intent.id, entry = entry,
    to = params.address or params.toAccount or params.subAccount }
end

local function whole(entry)
  local intent = entry.intent
  return { id = intent.id, sent_at = intent.sent_at, state = entry.state, operation = intent.operation,
    arrival = entry.arrival, key = entry.key, params = intent.params or {}, record = entry.record,
    message = entry.message, earlier = entry.earlier }
end

local actions = {}

function actions.log(options)
  report.write(output.rows(LOGGED, report.must(open(options):logged()), options), options.raw)
end

local PAGE = 500 -- entries that are in memory at once

local function each_page(options, write)
  local journal, left, after, page, asked = open(options), options.limit or math.huge -- luacheck: ignore
  repeat
    asked = math.min(PAGE, left)
    local err
    page, err = journal:entries { state = options.state, limit = asked, after = after }
    if not page then terminal.settings.has_output = nil end -- it is not whole
    report.must(page, err)
    left, after = left - #page, page[#page]
    for i, entry in ipairs(page) do page[i] = M.record_of(entry) end
    write(page)
  until #page < asked or left == 0
end

-- CSV and JSON are written page by page; a table has to be whole for the width of its columns.
function actions.list(options)
  local records, is_first = {}, true
  local function write(text)
    report.write(text, options.raw)
    is_first = false
  end
  local function as_csv(page)
    local text = output.rows(TITLES, page, options)
    write(is_first and text or text:gsub("^[^\n]*\n", "", 1))
  end
  local function as_json(page)
    local list = output.passing(TITLES, page, options)
    for i, record in ipairs(list) do list[i] = whole(record.entry) end
    if list[1] then write((is_first and "[\n" or ",\n") .. output.json(list, "  "):match "^%[\n(.*)\n%]\n$") end
  end
  local function as_table(page)
    for _, record in ipairs(page) do records[#records + 1] = record end
  end
  each_page(options, ({ csv = as_csv, json = as_json, table = as_table })[options.format])
  if options.format == "table" then write(output.rows(TITLES, records, options)) end
  if options.format == "json" then write(is_first and "[]\n" or "\n]\n") end
end

function actions.show(options)
  local journal = open(options)
  local entries = report.must(journal:entries { id = options.id })
  if not entries[1] then entries = report.must(journal:entries { key = options.id }) end
  if not entries[1] then
    report.bad_input("journal show: no call has the id or the key %s; `purser journal list%s` prints them, and `purser "
      .. "payouts report` the ids of payments", options.id, connection.words(options))
  end
  for _, entry in ipairs(entries) do report.write(output.json(whole(entry), "  ")) end
end

function actions.settle(options)
  local journal = open(options)
  local entry = report.must(journal:entries { id = options.id })[1]
  if entry and entry.queue then
    report.bad_input("journal settle: the call is a payment of the queue %s; `purser payouts settle KEY %s` settles it",
      entry.queue, options.word)
  end
  local by = report.person(options, "journal")
  report.must(journal:settle(options.id, { outcome = options.word, by = by, record_id = options.record }))
  report.note("%s is %s, as %s said", options.id, options.word, by)
end

function actions.vouch(options)
  local by = report.person(options, "journal")
  report.must(open(options):vouch(options.identity, by))
  report.note('the key "%s" is of the account, as %s said', options.identity, by)
end

function actions.rename(options)
  local by = report.person(options, "journal")
  report.must(open(options):rename(options.name, by))
  report.note('the journal is of the account "%s", as %s said', options.name, by)
end

function actions.moved(options)
  local by = report.person(options, "journal")
  report.must(open(options):moved(options.host, by))
  report.note("the journal's service is at %s, as %s said", options.host, by)
end

function actions.limit(options)
  local amount, person = options.amount ~= "none" and options.amount or nil, report.person(options, "journal")
  report.must(open(options):limit({ asset = options.asset, amount = amount, by = person,
    period_ms = options.period_ms }))
  report.note("the limit is %s %s, as %s said", options.amount, options.asset, person)
end

-- Names the queues with payments that are sent or undecided. Returns whether there are any.
local function tell_of_payments(journal, options)
  local has_any = false
  for _, queue in ipairs(report.must(purser.payouts.queues(journal))) do
    if queue.sent + queue.undecided > 0 then
      has_any = true
      local words = connection.words(options)
        .. (queue.queue ~= "default" and " --queue " .. values.shell_word(queue.queue) or "")
      report.say('the queue "%s" has %d payments that are sent and %d undecided: `purser payouts '
        .. 'run%s` finds out about those that are sent, `purser payouts report%s` lists all', queue.queue,
        queue.sent, queue.undecided, words, words)
    end
  end
  return has_any
end

function actions.recover(options)
  open(options):close()
  local client, sources = connection.open(options)
  local found, is_open = report.must(sources.journal:recover(client)), false
  for i, call in ipairs(found) do
    local answer = call.answer or { outcome = "unknown", reason = call.err and call.err.message }
    found[i] = { outcome = answer.outcome, reason = answer.reason, operation = call.intent.operation,
      amount = call.intent.params.amount, id = call.intent.id }
    is_open = is_open or answer.outcome ~= "done" and answer.outcome ~= "not_done"
  end
  local has_payments = tell_of_payments(sources.journal, options)
  local empty = has_payments and "no single call is open\n" or "nothing is open\n"
  report.write(output.rows(RECOVERED, found, options, empty), options.raw)
  return (is_open or has_payments) and report.UNKNOWN or report.DONE
end

function M.start(options) return actions[options.action](options) end

return M

-- SPDX-License-Identifier: MIT
-- `purser journal ACTION --journal FILE`; see docs/write/journal.md.

local candidates = require "purser.cli.candidates"
local connection = require "purser.cli.connection"
local ends = require "purser.cli.ends"
local grammar = require "purser.cli.grammar"
local lazy = require "purser.client.util.lazy"
local json = require "purser.json"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local purser = lazy "purser"

local M = {}

local TITLES = { "sent_at", "state", "operation", "key", "amount", "asset", "to", "record_id", "id" }
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
    { "show", "Show everything about one call or payment, as JSON, with the records that an undecided one may be.",
      { { "id", "The id or the key that list prints, or the key of a payment." } }, "inv-17 --journal pay.db", {},
      looks() },
    { "recover", "Look what became of the calls that a crash or a lost answer left open; needs the keys.", {},
      "--journal pay.db", {}, function() return output.group(RECOVERED), connection.safety, connection.service end },
    { "settle", "Say what became of a call whose end cannot be found: it was made, as this record, or not, and its "
      .. "key is free again.", { { "id", "The id that list prints." },
        { "word", "done or not_done.", choices = { "done", "not_done" } },
        { "record", "Of one that was made: the id that the service shows.", optional = true } },
      "4VhlA9pIcLzvt9eIpwv4jYq9 not_done --journal pay.db", { BY }, looks(), does = "send" },
    { "vouch", "Say that an API key, by its digest, is of the journal's account: where the service does not say.",
      { { "identity", "The digest, as an error prints it." } }, "5d41402abc4b2a76 --journal pay.db", { BY }, looks(),
      does = "send" },
    { "rename", "Say that the journal's account has another name.", { { "name", "The new name." } },
      "treasury --journal pay.db", { BY }, looks(), does = "send" },
    { "moved", "Say that the journal's service has another host: calls of the old one are looked for there.",
      { { "host", "The new host, without https://." } }, "api.mexc.com --journal pay.db", { BY }, looks(),
      does = "send" },
    { "limit", "Say that the account has another spending limit of an asset, or none.",
      { { "asset", "The asset, as USDT." },
        { "amount", "What may be spent in a period, or none." } }, "USDT 10000 --journal pay.db",
      { { "--period", "<duration>", "The limit's period, where there are several: 24h.", target = "period_ms" },
        BY }, looks(), does = "send" },
    { "log", "List the messages that agents sent, and how each ended.", {}, "--journal pay.db --json", {},
      looks(LOGGED) },
  }, nil, { { "--journal", " FILE (or PURSER_JOURNAL)" } })
end

local function open(options)
  return connection.look_at_journal("journal", options.journal)
end

function M.record_of(entry)
  local intent, params, record = entry.intent, entry.intent.params or {}, entry.record or {}
  return { sent_at = intent.sent_at, state = entry.state, operation = intent.operation,
    key = entry.key, amount = params.amount, asset = params.coin or params.asset,
    record_id = record.id or record.tranId, id = intent.id, entry = entry,
    to = params.address or params.toAccount or params.subAccount }
end

function M.whole(entry)
  local intent = entry.intent
  return { id = intent.id, sent_at = intent.sent_at > 0 and intent.sent_at or nil, state = entry.state,
    operation = intent.operation, arrival = entry.arrival, key = entry.key or entry.payment, queue = entry.queue,
    params = intent.params or {}, record = entry.record, message = entry.message, earlier = entry.earlier,
    candidates = entry.candidates and json.list(entry.candidates) }
end

local actions = {}

-- Steps of an action that shows something.
local function showing(say) return { say = function(_, options) return say(options) end } end

actions.log = showing(function(options)
  output.print(LOGGED, report.must(open(options):logged()), options)
end)

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
actions.list = showing(function(options)
  local records, is_first = {}, true
  local function write(text)
    output.write(text, options)
    is_first = false
  end
  local function as_csv(page)
    local text = output.rows(TITLES, page, options)
    write(is_first and text or text:gsub("^[^\n]*\n", "", 1))
  end
  local function as_json(page)
    local list = output.passing(TITLES, page, options)
    for i, record in ipairs(list) do list[i] = M.whole(record.entry) end
    if list[1] then write((is_first and "[\n" or ",\n") .. output.json(list, "  "):match "^%[\n(.*)\n%]\n$") end
  end
  local function as_table(page)
    for _, record in ipairs(page) do records[#records + 1] = record end
  end
  each_page(options, ({ csv = as_csv, json = as_json, table = as_table })[options.format])
  if options.format == "table" then write(output.rows(TITLES, records, options)) end
  if options.format == "json" then write(is_first and "[]\n" or "\n]\n") end
end)

--- Returns the calls of an id or a key, as records for programs; {} for none.
function M.found(journal, text)
  for _, name in ipairs { "id", "key", "payment" } do
    local entries = report.must(journal:entries { [name] = text })
    for i, entry in ipairs(entries) do entries[i] = M.whole(entry) end
    if entries[1] then return entries end
  end
  return {}
end

--- Prints calls as JSON, and beside it, as a table, the likest records that an undecided one may be.
function M.print(entries)
  for _, entry in ipairs(entries) do
    report.write(output.json(entry, "  "))
    candidates.show(entry.operation, entry.candidates)
  end
end

actions.show = showing(function(options)
  local entries = M.found(open(options), options.id)
  if not entries[1] then
    report.bad_input("journal show: no call and no payment has the id or the key %s; `purser journal list%s` prints "
      .. "those of calls, and `purser payouts report` those of payments", options.id, connection.words(options))
  end
  M.print(entries)
end)

-- Steps of an action by which a person says something: the look, what is written, and the text afterwards.
local function saying(write, text_of, look)
  return {
    look = function(options)
      local journal = open(options)
      if look then look(journal, options) end
      return { journal = journal, by = report.person(options, "journal") }
    end,
    act = function(screen, options)
      report.must(write(screen.journal, options, screen.by))
      return { "made" }
    end,
    say = function(screen, options, made)
      report.note("%s, as %s said", text_of(options), screen.by)
      return ends.code(made)
    end,
  }
end

actions.settle = saying(function(journal, options, by)
  return journal:settle(options.id, { outcome = options.word, by = by, record_id = options.record })
end, function(options) return options.id .. " is " .. options.word end, function(journal, options)
  local entry = report.must(journal:entries { id = options.id })[1]
  if entry and entry.queue then
    report.bad_input("journal settle: the call is a payment of the queue %s; `purser payouts settle KEY %s` settles it",
      entry.queue, options.word)
  end
end)

actions.vouch = saying(function(journal, options, by) return journal:vouch(options.identity, by) end,
  function(options) return ('the key "%s" is of the account'):format(options.identity) end)

actions.rename = saying(function(journal, options, by) return journal:rename(options.name, by) end,
  function(options) return ('the journal is of the account "%s"'):format(options.name) end)

actions.moved = saying(function(journal, options, by) return journal:moved(options.host, by) end,
  function(options) return "the journal's service is at " .. options.host end)

actions.limit = saying(function(journal, options, by)
  return journal:limit { asset = options.asset, amount = options.amount ~= "none" and options.amount or nil, by = by,
    period_ms = options.period_ms }
end, function(options) return ("the limit is %s %s"):format(options.amount, options.asset) end)

-- Names the queues with payments that are sent or undecided. Returns whether there are any.
local function tell_of_payments(journal, options)
  local has_any = false
  for _, queue in ipairs(report.must(purser.payouts.queues(journal))) do
    if queue.sent + queue.undecided > 0 then
      has_any = true
      local words = connection.words(options)
        .. (queue.queue ~= "default" and " --queue " .. values.shell_word(queue.queue) or "")
      report.say('the queue "%s" has %s: sent %d, undecided %d; `purser payouts run%s` finds out '
        .. 'about what is sent, `purser payouts report%s` lists all', queue.queue,
        plain_text.counted(queue.sent + queue.undecided, "open payment"), queue.sent, queue.undecided, words, words)
    end
  end
  return has_any
end

actions.recover = showing(function(options)
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
  output.print(RECOVERED, found, options, empty)
  return (is_open or has_payments) and report.UNKNOWN or report.DONE
end)

M.actions = actions

return M

-- SPDX-License-Identifier: MIT
-- `purser books ACTION`: a person's words on the books, gaps and waiting events. `purser statement`: a span of them.
-- `purser sync`: reads every history that the keys may read into them. See docs/desk/books.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local grammar = require "purser.cli.grammar"
local output = require "purser.cli.output"
local purser = lazy "purser"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local vaults = lazy "purser.desk.fleet.vault"

local M = {}

local BOOKS = { "--books", "<database>", "The books: sqlite:FILE or postgresql:DATABASE. Or set PURSER_BOOKS.",
  reads = "books" }

local ACCOUNT = { "--account", "<name>", "Name of the account, as `purser sync` has it; or set PURSER_ACCOUNT." }

local ZONE = { "--zone", "<name>", "Whose days count: UTC (default), +02:00 or Europe/Berlin.", into = "opening" }

-- Returns the account's name in the books, whose names have the form of hledger's: "Treasury-2" of treasury_2.
local function name_in_books(name)
  if name == nil or name == "default" then return nil end -- of keys without a name
  local plain = name:gsub("%W+", "-"):gsub("^%-", "")
  return plain:find "^%a" and plain:gsub("^%l", string.upper) or "Account-" .. plain
end

--- Opens the books in the database that is named.
---@param account string|nil  as a person names it; nil: PURSER_ACCOUNT, or the one without a name
function M.open(text, account, more)
  text = text or credentials.variable "PURSER_BOOKS"
  local options = text and values.store(text)
  if not options or options.redis then
    -- the text is not quoted: it may hold a password
    report.bad_input("%s; give --books sqlite:FILE or postgresql:DATABASE, or set PURSER_BOOKS",
      text and ('"%s" names no books'):format(text:gsub(":.*", ":...")) or "no books are named")
  end
  for name, value in pairs(more) do options[name] = value end
  options.account = name_in_books(account or credentials.variable "PURSER_ACCOUNT")
  return report.must(purser.books.open(options))
end

local GAPS = { "owner", "list", "from", "to", "why" }
local DELIVERIES = { "receiver", "waiting", "since", "error" }

function M.grammar()
  local own, withdrawal = { BOOKS, ACCOUNT }, { "withdrawal", "Its id in a statement." }
  local function nothing() end
  return grammar.actions("books", "Say what the service no longer shows, and look at what is open.", {
    { "settle", "Say how a record ended that is out of sight.", { { "record", "Its id in a statement." },
      { "word", "success or failed.", choices = { "success", "failed" } } }, "766a... success", own, nothing,
      does = "send" },
    { "match", "Say that a withdrawal and a deposit are the two sides of a transfer between own accounts.",
      { withdrawal, { "deposit", "Its id in a statement." } }, "766a... 21f0...", own, nothing, does = "send" },
    { "outside", "Say that a withdrawal went to somebody else.", { withdrawal }, "766a...", own, nothing,
      does = "send" },
    { "close", "Close what lies before a day.", { { "day", "As 2026-11-01." } }, "2026-11-01", { own[1], own[2], ZONE,
      { "--unread", nil, "Close days that were not read, too." } }, nothing, does = "send" },
    { "gaps", "Show what could not be read.", {}, "--json", own, function() return output.group(GAPS) end },
    { "deliveries", "Show what waits for each receiver.", {}, "--json", own,
      function() return output.group(DELIVERIES) end },
    { "receivers", "Forget a receiver.", { { "verb", "drop.", choices = { "drop" } }, { "name", "The receiver." } },
      "drop crm", own, nothing, does = "send" },
  })
end

local function opened(options) return M.open(options.books, options.account, options.opening or {}) end

-- Steps of an action on the opened books.
local function on_books(step, is_write)
  local function run(books, options)
    step(books, options)
    books:close()
  end
  return {
    look = opened,
    act = is_write and function(books, options)
      run(books, options)
      return { "made" }
    end or nil,
    say = function(books, options)
      if not is_write then run(books, options) end
      return report.DONE
    end,
  }
end

local actions = {}

actions.settle = on_books(function(books, o) report.must(books:settle(o.record, o.word)) end, true)
actions.match = on_books(function(books, o) report.must(books:match(o.withdrawal, o.deposit)) end, true)
actions.outside = on_books(function(books, o) report.must(books:outside(o.withdrawal)) end, true)
actions.close = on_books(function(books, o) report.must(books:close_before(o.day, o)) end, true)

local function date(time) return time ~= "" and time and purser.utc.text(math.floor(tonumber(time))):sub(1, 10) end

actions.gaps = on_books(function(books, options)
  local gaps, least = report.must(books:gaps())
  for _, gap in ipairs(gaps) do gap.from, gap.to = date(gap.starts) or nil, date(gap.ends) or "now" end
  output.print(GAPS, gaps, options, least and ("all was read up to %s (%s, %s)\n"):format(
    books.days:minute(least.read_to), least.owner, least.list))
end)

actions.deliveries = on_books(function(books, options)
  local rows = report.must(books:events())
  for _, row in ipairs(rows) do row.since = date(row.since) or nil end
  output.print(DELIVERIES, rows, options, "there is no receiver\n")
end)

actions.receivers = on_books(function(books, o) report.must(books:events { forget = o.name }) end, true)

M.actions = actions

local FORMATS = { "hledger", "beancount", "csv", "jsonl", "rotki", "html" }

M.statement = {}

function M.statement.grammar()
  return {
    text = "Write a statement of a span: double entry, reconciled with every quiet reading of a balance.\n"
      .. "The same books, revision and span give the same bytes. With --check the exit code is 1 where something is "
      .. "open, unexplained or unread.",
    { "Options", BOOKS, ACCOUNT,
      { "--from", "<day>", "The first day, or a time: 2026-10-01.", required = true, into = "span" },
      { "--to", "<day>", "The first day that does not count.", required = true, into = "span" }, ZONE,
      { "--format", "<format>", "hledger (ledger, too), beancount, csv, jsonl, rotki or html.", choices = FORMATS,
        default = "hledger", into = "span" },
      { "--fee", "<place>", "Where the fee of a withdrawal is booked when neither a deposit nor a balance shows it: "
        .. "on_top (default) or inside.", choices = { "on_top", "inside" }, into = "opening" },
      { "--rev", "<n>", "The books as they were at this revision.", into = "span" },
      { "--compare", "<n>", "Print only the lines that differ from this revision." },
      { "--check", "End with 1 where the statement needs a person." },
      { "--output", "<file>", "File for the result, written whole or not at all." } },
    connection.messages,
  }
end

local function difference(old, new)
  local out = {}
  for _, side in ipairs { { "- ", old, new }, { "+ ", new, old } } do
    local counts = {}
    for line in side[3]:gmatch "[^\n]+" do counts[line] = (counts[line] or 0) + 1 end
    for line in side[2]:gmatch "[^\n]+" do
      counts[line] = (counts[line] or 0) - 1
      if counts[line] < 0 then out[#out + 1] = side[1] .. line .. "\n" end
    end
  end
  return table.concat(out)
end

function M.statement.say(_, options)
  local books, span = opened(options), options.span
  local function statement(rev, write)
    return report.must(books:statement { from = span.from, to = span.to, format = span.format, rev = rev,
      write = write })
  end
  local function write(text) report.write(text, true) end
  if not books:each()() then report.say("the books hold no record of %s; --account names another", books.account) end
  local text, made = statement(span.rev, not options.compare and write or nil)
  if options.compare then write(difference(statement(options.compare), text)) end
  books:close()
  local is_unread = made.ahead and tonumber(made.to) <= core.now_ms() and 1 or 0 -- an ended span
  local needs = #made.open + #made.unexplained + #made.gaps + #made.unread + #made.negative + is_unread
  return options.check and needs > 0 and report.REJECTED or report.DONE
end

local BUDGET_MS = 20000 -- for receivers between two readings

M.sync = {}

function M.sync.grammar()
  return {
    text = "Read every history that the keys may read into the books, from where they were read to, and once more what "
      .. "may still change.\nExit code 0: all that was due was read; 1: the service rejected a list; 3: one could not "
      .. "be read; 5: an event waits for a receiver. What was not read is a gap of each statement.",
    { "Options", BOOKS,
      { "--secrets", "<file>", "File with the keys of sub-accounts, as `purser fleet --secrets` writes it." },
      { "--addresses", "<coins>", "Read the deposit addresses of these coins, too, as USDT,BTC: money sent there is in "
        .. "transit; and the saved withdrawal addresses.", into = "reading", target = "address_coins",
        convert = function(text)
          local coins = {}
          for coin in text:gmatch "[^,%s]+" do coins[#coins + 1] = coin end
          return coins
        end },
      connection.journal_option("Journal of the calls that are made here: what they change is read soon, and payments "
        .. "under way are in statements."),
      { "--sub-journal", "<name=value>", "Journal of a sub-account's own calls, as desk1=FILE.", many = true },
      { "--every", "<duration>", "Go on, and read each owner so often while something happens there: 60s, 5m.",
        into = "reading", target = "every_ms" },
      values.since "From when on the first reading reads; default 180d.", ZONE,
      { "--again", "The books were put back from a copy: go on, with revisions that were never given." },
      { "--json", "The result as JSON." } },
    receivers.options(), connection.service, connection.messages,
  }
end

-- Returns a client for each key of the file, by sub-account; all share the limit of the first.
local function clients_of(options, shared)
  if not options.secrets then return nil end
  local function must(value, problem) return value or report.bad_input("--secrets %s", tostring(problem)) end
  local vault, clients = must(vaults.open(options.secrets, { read_only = true })), {}
  for _, key in ipairs(must(vault:list())) do -- a later key replaces an earlier one
    local keys = must(vault:keys(key.api_key))
    keys.base_url, keys.profile = shared.base_url, shared.profile
    keys.rate_limit, keys.timeout_ms = shared.rate_limit, options.client.timeout_ms
    if key.account then clients[key.account] = must(purser.new(keys)) end
  end
  return clients
end

local function journals_of(options)
  local journals = {}
  for _, pair in ipairs(options.sub_journal) do journals[pair[1]] = connection.look_at_journal("sync", pair[2]) end
  return journals
end

local function open_for_sync(options)
  connection.may_lack_journal("sync", options)
  local client, sources = connection.open(options, { shares_limit = true })
  local reading = options.reading
  reading.client, reading.keys, reading.receivers = client, clients_of(options, sources), receivers.of(options)
  reading.journal, reading.journals, reading.zone = sources.journal, journals_of(options), options.opening.zone
  reading.address_coins = reading.address_coins or {}
  reading.since_ms = options.since and core.now_ms() - options.since
  return M.open(options.books, sources.is_named and sources.account or "default", reading), client
end

-- Reads once. Returns the exit code, and when an owner is due again.
local function once(books, options, is_due, is_again)
  local function progress(owner, at, of) report.note("%d of %d: %s", at, of, owner) end
  local done, err = books:sync { due = is_due, again = is_again, progress = core.is_terminal(2) and progress or nil }
  if not done then return report.failure({ effect = "read" }, {}, err), nil end
  local code = report.DONE
  for _, problem in ipairs(done.problems) do
    report.check_interrupted(problem.message)
    local is_key = problem.list == "key" -- its gap is in every statement: cron need not mail it each time
    if not (is_key and terminal.settings.quiet) then
      report.say("%s: %s was not read: %s", problem.owner, problem.list, problem.message)
    end
    if not is_key then code = math.max(code, problem.is_rejected and report.REJECTED or report.NOT_SENT) end
  end
  report.must(books:deliver { budget_ms = is_due and BUDGET_MS or nil })
  local waits = receivers.say_waiting(report.must(books:events()), receivers.of(options),
    "purser books receivers drop %s")
  if code == report.DONE then code = waits end
  if done.owners > 0 or not is_due then
    report.write(options.json and output.json { owners = done.owners, changes = done.changes,
      problems = json.list(done.problems) }
      or ("owners read: %d; records that are new or changed: %d\n"):format(done.owners, done.changes))
  end
  return code, done.next_due
end

function M.sync.say(_, options)
  local books, client = open_for_sync(options)
  local every = options.reading.every_ms
  local code, due = once(books, options, every ~= nil, options.again)
  while every and (due or code == report.NOT_SENT) do
    client:sleep(math.max(1000, math.min(60000, (due or client:now() + 60000) - client:now())))
    code, due = once(books, options, true)
  end
  books:close()
  return code
end

return M

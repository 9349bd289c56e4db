-- SPDX-License-Identifier: MIT
-- `purser sync --to DB`: reads every history that the keys at hand may read into the books; see docs/desk/books.md.

local books_command = require "purser.cli.books"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local purser = lazy "purser"
local vaults = lazy "purser.desk.fleet.vault"

local M = {}

local BUDGET_MS = 20000 -- for receivers between two readings

function M.grammar()
  return {
    text = "Read every history that the keys may read into the books, from where they were read to, and once more what "
      .. "may still change.\nExit code 0: all that was due was read; 1: the service rejected a list; 3: one could not "
      .. "be read; 5: an event waits for a receiver. What was not read is a gap of each statement.",
    { "Options", books_command.database_option "--to",
      { "--keys", "<file>", "File with the keys of sub-accounts, as `purser fleet --secrets` writes it." },
      { "--addresses", "<coins>", "Read the deposit addresses of these coins, too, as USDT,BTC: money sent there is in "
        .. "transit; and the saved withdrawal addresses." },
      connection.journal_option("Journal of the calls that are made here: what they change is read soon, and payments "
        .. "under way stand in statements."),
      { "--every", "<duration>", "Go on, and read each owner so often while something happens there: 60s, 5m." },
      { "--since", "<duration>", "How far back the first reading goes; default 180d." },
      { "--json", "The result as JSON." } },
    receivers.options(), connection.service, connection.messages,
  }
end

-- Returns a client for each key of the file, by sub-account; all share the limit of the first.
local function clients_of(options, shared)
  if not options.keys then return nil end
  local function must(value, problem) return value or report.bad_input("--keys %s", tostring(problem)) end
  local vault, clients = must(vaults.open(options.keys, { read_only = true })), {}
  for _, key in ipairs(must(vault:list())) do -- a later key replaces an earlier one
    local keys = must(vault:keys(key.api_key))
    keys.base_url, keys.profile = shared.base_url, shared.profile
    keys.rate_limit, keys.timeout_ms = shared.rate_limit, options.timeout
    if key.account then clients[key.account] = must(purser.new(keys)) end
  end
  return clients
end

local function open(options)
  local coins = {}
  for coin in (options.addresses or ""):gmatch "[^,%s]+" do coins[#coins + 1] = coin end
  if options.journal then connection.need_journal("sync", options.journal) end
  local client, sources = connection.open(options, { shares_limit = true })
  return books_command.open(options.to, sources.is_named and sources.account or "default", { client = client,
    keys = clients_of(options, sources), receivers = receivers.of(options), journal = sources.journal,
    address_coins = coins, every_ms = options.every, since_ms = options.since }), client
end

local function say_progress(owner, at, of)
  if terminal.settings.quiet or not core.is_terminal(2) then return end
  terminal.say("%d of %d: %s", at, of, owner)
end

-- Reads once. Returns the exit code, and when an owner is due again.
local function once(books, options, is_due)
  local done, err = books:sync { due = is_due, progress = say_progress }
  if not done then return report.failure({ effect = "read" }, {}, err), nil end
  local code = report.DONE
  for _, problem in ipairs(done.problems) do
    local is_key = problem.list == "key" -- its gap is in every statement: cron need not mail it each time
    if not (is_key and terminal.settings.quiet) then
      report.say("%s: %s was not read: %s", problem.owner, problem.list, problem.message)
    end
    if not is_key then code = math.max(code, problem.is_rejected and report.REJECTED or report.NOT_SENT) end
  end
  report.must(books:deliver { budget_ms = is_due and BUDGET_MS or nil })
  local waits = receivers.say_waiting(report.must(books:events()), receivers.of(options),
    "purser books events --forget %s")
  if code == report.DONE then code = waits end
  if done.owners > 0 or not is_due then
    report.write(options.json and output.json { owners = done.owners, changes = done.changes,
      problems = json.list(done.problems) }
      or ("owners read: %d; records that are new or changed: %d\n"):format(done.owners, done.changes))
  end
  return code, done.next_due
end

function M.start(options)
  local books, client = open(options)
  local code, due = once(books, options, options.every ~= nil)
  while options.every and (due or code == report.NOT_SENT) do
    client:sleep(math.max(1000, math.min(60000, (due or client:now() + 60000) - client:now())))
    code, due = once(books, options, true)
  end
  books:close()
  return code
end

return M

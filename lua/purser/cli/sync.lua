-- SPDX-License-Identifier: MIT
-- `purser sync --to DB`: reads every history that the keys at hand may read into the books; see docs/sync.md.

local books_command = require "purser.cli.books"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local purser = lazy "purser"
local vaults = lazy "purser.fleet.vault"

local M = {}

function M.grammar()
  return {
    text = "Read every history that the keys may read into the books, from where they were read to, and once more what "
      .. "may still change.\nExit code 0: all that was due was read; 1: the service rejected a list; 3: one could not "
      .. "be read. What was not read is a gap of each statement.",
    { "Options", books_command.database_option "--to",
      { "--keys", "<file>", "File with the keys of sub-accounts, as `purser fleet --secrets` writes it." },
      { "--addresses", "<coins>", "Read the deposit addresses of these coins, too, as USDT,BTC: money sent there is in "
        .. "transit." },
      { "--journal", "<file>", "Journal of the calls that are made here: what they change is read soon. Or set "
        .. "PURSER_JOURNAL." },
      { "--every", "<duration>", "Go on, and read each owner so often while something happens there: 60s, 5m." },
      { "--since", "<duration>", "How far back the first reading goes; default 180d." },
      { "--run", "<command>", "Command of the shell that gets each change as a line of JSON on its standard input." },
      { "--webhook", "<url>", "URL that each change is posted to." },
      { "--secret-file", "<file>", "With --webhook: file with the key of its signatures, readable by you alone." },
      { "--json", "The result as JSON." } },
    connection.service, connection.messages,
  }
end

-- A client for each key of the file, by sub-account; all share the limit of the first.
local function clients_of(path, options, shared)
  local vault, message = vaults.open(path, { read_only = true })
  local list
  if vault then list, message = vault:list() end
  if not list then return nil, "--keys " .. tostring(message) end
  local clients = {}
  for _, key in ipairs(list) do -- a later key replaces an earlier one
    local keys
    keys, message = vault:keys(key.api_key)
    if not keys then return nil, "--keys " .. message end
    keys.base_url, keys.profile = shared.base_url, shared.profile
    keys.rate_limit, keys.timeout_ms = shared.rate_limit, options.timeout
    local client, err = purser.new(keys)
    if not client then return nil, "--keys " .. tostring(err) end
    if key.account then clients[key.account] = client end
  end
  return clients
end

-- Where the events go; nil and a message.
local function sinks_of(options)
  local sinks = { options.run and { command = options.run } or nil }
  if not options.webhook then return sinks end
  if not options.secret_file then return nil, "--webhook needs --secret-file FILE" end
  local secret, message = purser.secrets.from_file(options.secret_file)
  if not secret then return nil, "--secret-file: " .. message end
  sinks[#sinks + 1] = { webhook = options.webhook, secret = secret }
  return sinks
end

-- Opens the books with the keys that are named; nil and a message.
local function open(options)
  local book_options, message = books_command.database(options.to)
  if not book_options then return nil, message end
  book_options.every_ms, book_options.since_ms, book_options.address_coins = options.every, options.since, {}
  for coin in (options.addresses or ""):gmatch "[^,%s]+" do table.insert(book_options.address_coins, coin) end
  book_options.sinks, message = sinks_of(options)
  if not book_options.sinks then return nil, message end
  local sources
  book_options.client, message, sources = connection.open(options, { shares_limit = true })
  if not book_options.client then return nil, message end
  book_options.journal = sources.journal
  if options.keys then
    book_options.keys, message = clients_of(options.keys, options, sources)
    if not book_options.keys then return nil, message end
  end
  local books, err = purser.books.open(book_options)
  if not books then return nil, err.message end
  return books, book_options.client
end

local function say_progress(owner, at, of)
  if terminal.settings.quiet or not core.is_terminal(2) then return end
  terminal.say("%d of %d: %s", at, of, owner)
end

local function show(done, options)
  if not options.json then
    return report.write(("owners read: %d; records that are new or changed: %d\n"):format(done.owners, done.changes))
  end
  local problems = {}
  for i, problem in ipairs(done.problems) do
    problems[i] = json.object { { "owner", problem.owner }, { "list", problem.list }, { "message", problem.message } }
  end
  return report.write(output.json(json.object { { "owners", done.owners }, { "changes", done.changes },
    { "problems", json.list(problems) } }))
end

-- Reads once. Returns the exit code, and when an owner is due again.
local function once(books, options, is_due)
  local done, err = books:sync { due = is_due, progress = say_progress }
  if not done then return report.failure({ effect = "read" }, {}, err), nil end
  local code = report.DONE
  for _, problem in ipairs(done.problems) do
    report.say("%s: %s was not read: %s", problem.owner, problem.list, problem.message)
    if problem.list ~= "key" then code = math.max(code, problem.is_rejected and report.REJECTED or report.NOT_SENT) end
  end
  local _, failed = books:deliver()
  if type(failed) == "number" and failed > 0 then report.say("%d events were not taken; they go again", failed) end
  if (done.owners > 0 or not is_due) and not show(done, options) then code = report.NOT_WRITTEN end
  return code, done.next_due
end

function M.start(options)
  local books, client = open(options)
  if not books then return report.bad_input("%s", client) end
  local code, due = once(books, options, options.every ~= nil)
  while options.every and (due or code == report.NOT_SENT) do
    client:sleep(math.max(1000, math.min(60000, (due or client:now() + 60000) - client:now())))
    code, due = once(books, options, true)
  end
  books:close()
  return code
end

return M

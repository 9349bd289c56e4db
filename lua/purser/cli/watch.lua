-- SPDX-License-Identifier: MIT
-- `purser watch deposits`: each new deposit and each change of one, as it comes, a line each; see docs/desk/receive.md.
-- `purser watch account`: what changes of an account is told once; see docs/desk/in-production.md.

local activity = require "purser.cli.activity"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local csv = require "purser.client.util.csv"
local cursors = require "purser.cli.cursor"
local files = require "purser.client.util.files"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

-- The options of `watch account`.
local ACCOUNT = { "Account",
  { "--network", "<name>", "Tell when withdrawals or deposits of COIN/NETWORK close or open.", many = true },
  { "--below", "<name=value>", "Tell when a free balance falls below: USDT=500, or desk1/USDT=500 of a sub-account.",
    many = true },
  { "--key-days", "<n>", "Tell when the key ends within so many days." },
  { "--permissions", "Tell when the key's permissions or IP list change." },
  connection.journal_option "Tell of this journal's write calls that are undecided or stuck.",
  { "--stuck", "<duration>", "With --journal: how long a call may have no known end; default 10m." },
  { "--run", "<command>", "Command of the shell that gets each event, a line of JSON, on its standard input." },
  { "--webhook", "<url>", "URL that each event is posted to." },
  { "--secret-file", "<file>", "With --webhook: file with the key of its signatures, readable by you alone." },
  { "--state", "<file>", "File that keeps what was told; made at the first run." },
  { "--metrics", "<file>", "File for Prometheus, written at each look." },
  { "--every", "<duration>", "Look again after so long: 60s, 5m; without it, once." },
}

function M.grammar()
  return {
    text = "deposits: print each new deposit and each change of a deposit's state, once, until it is stopped.\n"
      .. "account: tell once of each change of a network, balance, key or write call.\n"
      .. "With --cursor the next run continues where this one stopped; a deposit that was printed right before a crash "
      .. "may be printed once more.",
    arguments = { { "what", "deposits or account.", choices = { "deposits", "account" } } },
    { "Options",
      { "--sub-accounts", "Those of all sub-accounts (a broker's key; three days back), and not the own ones." },
      { "--addresses", "<file>", "With --sub-accounts: JSON file { name: address or [addresses] }, by which a deposit "
        .. "is named." },
      { "--coin", "<text>", "Of this coin alone." },
      values.since "From when on, without a cursor: 12h, 2026-01-31; default: now.",
      { "--cursor", "<file>", "File that keeps how far it came; made at the first run." },
      { "--poll", "<duration>", "How long between two looks: 5s, 1m; default 10s." },
      { "--deadline", "<duration>", "End after so long: 45s, 30m; without it, never." } },
    ACCOUNT, output.group(), connection.service, connection.messages,
  }
end

local COLUMNS = { "kind", "insertTime", "amount", "coin", "network", "status", "before", "sub_account", "address",
  "memo", "txId" }

local function line_of(event, options)
  local record = {}
  for _, name in ipairs(COLUMNS) do
    record[name] = event[name]
    if record[name] == nil then record[name] = event.deposit[name] end
  end
  if options.format == "json" then return output.json(record) end
  if options.format == "csv" then return (output.rows(COLUMNS, { record }, options):gsub("^[^\n]*\n", "", 1)) end
  local deposit = event.deposit
  local states = (event.before and values.state("deposit", event.before) .. " -> " or "")
    .. values.state("deposit", deposit.status)
  local time = values.show_time(deposit.insertTime, options.time)
  return plain_text.clean(("%s  %-7s  %s %s over %s  %s%s  to %s%s"):format(time, event.kind,
    tostring(deposit.amount), tostring(deposit.coin), tostring(deposit.network), states,
    event.sub_account and "  " .. event.sub_account or "", tostring(deposit.address),
    deposit.memo and deposit.memo ~= "" and " memo " .. deposit.memo or "")) .. "\n"
end

-- Returns the parameters of the watch.
local function params_of(options)
  local params = { coin = options.coin, poll_ms = options.poll, deadline_ms = options.deadline, since = options.since }
  if options.addresses then
    if not options.sub_accounts then report.bad_input "--addresses is for --sub-accounts" end
    local names, message = files.read_object(options.addresses)
    params.sub_accounts = names or report.bad_input("--addresses %s", message)
  end
  params.cursor = cursors.read(options.cursor)
  return params
end

local function keep(options, cursor)
  local code = options.cursor and cursors.keep(options.cursor, cursor) or report.DONE
  if code ~= report.DONE then report.stop(code) end
end

------------------------------------------------------------------------------------------------------- an account

-- Returns the options of purser.monitor.alerts.
local function alerts_of(options)
  local made = { networks = #options.network > 0 and options.network or nil, key_days = options.key_days,
    permissions = options.permissions, state = options.state, command = options.run, webhook = options.webhook,
    stuck_ms = options.stuck }
  for _, pair in ipairs(options.below) do
    if not pair[2]:find "^[%d.]+$" then
      report.bad_input("--below '%s=%s' is not NAME=AMOUNT; write USDT=500", pair[1], pair[2])
    end
    made.below = made.below or {}
    made.below[pair[1]] = pair[2]
  end
  if options.webhook and not options.secret_file then report.bad_input "--webhook needs --secret-file FILE" end
  if options.secret_file then
    local secret, message = purser.secrets.from_file(options.secret_file)
    made.secret = secret or report.bad_input("--secret-file: %s", message)
  end
  return made
end

local function shown(event)
  return ("%s  %s: %s%s\n"):format(values.show_time(event.at, "local"), event.condition,
    event.before and event.before .. " -> " or "", event.state)
end

-- Looks once. Returns whether all could be read, told and written.
local function look(alerts, metrics, options, journal)
  local events, problems = alerts:check()
  for _, event in ipairs(events) do report.write(shown(event)) end
  if options.metrics then
    local ok, problem = metrics:write(options.metrics, journal)
    if not ok then problems[#problems + 1] = ("--metrics %s: %s"):format(options.metrics, tostring(problem)) end
  end
  for _, problem in ipairs(problems) do report.say("%s", problem) end
  return #problems == 0
end

-- Tells of what changes of an account. Returns the exit code.
local function watch_account(options)
  local made = alerts_of(options)
  if options.journal then connection.need_journal("watch", options.journal) end
  local metrics = purser.monitor.metrics()
  local client, _, sources = connection.open(options, { hooks = metrics:hooks(activity.hooks(options.debug)) })
  made.journal = sources.journal
  local alerts = report.must(purser.monitor.alerts(client, made))
  local is_well = look(alerts, metrics, options, sources.journal)
  while options.every do
    client:sleep(options.every)
    look(alerts, metrics, options, sources.journal)
  end
  return is_well and report.DONE or report.NOT_SENT
end

function M.start(options)
  if options.what == "account" then return watch_account(options) end
  options.journal = nil
  local params, client = params_of(options), connection.open(options)
  local group = options.sub_accounts and client.broker or client.wallet
  local watch = group:watch_deposits(params)
  if options.format == "csv" and not params.cursor then report.write(csv.line(COLUMNS)) end
  if core.is_terminal(2) then report.note("watching; to stop it changes nothing at the service") end
  while true do
    local event, err = watch:next()
    if err then
      terminal.settings.has_output = nil -- it is not whole
      return report.failure({ effect = "read" }, {}, err)
    end
    if not event then break end
    report.write(line_of(event, options), options.raw)
    keep(options, event.cursor)
  end
  keep(options, watch:cursor())
end

return M

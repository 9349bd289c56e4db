-- SPDX-License-Identifier: MIT
-- `purser watch account`: what changes of an account is told once; see docs/desk/in-production.md. `purser wait`: waits
-- until a withdrawal or transfer is done; see docs/desk/receive.md.

local activity = require "purser.cli.activity"
local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local output = require "purser.cli.output"
local purser = require "purser"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

function M.grammar()
  return {
    text = "Tell once of each change of a network, balance, key or write call.",
    arguments = { { "what", "account, the default.", choices = { "account" }, optional = true } },
    { "Options",
      { "--network", "<name>", "Tell when withdrawals or deposits of COIN/NETWORK close or open.", many = true,
        into = "alerts", target = "networks" },
      { "--below", "<name=value>", "Tell when a free balance falls below: USDT=500; desk1/USDT=500 of a sub-account.",
        many = true },
      { "--above", "<name=value>", "Tell of each deposit above an amount, and of its later states: USDT=1000.",
        many = true },
      { "--key-days", "<n>", "Tell when the key ends within so many days.", into = "alerts" },
      { "--permissions", "Tell when the key's permissions or IP list change.", into = "alerts" },
      connection.journal_option "Tell of this journal's write calls that are undecided or stuck.",
      { "--stuck", "<duration>", "With --journal: how long a call may have no known end; default 10m.",
        into = "alerts", target = "stuck_ms" },
      { "--run", "<command>", "Command of the shell that gets each event, a line of JSON, on its standard input.",
        into = "alerts", target = "command" },
      { "--webhook", "<url>", "URL that each event is posted to.", into = "alerts" },
      { "--secret-file", "<file>", "With --webhook: file with the key of its signatures, readable by you alone." },
      { "--state", "<file>", "File that keeps what was reported; made at the first run.", into = "alerts" },
      { "--metrics", "<file>", "File for Prometheus, written at each look." },
      { "--every", "<duration>", "Look again after so long: 60s, 5m; without it, once." } },
    connection.service, connection.messages,
  }
end

local function alerts_of(options)
  local made = options.alerts
  made.secret, made.ca_file = receivers.secret(options), options.ca_file
  if not made.networks[1] then made.networks = nil end
  for _, option in ipairs { "below", "above" } do
    for _, pair in ipairs(options[option]) do
      if not pair[2]:find "^[%d.]+$" then
        report.bad_input("--%s '%s=%s' is not NAME=AMOUNT; write USDT=500", option, pair[1], pair[2])
      end
      made[option] = made[option] or {}
      made[option][pair[1]] = pair[2]
    end
  end
  for _, option in ipairs { "above", "permissions" } do
    if made[option] and not (made.state or options.every) then
      report.bad_input("--%s tells what is new since the look before, and nothing would keep that look; give --state "
        .. "FILE, or --every DURATION", option)
    end
  end
  if made.webhook and not made.secret then report.bad_input "--webhook needs --secret-file FILE" end
  return made
end

local function shown(event)
  return ("%s  %s: %s%s\n"):format(values.show_time(event.at, "local"), event.condition,
    event.before and event.before .. " -> " or "", event.state)
end

local function look(alerts, metrics, options, journal)
  local events, problems = alerts:check()
  for _, event in ipairs(events) do report.write(shown(event)) end
  if options.metrics then
    local ok, problem = metrics:write(options.metrics, journal)
    if not ok then problems[#problems + 1] = ("--metrics %s: %s"):format(options.metrics, tostring(problem)) end
  end
  for _, problem in ipairs(problems) do report.say("%s", values.in_shell(problem)) end
  return #problems == 0
end

function M.say(_, options)
  local made = alerts_of(options)
  connection.may_lack_journal("watch", options)
  local metrics = purser.monitor.metrics()
  local client, sources = connection.open(options, { hooks = metrics:hooks(activity.hooks(options.debug)) })
  made.journal = sources.journal
  local alerts = report.must(purser.monitor.alerts(client, made))
  local is_well = look(alerts, metrics, options, sources.journal)
  while options.every do
    client:sleep(options.every)
    look(alerts, metrics, options, sources.journal)
  end
  return is_well and report.DONE or report.NOT_SENT
end

local kinds = {
  withdrawal = { "wait_withdrawal", "wallet.withdrawal_history" },
  transfer = { "wait_transfer", "wallet.get_transfer" },
}

M.wait = {}

function M.wait.grammar()
  local since = values.since "From when on a withdrawal is looked for: 12h, 2026-01-31."
  since.into = "wait"
  local journal = connection.journal_option("Journal that keeps the end of its withdrawal; without it that of "
    .. "PURSER_JOURNAL, if it is the account's.")
  journal.env, journal.target = nil, "kept_in" -- the environment's is left alone where it is another account's
  return {
    text = "Wait until a withdrawal (by its id) or a transfer between spot and futures (by its tranId) is done, and "
      .. "print it. Ends with 1 when that can no longer be, with 3 when the time is over. Deposits are credited by "
      .. "`purser receive`.",
    arguments = { { "kind", "withdrawal or transfer.", choices = { "withdrawal", "transfer" } },
      { "id", "Its id.", values = {} } },
    { "Options",
      { "--goal", "<goal>", "withdrawal: success, sent, final, cancelled.",
        values = { "success", "sent", "final", "cancelled" }, into = "wait" },
      { "--deadline", "<duration>", "How long to wait: 45s, 30m, 2h; default 10m.", into = "wait",
        target = "deadline_ms" },
      since, journal },
    output.group(), connection.service, connection.messages,
  }
end

local function progress_of(at)
  return ("%s %s, %d s left%s"):format(at.what, at.state or "is not found yet", math.ceil(at.left_ms / 1000),
    at.error and "; the last read failed: " .. at.error.message or "")
end

function M.wait.say(_, options)
  local wait = options.wait
  for _, name in ipairs(options.kind == "transfer" and { "goal", "since" } or {}) do
    if wait[name] then report.bad_input("wait transfer: --%s is of a withdrawal; leave it out", name) end
  end
  local client = connection.open(options)
  local keep = connection.keeper(client, options)
  if core.is_terminal(2) then report.note("waiting; to stop it changes nothing at the service") end
  local show, clear = terminal.progress_line()
  local kind = kinds[options.kind]
  function wait.progress(at) show(progress_of(at)) end
  local record, err = client.wallet[kind[1]](client.wallet, options.id, wait)
  clear()
  keep { record or err.details and err.details.record }
  if record then return output.write(output.record(catalogue.by_name[kind[2]], record, options), options) end
  if err.kind ~= "workflow" then return report.failure({ effect = "read" }, {}, err) end
  local text = err.message:gsub("(%d+) ms", function(ms) return ("%g s"):format(tonumber(ms) / 1000) end)
  terminal.fail("%s%s", text, err.outcome == "rejected" and "" or "; give a longer --deadline to wait again")
  return err.outcome == "rejected" and report.REJECTED or report.NOT_SENT
end

return M

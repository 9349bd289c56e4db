-- SPDX-License-Identifier: MIT
-- `purser fleet ACTION FILE`: sub-accounts as a file declares them; see docs/desk/fleets.md.

local grammar = require "purser.cli.grammar"
local activity = require "purser.cli.activity"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "purser.client.util.files"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local output = require "purser.cli.output"
local purser = lazy "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local fleets = lazy "purser.desk.fleet"
local vaults = lazy "purser.desk.fleet.vault"

local M = {}

local DAY = 86400000

local function days(text)
  local number = #text < 9 and (text:find("^%d+$") or text:find("^%d+%.%d+$")) and tonumber(text)
  if not number then return nil, ("'%s' is not a number of days, such as 90 or 0.5"):format(text) end
  return number
end

local function milliseconds(number) return math.floor(number * DAY + 0.5) end

local function amount(text)
  local decimal = core.decimal(text)
  if not decimal or decimal:sign() < 0 then return nil, ("'%s' is not an amount, such as 12.5"):format(text) end
  return text
end

local function asset(text)
  if text:find "^%w+$" then return text end
  return nil, ("'%s' is no asset, such as USDT; give each by an option of its own"):format(text)
end

local STEPS = { "account", "what", "note", "why" }
local PAYMENTS = { "key", "operation", "fromAccount", "fromAccountType", "toAccount", "toAccountType", "asset",
  "amount" }

local FILE = { { "declaration", "The JSON file.", kind = "file", reads = "declaration" } }
local SECRETS = { "--secrets", "<file>", "File that keeps the secrets, readable by you alone; made when it is missing.",
  required = true }
local YES = { "--yes", "Do it without asking." }

local function steps() return output.group(STEPS), connection.safety, connection.service end
local function payments() return output.group(PAYMENTS, { format = "csv" }), connection.service end
local NAME = { "--name", "<name>", "Name of the list: the keys of its payments begin with it.", required = true }

function M.grammar()
  return grammar.actions("fleet", "Make and keep a fleet of sub-accounts with their keys as a JSON file declares "
    .. "it:\n"
    .. '{"group": "sub_account", "accounts": [{"name":, "note":, "keys": [{"note":, "permissions":, "ip":}]}]}\n'
    .. "Secrets go to the secrets file as soon as they are known, and nowhere else.", {
    { "plan", "Show what is missing.", FILE, "fleet.json --secrets keys.tsv", { SECRETS }, steps },
    { "apply", "Show what is missing, ask, and make it.", FILE, "fleet.json --secrets keys.tsv", { SECRETS, YES },
      steps, "`purser fleet plan` shows what would be made, and makes nothing" },
    { "rotate", "Make a second key for each that is old.", FILE, "fleet.json --secrets keys.tsv --days 60",
      { SECRETS, { "--days", "<days>", "Keys older than this (90).", convert = days },
        { "--ends-within", "<days>", "Keys that end within so many days; with --days, those too.", convert = days },
        YES }, steps },
    { "retire", "Delete each key whose successor is old enough.", FILE, "fleet.json --secrets keys.tsv",
      { SECRETS, { "--days", "<days>", "This long after the rotation (1).", convert = days }, YES }, steps },
    { "sweep", "Write the payments that move what the accounts hold to the parent: a list for `purser payouts`.", FILE,
      "fleet.json --name june --asset USDT --output june.csv",
      { NAME, { "--asset", "<text>", "This asset alone; may be repeated. Without it every asset.", many = true,
          convert = asset },
        { "--leave", "<amount>", "What stays of each asset in each account (0).", convert = amount } }, payments },
    { "distribute", "Write the payments that move funds from the parent to accounts: a list for `purser payouts`.",
      FILE, "fleet.json --name july --asset USDT --to desk1=50 --output july.csv", { NAME,
        { "--asset", "<text>", "What is moved.", required = true },
        { "--to", "<name=value>", "What an account gets, as NAME=AMOUNT.", many = true,
          replaces = "--amount" } }, payments },
  })
end

-- The actions that make keys, and so a secrets file.
local makes_keys = { apply = true, rotate = true }

local function read_declaration(path)
  local declared = report.must(files.read_object(path))
  local message = option_schema.text(declared, { group = "string", accounts = "table" }, path .. ": member")
  if message then report.bad_input("%s", message) end
  return declared
end

local function show_steps(list, options)
  report.write(output.rows(STEPS, list, options), options.raw)
end

local function finish(options, done, err)
  if done or options.format ~= "json" then show_steps(done or err.details and err.details.done or {}, options) end
  return err and report.workflow_failure(err) or report.DONE
end

local function show(plan, options)
  if not output.is_text(options) then return show_steps(plan.steps, options) end
  report.write(tostring(plan) .. "\n")
end

local questions = { apply = "This makes it so", rotate = "This makes keys", retire = "This deletes keys" }

local function task_of(options)
  if options.action == "retire" then return "retire", { overlap_ms = milliseconds(options.days or 1) } end
  if options.action ~= "rotate" then return nil end
  local age, ends = options.days or not options.ends_within and 90, options.ends_within
  return "rotate", { max_age_ms = age and milliseconds(age) or nil, ends_within_ms = ends and milliseconds(ends) }
end

-- Ends the command where the secrets file is missing: the keys may be in use, and a volume not mounted.
local function check_secrets(plan, options)
  if not plan.orphans[1] then return end
  if files.read(options.secrets) == "" then os.remove(options.secrets) end
  report.bad_input("fleet apply: there is no %s, and the secrets of keys that are there (%d) would be lost; name the "
    .. "file that has them, or make an empty one: then the keys are deleted", options.secrets, #plan.orphans)
end

-- Shows the due steps, asks, and does the shown steps.
local function act(fleet, options, sources)
  local plan, err = fleet:plan(task_of(options))
  if not plan then return finish(options, nil, err) end
  if #plan.steps == 0 or options.action == "plan" then return show(plan, options) end
  if sources.is_new_file then check_secrets(plan, options) end
  if not options.yes then terminal.prompt(tostring(plan) .. "\n") end
  report.ask(options, questions[options.action], sources, { { "steps", #plan.steps } })
  fleet.client = sources.begin()
  if makes_keys[options.action] then report.note "lists show late what was made: reading them again within a minute" end
  local is_shown = not options.yes or options.action ~= "apply" or sources.is_new_file
  local done, problem, left_out = fleet:apply(is_shown and plan or nil)
  for _, line in ipairs(left_out or {}) do report.say("%s", line) end
  local code = finish(options, done, problem)
  return code == report.DONE and left_out[1] and #done < #plan.steps and report.NOT_SENT or code
end

local actions = { plan = act, apply = act, rotate = act, retire = act }

local function write_list(options, list, err)
  if not list then return report.failure({ effect = "read" }, {}, err) end
  local records = {}
  for i, payment in ipairs(list) do
    records[i] = { key = payment.key, operation = payment.operation }
    for name, value in pairs(payment.params) do records[i][name] = value end
  end
  local text = output.rows(PAYMENTS, records, options)
  if not list[1] and options.format == "csv" then text = text .. purser.payouts.NO_PAYMENT .. "\n" end
  report.write(text, options.raw)
  report.note(list[1] and "%d payments; next: purser payouts run %s --journal FILE" or "nothing is to be moved", #list,
    options.output or "LIST")
end

function actions.sweep(fleet, options)
  return write_list(options, fleet:sweep { to = "parent", name = options.name, leave = options.leave,
    assets = options.asset[1] and options.asset })
end

function actions.distribute(fleet, options)
  local amounts = {}
  for _, pair in ipairs(options.to) do
    amounts[pair[1]] = amount(pair[2]) or report.bad_input("fleet distribute: --to takes NAME=AMOUNT, not %q", pair[2])
  end
  if next(amounts) == nil then report.bad_input("fleet distribute: give at least one --to NAME=AMOUNT") end
  return write_list(options, fleet:distribute { name = options.name, asset = options.asset, amounts = amounts })
end

function M.start(options)
  local declared, question = read_declaration(options.declaration), questions[options.action]
  if question then report.check_can_ask(options, question) end -- before anything is waited for
  local client, sources = connection.open(options, { is_draft = true,
    policy = question and connection.policy(options) or false })
  local vault, message = { store = error }, nil -- a list of payments needs no key
  if options.secrets then
    sources.is_new_file = select(3, core.file_mode(options.secrets)) == true
    vault, message = vaults.open(options.secrets, { base_url = sources.url,
      read_only = not makes_keys[options.action] })
  end
  if not vault then report.bad_input("the secrets file: %s", message) end
  local fleet, err = fleets.new { client = client, group = declared.group, accounts = declared.accounts, vault = vault }
  if not fleet then report.bad_input("%s: %s", options.declaration, report.sentence(err)) end
  local show_progress, clear = terminal.progress_line()
  activity.on_answer = function(count)
    show_progress(("%d requests, for %d accounts"):format(count, #(declared.accounts or {})))
  end
  local code = actions[options.action](fleet, options, sources)
  clear()
  if vault.close then vault:close() end
  return code
end

return M

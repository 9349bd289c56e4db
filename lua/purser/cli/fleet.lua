-- SPDX-License-Identifier: MIT
-- `purser fleet ACTION FILE`: sub-accounts as a file declares them; see docs/desk/fleets.md.

local grammar = require "purser.cli.grammar"
local activity = require "purser.cli.activity"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local ends = require "purser.cli.ends"
local files = require "purser.client.util.files"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local output = require "purser.cli.output"
local purser = lazy "purser"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local fleets = lazy "purser.desk.fleet"
local vaults = lazy "purser.desk.fleet.vault"

local M = {}

local DAY = 86400000

local function age(text)
  if text == "0" then return 0 end -- each key, whatever its age
  return values.duration(text)
end

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
    { "plan", "Show what is missing.", FILE, "fleet.json --secrets keys.tsv", { SECRETS }, steps, does = "plan" },
    { "apply", "Show what is missing, ask, and make it.", FILE, "fleet.json --secrets keys.tsv", { SECRETS, YES },
      steps, "`purser fleet plan` shows what would be made, and makes nothing", does = "send" },
    { "rotate", "Make a second key for each that is old.", FILE, "fleet.json --secrets keys.tsv --max-age 60d",
      { SECRETS, { "--max-age", "<duration>", "Keys older than this; default 90d.", convert = age,
          target = "max_age_ms" },
        { "--ends-within", "<duration>", "Keys that end within this time; with --max-age, those too.",
          target = "ends_within_ms" }, YES }, steps, does = "send" },
    { "retire", "Delete each key whose successor is old enough.", FILE, "fleet.json --secrets keys.tsv",
      { SECRETS, { "--overlap", "<duration>", "How long both keys live; default 1d.", convert = age,
        target = "overlap_ms" }, YES }, steps,
      does = "send" },
    { "sweep", "Write the payments that move what the accounts hold to the parent: a list for `purser payouts`.", FILE,
      "fleet.json --name june --asset USDT --output june.csv",
      { NAME, { "--asset", "<asset>", "This asset alone; may be repeated. Without it every asset.", many = true,
          convert = asset },
        { "--leave", "<amount>", "What stays of each asset in each account (0).", convert = amount } }, payments },
    { "distribute", "Write the payments that move funds from the parent to accounts: a list for `purser payouts`.",
      FILE, "fleet.json --name july --asset USDT --to desk1=50 --output july.csv", { NAME,
        { "--asset", "<asset>", "What is moved.", required = true },
        { "--to", "<name=value>", "What an account gets, as NAME=AMOUNT.", many = true,
          replaces = "--amount" } }, payments },
  })
end

local function read_declaration(path)
  local declared = report.must(files.read_object(path))
  local message = option_schema.text(declared, { group = "string", accounts = "table" }, path .. ": member")
  if message then report.bad_input("%s", message) end
  return declared
end

-- The actions of keys: the question, whether they make keys and so a secrets file, and the task of the plan.
local KINDS = {
  plan = {}, apply = { question = "This makes it so", makes_keys = true },
  rotate = { question = "This makes keys", makes_keys = true, task = "rotate", options_of = function(options)
    local within = options.ends_within_ms
    return { max_age_ms = options.max_age_ms or not within and 90 * DAY or nil, ends_within_ms = within }
  end },
  retire = { question = "This deletes keys", task = "retire", options_of = function(options)
    return { overlap_ms = options.overlap_ms or DAY }
  end },
}

-- Opens the declared fleet. Returns the screen. A list of payments needs no key, and no vault.
local function open(options, kind)
  local declared = read_declaration(options.declaration)
  if kind.question then report.check_can_ask(options, kind.question) end -- before anything is waited for
  local client, sources = connection.open(options, { is_draft = true,
    policy = kind.question and connection.policy(options) or false })
  local vault, message = { store = error, close = function() end }, nil
  if options.secrets then
    sources.is_new_file = select(3, core.file_mode(options.secrets)) == true
    vault, message = vaults.open(options.secrets, { base_url = sources.url, read_only = not kind.makes_keys })
  end
  if not vault then report.bad_input("the secrets file: %s", message) end
  local fleet, err = fleets.new { client = client, group = declared.group, accounts = declared.accounts, vault = vault }
  if not fleet then report.bad_input("%s: %s", options.declaration, report.sentence(err)) end
  local show_progress, clear = terminal.progress_line()
  activity.on_answer = function(count)
    show_progress(("%s, for %s"):format(plain_text.counted(count, "request"),
      plain_text.counted(#(declared.accounts or {}), "account")))
  end
  return { fleet = fleet, sources = sources, vault = vault, clear = clear, left_out = {} }
end

-- Ends the command where the secrets file is missing: the keys may be in use, and a volume not mounted.
local function check_secrets(plan, options)
  if not plan.orphans[1] then return end
  if files.read(options.secrets) == "" then os.remove(options.secrets) end
  report.bad_input("fleet apply: there is no %s, and the secrets of keys that are there (%d) would be lost; name the "
    .. "file that has them, or make an empty one: then the keys are deleted", options.secrets, #plan.orphans)
end

local keys = {}

function keys.look(options, _, request)
  local kind = KINDS[request.action]
  local screen = open(options, kind)
  screen.plan, screen.err = screen.fleet:plan(kind.task, kind.options_of and kind.options_of(options))
  return screen
end

-- Asks, and does the shown steps. Returns their ends.
function keys.act(screen, options, request)
  local plan, fleet, sources, kind = screen.plan, screen.fleet, screen.sources, KINDS[request.action]
  if not plan or not plan.steps[1] then return {} end
  if sources.is_new_file then check_secrets(plan, options) end
  if not options.yes then terminal.prompt(tostring(plan) .. "\n") end
  report.ask(options, kind.question, sources, { { "steps", #plan.steps } })
  fleet.client = sources.begin()
  if kind.makes_keys then report.note "lists show late what was made: reading them again within a minute" end
  local is_shown = not options.yes or kind.task or sources.is_new_file
  local made = {}
  screen.done, screen.err, screen.left_out = fleet:apply(is_shown and plan or nil)
  local done, left_out = screen.done or screen.err.details and screen.err.details.done or {}, screen.left_out or {}
  for i = 1, #done do made[i] = "made" end
  made[#made + 1] = left_out[1] and #done < #plan.steps and "not sent" or nil
  screen.done, screen.left_out = (screen.done or options.format ~= "json") and done, left_out
  return made
end

function keys.say(screen, options, made)
  local plan, err = screen.plan, screen.err
  screen.clear()
  for _, line in ipairs(screen.left_out) do report.say("%s", line) end
  if screen.done then
    output.print(STEPS, screen.done, options)
  elseif plan and not err then
    output.write(output.is_text(options) and tostring(plan) .. "\n" or output.rows(STEPS, plan.steps, options),
      options)
  end
  local code = err and report.workflow_failure(err) or ends.code(made or {})
  screen.vault:close()
  return code
end

local function say_list(screen, options, list, err)
  screen.clear()
  if not list then return report.failure({ effect = "read" }, {}, err) end
  local records = {}
  for i, payment in ipairs(list) do
    records[i] = { key = payment.key, operation = payment.operation }
    for name, value in pairs(payment.params) do records[i][name] = value end
  end
  local text = output.rows(PAYMENTS, records, options)
  if not list[1] and options.format == "csv" then text = text .. purser.payouts.NO_PAYMENT .. "\n" end
  output.write(text, options)
  report.note(list[1] and "%s; next: purser payouts run %s --journal FILE" or "nothing is to be moved",
    plain_text.counted(#list, "payment"), options.output or "LIST")
end

local function list_of(make) -- the steps of an action that writes a list of payments
  return { look = function(options) return open(options, {}) end,
    say = function(screen, options) return say_list(screen, options, make(screen.fleet, options)) end }
end

M.actions = { plan = { look = keys.look, say = keys.say }, apply = keys, rotate = keys, retire = keys }

M.actions.sweep = list_of(function(fleet, options)
  return fleet:sweep { to = "parent", name = options.name, leave = options.leave,
    assets = options.asset[1] and options.asset }
end)

M.actions.distribute = list_of(function(fleet, options)
  local amounts = {}
  for _, pair in ipairs(options.to) do
    amounts[pair[1]] = amount(pair[2]) or report.bad_input("fleet distribute: --to takes NAME=AMOUNT, not %q", pair[2])
  end
  if next(amounts) == nil then report.bad_input("fleet distribute: give at least one --to NAME=AMOUNT") end
  return fleet:distribute { name = options.name, asset = options.asset, amounts = amounts }
end)

return M

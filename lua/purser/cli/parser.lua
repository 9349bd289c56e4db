-- SPDX-License-Identifier: MIT
-- The grammar of the command line, made from the rows: one sub-command an operation, one option a parameter.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local listing = require "purser.cli.listing"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local parameters = require "purser.api.parameters"
local preflight = require "purser.cli.preflight"
local reconcile = require "purser.cli.reconcile"
local terminal = require "purser.cli.terminal"
local version = require "purser.version"

local M = {}

local argnames = {
  amount = "<amount>", time = "<ms>", count = "<n>", status = "<status>", named_status = "<status>", flag = "<bool>",
  permissions = "<names>", ips = "<addresses>", coins = "<coins>", md5 = "<source>", choice = "<choice>",
  client_id = "<id>", area_code = "<digits>", address = "<address>", memo = "<text>",
}

local helps = {
  address = "where the withdrawal goes", asset = "such as USDT", clientTranId = "your own id of the transfer",
  coin = "such as USDT", contractAddress = "contract of the coin on the network", remark = "a remark of yours",
  isFreeze = "only those that are frozen, or only those that are not", tranId = "id of the transfer",
}

--- What a parameter is, where its row or its name says more than its kind; else nil.
---@param param table  of a row
---@return string|nil
function M.help_of(param)
  return param.note or helps[param[1]]
end

local function describe(param)
  local kind = parameters.kinds[param[2]]
  local parts = { M.help_of(param) }
  if param.choices and param[2] == "choice" then
    parts[#parts + 1] = table.concat(parameters.choices[param.choices], " or ")
  elseif param[2] ~= "text" then
    parts[#parts + 1] = kind.text
  end
  if param.max then parts[#parts + 1] = "at most " .. ("%d"):format(param.max) end
  if param.default then parts[#parts + 1] = "default " .. ("%d"):format(param.default) end
  local text = table.concat(parts, "; ")
  return text ~= "" and (text:gsub("^%l", string.upper)) .. "." or "Text."
end

-- camelCase can be typed as kebab-case, too; argparse does the same for underscores.
local function spellings(name)
  local kebab = name:gsub("%u", function(letter) return "-" .. letter:lower() end)
  return "--" .. name, kebab ~= name and "--" .. kebab or nil
end

local function add_secret(command, name, param, what)
  return command:option("--" .. name, what .. ", as env:NAME or file:PATH (never typed here).")
    :argname("<source>"):target("param_" .. name):count(param.required and 1 or "?"):overwrite(false)
end

local function add_parameter(command, param)
  if param.plain then
    return add_secret(command, param[1], param, "Funds password as hexadecimal MD5"),
      add_secret(command, param.plain, {}, "Funds password in plain")
  end
  local name, kebab = spellings(param[1])
  local option = command:option(name, describe(param)):target("param_" .. param[1])
    :argname(argnames[param[2]] or "<text>")
  option:overwrite(false) -- two amounts on one line are a mistake, not a choice
  if kebab then option:hidden_name(kebab) end
  if param.required then option:count(1) end
  if param[2] == "choice" then option:choices(parameters.choices[param.choices]) end
  if param[2] == "flag" then option:choices { "true", "false" } end
  return option
end

--- Whether the answer of this operation holds a secret that is shown once.
function M.creates_key(row)
  return row.effect == "create" and row.result.record == "api_key"
end

local function add_own_options(command, row)
  if row.by_name.startTime then
    command:option("--since", "Instead of --startTime: 30d, 12h, 90m, 2026-01-31, 2026-01-31T10:00Z.")
      :argname("<when>")
    command:option("--until", "Instead of --endTime, in the same forms."):argname("<when>")
  end
  preflight.define(command, row)
  if listing.has_pages(row) then command:flag("--all", "Fetch every page.") end
  if M.creates_key(row) then
    command:mutex(
      command:flag("--show-secret", "Print the new key's secretKey, which the service shows this once."),
      command:option("--secret-file", "Write the new key's secretKey to a new file that you alone can read.")
        :argname("<file>"))
  end
  if row.effect ~= "read" then
    command:flag("--yes", "Do it without asking.")
    reconcile.define(command)
  end
  if row.effect ~= "read" then connection.define_writes(command) end
  command:flag("--dry-run", "Print the signed request, key and signature masked, and send nothing.")
end

local effects = {
  create = "It creates something, so it asks first unless --yes is given.",
  change = "It changes something, so it asks first unless --yes is given.",
  transfer = "It moves money, so it asks first unless --yes is given.",
}

local function facts(row)
  local parts = { row.id .. " " .. row.method .. " " .. row.path }
  if row.permission then parts[#parts + 1] = "permission " .. row.permission end
  if row.weight then parts[#parts + 1] = "weight " .. ("%d"):format(row.weight) end
  if row.deprecated then parts[#parts + 1] = "deprecated: use " .. row.deprecated:gsub("%.", " ") end
  return table.concat(parts, ", ") .. "."
end

local samples = {
  amount = "12.5", time = "1700000000000", count = "10", flag = "true", ips = "203.0.113.7", coins = "DOGE,TRX",
  permissions = "SPOT_ACCOUNT_READ", address = "T...", memo = "77", new_name = "desk01", client_id = "order-17",
  area_code = "86",
}
local sample_of = { coin = "USDT", asset = "USDT", network = "TRX", netWork = "TRX", subAccount = "tradingdesk1",
  toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "FUTURES", id = "766a...", tranId = "766a...",
  note = "till", apiKey = "mx0...", UID = "12345678" }

-- A value of a parameter, for the example.
local function sample(row, param)
  local payee = row.by_name.toAccountType
  payee = payee and payee.choices and parameters.choices[payee.choices][1] -- how another user is named, or SPOT
  if param[1] == "toAccount" and payee == "EMAIL" then return sample_of.UID end
  if param[1] == "toAccountType" then return payee == "EMAIL" and "UID" or sample_of.toAccountType end
  return param[2] == "choice" and parameters.choices[param.choices][1] or sample_of[param[1]] or samples[param[2]]
    or "TEXT"
end

-- A command line with what the operation cannot do without. A long one is continued as a shell takes it.
local function example_of(row)
  local words = { ("purser %s %s"):format(row.group, row.name) }
  local function add(word)
    local last = words[#words]
    if #last + #word < 66 then words[#words] = last .. " " .. word
    else words[#words], words[#words + 1] = last .. " \\", "  " .. word end
  end
  for _, param in ipairs(row.params) do
    if param.required or row.by_name.netWork == param then
      add(("--%s %s"):format(param[1], param.plain and "env:HASH" or sample(row, param)))
    end
  end
  if row.by_name.startTime then add "--since 7d" end
  if M.creates_key(row) then add "--secret-file new.keys" end
  return table.concat(words, "\n")
end

-- Puts the options of the command itself before those that many commands share, which stand in groups.
local function own_options_first(command, place)
  local grouped, own = {}, {}
  for _, group in ipairs(command._groups) do
    for _, element in ipairs(group) do grouped[element] = true end
  end
  for _, option in ipairs(command._options) do
    if not grouped[option] and option._aliases[1] ~= "-h" then own[#own + 1] = option end
  end
  if #own == 0 then return end
  command:group("Options", (table.unpack or unpack)(own)) -- luacheck: ignore
  table.insert(command._groups, place, table.remove(command._groups))
end

local function fill_operation(command, row)
  local text = row.summary .. (effects[row.effect] and "\n" .. effects[row.effect] or "")
  command:description(text .. "\n" .. facts(row))
  local options = {}
  for _, param in ipairs(row.params) do
    local option, plain = add_parameter(command, param)
    options[#options + 1], options[#options + 2] = option, plain
  end
  if #options > 0 then command:group("Parameters", (table.unpack or unpack)(options)) end -- luacheck: ignore
  add_own_options(command, row)
  output.define(command, row)
  command:option("--extra", "A parameter that this version does not know, as name=value; may be repeated.")
    :argname("<name=value>"):count("*")
  if row.effect ~= "read" then
    command:option("--key", "Your own name of this call: with --journal it is made once, however often it is run.")
      :argname("<key>")
  end
  connection.define(command)
  own_options_first(command, #options > 0 and 2 or 1)
  command:epilog(("Example: %s\nMore: purser operations %s; docs/%s"):format(example_of(row), row.full_name,
    row.live and "live.md" or "operations-" .. row.group:gsub("_", "-") .. ".md"))
end

local group_texts = {
  broker = "What a broker does with its sub-accounts.",
  sub_account = "What a main account does with its sub-accounts.",
  wallet = "An account's own wallet.",
  live = "What the live service has beyond the 40 operations: balances, keys, identity. The profile has to allow it.",
}

local function add_group(parser, group, rows, requested)
  local command = parser:command(group, group_texts[group]):command_target("operation"):require_command(true)
  for _, row in ipairs(rows) do
    local leaf = command:command(row.name):summary(row.summary)
    if not requested or requested == row.name or requested == row.name:gsub("_", "-") then fill_operation(leaf, row) end
  end
end

local EPILOG = [[
Exit codes: 0 done; 1 rejected by the service; 2 bad input, nothing sent;
3 not sent, or a read without an answer; 4 OUTCOME UNKNOWN of a write call: do
not repeat before looking, the message says where; 5 done, but the result could
not be written; 130 interrupted, no write call is open.
The service comes from --base-url and --profile, else from the file of the keys,
else from PURSER_BASE_URL and PURSER_PROFILE.
Examples:
  purser doctor --account treasury
  purser wallet deposit_history --coin USDT --since 30d
  purser wallet withdraw --coin USDT --network TRX --address T... --amount 12.5
  purser payouts list.csv --operation wallet.withdraw \
    --journal payouts.db --account treasury
`purser help COMMAND` explains one; `purser help credentials` says where keys
come from. docs/command-line.md has more.
`purser sim --demo` serves a simulator, with keys, to try everything on.]]

--- The parser. With `requested` (the name of an operation), only that operation's options are filled in, which is what
--- one run needs; completion needs them all.
---@param requested string|nil
function M.build(requested)
  local parser = require "argparse"("purser",
    "Unofficial client for the wallet, sub-account and broker endpoints of the MEXC Spot v3 API (40 operations). "
    .. "Exact amounts; nothing that moves money is sent twice. It does not trade.")
  local width = math.max(60, math.min(100, core.is_terminal(1) and core.terminal_width(1) or 100))
  parser:epilog(EPILOG):command_target("command"):require_command(true):help_max_width(width):usage_max_width(width)
  parser:flag("--version", "Show the version."):action(function()
    os.exit(terminal.write("purser " .. version .. "\n") and 0 or 5, true)
  end)
  for _, group in ipairs { "wallet", "broker", "sub_account", "live" } do
    add_group(parser, group, operations.groups[group], requested)
  end
  for _, name in ipairs { "payouts", "journal", "watch", "export", "wait", "withdraw-plan", "fleet", "sync",
    "statement", "books", "operations", "doctor", "limits", "record", "login", "sim", "completion" } do
    local module = require("purser.cli." .. name:gsub("-", "_"))
    local command = parser:command(name):summary(module.summary)
    module.define(command)
    own_options_first(command, 1)
  end
  return parser
end

return M

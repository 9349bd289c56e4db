-- SPDX-License-Identifier: MIT
-- The commands. `purser payouts` is the module purser.cli.payouts, with grammar() (see grammar.lua) and start(options),
-- returning the exit code or nil; `purser limits` is `limits` of the module that its line names. An operation's grammar
-- is made from the operation's row.

local lazy = require "purser.client.util.lazy"
local catalogue = lazy "purser.cli.catalogue"
local connection = lazy "purser.cli.connection"
local grammar = lazy "purser.cli.grammar"
local output = lazy "purser.cli.output"
local values = lazy "purser.cli.values"

local M = {}

M.own = {
  { "payouts", "Pay a list of payments, each once, however often it is started or killed." },
  { "approve", "Read a plan of payments, and sign it with a key of yours.", "approvals" },
  { "approvals", "Bring plans and signatures to the payer, and show what they lack." },
  { "agent", "Serve a program that talks: it reads, proposes payments and makes them, within a policy." },
  { "policy", "Check, try, sign and install the policy that says who has to approve.", "approvals" },
  { "journal", "List the write calls that a journal holds, and find out what became of open ones." },
  { "receive", "Credit each deposit once, to the right customer, or ask a person." },
  { "address", "Show the deposit address of a coin on a network.", "receive" },
  { "balances", "Show what the account holds; with --all each sub-account, too." },
  { "watch", "Tell of what changes of an account, as it comes." },
  { "wait", "Wait until a withdrawal or transfer is done.", "watch" },
  { "fleet", "Make and keep a fleet of sub-accounts as a file declares it." },
  { "sync", "Copy every history into a database, and each change of a record.", "books" },
  { "statement", "Write a statement of the books for hledger, ledger, beancount, a spreadsheet or a person.", "books" },
  { "books", "Settle, match and close records of the books; show gaps and events that wait." },
  { "operations", "List the operations, or show everything about one." },
  { "doctor", "Check the clock, TLS, the key and its permissions." },
  { "limits", "Show the pools of the rate limit, and blocks.", "doctor" },
  { "login", "Keep a key for --account NAME, typed without being shown.", "credentials" },
  { "sim", "Serve the simulator over HTTP." },
  { "test", "Run a program against the simulator with each fault, and tell where it paid wrongly.", "sim" },
  { "completion", "Print a completion script for a shell." },
}

-- The commands by what people want.
local SECTIONS = {
  { "Pay", "wallet payouts approve approvals policy agent" },
  { "Look", "balances watch wait operations live books sync statement journal" },
  { "Receive", "address receive" },
  { "Keys and accounts", "login broker sub_account fleet" },
  { "Try and check", "sim test doctor limits completion" },
}

M.groups = {
  { "wallet", "An account's own wallet." },
  { "broker", "What a broker does with its sub-accounts." },
  { "sub_account", "What a main account does with its sub-accounts." },
  { "live", "What the live service has beyond the interface document: balances, keys, identity. The profile has to "
    .. "allow it." },
}

local function add_parameter(group, param)
  if param.plain then
    local how = ", as env:NAME or file:PATH (never typed here)."
    group[#group + 1] = { "--" .. param[1], "<source>", "Funds password as hexadecimal MD5" .. how,
      target = "param_" .. param[1], required = param.required }
    group[#group + 1] = { "--" .. param.plain, "<source>", "Funds password in plain" .. how,
      target = "param_" .. param.plain }
    return
  end
  group[#group + 1] = { "--" .. param[1], "<" .. param[2] .. ">",
    catalogue.rule(param):gsub("^%l", string.upper) .. ".", target = "param_" .. param[1], required = param.required,
    values = param.values,
    -- what is wrong with a number the call says, as it does for a program
    convert = function(text) return text end,
    choices = param[2] == "choice" and param.values or param[2] == "flag" and { "true", "false" } or nil }
end

-- Options of a withdrawal, and of another operation that names a network.
local WITHDRAWS = {
  { "--plan", "Check it, and print what it would do; nothing is sent that moves funds.", way = "plan" },
  { "--require-saved-address", "The address must be in the address book.", ways = "send plan" },
  { "--address-as-is", "Take the address and the memo as they are: what looks wrong about their form is a warning.",
    ways = "send" },
  { "--without-coins", "Look no coin up, for a key that may not read the list of coins: fee, minimum and network are "
    .. "not checked.", ways = "send", without = "--require-saved-address" },
}
local NAMES_NETWORK = {
  { "--without-coins", "Send the network as typed, without looking its name up.", ways = "show send" },
}
local UNTIL = { "--until", "<when>", "Instead of --endTime, in the same forms." }
local PAGES = {
  { "--all", "Fetch every page, not the first alone.", ways = "show" },
  { "--cursor", "<file>", "Write what came since the run before, as CSV or JSON lines, the oldest first; this file "
    .. "keeps how far it came.", way = "follow" },
}
local MAKES_KEY = {
  { "--show-secret", "Print the new key's secretKey, which the service shows this once.", ways = "send" },
  { "--secret-file", "<file>", "Write the new key's secretKey to a new file that you alone can read.", ways = "send" },
}
local WRITES = {
  { "--yes", "Do it without asking.", ways = "send" },
  { "--reconcile", "When the outcome is unknown, look for it, which takes up to some 36 seconds, before ending.",
    ways = "send" },
  { "--key", "<key>", "Your own name of this call: with --journal it is made once, however often it is run.",
    ways = "send request plan", needs = { "--journal", " FILE: without one nothing is known of an earlier call" } },
}
local EVERY = {
  { "--dry-run", "Print the signed request, key and signature masked, and send nothing.", way = "request" },
  { "--extra", "<name=value>", "A parameter that this version does not know.", many = true,
    ways = "show send request plan" },
}

local function own_options(row)
  local withdraws = catalogue.withdraws(row)
  local group, since = { "Options" }, row.by_name.startTime
  since = since and values.since "Instead of --startTime: 30d, 12h, 90m, 2026-01-31, 2026-01-31T10:00Z."
  for _, pair in ipairs { { since, { since, UNTIL } }, { withdraws, WITHDRAWS },
    { not withdraws and catalogue.network_param(row), NAMES_NETWORK }, { row.paging, PAGES },
    { catalogue.creates_key(row), MAKES_KEY }, { row.effect ~= "read", WRITES }, { true, EVERY } } do
    for _, option in ipairs(pair[1] and pair[2] or {}) do group[#group + 1] = option end
  end
  return group
end

local function facts(row)
  local parts = { row.id .. " " .. row.method .. " " .. row.path }
  if row.permission then parts[#parts + 1] = "permission " .. row.permission end
  if row.signer == "sub" then parts[#parts + 1] = "signed by the sub-account's own key" end
  if row.weight then parts[#parts + 1] = "weight " .. ("%d"):format(row.weight) end
  if row.deprecated then parts[#parts + 1] = "deprecated: use " .. row.deprecated:gsub("%.", " ") end
  local form = row.result.list and "a list of" or row.result.record and "one record:" or "a page of"
  return ("%s.%s\nResult: %s %s.%s"):format(table.concat(parts, ", "),
    row.live and "\nProfile: mexc, or one with live_operations." or "", form, table.concat(output.members(row), ", "),
    row.effect ~= "read" and "\nOutcome unknown: " .. catalogue.advice(row) .. "." or "")
end

local samples = { -- of required parameters
  coin = "USDT", asset = "USDT", network = "TRX", netWork = "TRX", subAccount = "tradingdesk1",
  toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "FUTURES", id = "766a...", tranId = "766a...",
  note = "till", apiKey = "mx0...", accessKey = "mx0...", amount = "12.5", address = "T...",
  ipWhiteList = "203.0.113.7", permissions = "SPOT_ACCOUNT_READ",
}

local function sample(row, param)
  local payee = row.by_name.toAccountType
  payee = payee and payee.values and payee.values[1] -- how another user is named, or SPOT
  if param[1] == "toAccount" and payee == "EMAIL" then return "12345678" end
  if param[1] == "toAccountType" then return payee == "EMAIL" and "UID" or samples.toAccountType end
  return param[2] == "choice" and param.values[1] or samples[param[1]]
end

-- Returns an example with the required options, continued by backslashes.
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
  if catalogue.creates_key(row) then add "--secret-file new.keys" end
  return table.concat(words, "\n")
end

local function member_hint(row)
  return function(option)
    for _, member in ipairs(row.result.record and {} or output.members(row)) do
      if "--" .. member == option then
        return ("%s lists all; to see only some, give --filter %s=VALUE"):format(row.full_name, member)
      end
    end
  end
end

function M.of_operation(row)
  local parameters = { "Parameters" }
  for _, param in ipairs(row.params) do add_parameter(parameters, param) end
  return {
    does = row.effect ~= "read" and "send" or "show",
    text = row.summary .. (row.effect ~= "read" and ("\nIt %s, so it asks first unless --yes is given."):format(
      catalogue.effects[row.effect]) or "") .. "\n" .. facts(row), row = row, unknown = member_hint(row),
    epilog = ("Example: %s\nMore: docs/%s.md"):format(example_of(row),
      row.live and "client/signing" or "operations/" .. row.group:gsub("_", "-")),
    parameters, own_options(row), output.group(output.members(row), { is_record = row.result.record }),
    row.effect ~= "read" and connection.safety or { "Safety" }, connection.service, connection.messages,
  }
end

local EPILOG = [[
Exit codes:
  0    done
  1    rejected by the service
  2    bad input; nothing was sent
  3    not sent, or a read without an answer
  4    OUTCOME UNKNOWN of a write call: do not repeat before looking, the message says where
  5    done, but the result could not be written, or an event waits for a receiver
  6    receive: a person has to look
  130  interrupted, no write call is open
The service is that of --base-url and --profile, else of the keys' file, else of PURSER_BASE_URL and PURSER_PROFILE.
Examples:
  purser doctor --account treasury
  purser balances --account treasury
  purser wallet deposit_history --coin USDT --since 30d
  purser wallet withdraw --coin USDT --network TRX --address T... --amount 12.5
  purser payouts list.csv --operation wallet.withdraw --journal payments.db
`purser help COMMAND` explains one; `purser help credentials` says where keys come from. More: docs/cli/command-line.md
`purser sim --demo` serves a simulator, with keys, to try everything on.]]

local function load_group(group)
  return function()
    local commands = {}
    for i, row in ipairs(catalogue.groups[group[1]]) do
      commands[i] = { row.name, row.summary, load = function() return M.of_operation(row) end }
    end
    return { text = group[2], commands = commands, unknown = catalogue.hint }
  end
end

local LOGIN = "`purser login` keeps a key, `purser doctor` shows what it may do, `purser fleet` makes those of "
  .. "sub-accounts"
local NO_TRADE = "Purser pays and receives; it does not trade, and shows no prices"

-- Command names of other tools, with Purser's commands for the same purpose.
local MEANT = {
  whoami = "`purser doctor` shows whose key it is, and what it may do",
  balance = "`purser balances` shows what the account holds",
  webhook = "`purser receive run --webhook NAME=URL` posts deposits, `purser watch --webhook URL` what changes",
  export = "`purser statement` writes the books for hledger, beancount or a spreadsheet, --csv any list",
  config = "`purser login` keeps a key and its service under a name; the other settings are variables: see "
    .. "`purser help credentials`",
  pay = "`purser wallet withdraw` makes one payment, `purser payouts` a list", send = "`purser wallet withdraw` "
    .. "makes one payment, `purser payouts` a list",
  status = "`purser payouts status` shows a queue, `purser journal list` each call, `purser wait withdrawal ID` one",
  history = "`purser wallet withdrawal_history` and `purser wallet deposit_history` list what was paid and received",
  deposit = "`purser address COIN NETWORK` shows where to deposit, `purser wallet deposit_history` what came",
  key = LOGIN, keys = LOGIN, init = LOGIN, setup = LOGIN, price = NO_TRADE, buy = NO_TRADE, sell = NO_TRADE,
  trade = NO_TRADE, order = NO_TRADE,
}

local function unknown_command(word)
  local hint = MEANT[word] or catalogue.hint(word)
  grammar.each_option(M.shared(), function(option)
    if grammar.name_of(option) == "--" .. word then
      hint = ("%s is an option: it comes after a command, such as purser wallet coins %s"):format(option[1],
        option[1] .. (grammar.takes(option) and " " .. grammar.takes(option) or ""))
    end
  end)
  return hint
end

--- Returns grammar() and start(options) of a command: what its file has under the command's name, or the file's own.
function M.module(name)
  for _, command in ipairs(M.own) do
    local file = command[1] == name and require("purser.cli." .. (command[3] or name))
    if file then return file[name] or file end
  end
end

function M.root()
  local commands = {}
  for _, group in ipairs(M.groups) do
    commands[#commands + 1] = { group[1], group[2], load = load_group(group) }
  end
  for _, command in ipairs(M.own) do
    commands[#commands + 1] = { command[1], command[2], load = function()
      return M.module(command[1]).grammar()
    end }
  end
  return { commands = commands, sections = SECTIONS, epilog = EPILOG, unknown = unknown_command,
    text = "Unofficial client for all wallet, sub-account and broker endpoints of the MEXC Spot v3 API. Exact amounts; "
      .. "nothing that moves money is sent twice. It does not trade.",
    { "Options", { "--version", "Show the version." } } }
end

--- Returns the options that may stand before a command.
function M.shared()
  return { output.group {}, connection.safety, connection.service, connection.messages }
end

return M

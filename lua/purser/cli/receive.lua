-- SPDX-License-Identifier: MIT
-- `purser receive`: credits each deposit once, to the right customer; see docs/desk/receive.md. `purser address COIN
-- NETWORK`: the deposit address.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local files = require "purser.client.util.files"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local address = lazy "purser.cli.address"
local limits = lazy "purser.hosts.limits"
local grammar = require "purser.cli.grammar"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = lazy "purser"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"
local values = require "purser.cli.values"

local M = {}

local HELD, ASKED = 4, 6 -- exit codes: another process reads; a person has to look

local TO = { "--to", "<database>", "The deposits: sqlite:FILE or postgresql:DATABASE. Or set PURSER_DEPOSITS.",
  reads = "deposits" }
local CUSTOMERS = { "--customers", "<file>", "CSV file: customer,address,memo,coins,least,from,until.",
  reads = "customers" }
local COIN = { "--coin", "<text>", "Of this coin alone." }
local SUB = { "--sub-accounts", "Those of all sub-accounts (a broker's key; three days back), and not the own ones." }
local JSON = { "--json", "The result as JSON." }
local NAME = { "name", "The receiver." }

function M.grammar()
  local function nothing() end
  local function connected() return receivers.options(), connection.service end
  return grammar.actions("receive", "Credit each deposit once, to the customer whose address it came to, or ask a "
    .. "person.\nExit code 4: another process reads into the database; 5: an event waits for a receiver; 6: a person "
    .. "has to look.", {
    { "begin", "Keep the place, before the first look.", {}, "--to sqlite:deposits.db", { TO, CUSTOMERS, COIN, SUB,
      { "--again", "The database was put back: ask a person about what succeeded before." }, JSON }, connected },
    { "run", "Look and hand over, until it is stopped.", {}, "--to sqlite:deposits.db --run shop=./credit.sh", { TO,
      CUSTOMERS, COIN, SUB, { "--poll", "<duration>", "How long between two looks: 5s, 1m; default 10s." },
      { "--deadline", "<duration>", "End after so long; without it, never." }, { "--once", "Look once." },
      { "--dry", "Show what a look would credit; keep nothing, hand nothing over." }, JSON }, connected },
    { "list", "Show the deposits that a person has to end.", {}, "--to sqlite:deposits.db", { TO, COIN, JSON },
      nothing },
    { "settle", "End a deposit: give CUSTOMER, same DP, refuse or seen.", { { "deposit", "As list prints it: dp_..." },
      { "verb", "give, same, refuse or seen." }, { "third", "The customer, or the same deposit.", optional = true } },
      "dp_766a... give alice", { TO }, nothing },
    { "deliveries", "Show what waits for each receiver.", {}, "--json", { TO, JSON }, nothing },
    { "replay", "Hand over again.", { NAME, { "from", "dp_..., the id of an event, or a time such as 1h." } },
      "shop 1h", { TO }, nothing },
    { "receivers", "Rename or forget a receiver.",
      { { "verb", "rename or drop.", choices = { "rename", "drop" } }, NAME,
        { "new", "Of rename: the new name.", optional = true } }, "drop shop", { TO }, nothing },
    { "test", "Send a receiver dp_test/credit of 0.", { NAME }, "shop --run shop=./credit.sh", { TO },
      receivers.options },
    { "address", "Make or find a deposit address, and note whose it is.",
      { { "customer", "Your name of the customer." }, { "coin", "As USDT." }, { "network", "By any of its names." } },
      "alice USDT TRX", { TO, JSON },
      function() return connection.service end },
    { "check", "Add up by coin.", {}, "--coin USDT", { TO, COIN, JSON }, nothing },
  })
end

-- Opens the database. `makes` makes a missing database, and a client.
local function open(options, makes)
  local text = options.to or credentials.variable "PURSER_DEPOSITS"
  local made = text and limits.parse(text)
  if not made or made.redis then
    report.bad_input("%s; give --to sqlite:FILE or postgresql:DATABASE", -- it may hold a password
      text and "--to names no database" or "no database is named")
  end
  if not makes and made.sqlite and not core.file_mode(made.sqlite) then
    report.bad_input("receive: there is no %s; give the --to that `purser receive begin` was given", made.sqlite)
  end
  made.receivers, made.coin, made.sub_accounts, made.poll_ms = receivers.of(options), options.coin,
    options.sub_accounts, options.poll
  made.client = makes and connection.open(options) or nil
  return report.must(purser.receive.open(made)), made.client
end

local function to_of(options) return options.to and " --to " .. values.shell_word(options.to) or "" end

local function of_coin(options, all)
  local found = {}
  for _, one in ipairs(all) do found[#found + 1] = (not options.coin or one.coin == options.coin) and one or nil end
  return found
end

local function customers_of(options)
  if not options.customers then return nil end
  local text, message = files.read(options.customers)
  return text or report.bad_input("--customers %s", tostring(message))
end

local function waiting_code(options, receive, given)
  return receivers.say_waiting(report.must(receive:deliveries()), given, "purser receive receivers drop %s"
    .. to_of(options):gsub("%%", "%%%%"))
end

-- Says how many deposits wait for a person. Returns the exit code.
local function asked_code(options, receive)
  local lines = report.must(receive:list())
  if not lines[1] then return report.DONE end
  report.say("deposits that wait for a person: %d: `purser receive list%s`", #lines, to_of(options))
  return ASKED
end

--- Returns the address of a plan, new where none exists; or ends the command.
---@param takes (fun(row: table): boolean)|nil  tells whether an existing address is wanted
function M.made_address(client, coin, network, takes)
  local plan = report.must(client.wallet:plan_create_deposit_address { coin = coin, network = network,
    another = takes ~= nil })
  if not plan.ok then
    report.say("%s", plain_text.clean(table.concat(plan.problems, "; ")))
    report.stop(report.REJECTED)
  end
  for _, row in ipairs(takes and plan.addresses or {}) do
    if takes(row) then return row, plan end
  end
  local made, err = plan:execute()
  if not made then report.stop(report.failure({ effect = "create" }, {}, err)) end
  return made, plan
end

local actions = {}

function actions.begin(options)
  local customers = customers_of(options)
  local begun = report.must(open(options, true):begin { customers = customers, again = options.again })
  if options.again and not options.json then
    return report.write(("all that the service shows was read: a person is asked about %d; %d pending: later\n"):format(
      begun.asked, begun.pending)) and (begun.asked > 0 and ASKED or report.DONE)
  end
  report.write(options.json and output.json(begun) or ("all that the service shows was read: %d succeeded before now: "
    .. "not credited; %d pending: later\n"):format(begun.old, begun.pending))
end

function actions.run(options)
  local customers = customers_of(options)
  local receive, client = open(options, true)
  local function made(event)
    local row = event.row
    report.write(options.json and event.body .. "\n" or plain_text.clean(("%s  %-8s  %s  %s  %s %s  %s"):format(
      values.show_time(client:now(), "local"):match "%d+:%d+:%d+", event.kind, row.dp, row.customer, row.paid_amount,
      row.paid_coin, row.network)) .. "\n")
  end
  if options.dry then
    local events, asked = receive:preview { customers = customers }
    for _, event in ipairs(report.must(events, asked)) do made(event) end
    for _, line in ipairs(asked) do
      local text = ("%s: %s %s  %s"):format(line.deposit, line.amount, line.coin, line.why)
      report.say("a person would be asked about %s", plain_text.clean(text))
    end
    return math.max(asked_code(options, receive), asked[1] and ASKED or report.DONE)
  end
  local ok, err = receive:run { customers = customers, deadline_ms = options.once and 0 or options.deadline,
    made = made,
    told = function(name, event, taken, message)
      local text = taken or plain_text.clean(values.in_shell(tostring(message)))
      if not taken then report.say("%s did not take %s: %s", name, event.id, text) end
    end,
    problem = function(problem) report.say("%s", report.sentence(problem)) end }
  if not ok and err.code == "held" then
    report.say("%s", err.message)
    return HELD
  end
  if not ok then return report.failure({ effect = "read" }, {}, err) end
  local code = waiting_code(options, receive, receivers.of(options))
  return math.max(code, asked_code(options, receive))
end

function actions.list(options)
  local lines = of_coin(options, report.must(open(options):list()))
  for _, line in ipairs(options.json and {} or lines) do
    local text = { ("%s  %s %s  %s  since %s\n"):format(line.deposit, line.amount, line.coin, line.why,
      values.show_time(line.since)), ("   %s to %s%s, transaction %s\n"):format(line.network, line.address,
      line.memo ~= "" and " memo " .. line.memo or "", line.tx ~= "" and line.tx or "none") }
    for _, verb in ipairs(line.verbs) do
      text[#text + 1] = ("   purser receive settle %s %s%s\n"):format(line.deposit, verb, to_of(options))
    end
    report.write((table.concat(text):gsub("[^\n]+", plain_text.clean)))
  end
  if options.json then report.write(output.json(json.list(lines), "  ")) end
  return lines[1] and ASKED or report.DONE
end

function actions.settle(options)
  local receive = open(options)
  report.must(receive:settle(options.deposit, options.verb, options.third, os.getenv "USER"))
end

function actions.deliveries(options)
  local receive = open(options)
  if options.json then report.write(output.json(json.list(report.must(receive:deliveries())), "  ")) end
  return waiting_code(options, receive)
end

function actions.replay(options)
  local receive, what = open(options), options.from
  if not what:find "^dp_" then
    local ms, message = values.time(what)
    what = ms or report.bad_input("%s; or give dp_..., or an event's id", message)
  end
  report.write(("events that the next run sends again: %d\n"):format(report.must(receive:replay(options.name, what))))
end

function actions.receivers(options)
  if (options.verb == "rename") ~= (options.new ~= nil) then report.bad_input "give rename OLD NEW, or drop NAME" end
  report.must(open(options):rename(options.name, options.new))
end

function actions.test(options)
  local ok, message = open(options):test(options.name)
  if ok then return report.write(("%s took dp_test/credit\n"):format(options.name)) and report.DONE end
  report.say("%s: %s", options.name, values.in_shell(tostring(message)))
  return report.REJECTED
end

function actions.address(options)
  local receive, client = open(options, true)
  local made = M.made_address(client, options.coin, options.network, function(row)
    local ok, err = receive:note_address(options.customer, row.address, row.memo)
    return ok or err.kind ~= "argument" and report.must(ok, err) -- a database that fails says nothing of the address
  end)
  report.must(receive:note_address(options.customer, made.address, made.memo))
  local memo = made.memo ~= "" and made.memo or nil
  report.write(options.json and output.json { customer = options.customer, address = made.address, memo = memo }
    or plain_text.clean(made.address .. (memo and " memo " .. memo or "")) .. "\n")
end

function actions.check(options)
  local adds_up, list = true, {}
  for i, sum in ipairs(of_coin(options, report.must(open(options):check()))) do
    adds_up = adds_up and sum.adds_up
    list[i] = { coin = sum.coin, adds_up = sum.adds_up, deposit = sum.odd }
    for _, name in ipairs { "received", "credited", "reversed", "person", "refused", "pending" } do
      list[i][name] = tostring(sum[name])
    end
    if not options.json then
      report.write(("%s  received %s = credited %s + reversed %s + person %s + refused %s + pending %s%s\n"):format(
        sum.coin, list[i].received, list[i].credited, list[i].reversed, list[i].person, list[i].refused,
        list[i].pending, sum.adds_up and "" or "  DOES NOT ADD UP: see " .. sum.odd))
    end
  end
  if options.json then report.write(output.json(json.list(list), "  ")) end
  return adds_up and report.DONE or ASKED
end

function M.start(options) return actions[options.action](options) or report.DONE end

M.address = {}

function M.address.grammar()
  return {
    text = "Show the deposit address of a coin on a network. It is made where there is none. An answer of another coin "
      .. "or network, or of a form that the network cannot have, is refused. `purser address check TEXT NETWORK` says "
      .. "what an address is, and whether it is one of the network: without a key, and without the service.",
    arguments = { { "coin", "As USDT; or the word check.", values = {} },
      { "network", "By any of its names: TRX, TRC20, Tron(TRC20); or the address to check.", optional = true,
        values = {} }, { "of", "Of an address to check: its network.", optional = true, values = {} } },
    { "Options", { "--json", "As JSON." },
      { "--memo", "<text>", "Of an address to check: the memo, tag or id." },
      { "--coin", "<coin>", "Of an address to check: reads the coin's networks and contracts, from the service.",
        target = "of_coin" } }, connection.service, connection.messages,
  }
end

function M.address.start(options)
  if options.coin == "check" then return address.check(options) end
  local made, plan = M.made_address(connection.open(options), options.coin, options.network)
  local network, memo = plan.network, made.memo ~= nil and made.memo ~= "" and tostring(made.memo) or nil
  if options.json then
    return report.write(output.json { coin = plan.coin, address = made.address, memo = memo,
      network = network.network, netWork = network.netWork, confirmations = network.minConfirm }) and report.DONE
  end
  local cells = { made.address, memo or "", plan.coin, ("%s (%s)"):format(tostring(network.netWork),
    tostring(network.network)), network.minConfirm }
  for i, cell in ipairs(cells) do cells[i] = plain_text.clean(tostring(cell)) end
  report.write(output.fields({ "address", "memo", "coin", "network", "confirmations" }, { cells }))
end

return M

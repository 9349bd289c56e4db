-- SPDX-License-Identifier: MIT
-- `purser receive`: credits each deposit once, to the right customer; see docs/desk/receive.md. `purser address COIN
-- NETWORK`: the deposit address.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local ends = require "purser.cli.ends"
local files = require "purser.client.util.files"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local address = lazy "purser.cli.address"
local grammar = require "purser.cli.grammar"
local notes = require "purser.cli.notes"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = lazy "purser"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local ASKED = 6 -- exit code: a person has to look

local TO = { "--to", "<database>", "The deposits: sqlite:FILE or postgresql:DATABASE. Or set PURSER_DEPOSITS.",
  reads = "deposits" }
local CUSTOMERS = { "--customers", "<file>", "CSV file: customer,address,memo,coins,least,from,until.",
  reads = "customers" }
local COIN = { "--coin", "<coin>", "Of this coin alone.", into = "only" }
local SUB = { "--sub-accounts", "Those of all sub-accounts (a broker's key; three days back), and not the own ones.",
  into = "only" }
local JSON = { "--json", "The result as JSON." }
local NAME = { "name", "The receiver." }

function M.grammar()
  local function nothing() end
  local function connected() return receivers.options(), connection.service end
  return grammar.actions("receive", "Credit each deposit once, to the customer whose address it came to, or ask a "
    .. "person.\nExit code 3: another process reads into the database; 5: an event waits for a receiver; 6: a person "
    .. "has to look.", {
    { "begin", "Keep the place, before the first look.", {}, "--to sqlite:deposits.db", { TO, CUSTOMERS, COIN, SUB,
      { "--again", "The database was put back: ask a person about what succeeded before." }, JSON }, connected,
      does = "send" },
    { "run", "Look and hand over, until it is stopped.", {}, "--to sqlite:deposits.db --run shop=./credit.sh", { TO,
      CUSTOMERS, COIN, SUB, { "--every", "<duration>", "How long between two looks: 5s, 1m; default 10s.",
        into = "only", target = "poll_ms" },
      { "--deadline", "<duration>", "End after so long; without it, never." }, { "--once", "Look once." },
      { "--dry-run", "Show what a look would credit; keep nothing, hand nothing over.", way = "plan" }, JSON },
      connected, does = "send" },
    { "list", "Show the deposits that a person has to end.", {}, "--to sqlite:deposits.db", { TO, COIN, JSON },
      nothing },
    { "settle", "End a deposit: give CUSTOMER, same DP, refuse or seen.", { { "deposit", "As list prints it: dp_..." },
      { "verb", "give, same, refuse or seen." }, { "with", "The customer, or the same deposit.", optional = true } },
      "dp_766a... give alice", { TO }, nothing, does = "send" },
    { "deliveries", "Show what waits for each receiver.", {}, "--json", { TO, JSON }, nothing },
    { "replay", "Hand over again.", { NAME, { "from", "dp_..., the id of an event, or a time such as 1h." } },
      "shop 1h", { TO }, nothing, does = "send" },
    { "receivers", "Rename or forget a receiver.",
      { { "verb", "rename or drop.", choices = { "rename", "drop" } }, NAME,
        { "new", "Of rename: the new name.", optional = true } }, "drop shop", { TO }, nothing, does = "send" },
    { "test", "Send a receiver dp_test/credit of 0.", { NAME }, "shop --run shop=./credit.sh", { TO },
      receivers.options, does = "send" },
    { "address", "Make or find a deposit address, and note whose it is.",
      { { "customer", "Your name of the customer." }, { "coin", "As USDT." }, { "network", "By any of its names." } },
      "alice USDT TRX", { TO, JSON },
      function() return connection.service end, does = "send" },
    { "check", "Add up by coin.", {}, "--coin USDT", { TO, COIN, JSON }, nothing },
  })
end

-- Opens the database. `makes` makes a missing database, and a client.
local function open(options, makes)
  local text = options.to or credentials.variable "PURSER_DEPOSITS"
  local made = text and values.store(text)
  if not made or made.redis then
    -- the text is not quoted: it may hold a password
    report.bad_input("%s; give --to sqlite:FILE or postgresql:DATABASE, or set PURSER_DEPOSITS",
      text and "--to names no database" or "no database is named")
  end
  if not makes and made.sqlite and not core.file_mode(made.sqlite) then
    report.bad_input("receive: there is no %s; give the --to that `purser receive begin` was given", made.sqlite)
  end
  made.receivers = receivers.of(options)
  for name, value in pairs(options.only or {}) do made[name] = value end
  made.client = makes and connection.open(options) or nil
  return report.must(purser.receive.open(made)), made.client
end

local function to_of(options) return options.to and " --to " .. values.shell_word(options.to) or "" end

local function of_coin(options, all)
  local found = {}
  local coin = options.only.coin
  for _, one in ipairs(all) do found[#found + 1] = (not coin or one.coin == coin) and one or nil end
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
    report.bad_input("%s", plain_text.clean(table.concat(plan.problems, "; ")))
  end
  for _, row in ipairs(takes and plan.addresses or {}) do
    if takes(row) then return row, plan end
  end
  local made, err = plan:execute()
  if not made then report.stop(report.failure({ effect = "create" }, {}, err)) end
  return made, plan
end

-- Says what a person should look at in the addresses of a customers' file, or of the customers that are kept.
local function say_warnings(receive, text, path)
  local lines = notes.lines { rows = report.must(receive:warnings(text)), texts = "warnings", name = "warning",
    noun = "customer", key = "customer", path = path }
  for _, line in ipairs(lines) do report.say("%s", plain_text.clean(line)) end
end

-- Steps of an action that shows something: the opened deposits, a text and the exit code.
local function showing(say)
  return { look = function(options) return { receive = open(options) } end, say = function(screen, options)
    return say(screen.receive, options) or report.DONE
  end }
end

-- Steps of an action that writes: the opened deposits, what is written, and a text.
---@param makes boolean|nil  a missing database is made, and a client
local function writing(makes, act, say)
  return {
    look = function(options)
      local list = customers_of(options) -- before the database: bad input makes no file
      local receive, client = open(options, makes)
      if list then say_warnings(receive, list, options.customers) end
      return { receive = receive, client = client, customers = list }
    end,
    act = function(screen, options)
      screen.made = act(screen, options)
      return { "made" }
    end,
    say = function(screen, options) return say and say(screen.made, options, screen) or report.DONE end,
  }
end

-- Shows an event that was made, or would be.
local function show_event(client, event, options)
  local row = event.row
  report.write(options.json and event.body .. "\n" or plain_text.clean(("%s  %-8s  %s  %s  %s %s  %s"):format(
    values.show_time(client:now(), "local"):match "%d+:%d+:%d+", event.kind, row.dp, row.customer, row.paid_amount,
    row.paid_coin, row.network)) .. "\n")
end

local actions = {}

-- Ends the command for a wrong line of the customers' file, with the file's name.
local function check_file(options, value, err)
  if not value and options.customers and err.kind == "argument" then
    report.bad_input("%s: %s", options.customers, plain_text.clean(err.message))
  end
end

local function must_of_file(options, value, err)
  check_file(options, value, err)
  return report.must(value, err)
end

actions.begin = writing(true, function(screen, options)
  return must_of_file(options, screen.receive:begin { customers = screen.customers, again = options.again })
end, function(begun, options)
  if options.json and not options.again then return report.write(output.json(begun)) and report.DONE end
  if options.json then
    report.write(output.json(begun))
  else
    local text = ("all that the service shows was read: %s %s; %d pending, credited when they succeed"):format(
      plain_text.counted(options.again and begun.asked or begun.old, "deposit"),
      options.again and "that a person is asked about" or "of before now, not credited", begun.pending)
    report.write(terminal.fold(text) .. "\n")
  end
  return options.again and begun.asked > 0 and ASKED or report.DONE
end)

actions.run = writing(true, function(screen, options)
  return { screen.receive:run { customers = screen.customers, deadline_ms = options.once and 0 or options.deadline,
    made = function(event) show_event(screen.client, event, options) end,
    delivered = function(name, event, taken, message)
      local text = taken or plain_text.clean(values.in_shell(tostring(message)))
      if not taken then report.say("%s did not take %s: %s", name, event.id, text) end
    end,
    problem = function(problem) report.say("%s", report.sentence(problem)) end } }
end, function(made, options, screen)
  local ok, err = made[1], made[2]
  if not ok and err.code == "held" then
    report.say("%s", err.message)
    return report.NOT_SENT
  end
  check_file(options, ok, err)
  if not ok then return report.failure({ effect = "read" }, {}, err) end
  local code = waiting_code(options, screen.receive, receivers.of(options))
  return math.max(code, asked_code(options, screen.receive))
end)

-- Shows the credits of a run that keeps nothing. Returns the exit code.
local function preview(screen, options)
  local events, asked = screen.receive:preview { customers = screen.customers }
  for _, event in ipairs(must_of_file(options, events, asked)) do show_event(screen.client, event, options) end
  for _, line in ipairs(asked) do
    local text = ("%s: %s %s  %s"):format(line.deposit, line.amount, line.coin, line.why)
    report.say("a person would be asked about %s", plain_text.clean(text))
  end
  return math.max(asked_code(options, screen.receive), asked[1] and ASKED or report.DONE)
end

local run_says = actions.run.say
function actions.run.say(screen, options, made) return (made and run_says or preview)(screen, options) end

actions.list = showing(function(receive, options)
  local lines = of_coin(options, report.must(receive:list()))
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
end)

actions.settle = writing(false, function(screen, options)
  return report.must(screen.receive:settle(options.deposit, options.verb, options.with, os.getenv "USER"))
end)

actions.deliveries = showing(function(receive, options)
  if options.json then report.write(output.json(json.list(report.must(receive:deliveries())), "  ")) end
  return waiting_code(options, receive)
end)

actions.replay = writing(false, function(screen, options)
  local what = options.from
  if not what:find "^dp_" then
    local ms, message = values.time(what)
    what = ms or report.bad_input("%s; or give dp_..., or an event's id", message)
  end
  return report.must(screen.receive:replay(options.name, what))
end, function(count) report.write(("events that the next run sends again: %d\n"):format(count)) end)

actions.receivers = writing(false, function(screen, options)
  if (options.verb == "rename") ~= (options.new ~= nil) then report.bad_input "give rename OLD NEW, or drop NAME" end
  return report.must(screen.receive:rename(options.name, options.new))
end)

actions.test = writing(false, function(screen, options)
  return { screen.receive:test(options.name) }
end, function(made, options)
  if made[1] then return report.write(("%s took dp_test/credit\n"):format(options.name)) and report.DONE end
  report.say("%s: %s", options.name, values.in_shell(tostring(made[2])))
  return report.REJECTED
end)

actions.address = writing(true, function(screen, options)
  local receive = screen.receive
  local made = M.made_address(screen.client, options.coin, options.network, function(row)
    local ok, err = receive:note_address(options.customer, row.address, row.memo)
    return ok or err.kind ~= "argument" and report.must(ok, err) -- a database that fails says nothing of the address
  end)
  report.must(receive:note_address(options.customer, made.address, made.memo))
  return made
end, function(made, options)
  local memo = made.memo ~= "" and made.memo or nil
  report.write(options.json and output.json { customer = options.customer, address = made.address, memo = memo }
    or plain_text.clean(made.address .. (memo and " memo " .. memo or "")) .. "\n")
end)

actions.check = showing(function(receive, options)
  say_warnings(receive)
  local adds_up, list = true, {}
  for i, sum in ipairs(of_coin(options, report.must(receive:check()))) do
    adds_up = adds_up and sum.adds_up
    list[i] = { coin = sum.coin, adds_up = sum.adds_up, deposit = sum.odd }
    for _, name in ipairs { "received", "credited", "reversed", "person", "refused", "pending" } do
      list[i][name] = tostring(sum[name])
    end
    if not options.json then
      local text = ("%s  received %s = credited %s + reversed %s + person %s + refused %s + pending %s%s"):format(
        sum.coin, list[i].received, list[i].credited, list[i].reversed, list[i].person, list[i].refused,
        list[i].pending, sum.adds_up and "" or "  DOES NOT ADD UP: see " .. sum.odd)
      report.write(terminal.fold(text, 6) .. "\n")
    end
  end
  if options.json then report.write(output.json(json.list(list), "  ")) end
  return adds_up and report.DONE or ASKED
end)

M.actions = actions

M.address = {}

local JUDGED = { "--coin", "<coin>", "Reads the coin's networks and contracts, too, from the service.",
  target = "of_coin" }

function M.address.grammar()
  local function nothing() return connection.service end
  return grammar.actions("address", "Deposit addresses of the account, and what an address is.\n"
    .. "`purser address USDT TRX` is `purser address show USDT TRX`.", {
    { "show", "Show the deposit address of a coin on a network. It is made where there is none. An answer of another "
      .. "coin or network, or of a form that the network cannot have, is refused.",
      { { "coin", "As USDT.", values = {} },
        { "network", "By any of its names: TRX, TRC20, Tron(TRC20).", values = {} } }, "USDT TRX", { JSON }, nothing,
      does = "send" },
    { "check", "Say what an address is, and whether it is one of a network: without a key and, unless a coin is named, "
      .. "without the service.",
      { { "text", "The address.", values = {} },
        { "network", "By any of its names.", optional = true, values = {} } },
      "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7 TRX",
      { JSON, { "--memo", "<text>", "The memo, tag or id." }, JUDGED }, nothing },
  }, { "show", "^[^-]" })
end

M.address.actions = { show = {}, check = address }

function M.address.actions.show.look(options)
  return { client = connection.open(options) }
end

function M.address.actions.show.act(screen, options)
  screen.made, screen.plan = M.made_address(screen.client, options.coin, options.network)
  return { "made" }
end

function M.address.actions.show.say(screen, options, made)
  local row, plan, network = screen.made, screen.plan, screen.plan.network
  local memo = row.memo ~= nil and row.memo ~= "" and tostring(row.memo) or nil
  if options.json then
    report.write(output.json { coin = plan.coin, address = row.address, memo = memo, network = network.network,
      netWork = network.netWork, confirmations = network.minConfirm })
    return ends.code(made)
  end
  local cells = { row.address, memo or "", plan.coin, ("%s (%s)"):format(tostring(network.netWork),
    tostring(network.network)), network.minConfirm }
  for i, cell in ipairs(cells) do cells[i] = plain_text.clean(tostring(cell)) end
  report.write(output.fields({ "address", "memo", "coin", "network", "confirmations" }, { cells }))
  return ends.code(made)
end

return M

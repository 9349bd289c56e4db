-- SPDX-License-Identifier: MIT
--- `purser sim`: the simulator behind HTTP on a loopback port, until it is stopped. `purser test -- COMMAND`: a program
--- against it, with each fault; see docs/testing/simulator.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "purser.client.util.files"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local M = {}

-- Constant keys: a script works with any simulator of --demo.
local demo_account = {
  name = "Demo", role = "broker", email = "demo@mail.example",
  api_key = "mx0DEMOdemoDEMOdemo0", secret_key = "demosecretworthnothing0000000000",
  balances = { USDT = "25000", BTC = "0.75", ETH = "12.5", MX = "40", XRP = "1200", TRX = "3.5", DOGE = "4.25" },
}

local DAY_MS = 24 * 3600 * 1000

local function port_number(text)
  local number = text:find "^%d+$" and #text <= 5 and tonumber(text)
  if not number or number > 65535 then return nil, ("%q is no port, which is a number from 0 to 65535"):format(text) end
  return number
end

local function pools(text)
  if text == "default" or text == "mexc" then return text end
  local capacity, window_ms = text:match "^([1-9]%d?%d?%d?%d?%d?)/([1-9]%d?%d?%d?%d?%d?)$"
  if not capacity then return nil, ("%q is no profile, and not like 300/10000"):format(text) end
  return { ip = { capacity = tonumber(capacity), window_ms = tonumber(window_ms) } }
end

function M.grammar()
  return {
    text = "Serve the simulator over HTTP until it is stopped; /console is a page to watch and drive it.",
    { "Options",
      { "--port", "<port>", "Port; 0 takes any that is free (8080).", default = 8080, convert = port_number,
        into = "place" },
      { "--host", "<address>", "Address to listen on; only loopback is accepted.", default = "127.0.0.1",
        into = "place" },
      { "--demo", "Open a demonstration account and print its keys." },
      { "--state", "<file>", "File to save to at the end, and to start from when it exists; what it holds wins over "
        .. "the options of a new simulator." },
      { "--idle-timeout", "<duration>", "End after so long without a request.", into = "place",
        target = "idle_timeout_ms" },
      { "--any-host", "Answer the service's paths whatever name the Host of a request is.", into = "place" },
      { "--no-control", "Leave out the control endpoints under /sim/, and the page /console.", into = "place" } },
    { "New simulator",
      { "--seed", "<n>", "Seed of everything that is left to chance (1).", into = "world" },
      { "--clock", "<mode>", "real goes with the wall clock, virtual stands still until it is advanced (real).",
        choices = { "real", "virtual" }, default = "real", into = "world" },
      { "--variant", "<form>", "Form of the answers: the interface document's, or the live service's (document).",
        choices = { "document", "live" }, into = "world" },
      { "--profile", "<name>", "Conventions of signing and placement, as in purser.new.", into = "world" },
      { "--rate-limit", "<pools>", "HTTP 429 above these pools, then bans of minutes: default or mexc, as in the "
        .. "profile; or CAPACITY/MILLISECONDS.", convert = pools, into = "world" },
      { "--set", "<name=value>", "Another option of purser.sim.new, such as fee=inside (docs/testing/simulator.md).",
        many = true } },
  }
end

-- Returns the options of purser.sim.new, with numbers and true in place of texts.
local function of_world(options)
  local made = options.world
  for _, pair in ipairs(options.set) do
    local name, value = pair[1], pair[2]
    made[name] = value == "true" or tonumber(value) or value
  end
  return made
end

-- Returns the simulator of --state, or a new one; and whether it is new.
local function make(options)
  if options.state then
    local world, message = purser.sim.load(options.state)
    if message then report.bad_input("--state %s", message) end
    local ok
    ok, message = files.can_replace(options.state)
    if not ok then report.bad_input("--state %s cannot be written: %s", options.state, message) end
    if world then return world, false end
  end
  local world, wrong = purser.sim.new(of_world(options))
  return world or report.bad_input("%s", wrong), true
end

local function open_demo(world)
  for _, account in ipairs(world:state().accounts) do
    if account.email == demo_account.email then return end
  end
  local account = assert(world:account(demo_account))
  -- A deposit of yesterday: the first history is not empty.
  assert(world:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "1250.5",
    time = world:now() - DAY_MS })
  world:run_due()
end

local function announce(options, port)
  local place = options.place
  local host = place.host:find(":", 1, true) and "[" .. place.host .. "]" or place.host
  local url = ("http://%s:%d"):format(host, port)
  terminal.write(("purser sim listening on %s\n"):format(url) .. (options.demo
    and ("demo account, worth nothing anywhere else:\n  api_key    = %s\n  secret_key = %s\n"):format(
      demo_account.api_key, demo_account.secret_key) or "") .. (place.no_control and ""
    or ("console: %s/console\n"):format(url)))
end

local cures = {
  in_use = "; perhaps another simulator has it; give another --port, or --port 0 for any that is free",
  remote = "; give --host 127.0.0.1, or ::1",
}

local function serve(httpd, world, options)
  if options.demo then open_demo(world) end
  local code, place = 0, options.place
  httpd.catch_signals()
  local served, message, cause = purser.sim.serve(world, {
    host = place.host, port = place.port, idle_timeout_ms = place.idle_timeout_ms,
    control = not place.no_control, any_host = place.any_host,
    on_listen = function(port) announce(options, port) end,
    on_error = function(problem, request)
      code = 1
      report.say("%s %s: %s", request.method, request.target, tostring(problem))
    end,
  })
  if served then return code, true end
  report.say("%s%s", message, cures[cause] or "")
  return 1, false
end

--- Runs the command. Returns the exit code: 0 ended as asked, 1 could not serve or save, 2 bad input.
function M.say(_, options)
  local world, is_new = make(options)
  local is_built, httpd = pcall(require, "purser.httpd")
  if not is_built then
    report.say("%s", tostring(httpd):find("not found", 1, true)
      and "purser.httpd is missing: build it with libmicrohttpd (Debian: libmicrohttpd-dev)" or tostring(httpd))
    return 1
  end
  local ok, code, has_served = pcall(serve, httpd, world, options)
  if not ok then report.say("%s", tostring(code)) end
  if options.state and (ok and has_served or not is_new) then
    local saved, message = purser.sim.save(world, options.state)
    if not saved then report.say("the state could not be saved: %s", message) end
    ok = ok and saved
  end
  return ok and code or 1
end

local RUNS = { "fault", "call", "starts", "exit", "books" }

M.test = {}

function M.test.grammar()
  return {
    text = "Run a program against the simulator, once as it is and once for each fault at each of its write calls (a "
      .. "lost answer, a record that comes late, has a used id or another form, 429, a kill), and tell where it paid "
      .. "twice, or did not pay though it ended with 0. The program finds its service in PURSER_BASE_URL, "
      .. "PURSER_API_KEY and PURSER_SECRET_KEY, its account in PURSER_ACCOUNT, and in PURSER_TEST_FOLDER a folder that "
      .. "it keeps between its starts; PURSER_JOURNAL is a file in it. It inherits PATH and nothing else, and reaches "
      .. "no other service. Where it was killed it is started again until it ends with 0, at most 3 times.",
    arguments = { { "command", "The program and its words, after --.", many = true } },
    epilog = "Example: purser test -- lua5.4 pay.lua\nIt ends with 1 where a run was wrong.",
    { "Options",
      { "--seed", "<n>", "Seed of the simulator (1).", into = "world" },
      { "--profile", "<name>", "Conventions of the service, as in purser.new.", into = "world" },
      { "--balance", "<name=value>", "What the account has, as COIN=AMOUNT (USDT, BTC, ETH and MX).", many = true } },
    output.group(RUNS), connection.messages,
  }
end

function M.test.say(_, options)
  if not options.command[1] then
    report.bad_input "test: there is no program; give one after --, such as: purser test -- lua5.4 pay.lua"
  end
  local rehearse = purser.sim.rehearse -- first: it names the rock where the simulator is missing
  if not pcall(require, "purser.httpd") then
    report.bad_input "test: purser.httpd is missing: build it with libmicrohttpd"
  end
  local balances, show, clear = {}, terminal.progress_line()
  for _, pair in ipairs(options.balance) do
    if not core.decimal(pair[2]) then report.bad_input("--balance takes COIN=AMOUNT, not %q", pair[2]) end
    balances[pair[1]] = pair[2]
  end
  local runs, message = rehearse(options.command, { seed = options.world.seed,
    profile = options.world.profile, balances = next(balances) and balances or nil,
    on_run = function(run) show(("%s, write call %d: %s"):format(run.fault, run.at, run.wrong or "right")) end })
  clear()
  if not runs then report.bad_input("test: %s", message) end
  local records, wrong = {}, 0
  for i, run in ipairs(runs) do
    records[i] = { fault = run.fault, call = run.at > 0 and run.at or nil, starts = run.starts, exit = run.code,
      books = run.wrong or "right" }
    wrong = wrong + (run.wrong and 1 or 0)
  end
  output.print(RUNS, records, options)
  report.note("%s wrong", plain_text.counted(wrong, "of %s was", "of %s were"):format(plain_text.counted(#runs, "run")))
  return wrong > 0 and report.REJECTED or report.DONE
end

return M

-- SPDX-License-Identifier: MIT
--- `purser sim`: the simulator behind HTTP on a loopback port, until it is stopped.

local lazy = require "purser.util.lazy"
local terminal = require "purser.cli.terminal"
local console = lazy "purser.sim.console"
local control = lazy "purser.sim.control"
local files = lazy "purser.util.files"
local http_server = lazy "purser.sim.serve"
local json = lazy "purser.json"
local plain = lazy "purser.sim.plain"
local simulator = lazy "purser.sim"
local state_file = lazy "purser.sim.state_file"

local M = { summary = "Serve the simulator over HTTP." }

-- The keys are always the same, so that a script can be pointed at any simulator that was started with --demo.
local demo_account = {
  name = "Demo", role = "broker", email = "demo@mail.example",
  api_key = "mx0DEMOdemoDEMOdemo0", secret_key = "demosecretworthnothing0000000000",
  balances = { USDT = "25000", BTC = "0.75", ETH = "12.5", MX = "40", XRP = "1200", TRX = "3.5", DOGE = "4.25" },
}

local DAY_MS = 24 * 3600 * 1000

local function fail(code, message, ...)
  terminal.say_as("purser sim", message:format(...))
  return code
end

-- Bytes of a request on one line of plain text.
local function shown(text)
  return (text:gsub("[^\32-\126]", function(byte) return ("\\x%02X"):format(byte:byte()) end))
end

-- A module, or nil and a sentence that says where it comes from.
local function need(name, cure)
  local ok, module = pcall(require, name)
  if ok then return module end
  if not tostring(module):find("not found", 1, true) then return nil, tostring(module) end
  return nil, ("%s is missing: %s"):format(name, cure)
end

local function whole(text)
  local number = text:find("^%d+$") and #text < 16 and tonumber(text)
  if not number then return nil, ("%q is not a whole number"):format(text) end
  return number
end

local function port_number(text)
  local number = text:find("^%d+$") and #text <= 5 and tonumber(text)
  if not number or number > 65535 then return nil, ("%q is no port, which is a number from 0 to 65535"):format(text) end
  return number
end

local function id_and_state(text)
  local id, state = text:match("^([^=]+)=([%w_]+)$")
  if not id then return nil, ("%q is not of the form ID=STATE"):format(text) end
  return { id = id, status = state }
end

local function any_text(text) return text end

-- The options of purser.sim.new that take a value and have no rule of their own below: name, help, what it takes.
local world_options = {
  { "profile", "Conventions of signing and placement, as in purser.new.", "NAME", convert = any_text },
  { "start-time", "Where the clock starts, in epoch milliseconds.", "MS", convert = whole },
  { "record-requests", "How many requests the simulator remembers (100).", "N", convert = whole },
  { "visibility-delay", "How long a new record is missing from histories and lists (0).", "MS", convert = whole,
    name = "visibility_delay_ms" },
  { "transfer-wait", "How long a transfer between spot and futures waits (0).", "MS", convert = whole,
    name = "transfer_wait_ms" },
  { "repeated-ids", "What becomes of a write call whose id was used before (execute).", "WHAT",
    choices = { "execute", "reject" } },
  { "fee", "Whether the fee comes on top of a withdrawal's amount, or is taken out of it (on_top).", "WHERE",
    choices = { "on_top", "inside" } },
  { "max-sub-accounts", "How many sub-accounts a main account may create; 0 for any number (30).", "N",
    convert = whole },
  { "key-days", "After how many days a key without an IP list ends; 0 for never (90).", "N", convert = whole },
}

-- The options of purser.sim.new.
local function of_world(options)
  local made = {
    seed = options.seed, clock = options.clock, variant = options.variant,
    saved_addresses_only = options.saved_addresses_only,
    rate_limit = options.rate_limit,
  }
  for _, option in ipairs(world_options) do
    local argument = option[1]:gsub("-", "_")
    made[option.name or argument] = options[argument]
  end
  return made
end

-- The name of a profile, or one pool of an address.
local function pools(text)
  if text == "default" or text == "mexc" then return text end
  local capacity, window_ms = text:match "^([1-9]%d?%d?%d?%d?%d?)/([1-9]%d?%d?%d?%d?%d?)$"
  if not capacity then return nil, ("%q is no profile, and not like 300/10000"):format(text) end
  return { ip = { capacity = tonumber(capacity), window_ms = tonumber(window_ms) } }
end

--- Adds the options to a command of argparse.
function M.define(parser)
  parser:description "Serve the simulator over HTTP until it is stopped; /console is a page to watch and drive it."
  parser:option("--port", "Port; 0 takes any that is free.", "8080"):convert(port_number)
  parser:option("--host", "Address to listen on; only loopback is accepted.", "127.0.0.1")
  parser:option("--seed", "Seed of everything that is left to chance.", "1"):convert(whole)
  parser:option("--state", "File to save to at the end, and to start from when it exists; what it holds wins over "
    .. "the options of a new simulator."):argname("FILE")
  parser:option("--variant", "Form of the answers: document, live, or names of switches joined by commas.", "document")
  parser:option("--clock", "real goes with the wall clock, virtual stands still until it is advanced.", "real")
    :choices { "real", "virtual" }
  for _, option in ipairs(world_options) do
    local defined = parser:option("--" .. option[1], option[2]):argname(option[3])
    if option.choices then defined:choices(option.choices) else defined:convert(option.convert) end
  end
  parser:flag("--saved-addresses-only", "Withdrawals go to addresses of the account's address book alone.")
  parser:option("--at", "Serve nothing: drive the simulator that runs at this URL."):argname("URL")
  parser:option("--deposit-state", "With --at: put a deposit into a state, by its number or name.")
    :argname("ID=STATE"):count("*"):convert(id_and_state)
  parser:option("--withdrawal-state", "With --at: put a withdrawal into a state, by its number or name.")
    :argname("ID=STATE"):count("*"):convert(id_and_state)
  parser:option("--rate-limit", "HTTP 429 above these pools, then bans of minutes: default or mexc, as in the profile; "
    .. "or CAPACITY/MILLISECONDS."):argname("POOLS"):convert(pools)
  parser:option("--idle-timeout", "End after so many seconds without a request."):argname("SECONDS"):convert(whole)
  parser:flag("--demo", "Open a demonstration account and print its keys.")
  parser:flag("--any-host", "Answer the service's paths whatever name the Host of a request is.")
  parser:flag("--no-control", "Leave out the control endpoints under /sim/, and the page /console.")
end

---------------------------------------------------------------------------------------------------------- state

-- The state of a file; nil alone when there is none, which is a first start.
local function load_state(path)
  local state, message = state_file.read(path)
  return state, message and "--state " .. message
end

-- Whether the state can be saved: at the end it would be too late to say that it cannot.
local function can_save(path)
  local ok, message = files.can_replace(path)
  if ok then return true end
  return nil, ("--state %s cannot be written: %s"):format(path, message)
end

local function make(options)
  local state, message
  if options.state then
    state, message = load_state(options.state)
    if message then return nil, message end
    local ok
    ok, message = can_save(options.state)
    if not ok then return nil, message end
  end
  local ok, made, wrong = pcall(function()
    if state then return simulator.restore(state) end
    return simulator.new(of_world(options))
  end)
  if not ok or wrong then return nil, (tostring(wrong or made):gsub("^purser%.sim: ", "")) end
  return made, nil, state == nil
end

---------------------------------------------------------------------------------------------------------- serving

-- Opens the demonstration account unless a restored state has it already.
local function open_demo(world)
  for _, account in ipairs(world:state().accounts) do
    if account.email == demo_account.email then return end
  end
  local account, message = world:account(demo_account)
  if not account then error(message, 0) end
  -- One deposit that arrived yesterday, so that the first history anybody reads is not empty.
  local deposit
  deposit, message = world:deposit {
    account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "1250.5", time = world:now() - DAY_MS,
  }
  if not deposit then error(message, 0) end
  world:run_due()
end

local function announce(options, port)
  local host = options.host:find(":", 1, true) and "[" .. options.host .. "]" or options.host
  local lines = { ("purser sim listening on http://%s:%d"):format(host, port) }
  if options.demo then
    lines[#lines + 1] = "demo account, worth nothing anywhere else:"
    lines[#lines + 1] = "  api_key    = " .. demo_account.api_key
    lines[#lines + 1] = "  secret_key = " .. demo_account.secret_key
  end
  if not options.no_control then
    lines[#lines + 1] = ("console: http://%s:%d/console"):format(host, port)
  end
  terminal.write(table.concat(lines, "\n") .. "\n")
end

-- What is wrong with a port or a host, and the option that cures it.
local function advised(options, message, cause)
  if cause == "in_use" then
    return message .. "; perhaps another simulator has it; give another --port, or --port 0 for any that is free"
  elseif cause == "remote" then
    return ("--host %s is no loopback address; give --host 127.0.0.1, or ::1"):format(options.host)
  end
  return message
end

local function serve(httpd, world, options)
  if options.demo then open_demo(world) end
  local stopped = false
  local door = not options.no_control and control.handler(world, function() stopped = true end)
  local page = door and console.handler(world)
  local function handler(request)
    if door and control.is_for(request) then return door(request) end
    if page and console.is_for(request) then return page(request) end
    return not options.any_host and control.reject_foreign_host(request) or world:handle(request)
  end
  local broken = false
  local function on_error(problem, request)
    broken = true
    fail(1, "%s %s: %s", request.method, shown(request.target), shown(tostring(problem)))
  end
  httpd.catch_signals()
  local served, message, cause = http_server.run(handler, {
    host = options.host, port = options.port, idle_timeout_ms = options.idle_timeout
      and math.floor(options.idle_timeout * 1000),
    stop = function() return stopped or httpd.signalled() end,
    on_listen = function(port) announce(options, port) end, on_error = on_error,
  })
  return served, broken, served == nil and advised(options, message, cause)
end

-- Puts deposits and withdrawals of a running simulator into states, and prints each record.
local function drive(options)
  local world, message = simulator.connect(options.at)
  if not world then return fail(1, "%s", message) end
  local status = 0
  for _, kind in ipairs { "deposit", "withdrawal" } do
    for _, asked in ipairs(options[kind .. "_state"]) do
      local record, wrong = world["set_" .. kind](world, asked.id, asked.status)
      if record then terminal.write(json.encode(plain.writable(record)) .. "\n")
      else status = fail(2, "%s %s: %s", kind, shown(asked.id), shown(tostring(wrong)))
      end
    end
  end
  world:close()
  return status
end

--- Runs the command. Returns the exit code: 0 ended as asked, 1 could not serve or save, 2 bad input.
---@param options table of argparse
function M.start(options)
  if options.at then return drive(options) end
  if options.deposit_state[1] or options.withdrawal_state[1] then
    return fail(2, "--deposit-state and --withdrawal-state are for a simulator that runs; give --at URL")
  end
  local httpd, missing = need("purser.httpd", "build it with libmicrohttpd (Debian: libmicrohttpd-dev)")
  if not httpd then return fail(1, "%s", missing) end

  local world, message, fresh = make(options)
  if not world then return fail(2, "%s", message) end
  local ok, served, broken
  ok, served, broken, message = pcall(serve, httpd, world, options)
  local status = broken and 1 or 0
  if not ok then status = fail(1, "%s", served)
  elseif not served then status = fail(1, "%s", message)
  end
  if options.state and (status == 0 or broken or not fresh) then
    ok, message = state_file.write(options.state, world:snapshot())
    if not ok then return fail(1, "the state could not be saved: %s", message) end
  end
  return status
end

return M

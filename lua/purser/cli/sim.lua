-- SPDX-License-Identifier: MIT
--- `purser sim`: the simulator behind HTTP on a loopback port, until it is stopped.

local files = require "purser.util.files"
local purser = require "purser"
local terminal = require "purser.cli.terminal"

local M = {}

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

local function port_number(text)
  local number = text:find("^%d+$") and #text <= 5 and tonumber(text)
  if not number or number > 65535 then return nil, ("%q is no port, which is a number from 0 to 65535"):format(text) end
  return number
end

-- The name of a profile, or one pool of an address.
local function pools(text)
  if text == "default" or text == "mexc" then return text end
  local capacity, window_ms = text:match "^([1-9]%d?%d?%d?%d?%d?)/([1-9]%d?%d?%d?%d?%d?)$"
  if not capacity then return nil, ("%q is no profile, and not like 300/10000"):format(text) end
  return { ip = { capacity = tonumber(capacity), window_ms = tonumber(window_ms) } }
end

-- The options of purser.sim.new, by the same names where no target is given.
local world_options = { "New simulator",
  { "--seed", "<n>", "Seed of everything that is left to chance (1)." },
  { "--clock", "<mode>", "real goes with the wall clock, virtual stands still until it is advanced (real).",
    choices = { "real", "virtual" }, default = "real" },
  { "--start-time", "<ms>", "Where the clock starts, in epoch milliseconds." },
  { "--variant", "<form>", "Form of the answers: the interface document's, or the live service's (document).",
    choices = { "document", "live" } },
  { "--profile", "<name>", "Conventions of signing and placement, as in purser.new." },
  { "--record-requests", "<n>", "How many requests the simulator remembers (100)." },
  { "--visibility-delay", "<ms>", "How long a new record is missing from histories and lists (0).",
    target = "visibility_delay_ms" },
  { "--transfer-wait", "<ms>", "How long a transfer between spot and futures waits (0).", target = "transfer_wait_ms" },
  { "--repeated-ids", "<what>", "What becomes of a write call whose id was used before (execute).",
    choices = { "execute", "reject" } },
  { "--fee", "<where>", "Whether the fee comes on top of a withdrawal's amount, or is taken out of it (on_top).",
    choices = { "on_top", "inside" } },
  { "--max-sub-accounts", "<n>", "How many sub-accounts a main account may create; 0 for any number (30)." },
  { "--key-days", "<n>", "After how many days a key without an IP list ends; 0 for never (90)." },
  { "--saved-addresses-only", "Withdrawals go to addresses of the account's address book alone." },
  { "--rate-limit", "<pools>", "HTTP 429 above these pools, then bans of minutes: default or mexc, as in the profile; "
    .. "or CAPACITY/MILLISECONDS.", convert = pools },
}

function M.grammar()
  return {
    text = "Serve the simulator over HTTP until it is stopped; /console is a page to watch and drive it.",
    { "Options",
      { "--port", "<port>", "Port; 0 takes any that is free (8080).", default = 8080, convert = port_number },
      { "--host", "<address>", "Address to listen on; only loopback is accepted.", default = "127.0.0.1" },
      { "--demo", "Open a demonstration account and print its keys." },
      { "--state", "<file>", "File to save to at the end, and to start from when it exists; what it holds wins over "
        .. "the options of a new simulator." },
      { "--idle-timeout", "<n>", "End after so many seconds without a request." },
      { "--any-host", "Answer the service's paths whatever name the Host of a request is." },
      { "--no-control", "Leave out the control endpoints under /sim/, and the page /console." } },
    world_options,
  }
end

local function of_world(options)
  local made = {}
  for i = 2, #world_options do
    local option = world_options[i]
    local name = option.target or option[1]:sub(3):gsub("-", "_")
    made[name] = options[name]
  end
  return made
end

-- Makes the simulator, or goes on with that of the file. Returns it, and whether it is new; or nil and a message.
local function make(options)
  if options.state then
    local world, message = purser.sim.load(options.state)
    if message then return nil, "--state " .. message end
    local ok
    ok, message = files.can_replace(options.state)
    if not ok then return nil, ("--state %s cannot be written: %s"):format(options.state, message) end
    if world then return world, false end
  end
  local ok, world, wrong = pcall(purser.sim.new, of_world(options))
  if not ok or wrong then return nil, (tostring(wrong or world):gsub("^purser%.sim: ", "")) end
  return world, true
end

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

-- Says what is wrong with a port or a host, and the option that cures it.
local function advised(options, message, cause)
  if cause == "in_use" then
    return message .. "; perhaps another simulator has it; give another --port, or --port 0 for any that is free"
  elseif cause == "remote" then
    return ("--host %s is no loopback address; give --host 127.0.0.1, or ::1"):format(options.host)
  end
  return message
end

-- Serves until it is stopped. Returns how many requests came, or nil; whether one broke the simulator; what is wrong.
local function serve(httpd, world, options)
  if options.demo then open_demo(world) end
  local broken = false
  httpd.catch_signals()
  local served, message, cause = purser.sim.serve(world, {
    host = options.host, port = options.port, idle_timeout_ms = options.idle_timeout and options.idle_timeout * 1000,
    control = not options.no_control, any_host = options.any_host,
    on_listen = function(port) announce(options, port) end,
    on_error = function(problem, request)
      broken = true
      fail(1, "%s %s: %s", request.method, shown(request.target), shown(tostring(problem)))
    end,
  })
  return served, broken, served == nil and advised(options, message, cause)
end

--- Runs the command. Returns the exit code: 0 ended as asked, 1 could not serve or save, 2 bad input.
---@param options table of the command line
function M.start(options)
  local httpd, missing = need("purser.httpd", "build it with libmicrohttpd (Debian: libmicrohttpd-dev)")
  if not httpd then return fail(1, "%s", missing) end
  local world, is_new = make(options)
  if not world then return fail(2, "%s", is_new) end
  local ok, served, broken, message = pcall(serve, httpd, world, options)
  local status = broken and 1 or 0
  if not ok then status = fail(1, "%s", served)
  elseif not served then status = fail(1, "%s", message)
  end
  if options.state and (status == 0 or broken or not is_new) then
    ok, message = purser.sim.save(world, options.state)
    if not ok then return fail(1, "the state could not be saved: %s", message) end
  end
  return status
end

return M

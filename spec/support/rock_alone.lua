-- SPDX-License-Identifier: MIT
-- Uses one rock with nothing but those that it depends on: `rock_alone.lua ROCK [COMMAND]`, from tools/release/rock and
-- spec/system/rocks_spec.lua; COMMAND runs the command `purser`. What the rock has works, a public name of another rock
-- names that rock, and nothing is loaded that the rock does not say. Ends with an error where one of these is not so.

local rock, command = arg[1], arg[2] ~= "" and arg[2]
local clone = arg[0]:match "^(.*)/spec/support/"
local files = dofile(clone .. "/tools/whole_files.lua")
local rocks = dofile(clone .. "/lua/purser/client/util/rocks.lua")
local purser = require "purser"

local HERE = { purser = true, [rock] = true, ["purser-desk"] = rock == "purser-cli" or rock == "purser-desk" }

local function check(ok, ...)
  if not ok then error(table.concat({ ... }, ": "), 2) end
end

-- Checks that a use works, or names the rock of what it uses.
local function check_use(shown, owner, use)
  local is_there, message = pcall(use)
  if HERE[owner] then return check(is_there, shown, tostring(message)) end
  check(not is_there, shown, "there, without the rock " .. owner)
  check(message == ("%s is in the rock %s: luarocks install %s (Debian: lua-%s)"):format(shown, owner, owner, owner),
    shown, message)
end

-- Checks each public name of a list in Lua, which has their modules.
local function check_names(list, prefix, get)
  local count = 0
  for name, module in list:gmatch '([%w_]+)"? ?[=,] "(purser%.[%w_.]+)' do
    count = count + 1
    check_use(prefix .. name, rocks.of(module), function() return assert(get(name)) end)
  end
  check(count > 1, prefix, "no name was found")
end
local module = files.read(clone .. "/lua/purser/module.lua")
check_names(module:match "\nlocal members = (%b{})", "purser.", function(name) return purser[name] end)
local function transport_of(name)
  return name == "copas" or name == "cqueues" or purser.transport[name] -- these two need a library of that name
end
local hosts = files.read(clone .. "/lua/purser/hosts/init.lua")
check_names(hosts:match "modules = (%b{})", "purser.transport.", transport_of)
check_names(module:match "local function register_transports.-\nend", "purser.transport.", transport_of)

-- A client reads, and writes by a journal in memory.
local function client_of(options)
  options.base_url, options.api_key, options.secret_key = "http://localhost", "mx0", "none"
  options.transport = { send = function() return { status = 200, headers = {}, body = "[]" } end }
  options.clock = function() return 1700000000000 end
  return purser.new(options)
end
check(#assert(assert(client_of {}).wallet:coins()) == 0, "coins")
check_use("the option rate_limit.store", "purser-nginx", function()
  return assert(client_of { rate_limit = { store = { sqlite = "none.db" } } })
end)
check_use("the option policy", "purser-desk", function() return client_of { policy = "none" } end)

-- Each rock brings its own, and nothing that it has no need of.
check(pcall(require, "purser.httpd") == (rock == "purser-sim"), "purser.httpd")
local maps = files.read "/proc/self/maps"
check(not maps:find "microhttpd" == (rock ~= "purser-sim"), "libmicrohttpd")
check(not maps:find "sqlite" and not maps:find "libpq" and not package.loaded.DBI, "a database is loaded")

if command then
  local environment = "env PURSER_BASE_URL=http://localhost:1 PURSER_API_KEY=mx0 PURSER_SECRET_KEY=none"
  local function said(words) return files.output_of(("%s %s %s 2>&1"):format(environment, command, words)) end
  local journal = os.tmpname()
  os.remove(journal)
  assert(purser.journal.open { sqlite = journal }):close()
  for words, expected in pairs {
    operations = "\nC2 ", ["payouts --help"] = "Usage: purser payouts",
    ["journal list --journal " .. journal] = "(none)",
    ["receive check --to sqlite:/none/db"] = "there is no /none/db",
    ["books deliveries --books redis://x"] = "names no books",
    ["sim --port 0"] = "purser.sim is in the rock purser-sim",
    ["test -- true"] = "purser.sim is in the rock purser-sim",
    ["limits --rate-limit redis:/none"] = "rate_limit.store is in the rock purser-nginx",
    ["doctor --drift"] = "is in the rock purser-sim",
  } do
    local text = said(words)
    check(text:find(expected, 1, true) and not text:find("traceback", 1, true), "purser " .. words, text)
  end
end
print(rock .. " works alone on " .. _VERSION)

-- SPDX-License-Identifier: MIT
-- Writes each credit into a database of your own, once, across restarts (LuaDBI: lua-dbi-sqlite3).
--
--   lua examples/cookbook/deposits.lua DEPOSITS MONEY begin CUSTOMERS.csv    keeps the place, before the first look
--   lua examples/cookbook/deposits.lua DEPOSITS MONEY run [SECONDS]          without SECONDS it never ends

local DBI = require "DBI"
local purser = require "purser"

if not arg[3] or arg[3] == "begin" and not arg[4] then
  io.stderr:write "usage: deposits.lua DEPOSITS MONEY begin CUSTOMERS.csv | run [SECONDS]\n"
  os.exit(2)
end

local db = assert(DBI.Connect("SQLite3", arg[2]))
db:autocommit(true)
local function run(sql, ...)
  local statement = assert(db:prepare(sql))
  return statement:execute(...)
end
assert(run "CREATE TABLE IF NOT EXISTS money (id TEXT PRIMARY KEY, kind TEXT, customer TEXT, coin TEXT, amount TEXT)")

local function write(_, _, event) -- the event is taken when the row is there; a repeated id is success
  local ok, message = run("INSERT INTO money VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", event.id, event.kind,
    event.customer, event.coin, event.amount)
  if ok then print(event.kind, event.customer, event.amount, event.coin) end
  return ok, message
end

local receive = assert(purser.receive.open { sqlite = arg[1], receivers = { money = { deliver = write } },
  client = assert(purser.new {
    base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
    api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
  }) })
if arg[3] == "begin" then
  local file = assert(io.open(arg[4]))
  local begun = assert(receive:begin { customers = file:read "*a" })
  print(begun.old .. " succeeded before, " .. begun.pending .. " pending")
else
  assert(receive:run { deadline_ms = arg[4] and tonumber(arg[4]) * 1000 })
end

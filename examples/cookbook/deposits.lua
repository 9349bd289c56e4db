-- SPDX-License-Identifier: MIT
-- Writes each credited deposit into an SQLite database, once, across restarts (LuaDBI: lua-dbi-sqlite3).
--
--   lua examples/cookbook/deposits.lua DATABASE [SECONDS]        without SECONDS it never ends

local DBI = require "DBI"
local purser = require "purser"

local db = assert(DBI.Connect("SQLite3", arg[1]))
db:autocommit(false) -- each event below is one transaction
local function run(sql, ...)
  local statement = assert(db:prepare(sql))
  assert(statement:execute(...))
  return statement
end
run "CREATE TABLE IF NOT EXISTS credit (coin TEXT, amount TEXT, network TEXT, address TEXT, tx TEXT, time TEXT)"
run "CREATE TABLE IF NOT EXISTS watch (cursor TEXT)"
db:commit()

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local row = run("SELECT cursor FROM watch"):fetch()
for event in client.wallet:watch_deposits {
  cursor = row and row[1], since = not row and client:now() - 7 * 86400000 or nil,
  deadline_ms = arg[2] and tonumber(arg[2]) * 1000,
} do
  local deposit, CREDITED = event.deposit, 5
  if deposit.status == CREDITED then
    run("INSERT INTO credit VALUES (?, ?, ?, ?, ?, ?)", deposit.coin, deposit.amount, deposit.network,
      deposit.address, deposit.txId, tostring(deposit.insertTime))
    print(deposit.coin, deposit.amount)
  end
  run "DELETE FROM watch"
  run("INSERT INTO watch VALUES (?)", event.cursor)
  db:commit() -- the credit and the cursor together, or neither
end

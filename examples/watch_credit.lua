-- SPDX-License-Identifier: MIT
-- Credits deposits once: writes each that succeeded to a file, and goes on after a restart where it was.
--
--   lua examples/watch_credit.lua STATE_FILE CREDITS_FILE [SECONDS]
--
-- PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples. Without SECONDS it
-- goes on for ever.

local clean = require("purser.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

io.stdout:setvbuf "line" -- whoever reads this through a pipe sees each line when it is written

local state_file, credits_file, seconds = arg[1], arg[2], tonumber(arg[3])
if not state_file or not credits_file then
  io.stderr:write("usage: watch_credit.lua STATE_FILE CREDITS_FILE [SECONDS]\n")
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local function load()
  local file = io.open(state_file, "r")
  if not file then return nil end
  local cursor = file:read "*l"
  file:close()
  return cursor
end

-- Replaces the file in one step, so that it is never half of one.
local function save(cursor)
  local file = assert(io.open(state_file .. ".new", "w"))
  assert(file:write(cursor, "\n"))
  assert(file:close())
  assert(os.rename(state_file .. ".new", state_file))
end

local DAY, SUCCESS = 86400000, 5
local cursor = load()

for event in client.wallet:watch_deposits {
  cursor = cursor, since = not cursor and client:now() - DAY or nil,
  poll_ms = seconds and 200 or 10000, deadline_ms = seconds and seconds * 1000,
} do
  local deposit = event.deposit
  print(clean(("%s %s %s: state %d"):format(event.kind, deposit.amount, deposit.coin, deposit.status)))
  if deposit.status == SUCCESS then
    local credits = assert(io.open(credits_file, "a"))
    assert(credits:write(("%s %s %s\n"):format(deposit.txId, deposit.coin, deposit.amount)))
    assert(credits:close())
  end
  save(event.cursor)
end

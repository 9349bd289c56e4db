-- SPDX-License-Identifier: MIT
-- Watches the deposits of the last day: prints a line when one appears and whenever its state changes.
--
--   lua examples/watch_deposits.lua [SECONDS BETWEEN LOOKS [LOOKS]]
--
-- Looks every 10 seconds, for ever, unless asked otherwise. A look that fails is followed by the next, and reported
-- when it was rejected. examples/watch_credit.lua goes on after a restart where it was.
-- PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local pause, looks = tonumber(arg[1] or "10"), tonumber(arg[2] or "0")
if not pause or not looks then
  io.stderr:write "usage: watch_deposits.lua [SECONDS BETWEEN LOOKS [LOOKS]]\n"
  os.exit(2)
end
local DAY = 86400000

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

io.stdout:setvbuf "line"

local function show(deposit)
  print(clean(("%s  %s %s on %s  %s (%s/%s confirmations)"):format(
    purser.utc.text(deposit.insertTime), deposit.amount, deposit.coin, deposit.network,
    purser.states.name("deposit", deposit.status) or tostring(deposit.status),
    deposit.confirmTimes or "?", deposit.unlockConfirm or "?")))
end

-- One look: without time to wait, the watch ends when it has reported what it found.
local since, cursor, count = client:now() - DAY, nil, 0
repeat
  local watch = client.wallet:watch_deposits { since = since, cursor = cursor, deadline_ms = 0 }
  local event, err = watch:next()
  while event do
    show(event.deposit)
    event, err = watch:next()
  end
  if err then io.stderr:write(tostring(err), "\n") end
  cursor = watch:cursor()
  count = count + 1
  if count ~= looks then client:sleep(math.floor(pause * 1000)) end
until count == looks

-- Watches the deposits of the last day: prints a line when one appears and whenever its state changes.
--
--   lua examples/watch_deposits.lua [SECONDS BETWEEN LOOKS [LOOKS]]
--
-- Looks every 10 seconds, for ever, unless told otherwise. A look that fails is reported and followed by the next.
-- PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"

local pause, looks = tonumber(arg[1] or "10"), tonumber(arg[2] or "0")
local DAY = 86400000

local states = {
  "small", "delayed", "large, delayed", "pending", "success", "auditing", "rejected", "refunded", "credited early",
  "invalid", "restricted", "returned",
}

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})

io.stdout:setvbuf "line"

-- A deposit has no id of its own; a transaction may pay to several addresses.
local function key_of(deposit)
  return table.concat({ deposit.txId or "", deposit.address or "", deposit.memo or "", deposit.coin,
    tostring(deposit.insertTime) }, " ")
end

local seen = {}
local function look()
  local now, err = client:server_time()
  local deposits
  if now then deposits, err = client.wallet:deposit_history { startTime = now - DAY, endTime = now } end
  if not deposits then
    io.stderr:write(tostring(err), "\n")
    return
  end
  for i = #deposits, 1, -1 do -- the service lists the latest first
    local deposit = deposits[i]
    local key, state = key_of(deposit), deposit.status
    if seen[key] ~= state then
      print(("%s  %s %s on %s  %s (%s/%s confirmations)"):format(
        os.date("!%Y-%m-%d %H:%M:%S", math.floor(deposit.insertTime / 1000)), deposit.amount, deposit.coin,
        deposit.network, states[state] or tostring(state), deposit.confirmTimes or "?", deposit.unlockConfirm or "?"))
      seen[key] = state
    end
  end
end

local count = 0
repeat
  look()
  count = count + 1
  if count ~= looks then os.execute(("sleep %s"):format(pause)) end
until count == looks

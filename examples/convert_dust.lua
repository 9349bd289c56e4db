-- Converts all small balances into the platform's token, 15 coins a call.
--
--   lua examples/convert_dust.lua [--yes]
--
-- Without --yes it only shows what would be converted. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and
-- PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"
local decimal = purser.decimal

local BATCH = 15

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})

-- A coin that has a reason against it cannot be converted.
local coins = {}
for _, entry in ipairs(assert(client.wallet:convertible_balances())) do
  if (entry.message or "") == "" then
    coins[#coins + 1] = entry.asset
    print(("%-8s %s, about %s of the platform's token"):format(entry.asset, entry.balance,
      entry.convertPlatformToken or "?"))
  end
end
if arg[1] ~= "--yes" then
  print(("%d coins could be converted; --yes does it"):format(#coins))
  os.exit(0)
end

local obtained, fees, converted = decimal "0", decimal "0", 0
for first = 1, #coins, BATCH do
  local batch = {}
  for i = first, math.min(first + BATCH - 1, #coins) do batch[#batch + 1] = coins[i] end
  local result, err = client.wallet:convert { asset = batch }
  if not result then
    -- Either it was refused, or nobody knows: in both cases the next batch waits for a person.
    io.stderr:write(tostring(err), "\n")
    os.exit(err.outcome == "unknown" and 4 or 1)
  end
  converted = converted + #result.successList
  obtained = obtained + (result.totalConvert or "0")
  fees = fees + (result.convertFee or "0")
  for _, failed in ipairs(result.failedList or {}) do
    print(("%s was not converted: %s"):format(failed.asset, failed.message or failed.code))
  end
end
print(("%d coins converted into %s, fees %s"):format(converted, tostring(obtained), tostring(fees)))

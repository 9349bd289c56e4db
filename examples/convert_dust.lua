-- SPDX-License-Identifier: MIT
-- Converts all small balances into the platform's token, 15 coins a call.
--
--   lua examples/convert_dust.lua [--yes]
--
-- Without --yes it only shows what would be converted. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and
-- PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

-- A coin that has a reason against it cannot be converted.
local coins = {}
for _, entry in ipairs(assert(client.wallet:convertible_balances())) do
  if (entry.message or "") == "" then
    coins[#coins + 1] = entry.asset
    print(clean(("%-8s %s, about %s of the platform's token"):format(entry.asset, entry.balance,
      entry.convertPlatformToken or "?")))
  end
end
if arg[1] ~= "--yes" then
  print(("%d coins could be converted; --yes does it"):format(#coins))
  os.exit(0)
end

-- A batch that was rejected, or of which nobody knows, keeps the next from being sent: a person has to look.
local report, err = client.wallet:convert_all { only = coins }
if not report then
  io.stderr:write(tostring(err), "\n")
  os.exit(err.outcome == "unknown" and 4 or 1)
end
for _, failed in ipairs(report.failed) do
  print(clean(("%s was not converted: %s"):format(failed.asset, failed.message or failed.code)))
end
print(clean(("%d coins converted into %s, fees %s"):format(#report.converted, report.totalConvert,
  report.convertFee)))

-- SPDX-License-Identifier: MIT
-- Shows small balances and converts them with --yes; adds up a broker's rebates by asset, exactly.
--
--   lua examples/cookbook/dust.lua [COIN TO KEEP ...] [--yes]

local decimal = require "purser.decimal"
local purser = require "purser"

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local go, keep, shown = false, {}, {}
for _, word in ipairs(arg) do
  if word == "--yes" then go = true else keep[word:upper()] = true end
end
for _, entry in ipairs(assert(client.wallet:convertible_balances())) do
  if not keep[entry.asset:upper()] then shown[#shown + 1] = entry.asset end
  print(keep[entry.asset:upper()] and "keep" or "convert", entry.asset, entry.balance, entry.message or "")
end
if not go then print "--yes converts what is shown" end
local report, err = client.wallet:convert_all { only = go and shown or {} }
if err and err.outcome == "unknown" then
  print("an answer was lost", assert(client:reconcile(err)).outcome) -- the next run converts what is left
  report = err.details.report
end
report = assert(report, tostring(err))
print(#report.converted .. " converted", report.totalConvert, "fee " .. report.convertFee)
for _, entry in ipairs(report.failed) do print("failed", entry.asset, entry.message) end

local sums = {}
for rebate in client.broker:each_rebate() do
  sums[rebate.asset] = (sums[rebate.asset] or assert(decimal "0")) + assert(decimal(rebate.amount))
end
for asset, sum in pairs(sums) do print("rebates", asset, tostring(sum)) end

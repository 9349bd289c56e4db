-- SPDX-License-Identifier: MIT
-- Moves what the sub-accounts hold to the parent.
--
--   lua examples/sweep.lua NAME JOURNAL [ASSET [KEEP]] [--yes]
--
-- NAME is that of this sweep, such as june: under it nothing is moved twice, however often the program is started.
-- JOURNAL is the file that knows it. Without --yes it only shows what would be moved. Without ASSET that is every
-- asset; KEEP stays behind in each sub-account. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY,
-- PURSER_SECRET_KEY and PURSER_ACCOUNT as in the guide.

local clean = require("purser.client.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local go, words = false, {}
for _, word in ipairs(arg) do
  if word == "--yes" then go = true else words[#words + 1] = word end
end
local name, path, asset, keep = words[1], words[2], words[3], words[4]
if #words < 2 or #words > 4 or (asset or ""):find "^%-" then
  io.stderr:write "usage: sweep.lua NAME JOURNAL [ASSET [KEEP]] [--yes]\n"
  os.exit(2)
end

local journal = assert(purser.journal.open { sqlite = path })
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE", journal = journal,
  account = os.getenv "PURSER_ACCOUNT" or "parent",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local accounts = {}
for account in client.sub_account:each_sub_account { isFreeze = false } do
  accounts[#accounts + 1] = { name = account.subAccount, note = account.subAccount }
end
table.sort(accounts, function(a, b) return a.name < b.name end)

local fleet = assert(purser.fleet.new {
  client = client, accounts = accounts, vault = function() error "a sweep makes no keys" end,
})
local queue = assert(purser.payouts.new { client = client, journal = journal, queue = "sweeps" })
local list = assert(fleet:sweep { to = "parent", name = name, leave = keep, assets = asset and { asset } or nil })
if not list[1] then
  print "nothing to move"
  os.exit(0)
end
local plan = assert(queue:plan { payments = list })
for _, row in ipairs(plan.send) do
  print(clean(("%s -> parent  %s %s"):format(row.params.fromAccount, row.params.amount, row.params.asset)))
end
for _, row in ipairs(plan.held) do print(clean(("%s is not sent: %s"):format(row.key, row.state))) end
local sums, assets = {}, {}
for _, total in ipairs(plan.totals) do -- one a sub-account and asset
  if not sums[total.asset] then assets[#assets + 1] = total.asset end
  sums[total.asset] = total.amount + (sums[total.asset] or "0")
end
for _, one in ipairs(assets) do print(clean(("total %s %s"):format(tostring(sums[one]), one))) end
if not go then
  print(("%d transfers to the parent; --yes makes them"):format(#plan.send))
  os.exit(0)
end
local report = assert(queue:run(plan)) -- what was shown, and nothing else
for _, payment in ipairs(assert(queue:list "failed")) do io.stderr:write(payment.key, ": ", payment.message, "\n") end
print(("%d made, %d failed, %d undecided"):format(report.done, report.failed, report.undecided))
os.exit(report.undecided > 0 and 4 or report.failed > 0 and 1 or 0)

-- SPDX-License-Identifier: MIT
-- Pays each line of a list once, however often the program crashes and is started again.
--
--   lua examples/cookbook/payouts.lua LIST JOURNAL        a line of LIST: key,sub-account,asset,amount

local purser = require "purser"

if not arg[2] then
  io.stderr:write "usage: payouts.lua LIST JOURNAL\n"
  os.exit(2)
end

local payments = {}
for line in io.lines(arg[1]) do
  local key, account, asset, amount = line:match "^([^,]+),([^,]+),([^,]+),([^,]+)$"
  assert(key, "not key,sub-account,asset,amount: " .. line)
  payments[#payments + 1] = { key = key, operation = "sub_account.transfer", params = {
    toAccount = account, fromAccountType = "SPOT", toAccountType = "SPOT", asset = asset, amount = amount,
  } }
end

local journal = assert(purser.journal.open { sqlite = arg[2] })
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
  journal = journal, account = "treasury", guard = { max_amount = { USDT = "1000" } },
})
local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "cookbook" })
assert(payouts:add_all(payments)) -- a payment that the journal knows is not added again
local report = assert(payouts:run())

print(("%d done, %d failed, %d undecided"):format(report.done, report.failed, report.undecided))
for _, payment in ipairs(assert(payouts:list "failed")) do print("failed", payment.key, payment.message) end
for _, payment in ipairs(report.undecided_payments) do print("undecided", payment.key, payment.message) end
os.exit(report.failed + report.undecided == 0 and 0 or 1)

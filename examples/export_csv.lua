-- SPDX-License-Identifier: MIT
-- Writes the deposits and withdrawals of the last three months as CSV.
--
--   lua examples/export_csv.lua > history.csv
--
-- The service answers at most 7 days and 1000 records a call and reaches 90 days back; each_deposit and each_withdrawal
-- walk there, and an error ends the program, so a file that is there is complete. PURSER_BASE_URL or PURSER_PROFILE,
-- PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"

local csv = purser.csv -- marks cells that a spreadsheet would run: strangers choose memos
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local is_number = { [5] = true, [6] = true } -- amount and fee

local function line(...)
  io.write(csv.line({ n = select("#", ...), ... }, { is_number = is_number }))
end

assert(client:sync_clock()) -- the walks begin and end by the service's time
local rows = {}
for deposit in client.wallet:each_deposit() do
  rows[#rows + 1] = { deposit.insertTime, "deposit", deposit.coin, deposit.network, deposit.amount, "0", deposit.status,
    deposit.address, deposit.memo, deposit.txId }
end
for withdrawal in client.wallet:each_withdrawal() do
  rows[#rows + 1] = { withdrawal.applyTime, "withdrawal", withdrawal.coin, withdrawal.network, withdrawal.amount,
    withdrawal.transactionFee, withdrawal.status, withdrawal.address, withdrawal.memo, withdrawal.txId,
    withdrawal.withdrawOrderId or withdrawal.id }
end
for i, row in ipairs(rows) do row.place = i end -- equal times stay in the order they came in
table.sort(rows, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a.place < b.place
end)

line("time", "kind", "coin", "network", "amount", "fee", "status", "address", "memo", "transaction", "order")
for _, row in ipairs(rows) do
  line(purser.utc.text(row[1]), row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], row[11])
end

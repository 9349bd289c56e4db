-- SPDX-License-Identifier: MIT
-- Balances of all accounts (the main one by live.account only), and the deposits and withdrawals of 30 days, as CSV.
--
--   lua examples/cookbook/report.lua > report.csv

local purser = require "purser"

local csv = purser.csv
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
assert(client:sync_clock())
local now, lines = client:now(), {}

local function add(kind, ms, account, coin, amount, status)
  local name = purser.states.name(kind, status) or status
  local cells = { kind, purser.utc.text(ms), account, coin, amount, name }
  lines[#lines + 1] = csv.line(cells, { is_number = { [5] = true } })
end

local function add_balance(name, balance)
  for _, kind in ipairs { "free", "locked" } do add(kind, now, name, balance.asset, balance[kind], "") end
end

if client.profile.live_operations then
  for _, balance in ipairs(assert(client.live:account()).balances) do add_balance("main", balance) end
end
for balance in client.sub_account:each_balance() do add_balance(balance.subAccount, balance) end
local month = { from = now - 30 * 86400000 }
for deposit in client.wallet:each_deposit(month) do
  add("deposit", deposit.insertTime, "main", deposit.coin, deposit.amount, deposit.status)
end
for withdrawal in client.wallet:each_withdrawal(month) do
  add("withdrawal", withdrawal.applyTime, "main", withdrawal.coin, withdrawal.amount, withdrawal.status)
end
io.write("kind,time,account,coin,amount,status\n", table.concat(lines)) -- an error before this line leaves no output

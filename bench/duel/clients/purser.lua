-- SPDX-License-Identifier: MIT
-- client: Purser
-- modes: control plain careful
--
-- docs/guide.md: a journal for all processes, and the same call again until the end is known (`plain`).
-- docs/desk/payouts.md: a queue (`careful`). `control` is `plain` without the journal, its id repeated by
-- hand after a kill: it pays twice.

local purser = require "purser"

local mode, list = arg[1], arg[2]
local url, folder = os.getenv "DUEL_URL", os.getenv "DUEL_FOLDER"
local shared = os.getenv "DUEL_SHARED" -- one journal for all processes of an account
local journal = mode ~= "control" and assert(purser.journal.open { sqlite = shared .. "/journal.db" }) or nil
local client = assert(purser.new { base_url = url, profile = "mexc", api_key = os.getenv "DUEL_API_KEY",
  secret_key = os.getenv "DUEL_SECRET_KEY", transport = purser.transport.multi { base_url = url }, journal = journal,
  account = "treasury", timeout_ms = tonumber(os.getenv "DUEL_TIMEOUT_MS") })

local payments = {}
for line in io.lines(list) do
  local key, operation, amount, address = line:match "^(%S+) (%S+) (%S+) (%S+)$"
  payments[#payments + 1] = operation == "withdraw"
    and { key = key, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX", address = address,
      amount = amount } }
    or { key = key, operation = "wallet.transfer", params = { asset = "USDT", amount = amount,
      fromAccountType = "SPOT", toAccountType = "FUTURES" } }
end

local function say(key, word)
  io.stdout:write(key, " ", word, "\n")
  io.stdout:flush()
end

-- Calls until the end is known; after a 429 when the service allows. Ten calls without an end are left for a person.
local function pay(payment)
  for _ = 1, 10 do
    local result, err = client:call(payment.operation, payment.params, { key = payment.key })
    if result then return say(payment.key, "done") end
    io.stderr:write(payment.key, ": ", tostring(err), "\n")
    if err.outcome == "rejected" and not err.retry_after then return say(payment.key, "failed") end
    purser.sleep((err.retry_after or 1) * 1000)
  end
  say(payment.key, "person")
end

if mode == "careful" then
  -- The disk is never lost between two starts, so no worker compares its journal with the histories first.
  local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = folder, queue = folder,
    history_check = "never" })
  assert(payouts:add_all(payments))
  local report = assert(payouts:run())
  for _, state in ipairs { "done", "failed", "undecided" } do
    for _, payment in ipairs(assert(payouts:list(state))) do
      say(payment.key, state == "undecided" and "person" or state)
      if state ~= "done" then io.stderr:write(payment.key, ": ", tostring(payment.message), "\n") end
    end
  end
  assert(report)
else
  purser.run(function()
    local tasks = {}
    for i, payment in ipairs(payments) do tasks[i] = function() pay(payment) end end
    purser.all(tasks)
  end)
end

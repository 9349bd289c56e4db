-- SPDX-License-Identifier: MIT
-- Plans a withdrawal, makes it once, and finds out what became of it when its answer is lost.
--
--   lua examples/cookbook/withdraw.lua JOURNAL ORDER COIN NETWORK ADDRESS AMOUNT [SECONDS TO WAIT]

local purser = require "purser"

if not arg[6] then
  io.stderr:write "usage: withdraw.lua JOURNAL ORDER COIN NETWORK ADDRESS AMOUNT [SECONDS TO WAIT]\n"
  os.exit(2)
end

local journal = assert(purser.journal.open { sqlite = arg[1] })
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
  journal = journal, account = "treasury", guard = { max_amount = { [arg[3]] = "1000" }, no_duplicates = true },
})
assert(journal:recover(client)) -- what a crash left open is decided first

local id
for entry in journal:each_entry() do -- was this order made before?
  if entry.intent.params.withdrawOrderId == arg[2] then
    if entry.state == "done" then id = entry.record.id end
    assert(entry.state ~= "unknown" and entry.state ~= "undecided" and entry.state ~= "open", "look for it by hand")
  end
end
if not id then
  local plan = assert(client.wallet:plan_withdraw { withdrawOrderId = arg[2], coin = arg[3], network = arg[4],
    address = arg[5], amount = arg[6], require_saved_address = true })
  print(plan)
  if not plan.ok then os.exit(1) end
  local made, err = plan:execute()
  if err and err.outcome == "unknown" then
    local answer = assert(client:reconcile(err))
    made, err = answer.outcome == "done" and answer.record, answer.outcome .. ": " .. tostring(answer.reason)
  end
  id = assert(made, tostring(err)).id
end
print("withdrawal " .. id)
print(assert(client.wallet:wait_withdrawal(id, { deadline_ms = tonumber(arg[7] or 1800) * 1000 })).txId)

-- SPDX-License-Identifier: MIT
-- Plans a withdrawal, shows the plan, and executes it and waits for it when `--execute` is given.
--
--   lua examples/planned_withdrawal.lua COIN NETWORK ADDRESS AMOUNT [MEMO] [--execute]
--
-- PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

io.stdout:setvbuf "line" -- whoever reads this through a pipe sees each line when it is written

local execute, words = false, {}
for _, word in ipairs(arg) do
  if word == "--execute" then execute = true else words[#words + 1] = word end
end
if #words < 4 then
  io.stderr:write("usage: planned_withdrawal.lua COIN NETWORK ADDRESS AMOUNT [MEMO] [--execute]\n")
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local plan = assert(client.wallet:plan_withdraw {
  coin = words[1], network = words[2], address = words[3], amount = words[4], memo = words[5],
})
print(plan)
if not plan.ok then os.exit(1) end
if not execute then
  print("give --execute to do it")
  os.exit(0)
end

local made, err = plan:execute()
if not made and err.outcome == "unknown" then
  io.stderr:write(tostring(err), "\nlooking for it\n")
  local answer = assert(client:reconcile(err))
  if answer.outcome ~= "done" then err = answer.reason or "it was not made" end
  made = answer.outcome == "done" and answer.record
end
if not made then
  io.stderr:write(tostring(err), "\n")
  os.exit(1)
end
print(clean("withdrawal " .. made.id))

local ended
ended, err = client.wallet:wait_withdrawal(made.id, { deadline_ms = 30 * 60000 })
print(ended and clean("sent in transaction " .. tostring(ended.txId)) or tostring(err))
os.exit(ended and 0 or 1)

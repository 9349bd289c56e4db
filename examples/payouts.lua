-- SPDX-License-Identifier: MIT
-- Pays sub-accounts from a list, each payment once, however often the program is started or killed.
--
--   lua examples/payouts.lua LIST JOURNAL
--
-- A line of LIST is `key,sub-account,asset,amount`; a key names its payment for good. JOURNAL is the file (SQLite) that
-- holds the queue and what became of each payment: keep it. JOURNAL.witness shows that it is the newest; delete that
-- file when you put a copy of the journal in its place. Ends with 1 when payments failed or need a person's look.
-- PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local function fail(message, ...)
  io.stderr:write("payouts: ", message:format(...), "\n")
  os.exit(2)
end

local function need(value, err)
  if value == nil then fail("%s", tostring(err)) end
  return value
end

if #arg ~= 2 then fail "usage: payouts.lua LIST JOURNAL" end

local function read_list(path)
  local file, problem = io.open(path)
  if not file then fail("%s", problem) end
  local list, number = {}, 0
  for line in file:lines() do
    number = number + 1
    local key, account, asset, amount = line:match "^%s*([^,]+),([^,]+),([^,]+),([^,]-)%s*$"
    if key then
      list[#list + 1] = { key = key, operation = "sub_account.transfer", params = {
        toAccount = account, fromAccountType = "SPOT", toAccountType = "SPOT", asset = asset, amount = amount,
      } }
    elseif line:find "%S" and not line:find "^#" then
      fail("%s:%d: not `key,sub-account,asset,amount`", path, number)
    end
  end
  file:close()
  return list
end

local list = read_list(arg[1])
local journal = need(purser.journal.open { sqlite = arg[2] })
local base_url, profile = os.getenv "PURSER_BASE_URL", os.getenv "PURSER_PROFILE"
local client = need(purser.new {
  base_url = base_url, profile = profile, api_key = os.getenv "PURSER_API_KEY",
  secret_key_env = "PURSER_SECRET_KEY", journal = journal, account = "payouts",
  transport = base_url and purser.transport.multi { base_url = base_url } or nil,
})

-- The line of progress is for a person at a terminal; a file or a pipe gets the result alone.
local watched = os.execute "test -t 2"
watched = watched == true or watched == 0
local payouts = need(purser.payouts.new {
  client = client, journal = journal, worker = "payouts", witness = arg[2] .. ".witness",
  progress = watched and function(progress)
    io.stderr:write("\r", purser.payouts.progress_line(progress), "\27[K")
  end or nil,
})

local counts = need(payouts:add_all(list))
print(("%d added, %d known"):format(counts.added, counts.repeated))
local report = need(payouts:run())
if watched then io.stderr:write "\n" end

print(("%d done, %d failed, %d undecided"):format(report.done, report.failed, report.undecided))
for _, state in ipairs { "failed", "undecided" } do
  for _, payment in ipairs(need(payouts:list(state))) do
    print(clean(("%s %s %s %s to %s: %s"):format(state, payment.key, payment.params.amount, payment.params.asset,
      payment.params.toAccount, payment.message or "")))
  end
end
client:close()
journal:close()
os.exit(report.failed + report.undecided == 0 and 0 or 1)

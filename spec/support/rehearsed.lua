-- SPDX-License-Identifier: MIT
-- Programs that pay, for specs of `purser test`: each is a file, whose command the caller gets.
--
--   local command = rehearsed.program(text)   its words; the text sees `purser`, `keys` and TRON

local files = require "files"

local M = { made = {} }

local HEAD = [[
package.path = %q
package.cpath = %q
local purser = require "purser"
local keys = { base_url = os.getenv "PURSER_BASE_URL", api_key = os.getenv "PURSER_API_KEY",
  secret_key = os.getenv "PURSER_SECRET_KEY", account = os.getenv "PURSER_ACCOUNT" }
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
]]

function M.program(text)
  local path = files.temporary(HEAD:format(package.path, package.cpath) .. text)
  M.made[#M.made + 1] = path
  local preloaded = os.getenv "LD_PRELOAD" -- of the sanitizers: a rehearsal hands down nothing
  return { "env", preloaded and "LD_PRELOAD=" .. preloaded or "LANG=C", os.getenv "LUA" or "lua5.4", path }
end

--- Removes the files.
function M.clean()
  for _, path in ipairs(M.made) do os.remove(path) end
  M.made = {}
end

--- One that tries again, whatever the error was.
M.blind = [[
for _ = 1, 3 do
  local client = assert(purser.new(keys))
  if client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" } then
    break
  end
end
]]

--- One that gives up and ends with 0 all the same.
M.careless = [[
local client = assert(purser.new(keys))
client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }
]]

-- The next three look into the history after a failed call, and send again where `is_made()` finds nothing. Each call
-- has a client of its own: one client alone would keep them from sending an own id twice.
local SENT_AGAIN = [[
for _ = 1, 3 do
  if is_made() or purser.new(keys).wallet:withdraw { coin = "USDT", netWork = "TRX", address = TRON, amount = "20",
    withdrawOrderId = "invoice-1" } then break end
end
]]

--- One that takes a record with an id that was not there before for its own: wrong where a service uses ids anew.
M.by_ids = [[
local client, before = assert(purser.new(keys)), {}
for _, record in ipairs(assert(client.wallet:withdrawal_history())) do before[record.id] = true end
local function is_made()
  for _, record in ipairs(assert(client.wallet:withdrawal_history())) do
    if not before[record.id] then return true end
  end
end
]] .. SENT_AGAIN

--- One that knows its record by coin, amount and address: wrong where a service spells coins in another way.
M.by_content = [[
local client = assert(purser.new(keys))
local function is_made()
  for _, record in ipairs(assert(client.wallet:withdrawal_history())) do
    if record.coin == "USDT" and record.amount == "20" and record.address == TRON then return true end
  end
end
]] .. SENT_AGAIN

--- One that knows its record by the id that it gave.
M.by_own_id = [[
local client = assert(purser.new(keys))
local function is_made()
  for _, record in ipairs(assert(client.wallet:withdrawal_history())) do
    if record.withdrawOrderId == "invoice-1" then return true end
  end
end
]] .. SENT_AGAIN

--- One that has a journal and a key for its payment, and reconciles what has no known end.
M.careful = [[
keys.journal = assert(purser.journal.open { sqlite = os.getenv "PURSER_JOURNAL" })
local client = assert(purser.new(keys))
local function pay()
  return client.wallet:withdraw({ coin = "USDT", netWork = "TRX", address = TRON, amount = "20" },
    { key = "invoice-1" })
end
local paid, err = pay()
if not paid and err.outcome == "unknown" then
  local answer = assert(client:reconcile(err))
  paid = answer.outcome == "done" and answer.record or answer.outcome == "not_done" and pay()
end
os.exit(paid and 0 or 1)
]]

return M

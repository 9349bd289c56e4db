-- SPDX-License-Identifier: MIT
-- Pruning: what is decided and old is deleted, in steps of a thousand rows, so that others are not kept waiting.
--
-- A pruned record no longer says that it belongs to a call, so what an equal call without a known end might still be
-- reconciled by stays. So does all of a payment that is not done; of one that is done, its key, digest and id stay, and
-- of a call with a key of the caller's its key, content and result: a key is used once, however old it is.

local option_schema = require "purser.util.option_schema"
local core = require "purser.core"
local schema = require "purser.write.journal.schema"

local M = {}

local DAY = 86400000
local REACH_DAYS = 184 -- six months: the service shows transfers for as long, and reconciling looks for them
local STEP = 1000

local rules = { before = option_schema.TIME }

--- What is wrong with the options of journal:prune, and with which; or nil.
---@return string|nil message, string|nil name, string|nil hint
function M.message(options)
  local message, name, hint = option_schema.check(options, rules, "option")
  if message then return message, name, hint end
  if not options.before then return 'option "before" is missing', "before", "give a time in epoch milliseconds" end
  if options.before > core.now_ms() - REACH_DAYS * DAY then
    return "younger calls may still have to be reconciled", "before",
      ("before must be at least %d days back"):format(REACH_DAYS)
  end
end

local is_over = " WHERE id = $1 AND NOT (" .. schema.UNDECIDED .. [[)
  AND NOT EXISTS (SELECT 1 FROM purser_intents AS other WHERE other.digest = purser_intents.digest
    AND other.account = purser_intents.account AND other.]] .. schema.UNDECIDED .. [[)
  AND (payment = '' OR NOT EXISTS (SELECT 1 FROM purser_payments WHERE purser_payments.account = purser_intents.account
    AND purser_payments.key = purser_intents.payment AND purser_payments.state <> 'done'
    AND purser_payments.queue = purser_intents.queue))]]

local delete_intent = "DELETE FROM purser_intents" .. is_over .. " AND key = ''"
local empty_intent = "UPDATE purser_intents SET params = '{}', message = ''" .. is_over .. " AND params <> '{}'"

-- Whether an intent was charged to a period of a spending limit that is not over: a line ends with the period's length,
-- its number, and the amount.
local function counts_in_spending(charges, before)
  for line in charges:gmatch "[^\n]+" do
    local length, number = line:match " (%d+) (%d+) %S+$"
    if not length or (tonumber(number) + 1) * tonumber(length) > tonumber(before) then return true end
  end
  return false
end

-- One step. Returns how many intents it deleted, and where the next begins; nil there when it was the last.
local function prune_intents(tx, before, from)
  local page = tx:rows(([[SELECT sent_at, id, key, charges FROM purser_intents WHERE sent_at < $1
    AND (sent_at, id) > ($2, $3) ORDER BY sent_at, id LIMIT %d]]):format(STEP), before, from.sent_at, from.id)
  local count = 0
  for _, row in ipairs(page) do
    if not counts_in_spending(row.charges, before) then
      count = count + select(2, tx:rows(row.key == "" and delete_intent or empty_intent, row.id))
    end
  end
  return count, #page == STEP and page[#page] or nil
end

local function prune_payments(tx, before, from)
  local page = tx:rows(([[SELECT account, queue, key, state, added_at, params FROM purser_payments
    WHERE (account, queue, key) > ($1, $2, $3) ORDER BY account, queue, key LIMIT %d]]):format(STEP), from.account,
    from.queue, from.key)
  local changed = 0
  for _, row in ipairs(page) do
    if row.state == "done" and row.added_at < before and row.params ~= "{}" then
      tx:rows([[UPDATE purser_payments SET params = '{}', message = '' WHERE account = $1 AND queue = $2
        AND key = $3]], row.account, row.queue, row.key)
      changed = changed + 1
    end
  end
  return changed, #page == STEP and page[#page] or nil
end

-- Periods of spending limits that are over. A bucket ends with the period's length and its number.
local function prune_periods(tx, before)
  local deleted = 0
  for _, row in ipairs(tx:rows "SELECT bucket FROM purser_spending") do
    local length, number = row.bucket:match " (%d+) (%-?%d+)$"
    if length and (tonumber(number) + 1) * tonumber(length) < tonumber(before) then
      tx:rows("DELETE FROM purser_spending WHERE bucket = $1", row.bucket)
      deleted = deleted + 1
    end
  end
  return deleted
end

-- The numbers of processes that are gone. One that is still there finds by `pruned_before` why its own is missing.
local function prune_generations(tx, before)
  tx:rows("DELETE FROM purser_meta WHERE name = 'pruned_before' AND value < $1", before)
  tx:rows("INSERT INTO purser_meta (name, value) VALUES ('pruned_before', $1) ON CONFLICT DO NOTHING", before)
  tx:rows("DELETE FROM purser_generations WHERE name LIKE 'process %' AND changed_at < $1", before)
end

-- Runs a step in transactions of its own until there is none left. Returns the sum; or nil and a message.
local function in_steps(db, step, before, from)
  local sum = 0
  while from do
    local count, following
    count, following = db:transaction(function(tx) return step(tx, before, from) end)
    if not count then return nil, following end
    sum, from = sum + count, following
  end
  return sum
end

--- Prunes what is older than `before`, epoch ms. Returns what journal:prune returns; or nil and a message.
function M.run(db, before)
  before = schema.time_text(before)
  local intents, message = in_steps(db, prune_intents, before, { sent_at = "", id = "" })
  if not intents then return nil, message end
  local payments
  payments, message = in_steps(db, prune_payments, before, { account = "", queue = "", key = "" })
  if not payments then return nil, message end
  local periods
  periods, message = db:transaction(function(tx)
    prune_generations(tx, before)
    return prune_periods(tx, before)
  end)
  if not periods then return nil, message end
  return { intents = intents, payments = payments, periods = periods }
end

return M

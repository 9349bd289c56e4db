-- SPDX-License-Identifier: MIT
-- Pruning: what is decided and old is deleted, in steps of a thousand rows, so that others are not kept waiting.
--
-- A pruned record no longer says that it belongs to a call, so what an equal call without a known end might still be
-- reconciled by stays. So does all of a payment that is not done; of one that is done, its key, digest and id stay, and
-- of a call with a key of the caller's its key, content and result: a key is used once, however old it is.

local approval_rows = require "purser.write.guard.approval_rows"
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
  AND NOT EXISTS (SELECT 1 FROM purser_calls AS other WHERE other.digest = purser_calls.digest
    AND other.account = purser_calls.account AND other.]] .. schema.UNDECIDED .. ")"

local delete_call = "DELETE FROM purser_calls" .. is_over
local empty_call = "UPDATE purser_calls SET params = '{}', message = ''" .. is_over .. " AND params <> '{}'"

-- Whether an intent was charged to a period of a spending limit that is not over: a line ends with the period's length,
-- its number, and the amount.
local function counts_in_spending(charges, before)
  for line in charges:gmatch "[^\n]+" do
    local length, number = line:match " (%d+) (%d+) %S+$"
    if not length or (tonumber(number) + 1) * tonumber(length) > tonumber(before) then return true end
  end
  return false
end

-- One step. Returns how many calls it deleted or emptied, and how many payments it emptied; and where the next step
-- begins, nil where this was the last.
local function prune_calls(tx, before, from)
  local page = tx:rows(([[SELECT sent_at, id, key, charges, queue, stage, added_at FROM purser_calls WHERE sent_at < $1
    AND (sent_at, id) > ($2, $3) ORDER BY sent_at, id LIMIT %d]]):format(STEP), before, from.sent_at, from.id)
  local counts = { calls = 0, payments = 0 }
  for _, row in ipairs(page) do
    local is_payment = row.queue ~= ""
    local may_go = not is_payment or row.stage == "done" and row.added_at < before
    if may_go and not counts_in_spending(row.charges, before) then
      local sql = not is_payment and row.key == "" and delete_call or empty_call
      local word = is_payment and "payments" or "calls"
      counts[word] = counts[word] + select(2, tx:rows(sql, row.id))
    end
  end
  return counts, #page == STEP and page[#page] or nil
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

--- Prunes what is older than `before`, epoch ms. Returns what journal:prune returns; or nil and a message.
function M.run(db, before)
  before = schema.time_text(before)
  local sums, from = { intents = 0, payments = 0, periods = 0 }, { sent_at = "", id = "" }
  while from do
    local counts, following = db:transaction(function(tx) return prune_calls(tx, before, from) end)
    if not counts then return nil, following end
    sums.intents, sums.payments, from = sums.intents + counts.calls, sums.payments + counts.payments, following
  end
  local periods, message = db:transaction(function(tx)
    prune_generations(tx, before)
    approval_rows.prune(tx, before)
    return prune_periods(tx, before)
  end)
  if not periods then return nil, message end
  sums.periods = periods
  return sums
end

return M

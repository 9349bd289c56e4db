-- SPDX-License-Identifier: MIT
-- Counts what an account spent of its spending limits, in the journal.
--
-- An intent keeps what it was charged with, a line an asset: account, asset, length and number of the period, amount.
-- Their sum over a period is what was spent in it. `purser_spending` keeps the sum, a row for an account and an asset,
-- with the period it is of; for any other period it is added up again. So a spending limit whose period was changed
-- begins with what was spent already.

local decimal = require "purser.decimal"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local M = {}

local time_text = intents.time_text
local format, gmatch, match, upper = string.format, string.gmatch, string.match, string.upper

local LOCK = 7078802

--- Keeps other hosts from charging until the transaction ends.
function M.lock(tx) tx:lock(LOCK) end

-- account, asset, length and number of the period, amount.
local function read_charge(line)
  return match(line, "^(.*) (%S+) (%d+) (%d+) (%S+)$")
end

-- Adds up what was charged in a period.
local function add_up(tx, account, asset, period_ms, number)
  local total = decimal "0"
  local first, past = time_text(number * period_ms), time_text((number + 1) * period_ms)
  local rows = tx:rows([[SELECT charges, sent_at FROM purser_calls WHERE account = $1
    AND (sent_at >= $2 AND sent_at < $3 OR sent_at = '') AND charges <> '']], account, first, past)
  for _, row in ipairs(rows) do
    for line in gmatch(row.charges, "[^\n]+") do
      local _, charged, _, at, amount = read_charge(line)
      local made_at = row.sent_at == "" and time_text(tonumber(at)) or row.sent_at
      if charged == asset and made_at >= first and made_at < past then total = total:add(amount) end
    end
  end
  return total
end

local function key_of(account, asset) return account .. " " .. asset end

-- The sum that is kept, and the period it is of; nil where there is none.
local function read_sum(tx, key)
  local row = tx:rows("SELECT amount FROM purser_spending WHERE bucket = $1", key)[1]
  if not row then return nil end
  local period, spent = match(row.amount, "^(%d+ %d+) (%S+)$")
  return spent or "0", period or ""
end

local function keep_sum(tx, key, exists, period, spent)
  local text = period .. " " .. tostring(spent)
  if exists then
    tx:rows("UPDATE purser_spending SET amount = $1 WHERE bucket = $2", text, key)
  else
    tx:rows("INSERT INTO purser_spending (bucket, amount) VALUES ($1, $2)", key, text)
  end
end

--- Charges a spending limit with what an intent is about to move. Returns the charge as text; or nil and what is spent
--- already.
---@param limit { amount: table, period_ms: integer }
---@return string|nil charge, string|nil spent
function M.charge(tx, intent, asset, amount, limit)
  local account, period_ms = intent.account, limit.period_ms
  local number = math.floor(intent.sent_at / period_ms)
  local period, key = format("%d %d", period_ms, number), key_of(account, asset)
  local kept, kept_period = read_sum(tx, key)
  local spent = kept_period == period and decimal(kept) or add_up(tx, account, asset, period_ms, number)
  local after = spent:add(amount)
  if after:compare(limit.amount) > 0 then return nil, tostring(spent) end
  keep_sum(tx, key, kept ~= nil, period, after)
  return format("%s %s %s", key, period, amount)
end

--- Charges a payment that this journal never sent, and that a history shows as of a time. Returns the charge: its
--- period is that millisecond.
---@param call purser.Call
---@param at string  epoch ms
---@return string
function M.charge_found(tx, call, at)
  local moves = operations.by_name[call.operation].moves
  if not moves or not moves.amount then return "" end
  M.lock(tx)
  local key = key_of(call.intent.account or "", upper(call.params[moves.asset]))
  tx:rows("DELETE FROM purser_spending WHERE bucket = $1", key) -- is added up again
  return format("%s 1 %d %s", key, at, call.params[moves.amount])
end

--- Undoes charges, within the transaction that takes them from their intent.
---@param charges string
function M.give_back(tx, charges)
  M.lock(tx)
  for line in gmatch(charges, "[^\n]+") do
    local account, asset, period_ms, number, amount = read_charge(line)
    local key, period = key_of(account, asset), period_ms .. " " .. number
    local kept, kept_period = read_sum(tx, key)
    if kept_period == period then
      keep_sum(tx, key, true, period, decimal(kept) - amount)
    elseif kept and match(kept_period, "^%d+") ~= period_ms then -- it may or may not count there: add up again
      tx:rows("DELETE FROM purser_spending WHERE bucket = $1", key)
    end
  end
end

return M

-- SPDX-License-Identifier: MIT
-- What the journal keeps for approvals. No row of it is believed where a signature can be checked instead: the guard
-- reads texts, and what persons signed decides.

local core = require "purser.core"
local decimal = require "purser.decimal"
local rules = require "purser.write.guard.rules"

local M = {}

local floor, format = math.floor, string.format

local LOCK, HOUR, KEPT_HOURS = 7078804, 3600000, 32 * 24

--- The statements that make the tables. A sum is of an hour, for the whole account ('') and for each destination.
M.TABLES = {
  [[CREATE TABLE purser_policies (account TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL,
    text TEXT NOT NULL, signatures TEXT NOT NULL, added_at TEXT NOT NULL, PRIMARY KEY (account, version))]],
  [[CREATE TABLE purser_plans (digest TEXT PRIMARY KEY, account TEXT NOT NULL, queue TEXT NOT NULL,
    single TEXT NOT NULL, text TEXT NOT NULL, added_at TEXT NOT NULL)]],
  "CREATE INDEX purser_plans_queue ON purser_plans (account, queue, single)",
  [[CREATE TABLE purser_statements (plan TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, person TEXT NOT NULL,
    text TEXT NOT NULL, added_at TEXT NOT NULL, PRIMARY KEY (plan, id))]],
  [[CREATE TABLE purser_approved (intent TEXT PRIMARY KEY, account TEXT NOT NULL, operation TEXT NOT NULL,
    coin TEXT NOT NULL, destination TEXT NOT NULL, amount TEXT NOT NULL, sent_at TEXT NOT NULL, charged TEXT NOT NULL,
    plan TEXT NOT NULL, approved_by TEXT NOT NULL, policy TEXT NOT NULL)]],
  "CREATE INDEX purser_approved_to ON purser_approved (account, destination, sent_at)",
  [[CREATE TABLE purser_sums (account TEXT NOT NULL, coin TEXT NOT NULL, destination TEXT NOT NULL,
    operation TEXT NOT NULL, hour TEXT NOT NULL, amount TEXT NOT NULL,
    PRIMARY KEY (account, coin, destination, hour, operation))]],
}

--- Keeps other hosts from sending, withdrawing and changing the policy until the transaction ends.
function M.lock(tx) tx:lock(LOCK) end

local function time_text(ms) return format("%013d", ms) end
local function version_text(version) return format("%07d", version) end
local function hour_text(ms) return format("%08d", floor(ms / HOUR)) end

------------------------------------------------------------------------------------------------------------- policies

--- The newest version that the account was under: { version, digest }; nil for an account that never had a policy.
---@return { version: integer, digest: string }|nil
function M.policy(tx, account)
  local row = tx:rows("SELECT version, digest FROM purser_policies WHERE account = $1 ORDER BY version DESC LIMIT 1",
    account)[1]
  return row and { version = tonumber(row.version), digest = row.digest }
end

--------------------------------------------------------------------------------------------------- sums and addresses

local function add_to(tx, account, coin, destination, operation, hour, amount)
  local row = tx:rows([[SELECT amount FROM purser_sums WHERE account = $1 AND coin = $2 AND destination = $3
    AND hour = $4 AND operation = $5]], account, coin, destination, hour, operation)[1]
  if row then
    tx:rows([[UPDATE purser_sums SET amount = $1 WHERE account = $2 AND coin = $3 AND destination = $4 AND hour = $5
      AND operation = $6]], tostring(decimal(row.amount) + amount), account, coin, destination, hour, operation)
  else
    tx:rows([[INSERT INTO purser_sums (account, coin, destination, hour, operation, amount)
      VALUES ($1, $2, $3, $4, $5, $6)]], account, coin, destination, hour, operation, tostring(amount))
  end
end

local function charge(tx, row, amount)
  local hour = hour_text(tonumber(row.sent_at))
  add_to(tx, row.account, row.coin, "", row.operation, hour, amount)
  if row.destination ~= "" then add_to(tx, row.account, row.coin, row.destination, row.operation, hour, amount) end
end

--- Writes that a call is sent, and by whose word.
---@param call table       of rules.call
---@param plan string      digest; "" where it needed none
---@param persons string   names with blanks between them
function M.sent(tx, account, intent, call, plan, persons, version)
  local coin = call.amount and call.coins and #call.coins == 1 and call.coins[1] or ""
  local row = { account = account, operation = call.operation, coin = coin, destination = call.destination,
    sent_at = time_text(call.now) }
  tx:rows([[INSERT INTO purser_approved (intent, account, operation, coin, destination, amount, sent_at, charged, plan,
    approved_by, policy) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (intent) DO UPDATE SET
    coin = excluded.coin, destination = excluded.destination, amount = excluded.amount, sent_at = excluded.sent_at,
    charged = excluded.charged, plan = excluded.plan, approved_by = excluded.approved_by, policy = excluded.policy]],
    intent, account, row.operation, coin, row.destination, tostring(call.amount or ""), row.sent_at,
    coin ~= "" and "yes" or "", plan, persons, version)
  if coin ~= "" then charge(tx, row, call.amount) end
end

--- Undoes what a call counted for that made no record.
function M.give_back(tx, intent)
  local row = tx:rows("SELECT * FROM purser_approved WHERE intent = $1 AND charged <> ''", intent)[1]
  if not row then return end
  charge(tx, row, -decimal(row.amount))
  tx:rows("UPDATE purser_approved SET charged = '' WHERE intent = $1", intent)
end

--- What was sent in the last hours, as a rule's `sum_over` counts it: whole hours, so 24 are 24 to 25.
---@param limit table  { coin, hours, per, operation }
function M.sum(tx, account, call, limit)
  local destination, total = limit.per == "destination" and call.destination or "", decimal "0"
  for _, row in ipairs(tx:rows([[SELECT operation, amount FROM purser_sums WHERE account = $1 AND coin = $2
    AND destination = $3 AND hour >= $4]], account, limit.coin, destination,
    hour_text(call.now - limit.hours * HOUR))) do
    if rules.counts(limit, row.operation) then total = total + row.amount end
  end
  return total
end

--- When a destination was first paid, as far as this journal knows; false where it never was.
function M.known_since(tx, account, destination)
  local row = tx:rows([[SELECT sent.sent_at FROM purser_approved AS sent JOIN purser_calls AS call
    ON call.id = sent.intent WHERE sent.account = $1 AND sent.destination = $2 AND call.state = 'done'
    ORDER BY sent.sent_at LIMIT 1]], account, destination)[1]
  return row and tonumber(row.sent_at) or false
end

--- Forgets what no rule can ask for any more: old hours, and calls that the journal has forgotten.
---@param before string  a time as the tables keep it, at least 32 days back
function M.prune(tx, before)
  tx:rows("DELETE FROM purser_sums WHERE hour < $1", hour_text(tonumber(before)))
  tx:rows([[DELETE FROM purser_approved WHERE sent_at < $1
    AND NOT EXISTS (SELECT 1 FROM purser_calls WHERE purser_calls.id = purser_approved.intent)]], before)
end

-- Counts what the account sent before it had a policy.
local function count_history(tx, account)
  local newest = hour_text(math.max(0, tx:now() - KEPT_HOURS * HOUR))
  for _, row in ipairs(tx:rows([[SELECT id, operation, params, sent_at FROM purser_calls WHERE account = $1
    AND sent_at <> '' AND state NOT IN ('rejected', 'not_sent', 'not_done')]], account)) do
    local params = core.decode(row.params)
    local call = params and next(params) and rules.call(row.operation, params)
    if call then
      call.now = tonumber(row.sent_at)
      if hour_text(call.now) < newest then call.amount = nil end -- no sum reaches so far back
      M.sent(tx, account, row.id, call, "", "", "")
    end
  end
end

--- Writes which policies the account is under. Returns nil; or why they are not those that it was under.
---@param chain purser.PolicyChain
---@return string|nil problem  "rollback" or "policy"
function M.install(tx, account, chain)
  local installed = M.policy(tx, account)
  if installed then
    if installed.version > chain.latest.version then return "rollback" end
    if chain.versions[installed.version].digest ~= installed.digest then return "policy" end
  else
    count_history(tx, account)
  end
  for version = (installed and installed.version or 0) + 1, chain.latest.version do
    tx:rows([[INSERT INTO purser_policies (account, version, digest, text, signatures, added_at)
      VALUES ($1, $2, $3, $4, $5, $6)]], account, version_text(version), chain.versions[version].digest,
      chain.versions[version].text, chain.signatures[version], time_text(tx:now()))
  end
end

---------------------------------------------------------------------------------------------- plans and statements

--- Keeps a plan. False where it was there.
---@param plan purser.SignedPlan
function M.add_plan(tx, plan)
  if tx:rows("SELECT digest FROM purser_plans WHERE digest = $1", plan.digest)[1] then return false end
  local single = plan.head.queue == "" and plan.rows[1].key or ""
  tx:rows([[INSERT INTO purser_plans (digest, account, queue, single, text, added_at)
    VALUES ($1, $2, $3, $4, $5, $6)]], plan.digest, plan.head.account, plan.head.queue, single, plan.text,
    time_text(tx:now()))
  return true
end

--- Keeps a statement on a plan. False where it was there.
function M.add_statement(tx, plan, id, kind, person, text)
  if tx:rows("SELECT id FROM purser_statements WHERE plan = $1 AND id = $2", plan, id)[1] then return false end
  tx:rows([[INSERT INTO purser_statements (plan, id, kind, person, text, added_at) VALUES ($1, $2, $3, $4, $5, $6)]],
    plan, id, kind, person, text, time_text(tx:now()))
  return true
end

--- The plans that a call may be in: a list of { digest, added_at }, oldest first.
function M.plans(tx, account, queue, key)
  return tx:rows([[SELECT digest, added_at FROM purser_plans WHERE account = $1 AND queue = $2 AND single IN ('', $3)
    ORDER BY added_at, digest]], account, queue, key)
end

--- The text of a plan, nil where there is none.
function M.plan_text(tx, digest)
  local row = tx:rows("SELECT text FROM purser_plans WHERE digest = $1", digest)[1]
  return row and row.text
end

--- The signatures on a plan.
---@return string[]
function M.statements(tx, digest)
  local list = {}
  for i, row in ipairs(tx:rows("SELECT text FROM purser_statements WHERE plan = $1 ORDER BY added_at, id", digest)) do
    list[i] = row.text
  end
  return list
end

--- When the newest other call was sent, epoch ms; nil where there is none.
function M.newest(tx, intent)
  for _, row in ipairs(tx:rows "SELECT id, sent_at FROM purser_calls ORDER BY sent_at DESC, id DESC LIMIT 2") do
    if row.id ~= intent then return tonumber(row.sent_at) end
  end
end

return M

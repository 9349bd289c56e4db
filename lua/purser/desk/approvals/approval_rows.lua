-- SPDX-License-Identifier: MIT
-- The rows of the journal for approvals. No row of it is believed where a signature can be checked instead: the guard
-- reads texts, and what persons signed decides. Who let a call through stands in the call's own row (`plan`,
-- `approved_by`, `policy`), and so does whom it pays (`destination`).

local core = require "purser.core"
local decimal = require "purser.decimal"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local rules = require "purser.desk.approvals.rules"
local utc = require "purser.client.util.utc"

local M = {}

local time_text = planned.time_text
local find, floor, format, match, sub = string.find, math.floor, string.format, string.match, string.sub

local LOCK, HOUR, KEPT_HOURS = 7078804, 3600000, 32 * 24
local SPENT_NOTHING = "'planned', 'rejected', 'not_sent', 'not_done'"

--- The statements that make the tables. The text of a plan may be megabytes, so it stands last: SQLite reads all that
--- stands before a column. A sum is of an hour, for the whole account ('') and for each place.
M.TABLES = {
  [[CREATE TABLE IF NOT EXISTS purser_policies (account TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL,
    added_at TEXT NOT NULL, PRIMARY KEY (account, version))]],
  [[CREATE TABLE IF NOT EXISTS purser_plans (digest TEXT PRIMARY KEY, account TEXT NOT NULL, queue TEXT NOT NULL,
    single TEXT NOT NULL, added_at TEXT NOT NULL, text TEXT NOT NULL)]],
  "CREATE INDEX IF NOT EXISTS purser_plans_queue ON purser_plans (account, queue, single)",
  [[CREATE TABLE IF NOT EXISTS purser_statements (plan TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (plan, id))]],
  [[CREATE TABLE IF NOT EXISTS purser_sums (account TEXT NOT NULL, coin TEXT NOT NULL, place TEXT NOT NULL,
    operation TEXT NOT NULL, hour TEXT NOT NULL, amount TEXT NOT NULL,
    PRIMARY KEY (account, coin, place, hour, operation))]],
}

--- Keeps other hosts from sending, withdrawing and changing the policy until the transaction ends.
function M.lock(tx) tx:lock(LOCK) end

local function hour_text(ms) return format("%08d", floor(ms / HOUR)) end

---------------------------------------------------------------------------------------------------- what is known

local POLICY = "SELECT version || ' ' || digest AS policy FROM purser_policies WHERE account = $1 "
  .. "ORDER BY version DESC LIMIT 1"

local function read_policy(text)
  local version, digest = match(text or "", "^(%d+) (%x+)$")
  return version and { version = tonumber(version), digest = digest }
end

--- Returns the newest version that the account was under: { version, digest }; nil where it never had a policy.
---@return { version: integer, digest: string }|nil
function M.policy(tx, account)
  local row = tx:rows(POLICY, account)[1]
  return row and read_policy(row.policy)
end

-- One row for each signature on each plan that a call may be in, the newest plan first; at least one row.
local KNOWN = "SELECT (" .. POLICY .. [[) AS policy,
    (SELECT sent_at FROM purser_calls WHERE state = 'done' AND account = $2 AND host = $3 ORDER BY sent_at DESC
      LIMIT 1) AS newest,
    (SELECT sent_at FROM purser_calls WHERE account = $4 AND destination = $5 AND destination <> '' AND state = 'done'
      AND host = $6 ORDER BY sent_at LIMIT 1) AS known_since,
    (SELECT max(at) FROM purser_words WHERE call = $7 AND word = 'not_done') AS word,
    plan.digest AS plan, plan.added_at AS added_at, statement.id AS statement
  FROM (SELECT 1 AS one) AS here
    LEFT JOIN purser_plans AS plan ON plan.account = $8 AND plan.queue = $9 AND plan.single IN ('', $10)
    LEFT JOIN purser_statements AS statement ON statement.plan = plan.digest
  ORDER BY plan.added_at DESC, plan.digest, statement.added_at, statement.id]]

---@class purser.KnownOfCall
---@field policy { version: integer, digest: string }|nil
---@field newest integer|nil       epoch ms: when the newest call was sent
---@field known_since integer|nil  when the destination was first paid, as far as this journal knows
---@field word integer|nil         when a person last said that it was not made; nil: nobody did
---@field plans { digest: string, added_at: integer, statements: string[] }[]  the newest first; ids of signatures

--- Returns all that the journal has to say of a call that is about to be sent.
---@return purser.KnownOfCall
---@param facts { queue: string, key: string, call: string, host: string }
function M.known(tx, account, facts, destination)
  local host = facts.host
  local rows, plans = tx:rows(KNOWN, account, account, host, account, destination, host, facts.call, account,
    facts.queue, facts.key), {}
  for _, row in ipairs(rows) do
    local plan = plans[#plans]
    if row.plan and (not plan or plan.digest ~= row.plan) then
      plan = { digest = row.plan, added_at = tonumber(row.added_at), statements = {} }
      plans[#plans + 1] = plan
    end
    if row.statement then plan.statements[#plan.statements + 1] = row.statement end
  end
  local first = rows[1]
  return { policy = read_policy(first.policy), newest = tonumber(first.newest),
    known_since = tonumber(first.known_since), plans = plans, word = tonumber(first.word) }
end

----------------------------------------------------------------------------------------------------------------- sums

-- Adds a call to the sums that it is in, by name: of its account, and of its place.
local function count(sums, call, sent_at)
  local coin, places = rules.counted(call)
  for _, place in ipairs(places or {}) do
    local name = format("%s\n%s\n%s\n%s", coin, place, hour_text(sent_at), call.operation)
    sums[name] = (sums[name] or decimal "0") + call.amount
  end
end

-- Changes the sums that are kept: a new call makes those that are missing.
local function write_sums(tx, account, sums, sign, is_new)
  for name, change in pairs(sums) do
    local coin, place, hour, operation = match(name, "^(.-)\n(.-)\n(.-)\n(.*)$")
    local row = tx:rows([[SELECT amount FROM purser_sums WHERE account = $1 AND coin = $2 AND place = $3
      AND hour = $4 AND operation = $5]], account, coin, place, hour, operation)[1]
    if row or is_new then
      tx:rows([[INSERT INTO purser_sums (account, coin, place, hour, operation, amount)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, coin, place, hour, operation)
        DO UPDATE SET amount = excluded.amount]], account, coin, place, hour, operation,
        tostring(decimal(row and row.amount or "0") + change * sign))
    end
  end
end

--- Counts a call that is being recorded.
---@param call table  of rules.call
function M.charge(tx, account, call, sent_at)
  local sums = {}
  count(sums, call, sent_at)
  write_sums(tx, account, sums, 1, true)
end

--- Counts a recorded call no longer (-1), because it made no record; or again (1), because it did.
---@param row table  of purser_calls
function M.recharge(tx, row, sign)
  M.lock(tx)
  local call, sums = rules.call(row.operation, core.decode(row.params)), {}
  if call then count(sums, call, tonumber(row.sent_at)) end
  write_sums(tx, row.account, sums, sign, row.state == "planned")
end

--- Returns what was sent in the last hours, as a rule's `sum_over` counts it: whole hours, so 24 are 24 to 25.
---@param limit table  { coin, hours, per, operation }
function M.sum(tx, account, call, limit)
  local place, total = limit.per == "destination" and call.place or "", decimal "0"
  for _, row in ipairs(tx:rows([[SELECT operation, amount FROM purser_sums WHERE account = $1 AND coin = $2
    AND place = $3 AND hour >= $4]], account, limit.coin, place,
    hour_text(call.now - limit.hours * HOUR))) do
    if rules.counts(limit, row.operation) then total = total + row.amount end
  end
  return total
end

-- Counts anew what the account sent: whom it paid, where no policy looked yet, and the sums that a rule may ask for.
local function count_history(tx, account, asks_sums)
  local first, sums = floor(tx:now() / HOUR) * HOUR - KEPT_HOURS * HOUR, {}
  tx:rows("DELETE FROM purser_sums WHERE account = $1", account)
  for _, row in ipairs(tx:rows([[SELECT id, operation, params, sent_at, destination FROM purser_calls
    WHERE account = $1 AND sent_at <> '' AND (destination = '' OR sent_at >= $2)
    AND (state NOT IN (]] .. SPENT_NOTHING .. ") OR disowned = 'yes')", account, time_text(first))) do
    local params = core.decode(row.params)
    local call = type(params) == "table" and next(params) and rules.call(row.operation, params)
    if call and call.destination ~= row.destination then
      tx:rows("UPDATE purser_calls SET destination = $1 WHERE id = $2", call.destination, row.id)
    end
    if call and asks_sums and tonumber(row.sent_at) >= first then count(sums, call, tonumber(row.sent_at)) end
  end
  write_sums(tx, account, sums, 1, true)
end

--- Writes which policies the account is under. Returns nil; or why they are not those that it was under.
---@param chain purser.PolicyChain
---@return string|nil problem  "rollback" or "policy"
function M.install(tx, account, chain)
  local installed, latest = M.policy(tx, account), chain.latest.version
  if installed and installed.version > latest then return "rollback" end
  if installed and chain.versions[installed.version].digest ~= installed.digest then return "policy" end
  if installed and installed.version == latest then return nil end
  for version = (installed and installed.version or 0) + 1, latest do
    tx:rows("INSERT INTO purser_policies (account, version, digest, added_at) VALUES ($1, $2, $3, $4)", account,
      format("%07d", version), chain.versions[version].digest, time_text(tx:now()))
  end
  count_history(tx, account, chain.latest.asks_sums)
end

---------------------------------------------------------------------------------------------- plans and statements

--- Keeps a plan and signatures on it; those that it has stay.
---@param plan purser.SignedPlan
---@param signatures string[]
function M.add(tx, plan, signatures)
  local single, now = plan.head.queue == "" and plan.rows[1].key or "", time_text(tx:now())
  tx:rows([[INSERT INTO purser_plans (digest, account, queue, single, text, added_at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING]], plan.digest, plan.head.account, plan.head.queue, single,
    plan.text, now)
  for _, text in ipairs(signatures) do
    tx:rows([[INSERT INTO purser_statements (plan, id, text, added_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING]], plan.digest, plan_text.digest(text), text, now)
  end
end

--- Returns the text of a plan, nil where there is none.
function M.plan_text(tx, digest)
  local row = tx:rows("SELECT text FROM purser_plans WHERE digest = $1", digest)[1]
  return row and row.text
end

--- Returns the signatures on a plan, oldest first.
---@return string[]
function M.signatures(tx, digest)
  local list = {}
  for i, row in ipairs(tx:rows("SELECT text FROM purser_statements WHERE plan = $1 ORDER BY added_at, id", digest)) do
    list[i] = row.text
  end
  return list
end

--- Returns an account's plans, newest first.
---@return { digest: string, text: string }[]
function M.stored(tx, account)
  return tx:rows("SELECT digest, text FROM purser_plans WHERE account = $1 ORDER BY added_at DESC, digest", account)
end

local ROW = "SELECT id, state FROM purser_calls WHERE account = $1 AND queue = $2 "

--- Returns the id of the call of a plan's row, "" where there is none, and whether it may have been executed.
---@return string id, boolean was_sent
function M.call_of(tx, account, queue, key, operation)
  local row
  if queue ~= "" then row = tx:rows(ROW .. "AND queue <> '' AND payment = $3", account, queue, key)[1]
  else row = tx:rows(ROW .. "AND key = $3 AND key <> '' AND operation = $4", account, queue, key, operation)[1] end
  if not row then return "", false end
  return row.id, not find(SPENT_NOTHING, "'" .. row.state .. "'", 1, true)
end

--- Forgets the sums of hours that no rule can ask for any more, and plans that are over, with their signatures, unless
--- a call is kept that one let through.
---@param before string  a time as the tables keep it, at least 32 days back
function M.prune(tx, before)
  tx:rows("DELETE FROM purser_sums WHERE hour < $1", hour_text(tonumber(before)))
  local today = sub(utc.text(tx:now()), 1, 10)
  for _, plan in ipairs(tx:rows([[SELECT digest, text FROM purser_plans WHERE added_at < $1
    AND digest NOT IN (SELECT plan FROM purser_calls WHERE plan <> '' AND params <> '{}')]], before)) do
    if (match(plan.text, '"not_after":"([^"]*)"') or "") < today then
      tx:rows("DELETE FROM purser_statements WHERE plan = $1", plan.digest)
      tx:rows("DELETE FROM purser_plans WHERE digest = $1", plan.digest)
    end
  end
end

return M

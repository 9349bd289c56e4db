-- SPDX-License-Identifier: MIT
-- Approvals in the journal: policies, plans, signatures, and sums of what was sent. Rows are no evidence: the guard
-- checks texts and signatures. A call's own row names its plan, its signers, its policy and its destination.

local core = require "purser.core"
local decimal = require "purser.decimal"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local rules = require "purser.desk.approvals.rules"
local utc = require "purser.client.util.utc"

local M = {}

local time_text = planned.time_text
local floor, format, match, sub = math.floor, string.format, string.match, string.sub

local LOCK, HOUR, KEPT_HOURS = 7078804, 3600000, 32 * 24

--- Makes the tables. A plan's text stands last, because SQLite reads what stands before a column. A sum is of an hour,
--- for the whole account ('') and for each place.
M.TABLES = {
  [[CREATE TABLE IF NOT EXISTS purser_policies (version TEXT PRIMARY KEY, digest TEXT NOT NULL,
    added_at TEXT NOT NULL)]],
  [[CREATE TABLE IF NOT EXISTS purser_plans (digest TEXT PRIMARY KEY, queue TEXT NOT NULL,
    single TEXT NOT NULL, added_at TEXT NOT NULL, text TEXT NOT NULL)]],
  "CREATE INDEX IF NOT EXISTS purser_plans_queue ON purser_plans (queue, single)",
  [[CREATE TABLE IF NOT EXISTS purser_statements (plan TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (plan, id))]],
  [[CREATE TABLE IF NOT EXISTS purser_sums (coin TEXT NOT NULL, place TEXT NOT NULL,
    operation TEXT NOT NULL, hour TEXT NOT NULL, amount TEXT NOT NULL,
    PRIMARY KEY (coin, place, hour, operation))]],
}

--- Keeps other hosts from sending, withdrawing and changing the policy until the transaction ends.
function M.lock(tx) tx:lock(LOCK) end
local function hour_text(ms) return format("%08d", floor(ms / HOUR)) end

local POLICY = "SELECT version || ' ' || digest AS policy FROM purser_policies "
  .. "ORDER BY version DESC LIMIT 1"

-- Reads a row. An odd row ends the transaction: it makes no account without a policy.
local function read_policy(tx, text)
  if not text then return nil end
  local version, digest = match(text, "^(%d+) (%x+)$")
  if not version then tx:reject "the journal's row of the policy is damaged" end
  return { version = tonumber(version), digest = digest }
end

--- Returns the newest version that an account was under; nil for none.
---@return { version: integer, digest: string }|nil
function M.policy(tx)
  local row = tx:rows(POLICY)[1]
  return row and read_policy(tx, row.policy)
end

-- Has a row for each signature on each plan that may hold a call, the newest plan first; at least one row.
local KNOWN = "SELECT (" .. POLICY .. [[) AS policy,
    (SELECT sent_at FROM purser_calls WHERE state = 'done' ORDER BY sent_at DESC LIMIT 1) AS newest,
    (SELECT sent_at FROM purser_calls WHERE destination = $1 AND destination <> '' AND ]] .. planned.MADE .. [[
      ORDER BY sent_at LIMIT 1) AS known_since,
    plan.digest AS plan, plan.added_at AS added_at, statement.id AS statement
  FROM (SELECT 1 AS one) AS here
    LEFT JOIN purser_plans AS plan ON plan.queue = $2 AND plan.single IN ('', $3)
    LEFT JOIN purser_statements AS statement ON statement.plan = plan.digest
  ORDER BY plan.added_at DESC, plan.digest, statement.added_at, statement.id]]

--- Returns what the journal says of a call before sending: `policy` as M.policy; times in epoch ms: `newest` (of the
--- newest call), `known_since` (of the destination's first payment that was made); `word` (by which the call
--- may be sent again); `plans`, the newest first: { digest, added_at, statements = ids of signatures }.
---@param facts { queue: string, key: string, call: string }
function M.known(tx, facts, destination)
  local rows, plans = tx:rows(KNOWN, destination, facts.queue, facts.key), {}
  for _, row in ipairs(rows) do
    local plan = plans[#plans]
    if row.plan and (not plan or plan.digest ~= row.plan) then
      plan = { digest = row.plan, added_at = tonumber(row.added_at), statements = {} }
      plans[#plans + 1] = plan
    end
    if row.statement then plan.statements[#plan.statements + 1] = row.statement end
  end
  local first = rows[1]
  return { policy = read_policy(tx, first.policy), newest = tonumber(first.newest),
    known_since = tonumber(first.known_since), plans = plans, word = planned.standing_word(tx, facts.call) }
end

-- Adds a call to its sums, by name: of the account, and of the place. Returns the sums.
local function count(sums, call, sent_at)
  local coin, places = rules.counted(call)
  for _, place in ipairs(places or {}) do
    local name = format("%s\n%s\n%s\n%s", coin, place, hour_text(sent_at), call.operation)
    sums[name] = (sums[name] or decimal "0") + call.amount
  end
  return sums
end

-- Changes the kept sums. A new call makes missing ones.
local function write_sums(tx, sums, sign, is_new)
  for name, change in pairs(sums) do
    local coin, place, hour, operation = match(name, "^(.-)\n(.-)\n(.-)\n(.*)$")
    local row = tx:rows([[SELECT amount FROM purser_sums WHERE coin = $1 AND place = $2
      AND hour = $3 AND operation = $4]], coin, place, hour, operation)[1]
    if row or is_new then
      tx:rows([[INSERT INTO purser_sums (coin, place, hour, operation, amount)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (coin, place, hour, operation)
        DO UPDATE SET amount = excluded.amount]], coin, place, hour, operation,
        tostring(decimal(row and row.amount or "0") + change * sign))
    end
  end
end

--- Counts a new call.
function M.charge(tx, call, sent_at)
  write_sums(tx, count({}, call, sent_at), 1, true)
end

--- Counts a recorded call no longer (-1), or again (1).
function M.recharge(tx, row, sign)
  M.lock(tx)
  local call, sums = rules.call(row.operation, core.decode(row.params)), {}
  if call then count(sums, call, tonumber(row.sent_at)) end
  write_sums(tx, sums, sign, row.state == "planned")
end

--- Returns what was sent in the hours of a `sum_over`: whole hours, so 24 are 24 to 25. `asked` keeps the answers for
--- one transaction.
function M.sum(tx, call, limit, asked)
  local place, total = limit.per == "destination" and call.place or "", decimal "0"
  local first = hour_text(call.now - limit.hours * HOUR)
  local name = format("%s\n%s\n%s", limit.coin, place, first)
  asked[name] = asked[name] or tx:rows([[SELECT operation, amount FROM purser_sums WHERE coin = $1
    AND place = $2 AND hour >= $3]], limit.coin, place, first)
  for _, row in ipairs(asked[name]) do
    if rules.counts(limit, row.operation) then total = total + row.amount end
  end
  return total
end

-- Reads a page of an account's calls without a destination or younger than a time. `NOT` excludes what ended before
-- another time.
local PAGE = 1000
local SENT = "SELECT id, operation, params, sent_at, destination FROM purser_calls "
  .. "WHERE sent_at <> '' AND (destination = '' OR sent_at >= $1) AND %s (ended_at <> '' AND ended_at < $2) "
  .. "AND (sent_at, id) > ($3, $4) AND " .. planned.COUNTED .. " ORDER BY sent_at, id LIMIT " .. PAGE
local ENDED, NOT_ENDED = format(SENT, ""), format(SENT, "NOT")

local function new_history(now, ended_before)
  return { sums = {}, counted = 0, ended_before = ended_before, time = "", id = "",
    first = time_text(floor(now / HOUR) * HOUR - KEPT_HOURS * HOUR) }
end

-- Counts a page. Tells whether another may follow.
local function count_page(tx, history, sql)
  local rows = tx:rows(sql, history.first, history.ended_before, history.time, history.id)
  for _, row in ipairs(rows) do
    local params = core.decode(row.params)
    if type(params) ~= "table" then tx:reject("the call " .. row.id .. " cannot be read") end
    local call = next(params) and rules.call(row.operation, params)
    if call and call.destination ~= row.destination then
      tx:rows("UPDATE purser_calls SET destination = $1 WHERE id = $2", call.destination, row.id)
    end
    if row.sent_at >= history.first then
      history.counted = history.counted + 1
      if call then count(history.sums, call, tonumber(row.sent_at)) end
    end
    history.time, history.id = row.sent_at, row.id
  end
  return #rows == PAGE
end

local IS_THERE = { sqlite = "SELECT name FROM sqlite_master WHERE name = 'purser_policies'",
  postgresql = "SELECT 1 AS one WHERE to_regclass('purser_policies') IS NOT NULL" }

--- Counts what an account sent before its first policy, page by page, so that other hosts can send meanwhile. Leaves
--- the last hour to the transaction that installs the policy. Returns false for an account under a policy; or nil and a
--- message.
function M.survey(db, now)
  local under, problem = db:transaction(function(tx)
    return tx:rows(IS_THERE[db.name])[1] ~= nil and M.policy(tx) or false
  end, true)
  if under ~= false then return under and false, problem end
  local history = new_history(now, time_text(now - HOUR))
  while true do
    local more, message = db:transaction(function(tx) return count_page(tx, history, ENDED) end)
    if not more then return more == false and history or nil, message end
  end
end

-- Completes a survey. A survey that is out of date is repeated.
local function complete(tx, history)
  if history then
    local row = tx:rows("SELECT count(*) AS calls FROM purser_calls WHERE sent_at >= $1 AND "
      .. "ended_at <> '' AND ended_at < $2 AND " .. planned.COUNTED, history.first, history.ended_before)[1]
    if tonumber(row.calls) ~= history.counted then history = nil end
  end
  history = history or new_history(tx:now(), "")
  history.time, history.id = "", ""
  repeat until not count_page(tx, history, NOT_ENDED)
  return history
end

--- Returns "rollback" or "policy" where policies do not follow the account's, and the account's newest policy.
function M.problem(tx, chain)
  local installed = M.policy(tx)
  if not installed then return nil end
  if installed.version > chain.latest.version then return "rollback" end
  return chain.versions[installed.version].digest ~= installed.digest and "policy" or nil, installed
end

--- Writes which policies an account is under. Returns what M.problem finds.
function M.install(tx, chain, history)
  local problem, installed = M.problem(tx, chain)
  local latest = chain.latest
  if problem or installed and installed.version == latest.version then return problem end
  for version = (installed and installed.version or 0) + 1, latest.version do
    tx:rows("INSERT INTO purser_policies (version, digest, added_at) VALUES ($1, $2, $3)",
      format("%07d", version), chain.versions[version].digest, time_text(tx:now()))
  end
  if installed and (not latest.asks_sums or chain.versions[installed.version].asks_sums) then return nil end
  history = complete(tx, history)
  tx:rows "DELETE FROM purser_sums"
  if latest.asks_sums then write_sums(tx, history.sums, 1, true) end
end

--- Makes the destinations of kept calls, and the sums by them, anew: a newer reader of addresses tells more apart.
function M.read_again(tx)
  local is_counted = tx:rows("SELECT coin FROM purser_sums LIMIT 1")[1] ~= nil
  tx:rows "UPDATE purser_calls SET destination = '' WHERE destination <> '' AND params <> '{}'"
  local history = complete(tx)
  tx:rows "DELETE FROM purser_sums"
  if is_counted then write_sums(tx, history.sums, 1, true) end
end

--- Keeps a plan, and signatures on the plan.
function M.add(tx, plan, signatures)
  local single, now = plan.head.queue == "" and plan.rows[1].key or "", time_text(tx:now())
  tx:rows([[INSERT INTO purser_plans (digest, queue, single, text, added_at)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING]], plan.digest, plan.head.queue, single,
    plan.text, now)
  for _, text in ipairs(signatures) do
    tx:rows([[INSERT INTO purser_statements (plan, id, text, added_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING]], plan.digest, plan_text.digest(text), text, now)
  end
end

--- Returns the text of a plan; nil for none.
function M.plan_text(tx, digest)
  local row = tx:rows("SELECT text FROM purser_plans WHERE digest = $1", digest)[1]
  return row and row.text
end

--- Returns the signatures on a plan, oldest first.
function M.signatures(tx, digest)
  local list = {}
  for i, row in ipairs(tx:rows("SELECT text FROM purser_statements WHERE plan = $1 ORDER BY added_at, id", digest)) do
    list[i] = row.text
  end
  return list
end

--- Returns an account's plans, newest first: { digest }.
function M.stored(tx)
  return tx:rows "SELECT digest FROM purser_plans ORDER BY added_at DESC, digest"
end

local ROW = "SELECT id, state FROM purser_calls WHERE queue = $1 "

--- Returns the id of the call of a plan's row ("" for none), and whether the call may have been executed.
function M.call_of(tx, queue, key)
  local row
  if queue ~= "" then row = tx:rows(ROW .. "AND queue <> '' AND payment = $2", queue, key)[1]
  else row = tx:rows(ROW .. "AND key = $2 AND key <> ''", queue, key)[1] end
  return row and row.id or "", row ~= nil and not planned.UNDONE[row.state]
end

--- Forgets sums older than any rule's hours, and ended plans without a kept attempt. `before`: at least 32 days back.
function M.prune(tx, before)
  tx:rows("DELETE FROM purser_sums WHERE hour < $1", hour_text(tonumber(before)))
  local today = sub(utc.text(tx:now()), 1, 10)
  for _, plan in ipairs(tx:rows("SELECT digest FROM purser_plans WHERE added_at < $1 AND digest NOT IN ("
    .. planned.KEPT_PLANS .. ")", before)) do
    if (match(M.plan_text(tx, plan.digest), '"not_after":"([^"]*)"') or today) < today then
      tx:rows("DELETE FROM purser_statements WHERE plan = $1", plan.digest)
      tx:rows("DELETE FROM purser_plans WHERE digest = $1", plan.digest)
    end
  end
end

return M

-- SPDX-License-Identifier: MIT
-- The journal's tables. Every column is text: LuaDBI reads 64-bit integers as 32-bit ones. Times are 13 digits of epoch
-- milliseconds, so that their order as text is their order; amounts are decimals as they travel.

local calls = require "purser.write.intent"
local core = require "purser.core"
local operations = require "purser.api.operations"

local M = { version = 2 }

--- A time as the tables keep it.
function M.time_text(ms)
  return ("%013d"):format(ms)
end

-- state: open (recorded, perhaps sent), unknown, done, rejected, not_sent, not_done, undecided
-- queue, payment: the payment of purser.payouts that the call belongs to. A queue of '' next to a payment means that
-- version 1 did not say which one.
local intents = [[CREATE TABLE %s (id TEXT PRIMARY KEY, account TEXT NOT NULL, operation TEXT NOT NULL,
  params TEXT NOT NULL, digest TEXT NOT NULL, sent_at TEXT NOT NULL, recv_window TEXT NOT NULL, queue TEXT NOT NULL,
  payment TEXT NOT NULL, charges TEXT NOT NULL, state TEXT NOT NULL, record_id TEXT NOT NULL, record TEXT NOT NULL,
  message TEXT NOT NULL, ended_at TEXT NOT NULL)]]

-- state: waiting, taken (by a worker, until its lease ends), sent (its intent is recorded), done, failed, undecided
-- client_id: the id by which the service distinguishes the payment; '' where the operation has none
local payments = [[CREATE TABLE %s (account TEXT NOT NULL, queue TEXT NOT NULL, key TEXT NOT NULL,
  operation TEXT NOT NULL, params TEXT NOT NULL, client_id TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL,
  due_at TEXT NOT NULL, worker TEXT NOT NULL, lease_until TEXT NOT NULL, attempts TEXT NOT NULL, intent TEXT NOT NULL,
  record_id TEXT NOT NULL, message TEXT NOT NULL, added_at TEXT NOT NULL, PRIMARY KEY (account, queue, key))]]

-- How many changes each process has committed, and each worker that asked for it: a journal that shows fewer than they
-- remember lacks commits. `name` is a process's token or a worker's name, after the word for its kind.
local generations = [[CREATE TABLE purser_generations (name TEXT PRIMARY KEY, generation TEXT NOT NULL,
  changed_at TEXT NOT NULL)]]

-- Calls without a known end are few, and are looked for all the time: their index holds nothing else, so that no
-- statistics of the rest make a database read them all. A query must have this condition word by word.
M.UNDECIDED = "state IN ('open', 'unknown', 'undecided')"

local intent_indexes = {
  "CREATE INDEX purser_intents_undecided ON purser_intents (account, sent_at, id) WHERE " .. M.UNDECIDED,
  "CREATE INDEX purser_intents_time ON purser_intents (sent_at, id)",
  "CREATE INDEX purser_intents_state ON purser_intents (state, sent_at, id)",
  "CREATE INDEX purser_intents_digest ON purser_intents (digest, sent_at)",
  "CREATE INDEX purser_intents_payment ON purser_intents (account, queue, payment) WHERE payment <> ''",
}

local payment_indexes = {
  "CREATE INDEX purser_payments_state ON purser_payments (account, queue, state, due_at)",
  "CREATE INDEX purser_payments_client_id ON purser_payments (account, client_id) WHERE client_id <> ''",
}

local function run_all(tx, list)
  for _, sql in ipairs(list) do tx:rows(sql) end
end

local function set(tx, name, value)
  tx:rows("INSERT INTO purser_meta (name, value) VALUES ($1, $2)", name, value)
end

-- Gives the journal its own id.
local function set_id(tx)
  local id, why = core.random_token(24)
  if not id then tx:reject("no random id could be made: " .. tostring(why)) end
  set(tx, "journal_id", id)
end

local function create(tx)
  tx:rows "CREATE TABLE purser_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
  tx:rows(intents:format "purser_intents")
  run_all(tx, intent_indexes)
  -- what a spending limit has been charged with in one period: `bucket` names account, asset and period
  tx:rows "CREATE TABLE purser_spending (bucket TEXT PRIMARY KEY, amount TEXT NOT NULL)"
  tx:rows(payments:format "purser_payments")
  run_all(tx, payment_indexes)
  tx:rows(generations)
  set(tx, "version", ("%d"):format(M.version))
  set_id(tx)
end

-------------------------------------------------------------------------------------------------------- migrating

-- The queue of an intent of version 1: that of the payment it was made for, as far as one payment alone can be meant.
local copy_intents = [[INSERT INTO purser_intents_new (id, account, operation, params, digest, sent_at, recv_window,
    queue, payment, charges, state, record_id, record, message, ended_at)
  SELECT id, account, operation, params, digest, sent_at, recv_window,
    CASE WHEN payment = '' THEN '' ELSE coalesce(
      (SELECT min(queue) FROM purser_payments WHERE intent = purser_intents.id),
      (SELECT CASE WHEN count(*) = 1 THEN min(queue) END FROM purser_payments
        WHERE account = purser_intents.account AND key = purser_intents.payment), '') END,
    payment, charges, state, record_id, record, message, ended_at FROM purser_intents]]

local copy_payments = [[INSERT INTO purser_payments_new (account, queue, key, operation, params, client_id, digest,
    state, due_at, worker, lease_until, attempts, intent, record_id, message, added_at)
  SELECT account, queue, key, operation, params, '', digest, state, due_at, worker, lease_until, attempts, intent,
    record_id, message, added_at FROM purser_payments]]

local PAGE = 1000

local function fill_ids_of(tx, operation, name)
  local account, queue, key = "", "", ""
  repeat
    local rows = tx:rows(([[SELECT account, queue, key, params FROM purser_payments WHERE operation = $1
      AND (account, queue, key) > ($2, $3, $4) ORDER BY account, queue, key LIMIT %d]]):format(PAGE),
      operation, account, queue, key)
    for _, row in ipairs(rows) do
      account, queue, key = row.account, row.queue, row.key
      local params = core.decode(row.params)
      if type(params) ~= "table" then tx:reject(('the parameters of its payment "%s" are damaged'):format(key)) end
      tx:rows("UPDATE purser_payments SET client_id = $1 WHERE account = $2 AND queue = $3 AND key = $4",
        params[name] or "", account, queue, key)
    end
  until #rows < PAGE
end

local function fill_ids(tx)
  for _, row in ipairs(tx:rows "SELECT DISTINCT operation FROM purser_payments") do
    local operation = operations.by_name[row.operation]
    local reconcile = operation and operation.reconcile
    if reconcile and reconcile.generated_id then fill_ids_of(tx, row.operation, reconcile.client_id) end
  end
end

-- Which calls are equal is counted in another way than version 1 did, and an open call has to be known as the equal of
-- those that come.
local function fill_digests(tx)
  local id = ""
  repeat
    local rows = tx:rows(("SELECT id, operation, params, digest FROM purser_intents WHERE id > $1 ORDER BY id LIMIT %d")
      :format(PAGE), id)
    for _, row in ipairs(rows) do
      id = row.id
      local operation, params = operations.by_name[row.operation], core.decode(row.params)
      if type(params) ~= "table" then tx:reject(('the parameters of its intent "%s" are damaged'):format(id)) end
      local digest = operation and calls.digest(operation, params) or row.digest
      if digest ~= row.digest then tx:rows("UPDATE purser_intents SET digest = $1 WHERE id = $2", digest, id) end
    end
  until #rows < PAGE
end

-- Tables are made again rather than changed: a process of version 1 that still runs can then record nothing, so it
-- sends nothing.
local function from_version_1(tx)
  run_all(tx, {
    "CREATE INDEX purser_migration_intent ON purser_payments (intent)",
    "CREATE INDEX purser_migration_key ON purser_payments (account, key)",
    intents:format "purser_intents_new", copy_intents,
    "DROP TABLE purser_intents", "ALTER TABLE purser_intents_new RENAME TO purser_intents",
    payments:format "purser_payments_new", copy_payments,
    "DROP TABLE purser_payments", "ALTER TABLE purser_payments_new RENAME TO purser_payments",
    generations,
  })
  fill_ids(tx)
  fill_digests(tx)
  run_all(tx, intent_indexes)
  run_all(tx, payment_indexes)
  set_id(tx)
  tx:rows "UPDATE purser_meta SET value = '2' WHERE name = 'version'"
end

local migrations = { from_version_1 }

local known_tables = {
  sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'purser_meta'",
  postgresql = "SELECT table_name::text AS name FROM information_schema.tables WHERE table_name = 'purser_meta' "
    .. "AND table_schema = current_schema()",
}

-- A witness (purser.write.payouts.witness) must not be kept with the journal that it speaks for.
local WITNESS = "SELECT name FROM sqlite_master WHERE name = 'purser_marks'"

local LOCK = 7078801

--- Makes the tables in an empty database, and brings those of an older version up to this one. Returns true; or nil
--- and a message, which is a text, or a table with `text` and `hint`.
function M.prepare(db)
  return db:transaction(function(tx)
    tx:lock(LOCK)
    if #tx:rows(known_tables[db.name]) == 0 then
      if db.name == "sqlite" and tx:rows(WITNESS)[1] then tx:reject "it is the witness file of a journal" end
      create(tx)
      return true
    end
    local row = tx:rows("SELECT value FROM purser_meta WHERE name = 'version'")[1]
    local version = row and row.value:find "^[1-9]%d*$" and tonumber(row.value)
    if not version then tx:reject "it holds no version, so it is not a journal of Purser's" end
    if version > M.version then
      tx:reject { text = ("it is of version %d, and this Purser knows %d"):format(version, M.version),
        hint = "use the newer one" }
    end
    for i = version, M.version - 1 do migrations[i](tx) end
    return true
  end)
end

return M

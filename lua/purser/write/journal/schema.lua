-- SPDX-License-Identifier: MIT
-- The journal's tables. Every column is text: LuaDBI reads 64-bit integers as 32-bit ones. Times are 13 digits of epoch
-- milliseconds, so that their order as text is their order; amounts are decimals as they travel.

local approval_rows = require "purser.write.guard.approval_rows"
local core = require "purser.core"

local M = { version = 1 }

--- A time as the tables keep it.
function M.time_text(ms)
  return ("%013d"):format(ms)
end

-- state: open (recorded, perhaps sent), unknown, done, rejected, not_sent, not_done, undecided
-- queue, payment: the payment of purser.payouts that the call belongs to
-- key: the caller's, by which the call is used once; content: a digest of what it stands for
-- digest: equal calls have the same
-- answered: 'yes' where the record's id came from the call's own answer, 'found' where from a record that shows the
-- call's id
-- attempt: how often it was sent
local intents = [[CREATE TABLE purser_intents (id TEXT PRIMARY KEY, account TEXT NOT NULL, operation TEXT NOT NULL,
  key TEXT NOT NULL DEFAULT '', content TEXT NOT NULL DEFAULT '', params TEXT NOT NULL, digest TEXT NOT NULL,
  attempt TEXT NOT NULL DEFAULT '1', sent_at TEXT NOT NULL, recv_window TEXT NOT NULL, queue TEXT NOT NULL,
  payment TEXT NOT NULL, charges TEXT NOT NULL, state TEXT NOT NULL, record_id TEXT NOT NULL, record TEXT NOT NULL,
  answered TEXT NOT NULL DEFAULT '', message TEXT NOT NULL, ended_at TEXT NOT NULL)]]

-- state: waiting, taken (by a worker, until its lease ends), sent (its intent is recorded), done, failed, undecided
-- client_id: the id by which the service distinguishes the payment; '' where the operation has none
-- due_at: when it may be sent; '' at once.  blocked: 'yes' until something changes.  rejected: 'yes' of one that was
-- sent, and is looked for by its id before it counts as failed.  approved_by: who said that it was not made; ''
local payments = [[CREATE TABLE purser_payments (account TEXT NOT NULL, queue TEXT NOT NULL, key TEXT NOT NULL,
  operation TEXT NOT NULL, params TEXT NOT NULL, client_id TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL,
  due_at TEXT NOT NULL, blocked TEXT NOT NULL DEFAULT '', rejected TEXT NOT NULL DEFAULT '',
  approved_by TEXT NOT NULL DEFAULT '', worker TEXT NOT NULL, lease_until TEXT NOT NULL, attempts TEXT NOT NULL,
  intent TEXT NOT NULL, record_id TEXT NOT NULL, message TEXT NOT NULL, added_at TEXT NOT NULL,
  PRIMARY KEY (account, queue, key))]]

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
  "CREATE INDEX purser_intents_record ON purser_intents (account, record_id) WHERE record_id <> ''",
  "CREATE INDEX purser_intents_answered ON purser_intents (account, operation, sent_at) WHERE answered <> ''",
  "CREATE UNIQUE INDEX purser_intents_key ON purser_intents (account, operation, key) WHERE key <> ''",
  "CREATE INDEX purser_intents_payment ON purser_intents (account, queue, payment) WHERE payment <> ''",
}

local payment_indexes = {
  "CREATE INDEX purser_payments_state ON purser_payments (account, queue, state, blocked, due_at)",
  "CREATE INDEX purser_payments_record ON purser_payments (account, record_id) WHERE record_id <> ''",
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
  tx:rows(intents)
  run_all(tx, intent_indexes)
  -- what a spending limit has been charged with in one period: `bucket` names account, asset and period
  tx:rows "CREATE TABLE purser_spending (bucket TEXT PRIMARY KEY, amount TEXT NOT NULL)"
  tx:rows(payments)
  run_all(tx, payment_indexes)
  tx:rows(generations)
  run_all(tx, approval_rows.TABLES)
  set(tx, "version", ("%d"):format(M.version))
  set_id(tx)
end

local known_tables = {
  sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'purser_meta'",
  postgresql = "SELECT table_name::text AS name FROM information_schema.tables WHERE table_name = 'purser_meta' "
    .. "AND table_schema = current_schema()",
}

-- A witness (purser.payouts.witness) must not be kept with the journal that it speaks for.
local WITNESS = "SELECT name FROM sqlite_master WHERE name = 'purser_marks'"

local LOCK = 7078801

--- Makes the tables in an empty database. Returns true; or nil
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
    return true
  end)
end

return M

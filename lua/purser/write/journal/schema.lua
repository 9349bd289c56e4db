-- SPDX-License-Identifier: MIT
-- The journal's tables. Every column is text: LuaDBI reads 64-bit integers as 32-bit ones. Times are 13 digits of epoch
-- milliseconds, so that their order as text is their order; amounts are decimals as they travel.

local approval_rows = require "purser.write.guard.approval_rows"
local core = require "purser.core"

local M = { version = 2 }

--- A time as the tables keep it.
function M.time_text(ms)
  return ("%013d"):format(ms)
end

-- A planned payment, a call under way and a finished call are one row of one table; a queue is the rows with its name.
-- `state` says what is known of the latest attempt, `stage` where a payment is in its queue.
local calls = [[CREATE TABLE purser_calls (id TEXT PRIMARY KEY,
  account TEXT NOT NULL, operation TEXT NOT NULL,
  history TEXT NOT NULL,                -- the list that shows the record it makes; '' where it makes none
  key TEXT NOT NULL,                    -- by which it is used once: the caller's, or its own id; '' where it has none
  content TEXT NOT NULL,                -- a digest of what the key stands for
  params TEXT NOT NULL, digest TEXT NOT NULL, -- equal calls have the same digest
  state TEXT NOT NULL,                  -- planned, open, unknown, done, rejected, not_sent, not_done, undecided
  attempt TEXT NOT NULL DEFAULT '0',    -- how often it was sent
  first_sent_at TEXT NOT NULL DEFAULT '', sent_at TEXT NOT NULL DEFAULT '', recv_window TEXT NOT NULL DEFAULT '0',
  charges TEXT NOT NULL DEFAULT '',     -- to spending limits
  plan TEXT NOT NULL DEFAULT '', approved_by TEXT NOT NULL DEFAULT '', -- of an approval: the digest, and persons
  policy TEXT NOT NULL DEFAULT '',      -- the version that let it through
  destination TEXT NOT NULL DEFAULT '', -- a digest of whom it pays, under a policy
  record_id TEXT NOT NULL DEFAULT '', record TEXT NOT NULL DEFAULT '',
  answered TEXT NOT NULL DEFAULT '',    -- 'yes': its answer named the record; 'found': the record shows its id
  message TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
  queue TEXT NOT NULL DEFAULT '', payment TEXT NOT NULL DEFAULT '', -- its name in the queue
  stage TEXT NOT NULL DEFAULT '',       -- waiting, taken (until the lease ends), sent, done, failed, undecided, dropped
  added_at TEXT NOT NULL DEFAULT '',
  due_at TEXT NOT NULL DEFAULT '',      -- when it may be sent; '' at once
  blocked TEXT NOT NULL DEFAULT '',     -- 'yes' until something changes
  rejected TEXT NOT NULL DEFAULT '',    -- 'yes': it is looked for by its id before it counts as failed
  disowned TEXT NOT NULL DEFAULT '',    -- 'yes': a person said that it was not made
  tries TEXT NOT NULL DEFAULT '0',      -- attempts since it was added, or put back
  worker TEXT NOT NULL DEFAULT '', lease_until TEXT NOT NULL DEFAULT '')]]

-- How many changes each process has committed, and each worker that asked for it: a journal that shows fewer than they
-- remember lacks commits. `name` is a process's token or a worker's name, after the word for its kind.
local generations = [[CREATE TABLE purser_generations (name TEXT PRIMARY KEY, generation TEXT NOT NULL,
  changed_at TEXT NOT NULL)]]

-- Calls without a known end are few, and are looked for all the time: their index holds nothing else, so that no
-- statistics of the rest make a database read them all. A query must have this condition word by word.
M.UNDECIDED = "state IN ('open', 'unknown', 'undecided')"

-- A key has one row, a payment has one row, and a record has one owner: whoever comes second finds the first, in
-- whatever process.
local indexes = {
  "CREATE UNIQUE INDEX purser_calls_key ON purser_calls (account, key, operation) WHERE key <> ''",
  "CREATE UNIQUE INDEX purser_calls_payment ON purser_calls (account, queue, payment) WHERE queue <> ''",
  "CREATE UNIQUE INDEX purser_calls_record ON purser_calls (account, record_id, history) WHERE record_id <> '' "
    .. "AND history <> ''",
  "CREATE INDEX purser_calls_undecided ON purser_calls (account, sent_at, id) WHERE " .. M.UNDECIDED,
  "CREATE INDEX purser_calls_time ON purser_calls (sent_at, id)",
  "CREATE INDEX purser_calls_state ON purser_calls (state, sent_at, id)",
  "CREATE INDEX purser_calls_digest ON purser_calls (digest, sent_at)",
  "CREATE INDEX purser_calls_answered ON purser_calls (account, operation, sent_at) WHERE answered <> ''",
  "CREATE INDEX purser_calls_destination ON purser_calls (account, destination, sent_at) WHERE destination <> ''",
  "CREATE INDEX purser_calls_stage ON purser_calls (account, queue, stage, blocked, due_at) WHERE queue <> ''",
}

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
  tx:rows(calls)
  for _, sql in ipairs(indexes) do tx:rows(sql) end
  -- what a spending limit has been charged with in one period: `bucket` names account, asset and period
  tx:rows "CREATE TABLE purser_spending (bucket TEXT PRIMARY KEY, amount TEXT NOT NULL)"
  tx:rows(generations)
  for _, sql in ipairs(approval_rows.TABLES) do tx:rows(sql) end
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
    if version ~= M.version then
      tx:reject { text = ("it is of version %d, and this Purser knows %d"):format(version, M.version),
        hint = version > M.version and "use the newer Purser"
          or "begin a new journal when nothing is open in this one" }
    end
    return true
  end)
end

return M

-- SPDX-License-Identifier: MIT
-- The tables of the books. Every column is text: times are 13 digits of epoch milliseconds and revisions 12 digits, so
-- that their order as text is their order; amounts are decimals without zeros at the end. PostgreSQL adds columns of
-- the type numeric for queries by hand; nothing here reads them.

local M = { version = "1" }

--- The columns of a record that a change of it keeps.
-- sid: the service's id; twin: which of several equal records, from 1; n: how often it changed, from 1
-- time: the record's own; booked: since when its state counts; seen: when it was seen so
-- rev, first_rev: the transaction of the last change, and of the first
-- class: pending, sent, early, done, void, lost_sight, unreadable
-- got, got_asset: what a conversion brought, after its fee
-- missing_since: since when a whole reading does not show it; '' while it does
M.columns = { "rid", "account", "owner", "entity", "sid", "twin", "n", "time", "booked", "seen", "rev", "first_rev",
  "state", "class", "asset", "amount", "fee", "fee_asset", "got", "got_asset", "from_owner", "from_place", "to_owner",
  "to_place", "network", "address", "memo", "tx", "client_id", "batch", "source", "missing_since", "raw" }

--- One table holds every kind of record, and each kind has a view of its own.
M.entities = { "deposit", "withdrawal", "transfer", "internal_transfer", "conversion", "rebate", "sub_account",
  "api_key" }

local columns = {}
for i, name in ipairs(M.columns) do columns[i] = name .. (name == "rid" and " TEXT PRIMARY KEY" or " TEXT NOT NULL") end

local numeric = ""
for _, name in ipairs { "amount", "fee", "got" } do
  numeric = numeric .. (", %s_numeric numeric GENERATED ALWAYS AS (NULLIF(%s, '')::numeric) STORED"):format(name, name)
end

-- change: what a record was before; body is its row as JSON
-- source: how far a list of an owner was read
-- owner: when it is due, and how often it is read while nothing happens
-- gap: what could not be read, from when to when ('' where it goes on); closed_rev '' while it is one
-- reading: a quiet balance, as JSON; nothing moved between `began` and `at`
-- word: what a person said: settle, match, outside
local tables = {
  "purser_books_change (rid TEXT NOT NULL, n TEXT NOT NULL, rev TEXT NOT NULL, body TEXT NOT NULL, "
    .. "PRIMARY KEY (rid, n))",
  "purser_books_source (account TEXT NOT NULL, owner TEXT NOT NULL, list TEXT NOT NULL, read_to TEXT NOT NULL, "
    .. "deep_at TEXT NOT NULL, error TEXT NOT NULL, PRIMARY KEY (account, owner, list))",
  "purser_books_owner (account TEXT NOT NULL, owner TEXT NOT NULL, due TEXT NOT NULL, every TEXT NOT NULL, "
    .. "hot_until TEXT NOT NULL, PRIMARY KEY (account, owner))",
  "purser_books_gap (account TEXT NOT NULL, owner TEXT NOT NULL, list TEXT NOT NULL, starts TEXT NOT NULL, "
    .. "ends TEXT NOT NULL, why TEXT NOT NULL, rev TEXT NOT NULL, closed_rev TEXT NOT NULL, "
    .. "PRIMARY KEY (account, owner, list, starts, rev))",
  "purser_books_reading (account TEXT NOT NULL, owner TEXT NOT NULL, began TEXT NOT NULL, at TEXT NOT NULL, "
    .. "rev TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (account, owner, at, rev))",
  "purser_books_word (account TEXT NOT NULL, rev TEXT NOT NULL, at TEXT NOT NULL, verb TEXT NOT NULL, "
    .. "rid TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (account, rev, verb, rid))",
  "purser_books_period (account TEXT NOT NULL, ends TEXT NOT NULL, rev TEXT NOT NULL, digest TEXT NOT NULL, "
    .. "PRIMARY KEY (account, ends))",
  "purser_books_sink (sink TEXT PRIMARY KEY, since_rev TEXT NOT NULL)",
  "purser_books_delivery (sink TEXT NOT NULL, rid TEXT NOT NULL, n TEXT NOT NULL, rev TEXT NOT NULL, "
    .. "created TEXT NOT NULL, due TEXT NOT NULL, attempts TEXT NOT NULL, lease TEXT NOT NULL, error TEXT NOT NULL, "
    .. "body TEXT NOT NULL, PRIMARY KEY (sink, rid, n))",
}

local indexes = {
  "purser_books_record_time ON purser_books_record (account, entity, time)",
  "purser_books_record_source ON purser_books_record (source, time)",
  "purser_books_record_open ON purser_books_record (source, time, rid) WHERE class IN ('pending', 'sent', 'early')",
  "purser_books_delivery_due ON purser_books_delivery (sink, due)",
}

local function create(tx, is_server)
  tx:rows "CREATE TABLE purser_books_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
  tx:rows("CREATE TABLE purser_books_record (" .. table.concat(columns, ", ") .. (is_server and numeric or "") .. ")")
  for _, sql in ipairs(tables) do tx:rows("CREATE TABLE " .. sql) end
  for _, sql in ipairs(indexes) do tx:rows("CREATE INDEX " .. sql) end
  for _, entity in ipairs(M.entities) do
    tx:rows(("CREATE VIEW purser_books_%s AS SELECT * FROM purser_books_record WHERE entity = '%s'"):format(entity,
      entity))
  end
  tx:rows "INSERT INTO purser_books_meta (name, value) VALUES ('rev', '000000000000')"
  tx:rows("INSERT INTO purser_books_meta (name, value) VALUES ('version', $1)", M.version)
end

local LOCK = 7254201 -- of PostgreSQL's advisory locks: one program at a time makes the tables

--- Makes the tables where they are missing. Returns true; or nil and a message.
function M.make(db)
  local is_server = db.name == "postgresql"
  local find = is_server and "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() "
    .. "AND tablename = 'purser_books_meta'"
    or "SELECT name FROM sqlite_master WHERE name = 'purser_books_meta'"
  local found = db:rows(find)
  if not found or not found[1] then
    local made, message = db:transaction(function(tx)
      tx:lock(LOCK)
      if not tx:rows(find)[1] then create(tx, is_server) end
      return true
    end)
    if not made then return nil, message end
  end
  local version, message = db:rows "SELECT value FROM purser_books_meta WHERE name = 'version'"
  if not version then return nil, message end
  if not version[1] or version[1].value ~= M.version then
    return nil, "the books are of another version of Purser"
  end
  return true
end

return M

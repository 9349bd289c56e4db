-- SPDX-License-Identifier: MIT
-- The tables of the books. Every column is text that sorts by value: times of 13 digits (epoch ms), revisions of 12.
-- Amounts are decimals without zeros at the end. PostgreSQL has numeric columns for queries by hand.

local outbox = require "purser.client.transport.outbox"
local tables = require "purser.client.util.database.tables"

local M = { HOME = "purser_books_meta" }

--- The columns of a record.
-- sid: the service's id; twin: the number among equal records, from 1; n: the number of the change, from 1
-- time: the record's own; booked: since when the state counts; seen: when the state was seen
-- rev, first_rev: the revision of the last change, and of the first
-- class: pending, sent, early, done, void, lost_sight, unreadable
-- got, got_asset: the yield of a conversion, after its fee
-- missing_since: since when whole readings lack the record, else ''
M.columns = { "rid", "account", "owner", "entity", "sid", "twin", "n", "time", "booked", "seen", "rev", "first_rev",
  "state", "class", "asset", "amount", "fee", "fee_asset", "got", "got_asset", "from_owner", "from_place", "to_owner",
  "to_place", "network", "address", "memo", "tx", "client_id", "batch", "source", "missing_since", "raw" }

--- Every kind of record stands in one table, and has a view.
M.entities = { "deposit", "withdrawal", "transfer", "internal_transfer", "conversion", "rebate", "sub_account",
  "api_key", "address", "status", "call" }

--- The list of a gap of all lists; reasons of gaps.
M.EVERY, M.UNREAD = "every list", "nobody read this span"
M.GONE = "the list of sub-accounts shows it no more"

--- The condition of a record that may change.
M.OPEN = "class IN ('pending', 'sent', 'early')"

-- Name, columns, and the number of columns of the key.
local list = {
  { "meta", "name value", 1 },
  { "record", table.concat(M.columns, " "), 1 },
  { "change", "rid n rev body raw", 2 }, -- what a record was before: body has the columns that were other, as JSON
  -- from when and how far a list of an owner was read; the revision of its first reading
  { "source", "account owner list read_to read_from rev", 3 },
  { "reach", "account rev owner list read_to", 2 }, -- the list that was read the least far, as it moved
  -- when it is due, and how often it is read; gone: since when the list of sub-accounts shows it no more, else ''
  { "owner", "account owner due every hot_until gone", 2 },
  -- what could not be read, from when to when ('' for now); closed_rev '' for an open gap
  { "gap", "account owner list starts rev ends why closed_rev", 5 },
  { "reading", "account owner at rev began body", 4 }, -- a quiet balance as JSON; nothing moved between began and at
  { "word", "account rev verb rid at value", 4 }, -- what a person said: settle, match, outside
  { "period", "account ends rev", 2 },
}
for _, one in ipairs(outbox.tables) do list[#list + 1] = one end

local indexes = {
  "record_time ON purser_books_record (account, time, rid)",
  "record_source ON purser_books_record (source, time)",
  "record_open ON purser_books_record (source, time, rid) WHERE " .. M.OPEN,
  "delivery_due ON purser_books_delivery (receiver, due)",
}

local numeric = {}
for i, name in ipairs { "amount", "fee", "got" } do
  numeric[i] = ("%s_numeric numeric GENERATED ALWAYS AS (NULLIF(%s, '')::numeric) STORED"):format(name, name)
end

local function create(tx, witness)
  tables.create(tx, "purser_books_", list, indexes, function(name)
    return name == "record" and tx.db.name == "postgresql" and numeric or {}
  end)
  for _, entity in ipairs(M.entities) do
    tx:rows(("CREATE VIEW purser_books_%s AS SELECT * FROM purser_books_record WHERE entity = '%s'"):format(entity,
      entity))
  end
  tx:set_meta("rev", "000000000000")
  witness:renew(tx)
  local ok, message = witness:note(0) -- before another process finds the tables
  if not ok then tx:reject(message) end
end

M.NONE = "there are none yet, and a sync makes them"

--- Makes missing tables, if allowed. Returns true; or nil and a message.
function M.make(db, may_make, witness)
  local ok, message = tables.prepare(db, { home = M.HOME, version = "4", subject = "the books", lock = 7254201,
    create = function(tx) create(tx, witness) end }, may_make or false)
  if ok == false then return nil, M.NONE end
  return ok, message
end

return M

-- The journal's tables. Every column is text: LuaDBI reads 64-bit integers as 32-bit ones. Times are 13 digits of epoch
-- milliseconds, so that their order as text is their order; amounts are decimals as they travel.

local M = { version = 1 }

local tables = {
  [[CREATE TABLE purser_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)]],

  -- state: open (recorded, perhaps sent), unknown, done, rejected, not_sent, not_done, undecided
  [[CREATE TABLE purser_intents (id TEXT PRIMARY KEY, account TEXT NOT NULL, operation TEXT NOT NULL,
    params TEXT NOT NULL, digest TEXT NOT NULL, sent_at TEXT NOT NULL, recv_window TEXT NOT NULL,
    payment TEXT NOT NULL, charges TEXT NOT NULL, state TEXT NOT NULL, record_id TEXT NOT NULL, record TEXT NOT NULL,
    message TEXT NOT NULL, ended_at TEXT NOT NULL)]],
  [[CREATE INDEX purser_intents_state ON purser_intents (account, state)]],
  [[CREATE INDEX purser_intents_digest ON purser_intents (digest, sent_at)]],

  -- what a budget has been charged with in one period: `bucket` names account, asset and period
  [[CREATE TABLE purser_spending (bucket TEXT PRIMARY KEY, amount TEXT NOT NULL)]],

  -- state: waiting, taken (by a worker, until its lease ends), sent (its intent is recorded), done, failed, undecided
  [[CREATE TABLE purser_payments (queue TEXT NOT NULL, key TEXT NOT NULL, account TEXT NOT NULL,
    operation TEXT NOT NULL, params TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, due_at TEXT NOT NULL,
    worker TEXT NOT NULL, lease_until TEXT NOT NULL, attempts TEXT NOT NULL, intent TEXT NOT NULL,
    record_id TEXT NOT NULL, message TEXT NOT NULL, added_at TEXT NOT NULL,
    PRIMARY KEY (queue, key))]],
  [[CREATE INDEX purser_payments_state ON purser_payments (queue, account, state, due_at)]],
}

local known_tables = {
  sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'purser_meta'",
  postgresql = "SELECT table_name::text AS name FROM information_schema.tables WHERE table_name = 'purser_meta' "
    .. "AND table_schema = current_schema()",
}

local LOCK = 7078801

--- Makes the tables in an empty database, and checks the version of what is there. Returns true; or nil and a message.
function M.prepare(db)
  return db:transaction(function(tx)
    tx:lock(LOCK)
    if #tx:rows(known_tables[db.name]) == 0 then
      for _, sql in ipairs(tables) do tx:rows(sql) end
      tx:rows("INSERT INTO purser_meta (name, value) VALUES ('version', $1)", ("%d"):format(M.version))
      return true
    end
    local row = tx:rows("SELECT value FROM purser_meta WHERE name = 'version'")[1]
    local version = row and row.value:find "^[1-9]%d*$" and tonumber(row.value)
    if not version then tx:refuse "it holds no version, so it is not a journal of Purser's" end
    if version > M.version then
      tx:refuse(("it is of version %d, and this Purser knows %d; use the newer one"):format(version, M.version))
    end
    return true
  end)
end

return M

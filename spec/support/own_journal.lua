-- SPDX-License-Identifier: MIT
-- A journal in a SQLite file, made for each test:
--
--     local own = require "own_journal"
--     before_each(function() journal = own.begin() end)
--     after_each(own.finish)
--     own.within(function(tx) own.write(tx, "intent-1", 1700000000000, { state = "open" }) end)

local files = require "files"
local purser = require "purser"

local M = {}

--- Returns the journal, and its path.
function M.begin()
  M.path = os.tmpname()
  os.remove(M.path)
  M.journal = assert(purser.journal.open { sqlite = M.path })
  return M.journal, M.path
end

function M.finish()
  M.journal:close()
  files.remove_database(M.path)
end

--- Runs fn(tx) in a transaction, at the time `now` where one is given, and returns what it returns (two values).
function M.within(fn, now)
  local value, problem = M.journal.db:transaction(function(tx)
    tx.time = now or tx.time
    return { fn(tx) }
  end)
  value = assert(value, problem)
  return value[1], value[2]
end

function M.time_text(ms) return ("%013d"):format(ms) end

--- Writes an intent as a call would.
function M.write(tx, id, sent_at, more)
  more = more or {}
  tx:rows([[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window, queue, payment,
    charges, state, record_id, record, message, ended_at)
    VALUES ($1, $2, 'wallet.transfer', '{}', $3, $4, '5000', $5, $6, '', $7, '', '', '', '')]], id,
    more.account or "treasury", more.digest or id, M.time_text(sent_at), more.queue or "", more.payment or "",
    more.state or "done")
end

--- The ids of entries of the journal.
function M.ids(entries)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = entry.intent.id end
  return list
end

return M

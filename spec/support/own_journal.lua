-- SPDX-License-Identifier: MIT
-- A journal in a SQLite file, made for each test:
--
--     local own = require "own_journal"
--     before_each(function() journal = own.begin() end)
--     after_each(own.finish)
--     own.within(function(tx) own.write(tx, "intent-1", 1700000000000, { state = "open" }) end)

local calls = require "purser.write.journal.calls"
local files = require "files"
local operations = require "purser.client.operations"
local purser = require "purser"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore

--- Returns the journal, and its path; `tables` are statements that make the tables of a gate.
function M.begin(tables)
  M.path = files.path_in_memory()
  M.journal = assert(purser.journal.open { sqlite = M.path })
  for _, sql in ipairs(tables or {}) do assert(M.journal.db:rows(sql)) end
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

--- Returns what the journal does, at the time that `now()` says.
function M.at(now)
  local db = M.journal.db
  local clocked = { unwritten = M.journal.unwritten, db = setmetatable({ transaction = function(_, fn)
    return db:transaction(function(tx)
      tx.time = now()
      return fn(tx)
    end)
  end }, { __index = db }) }
  return setmetatable(clocked, { __index = calls })
end

--- Begins an attempt of a payment that a worker has taken. Returns its intent; nil where the payment is not that one's.
function M.mark_sent(journal, payment, worker, sent_at)
  local intent = { operation = payment.operation, params = payment.params, sent_at = sent_at, recv_window = 5000,
    account = "a" }
  local held = {}
  for name, value in pairs(payment) do held[name] = value end
  held.worker = worker
  if not journal:begin(intent, operations.by_name[payment.operation], nil, nil, held) then return nil end
  for _, name in ipairs { "attempt", "attempts", "sent_at", "recv_window", "first_sent_at" } do
    payment[name] = held[name]
  end
  return intent
end

function M.time_text(ms) return ("%013d"):format(ms) end

--- Writes an intent as a call would.
function M.write(tx, id, sent_at, more)
  more = more or {}
  local row = { id = id, operation = "wallet.transfer", history = "wallet.transfer_history",
    key = "", content = "", params = "{}", digest = id, state = "done", attempt = "1", sent_at = M.time_text(sent_at),
    first_sent_at = M.time_text(sent_at), recv_window = "5000" }
  for name, value in pairs(more) do row[name] = value end
  row.account = nil
  assert(calls.insert(tx, row))
end

--- Writes an earlier attempt of a call.
function M.attempt(tx, call, sent_at, more)
  local row = { call = call, number = "1", host = "", signer = "", sent_at = M.time_text(sent_at), recv_window = "5000",
    plan = "", approved_by = "", state = "not_done", answered = "", record_id = "", message = "",
    ended_at = M.time_text(sent_at) }
  for name, value in pairs(more or {}) do row[name] = value end
  local names, marks, values = {}, {}, {}
  for name, value in pairs(row) do
    names[#names + 1], values[#values + 1] = name, value
    marks[#marks + 1] = "$" .. #values
  end
  tx:rows(("INSERT INTO purser_attempts (%s) VALUES (%s)"):format(table.concat(names, ", "),
    table.concat(marks, ", ")), unpack(values))
end

--- Writes what the record of a call showed later.
function M.arrived(tx, id, state)
  tx:rows("INSERT OR REPLACE INTO purser_arrivals (call, record_id, state, at, looked_at) "
    .. "SELECT id, record_id, $1, '1', '1' FROM purser_calls WHERE id = $2", state, id)
end

--- The ids of entries of the journal.
function M.ids(entries)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = entry.intent.id end
  return list
end

return M

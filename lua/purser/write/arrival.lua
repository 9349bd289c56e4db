-- SPDX-License-Identifier: MIT
-- Accepted is not arrived. A call is done once the service accepted the call; the record shows later that a withdrawal
-- was sent, failed, or was cancelled. Whoever sees such a record keeps what the record shows, beside the call.

local intents = require "purser.write.intent"
local operations = require "purser.client.operations"
local states = require "purser.client.operations.states"

local M = {}

local HOUR_MS, PAUSE_MS = 3600000, 60000
local WITHDRAWALS = "wallet.withdrawal_history"
local WORDS = { SUCCESS = "sent", FAILED = "failed", CANCEL = "cancelled" }

--- `record_id` is of the record that was read: a call whose record is another one by now has no row here.
M.TABLE = [[CREATE TABLE purser_arrivals (call TEXT PRIMARY KEY, record_id TEXT NOT NULL,
  state TEXT NOT NULL,                  -- accepted, sent, failed, cancelled
  at TEXT NOT NULL,                     -- when that state was seen first
  looked_at TEXT NOT NULL)]]

--- The kept state of a row of purser_calls, as a column of a query; NULL without a look.
M.COLUMN = "(SELECT arrival.state FROM purser_arrivals AS arrival WHERE arrival.call = purser_calls.id "
  .. "AND arrival.record_id = purser_calls.record_id)"
M.NAMED = M.COLUMN .. " AS arrival"

-- Returns whether an operation's record has a later end: an accepted transfer between accounts is made.
local function travels(row) return row.moves and row.moves.to == "address" end

local names = {}
for _, row in ipairs(operations.list) do
  if travels(row) then names[#names + 1] = "'" .. row.full_name .. "'" end
end
local TRAVELS = "operation IN (" .. table.concat(names, ", ") .. ")"

--- The condition of a row of purser_calls that is a withdrawal.
M.TRAVELS = TRAVELS

--- The condition of a row of purser_calls that was made: of a withdrawal, seen to be sent.
M.MADE = ("state = 'done' AND (NOT %s OR %s = 'sent')"):format(TRAVELS, M.COLUMN)

--- Returns whether an entry of journal:entries was made: of a withdrawal, seen to be sent.
---@param entry purser.JournalEntry
---@return boolean
function M.is_made(entry)
  local row = operations.by_name[entry.intent.operation]
  return entry.state == "done" and (not (row and travels(row)) or entry.arrival == "sent")
end

--- Returns the word of a record's state: accepted, sent, failed or cancelled.
---@param record table
---@return "accepted"|"sent"|"failed"|"cancelled"
function M.word(record) return WORDS[states.name("withdrawal", record.status) or record.status] or "accepted" end

-- Keeps a state of the calls of a condition. A state that is no end replaces none that is.
local KEEP = [[INSERT INTO purser_arrivals (call, record_id, state, at, looked_at)
  SELECT id, record_id, $1, $2, $3 FROM purser_calls WHERE state = 'done' AND %s
  ON CONFLICT (call) DO UPDATE SET record_id = excluded.record_id, state = excluded.state,
  looked_at = excluded.looked_at,
  at = CASE WHEN purser_arrivals.state = excluded.state THEN purser_arrivals.at ELSE excluded.at END
  WHERE excluded.state <> 'accepted' OR purser_arrivals.state = 'accepted'
  OR purser_arrivals.record_id <> excluded.record_id]]
local KEEP_CALL, KEEP_RECORD = KEEP:format "id = $4",
  KEEP:format("record_id = $4 AND record_id <> '' AND history = '" .. WITHDRAWALS .. "' AND history <> ''")

local function keep(db, sql, state, now, id)
  local at = intents.time_text(now)
  return db:transaction(function(tx)
    tx:rows(sql, state, at, at, id)
    return true
  end)
end

--- Keeps the state of a withdrawal's record that somebody saw, where the record has an end and the journal its call.
--- A journal that cannot be written loses nothing: the record can be read again.
---@param journal purser.Journal|nil
---@param record table  of the withdrawal history
---@param now integer   epoch ms
function M.note(journal, record, now)
  local word, id = M.word(record), intents.id_of(record)
  if journal and journal.db and id and word ~= "accepted" then
    keep(journal.db, KEEP_RECORD, word, now, tostring(id))
  end
end

local AWAITED = "SELECT record_id FROM purser_calls WHERE state = 'done' AND record_id <> '' AND " .. TRAVELS
  .. " AND COALESCE(" .. M.COLUMN .. ", 'accepted') = 'accepted' ORDER BY sent_at"

--- Returns the record ids of accepted withdrawals whose end was not seen; or nil and an error.
---@param journal purser.Journal
---@return string[]|nil ids, purser.Error|nil err
function M.awaited(journal)
  local rows, message = journal.db:rows(AWAITED)
  if not rows then return nil, intents.journal_error("not_sent", tostring(message)) end
  for i, row in ipairs(rows) do rows[i] = row.record_id end
  return rows
end

-- Returns the walk that shows an entry's record, and the member with the id; nil where no history shows the record.
local function walk_of(client, entry)
  local row = operations.by_name[entry.intent.operation]
  if not (row and row.moves and row.reconcile.lookup) then return nil end
  local lookup, member = operations.by_name[row.reconcile.lookup], row.result.required_member
  local params = entry.intent.params or {}
  if not (lookup.paging and member and entry.record and entry.record[member] ~= nil) then return nil end
  local asked = { from = entry.intent.sent_at - HOUR_MS, to = entry.intent.sent_at + HOUR_MS,
    coin = row.moves.to == "address" and params.coin or nil }
  for _, name in ipairs(row.reconcile.copy_params or {}) do asked[name] = params[name] end
  return client:each(lookup.full_name, asked), member
end

-- Returns the word of an entry's record as the history shows the record now; or nil and an error.
local function read(client, entry)
  local walk, member = walk_of(client, entry)
  while walk do
    local record, err = walk:next()
    if err then return nil, err end
    if not record then break end
    if tostring(record[member]) == tostring(entry.record[member]) then return M.word(record) end
  end
  return "accepted"
end

local KEPT = "SELECT state, looked_at FROM purser_arrivals WHERE call = $1 AND record_id = "
  .. "(SELECT record_id FROM purser_calls WHERE id = $1)"

-- Takes the one reading of a minute. Returns nil where this process has to read, else the kept state; false and a
-- message where the journal cannot be read.
local function take(db, id, now)
  local word
  local ok, message = db:transaction(function(tx)
    local kept = tx:rows(KEPT, id)[1]
    local is_due = not kept or kept.state == "accepted" and math.abs(now - tonumber(kept.looked_at)) >= PAUSE_MS
    if is_due then
      local at = intents.time_text(now)
      tx:rows(KEEP_CALL, "accepted", at, at, id)
    end
    word = not is_due and kept.state or nil
    return true
  end)
  if not ok then return false, message end
  return word
end

--- Returns the word of a done call: accepted, sent, failed or cancelled. The history is read for the word at most once
--- a minute by all programs of the journal, and no more after an end. Nil and an error where neither can be read.
---@param client purser.Client
---@param journal purser.Journal
---@param entry purser.JournalEntry  done
---@return "accepted"|"sent"|"failed"|"cancelled"|nil word, purser.Error|nil err
function M.look(client, journal, entry)
  local now = client:now()
  local word, message = take(journal.db, entry.intent.id, now)
  if word then return word end
  if word == false then return nil, intents.journal_error("unknown", tostring(message)) end
  local err
  word, err = read(client, entry)
  if not word then return nil, err end
  if word ~= "accepted" then keep(journal.db, KEEP_CALL, word, now, entry.intent.id) end
  return word
end

-- Never seen ones first, then those seen longest ago: a withdrawal that no history shows keeps nobody from the rest.
local MOST = 3
local OF_PLACE = [[SELECT purser_calls.id AS id FROM purser_calls LEFT JOIN purser_arrivals AS kept
    ON kept.call = purser_calls.id AND kept.record_id = purser_calls.record_id
  WHERE destination = $1 AND destination <> '' AND purser_calls.state = 'done' AND ]] .. TRAVELS .. [[
    AND COALESCE(kept.state, 'accepted') = 'accepted' AND NOT EXISTS (SELECT 1
    FROM purser_calls AS earlier JOIN purser_arrivals AS sent ON sent.call = earlier.id
      AND sent.record_id = earlier.record_id AND sent.state = 'sent'
    WHERE earlier.destination = $2 AND earlier.destination <> '' AND earlier.sent_at <= purser_calls.sent_at)
  ORDER BY COALESCE(kept.looked_at, ''), purser_calls.sent_at LIMIT ]] .. MOST

--- Looks at withdrawals to a destination whose end was not seen, where none before was sent: a few at a time.
---@param destination string  as in purser_calls
function M.look_at_destination(client, journal, destination)
  for _, row in ipairs(journal.db:rows(OF_PLACE, destination, destination) or {}) do
    local entry = (journal:entries { id = row.id } or {})[1]
    if entry then M.look(client, journal, entry) end
  end
end

return M

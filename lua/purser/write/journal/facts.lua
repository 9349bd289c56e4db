-- SPDX-License-Identifier: MIT
-- The rows of a journal in a database as calls. calls.lua writes the rows; memory.lua is the journal of a client
-- without a database.

local candidates = require "purser.write.candidates"
local core = require "purser.core"
local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"
local schema = require "purser.write.journal.schema"

local time_text = intents.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

---@class purser.Call  a write call as a journal knows it
---@field id string
---@field key string|nil        the caller's; nil where there is none
---@field content string        what that stands for
---@field operation string
---@field params table
---@field sent_at integer       of its latest attempt, like `recv_window` and `signer`
---@field state string
---@field record_id string|nil  of the record that it made
---@field record table|nil      what the service answered, or keeps
---@field answered boolean      the id came from its own answer, or from a record that shows the call's id
---@field found boolean|nil     from a record: perhaps of an attempt that this journal lacks
---@field digest string         equal calls have the same
---@field intent purser.Intent  of its latest attempt
---@field earlier { sent_at: integer, recv_window: integer, signer: string|nil }[]  the attempts before that

--- Returns the intent of a row's latest attempt.
---@return purser.Intent
function M.intent_of(row)
  return { id = row.id, account = rawget(row, "account"), operation = row.operation, params = core.decode(row.params),
    host = row.host ~= "" and row.host or nil, signer = row.signer ~= "" and row.signer or nil,
    sent_at = tonumber(row.sent_at) or 0, recv_window = tonumber(row.recv_window), attempt = tonumber(row.attempt) }
end

--- Returns the call that a row is.
function M.call_of(row)
  local intent = M.intent_of(row)
  return { id = row.id, key = row.key ~= "" and row.key or nil, content = row.content, operation = row.operation,
    intent = intent, params = intent.params, sent_at = intent.sent_at, recv_window = intent.recv_window,
    signer = intent.signer, state = row.state, record_id = row.record_id ~= "" and row.record_id or nil,
    record = candidates.record_of(row),
    answered = row.answered == "yes" or row.answered == "found",
    found = row.answered == "found",
    rejected = row.rejected == "yes" and row.queue == "" or nil, digest = row.digest }
end

local EARLIER = "SELECT DISTINCT sent_at, recv_window, signer FROM purser_attempts WHERE call = $1 AND number <> $2"

-- Returns the calls that a query finds, with the attempts of each; or nil and a message.
local function read(db, sql, ...)
  local calls, message = db:rows(sql, ...)
  if not calls then return nil, message end
  for i, row in ipairs(calls) do
    local earlier = {}
    if tonumber(row.attempt) > 1 then earlier, message = db:rows(EARLIER, row.id, row.attempt) end
    if not earlier then return nil, message end
    for _, attempt in ipairs(earlier) do
      attempt.sent_at, attempt.recv_window = tonumber(attempt.sent_at), tonumber(attempt.recv_window)
      attempt.signer = attempt.signer ~= "" and attempt.signer or nil
    end
    calls[i] = M.call_of(row)
    calls[i].earlier = earlier
  end
  return calls
end

--- The query for the call outside of queues that has a key.
M.WITH_KEY = "SELECT * FROM purser_calls WHERE form = $1 AND form <> '' AND queue = ''"

--- Returns the call outside of queues with a key; false for none; nil and a message where the journal cannot be read.
---@return purser.Call|false|nil call, string|nil message
function M.used(self, _, name)
  local found, message = read(self.db, M.WITH_KEY, digests.form(name))
  if not found then return nil, message end
  return found[1] or false
end

--- Returns whether a call whose end could not be written has the record.
function M.has_record(call, id) return call.record_id == id end

--- Returns the call of an intent; nil for none; or nil and a message. An intent written by hand has no id: its content,
--- time and key identify the call.
function M.call_of_intent(self, intent)
  if intent.id then
    local found, message = read(self.db, "SELECT * FROM purser_calls WHERE id = $1", intent.id)
    return found and found[1], message
  end
  local row = operations.by_name[intent.operation]
  local found, message = read(self.db, "SELECT * FROM purser_calls WHERE digest = $1 AND sent_at = $2 "
    .. "AND operation = $3", digests.likeness(row, intent.params), time_text(intent.sent_at), intent.operation)
  return found and intents.meant(row, intent, found), message
end

local IDS = 50 -- at once: two statements serve for all numbers of ids

-- Returns a query for the rows in which a column has one of the ids.
local function query_by(column, ids)
  local places = {}
  for i = 1, ids do places[i] = ("$%d"):format(i) end
  return ("SELECT * FROM purser_calls WHERE %s <> '' AND %s IN (%s)"):format(column, column,
    table.concat(places, ", "))
end

local function queries(ids)
  return { record_id = query_by("record_id", ids) .. " AND history <> ''", key = query_by("key", ids) }
end

local BY, BY_ONE = queries(IDS), queries(1)

--- Returns the latest calls of an account, sent or planned, that have these ids, by id; or nil and a message. Each
--- history counts its ids for itself: `names` are the operations.
---@param column "record_id"|"key"  the ids are those of the records that they made, or those that the calls carry
---@param ids string[]
---@param names table<string, boolean>|nil  of operations
---@return table<string, purser.Call>|nil owners, string|nil message
function M.owners(self, column, _, ids, names)
  local found, asked = {}, {}
  local function note(id, call)
    local is_meant = not names or names[call.operation]
    if is_meant and not (found[id] and found[id].sent_at > call.sent_at) then found[id] = call end
  end
  for _, id in ipairs(ids) do
    id = tostring(id)
    for _, call in pairs(column == "record_id" and self.unwritten or {}) do
      if M.has_record(call, id) then note(id, call) end
    end
    if not found[id] then asked[#asked + 1] = id end
  end
  for first = 1, #asked, IDS do
    local values, is_one = {}, first == #asked
    for i = 1, is_one and 1 or IDS do values[i] = asked[math.min(first + i - 1, #asked)] end
    local calls, message = read(self.db, (is_one and BY_ONE or BY)[column], unpack(values))
    if not calls then return nil, message end
    for _, call in ipairs(calls) do note(call[column], call) end
  end
  return found
end

local BETWEEN = " AND sent_at >= $1 AND sent_at <= $2 AND " .. intents.WAS_SENT
local OPEN = "SELECT * FROM purser_calls WHERE " .. schema.UNDECIDED .. BETWEEN .. " UNION ALL "
  .. "SELECT * FROM purser_calls WHERE " .. intents.IN_DOUBT .. BETWEEN .. " ORDER BY sent_at, id"

--- Returns the calls of an account without a known end that can have made a record between two times, those among it
--- that were rejected and not looked for; or nil and a message.
---@param names table<string, boolean>|nil  of operations; nil: of all
---@return purser.Call[]|nil calls, string|nil message
function M.open_calls(self, _, names, first, last)
  local calls, message = read(self.db, OPEN, time_text(first - intents.MAX_WINDOW_MS), time_text(last))
  if not calls then return nil, message end
  local found = {}
  for _, call in ipairs(calls) do
    local made = self.unwritten[call.id]
    local is_open = not (made and made.intent.attempt == call.intent.attempt)
    if is_open and (not names or names[call.operation]) then found[#found + 1] = call end
  end
  return found
end

--- Returns the calls outside of queues that were rejected since a time, and not looked for; or nil and a message.
---@return purser.Call[]|nil calls, string|nil message
function M.rejected_calls(self, since)
  return read(self.db, "SELECT * FROM purser_calls WHERE " .. intents.IN_DOUBT .. " AND queue = '' "
    .. "AND sent_at >= $1 ORDER BY sent_at, id", time_text(since))
end

local NEWEST = 1000 -- calls of a window, of each operation

--- Returns calls that were made, and sent between two times, of very many the newest; or nil and a message.
---@param names table<string, boolean>  of operations
---@return purser.Call[]|nil calls, string|nil message
function M.made_calls(self, _, names, first, last)
  local found = {}
  for name in pairs(names) do
    local calls, message = read(self.db, "SELECT * FROM purser_calls WHERE operation = $1 AND answered <> '' "
      .. "AND sent_at >= $2 AND sent_at <= $3 AND " .. intents.WAS_SENT .. " ORDER BY sent_at DESC LIMIT " .. NEWEST,
      name, time_text(first), time_text(last))
    if not calls then return nil, message end
    for _, call in ipairs(calls) do found[#found + 1] = call end
  end
  return found
end

return M

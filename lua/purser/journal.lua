--- The journal: what an operation is about to do is written down before the first byte leaves, and how it ended after.
--
--     local journal = assert(purser.journal.open { sqlite = "purser.journal" })
--     local client = assert(purser.new { ..., journal = journal })
--     assert(journal:recover(client)) -- settles what a crash left open
--
-- SQLite (with a write-ahead log and a flush at every commit) for one host, PostgreSQL where several hosts share it.
-- What cannot be recorded is not sent. Passwords and secret keys are never written.

local allowed = require "purser.allowed"
local core = require "purser.core"
local database = require "purser.journal.database"
local errors = require "purser.errors"
local intents = require "purser.intent"
local json = require "purser.json"
local operations = require "purser.operations"
local schema = require "purser.journal.schema"

---@class purser.Journal
local Journal = { __name = "purser.journal" }
Journal.__index = Journal

local M = {}

local function time_text(ms)
  return ("%013d"):format(ms)
end

M.time_text = time_text

-- A record as JSON, without what must not be kept.
local function keep(record)
  if type(record) ~= "table" then return "" end
  local kept = {}
  for name, value in pairs(record) do
    if name ~= "secretKey" and (type(value) ~= "table" or next(value) ~= nil) then kept[name] = value end
  end
  if next(kept) == nil then return "" end
  -- what cannot be written as JSON is left out; the id has a column of its own
  local ok, text = pcall(json.encode, kept)
  return ok and text or ""
end

local function id_of(record)
  return type(record) == "table" and intents.id_of(record) or ""
end

-------------------------------------------------------------------------------------------------- what clients call

local function insert_intent(tx, intent, digest, payment, charges, state)
  tx:rows([[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window, payment, charges,
    state, record_id, record, message, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', '', '', '')]],
    intent.id, intent.account or "", intent.operation,
    json.encode(next(intent.params) and intent.params or json.object {}), digest, time_text(intent.sent_at),
    ("%d"):format(intent.recv_window), payment and payment.key or "", charges or "", state)
end

--- Records an intent, durably, and gives it its id. `guard` may refuse it, and `payment` takes part in the
--- transaction. Returns true; or nil and an error or a message, and then it must not be sent.
function Journal:begin(intent, row, guard, payment)
  local id, wrong = core.random_token(24)
  if not id then return nil, "no random id could be made: " .. tostring(wrong) end
  intent.id = id
  if payment then self.payments[intent.id] = payment end
  if self.options.unsafe_without_write_ahead then return true end
  local digest = intents.digest(row, intent.params)
  local ok, problem = self.db:transaction(function(tx)
    if payment then payment:begin(tx, intent) end
    local charges = guard and guard:admit(tx, intent, row, digest)
    insert_intent(tx, intent, digest, payment, charges, "open")
    return true
  end)
  if ok then
    if payment then payment:begun(intent) end
    return true
  end
  self.payments[intent.id], intent.id = nil, nil
  return nil, problem
end

-- Gives back what an intent was charged with, since it spent nothing.
local function give_back(tx, id)
  local row = tx:rows("SELECT charges FROM purser_intents WHERE id = $1", id)[1]
  if row and row.charges ~= "" then
    require("purser.guard").give_back(tx, row.charges)
    tx:rows("UPDATE purser_intents SET charges = '' WHERE id = $1", id)
  end
end

-- What another worker found out is not forgotten for what tells less, nor an answer that it was done for a look that
-- did not find it.
local only_over = {
  unknown = " AND state IN ('open', 'unknown')", undecided = " AND state IN ('open', 'unknown', 'undecided')",
  rejected = " AND state <> 'done'", not_sent = " AND state <> 'done'", not_done = " AND state <> 'done'",
}

local spent_nothing = { rejected = true, not_sent = true, not_done = true }

-- What is written of a call that was done: its record, and the record's id.
local function done_before(tx, id)
  local row = tx:rows("SELECT record, record_id FROM purser_intents WHERE id = $1 AND state = 'done'", id)[1]
  if row then return { id = row.record_id, record = row.record ~= "" and core.decode(row.record) or {} } end
end

local function end_intent(self, intent, state, record, message, err)
  local payment = self.payments[intent.id]
  local ok, problem = self.db:transaction(function(tx)
    if self.options.unsafe_without_write_ahead then
      local row = operations.by_name[intent.operation]
      tx:rows("DELETE FROM purser_intents WHERE id = $1", intent.id)
      insert_intent(tx, intent, intents.digest(row, intent.params), payment, "", "open")
      if payment then
        payment:begin(tx, intent)
        payment:begun(intent)
      end
    end
    local _, changed = tx:rows([[UPDATE purser_intents SET state = $1, record_id = $2, record = $3, message = $4,
      ended_at = $5 WHERE id = $6]] .. (only_over[state] or ""), state, id_of(record), keep(record), message or "",
      time_text(core.now_ms()), intent.id)
    local known = changed == 0 and spent_nothing[state] and done_before(tx, intent.id)
    if known then
      if payment then payment:finish(tx, "done", known.id, "") end
      return true, known.record
    end
    if spent_nothing[state] then give_back(tx, intent.id) end
    if payment then payment:finish(tx, state, id_of(record), message or "", err) end
    return true
  end)
  return ok, problem
end

--- Makes a payment take part in what is kept of an intent from now on; nil ends that. For purser.payouts.
function Journal:attach(id, payment)
  self.payments[id] = payment
end

--- Keeps how a call ended. Returns true; or nil and a message.
function Journal:finish(intent, value, err)
  local state = not err and "done" or err.outcome
  return end_intent(self, intent, state, value, err and err.message, err)
end

--- Keeps what a settlement found. Returns true, and the record where the call was known to be done although the
--- settlement says that it was not; or nil and a message.
function Journal:settled(intent, answer)
  return end_intent(self, intent, answer.outcome, answer.record, answer.reason)
end

--- The records that belong to equal calls, with when those were sent, and how many equal calls since `first` have no
--- known end; or nil and a message. For purser.settle.
function Journal:rivals(intent, first)
  local ids, open = {}, 0
  local row = operations.by_name[intent.operation]
  local rows, message = self.db:rows([[SELECT state, record_id, sent_at FROM purser_intents
    WHERE digest = $1 AND account = $2 AND id <> $3]], intents.digest(row, intent.params), intent.account or "",
    intent.id)
  if not rows then return nil, message end
  for _, other in ipairs(rows) do
    if other.record_id ~= "" then
      ids[other.record_id] = tonumber(other.sent_at)
    elseif not spent_nothing[other.state] and other.sent_at >= time_text(first) then
      open = open + 1
    end
  end
  return ids, open
end

----------------------------------------------------------------------------------------------------- what users call

local function intent_of(row)
  return {
    id = row.id, account = row.account, operation = row.operation, params = core.decode(row.params),
    sent_at = tonumber(row.sent_at), recv_window = tonumber(row.recv_window),
  }
end

local function problem(message)
  return nil, errors.new { kind = "config", outcome = "not_sent", phase = "journal", message = "journal: " .. message }
end

--- Whether an intent is what is written under its id: what became of another call, or of less than its time, must not
--- end it. (One that begins earlier covers earlier attempts as well.) Returns nil, or an error; a call that is not
--- written is none of the journal's.
---@param intent purser.Intent
---@return purser.Error|nil
function Journal:mismatch(intent)
  local rows, message = self.db:rows("SELECT operation, digest, sent_at, recv_window FROM purser_intents WHERE id = $1",
    intent.id)
  if not rows then
    return errors.new { kind = "config", outcome = "unknown", phase = "journal", message = "journal: " .. message }
  end
  local known, row = rows[1], operations.by_name[intent.operation]
  if not known then return nil end
  local ok, digest = pcall(intents.digest, row, intent.params)
  local first, ends = tonumber(known.sent_at), tonumber(known.sent_at) + tonumber(known.recv_window)
  local sent_at, window = tonumber(intent.sent_at) or 0, tonumber(intent.recv_window) or 0
  if ok and known.operation == intent.operation and known.digest == digest and sent_at <= first
    and sent_at + window == ends then
    return nil
  end
  return errors.argument(nil,
    "settle: the intent is not the call that the journal has under its id; give the one of journal:entries()")
end

local columns = [[id, account, operation, params, sent_at, recv_window, state, record_id, record, message, ended_at]]

---@class purser.JournalEntry
---@field intent purser.Intent
---@field state "open"|"unknown"|"done"|"rejected"|"not_sent"|"not_done"|"undecided"
---@field record table|nil   what the service answered, or what it keeps
---@field message string|nil

--- What is written, oldest first: all of it, or what is in one state.
---@param filter { state: string|nil, account: string|nil, id: string|nil }|nil
---@return purser.JournalEntry[]|nil, purser.Error|nil
function Journal:entries(filter)
  filter = filter or {}
  local rows, message = self.db:rows("SELECT " .. columns .. [[ FROM purser_intents
    WHERE ($1 = '' OR state = $1) AND ($2 = '' OR account = $2) AND ($3 = '' OR id = $3) ORDER BY sent_at, id]],
    filter.state or "", filter.account or "", filter.id or "")
  if not rows then return problem(message) end
  local entries = {}
  for i, row in ipairs(rows) do
    entries[i] = {
      intent = intent_of(row), state = row.state, record = row.record ~= "" and core.decode(row.record) or nil,
      message = row.message ~= "" and row.message or nil,
    }
  end
  return entries
end

--- Settles what was left open under this client's key: after a crash, or after an unknown outcome nobody settled.
--- Payments of purser.payouts are left to their queue. Returns a list of { intent, answer | err }; or nil and an
--- error.
---@param client purser.Client
---@param options purser.SettleOptions|nil
function Journal:recover(client, options)
  local rows, message = self.db:rows("SELECT " .. columns .. [[ FROM purser_intents
    WHERE account = $1 AND payment = '' AND state IN ('open', 'unknown') ORDER BY sent_at, id]], client:account())
  if not rows then return problem(message) end
  local settled = {}
  for i, row in ipairs(rows) do
    local intent = intent_of(row)
    local answer, err = client:settle(intent, options)
    settled[i] = { intent = intent, answer = answer, err = err }
  end
  return settled
end

--- Closes the connection. May be called again.
function Journal:close()
  self.db:close()
end

function Journal:__tostring()
  return ("purser.journal (%s%s)"):format(self.db.name, self.db.closed and ", closed" or "")
end
Journal.__gc = Journal.close
Journal.__close = Journal.close

local rules = {
  sqlite = "string", postgresql = "table", lock_timeout_ms = { 0, 2 ^ 31 - 1 }, unsafe_without_write_ahead = "boolean",
}
local postgresql_rules = {
  database = "string", user = "string", password = "string", host = "string", port = { 1, 65535 },
}

--- Opens a journal, and makes its tables when the database is new: { sqlite = path } or { postgresql = { database =,
--- user =, password =, host =, port = } }, and lock_timeout_ms (5000). Returns it; or nil and an error of kind
--- "config".
---@return purser.Journal|nil, purser.Error|nil
function M.open(options)
  local complaint = allowed.check(options, rules, "journal option")
    or options.postgresql and allowed.check(options.postgresql, postgresql_rules, "postgresql option")
  if not complaint and (options.sqlite == nil) == (options.postgresql == nil) then
    complaint = "journal.open takes sqlite = path or postgresql = {...}"
  end
  if complaint then return nil, errors.config(complaint) end
  local db, message = database.open(options)
  if not db then return nil, errors.config("the journal cannot be opened: " .. message) end
  local ok
  ok, message = schema.prepare(db)
  if not ok then
    db:close()
    return nil, errors.config("the journal cannot be used: " .. message)
  end
  return setmetatable({ db = db, options = options, payments = {} }, Journal)
end

return M

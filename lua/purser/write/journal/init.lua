-- SPDX-License-Identifier: MIT
--- The journal: what an operation is about to do is written down before the first byte leaves, and how it ended after.
--
--     local journal = assert(purser.journal.open { sqlite = "journal.db" })
--     local client = assert(purser.new { ..., journal = journal })
--     assert(journal:recover(client)) -- reconciles what a crash left open
--
-- SQLite (with a write-ahead log and a flush at every commit) for one host, PostgreSQL where several hosts share it.
-- What cannot be recorded is not sent. Passwords and secret keys are never written.

local approval_rows = require "purser.write.guard.approval_rows"
local approved = require "purser.write.guard.approved"
local calls = require "purser.write.journal.calls"
local colon = require "purser.util.colon"
local core = require "purser.core"
local database = require "purser.util.database"
local errors = require "purser.call.errors"
local failure = require "purser.write.journal.failure"
local intents = require "purser.write.intent"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local operations = require "purser.api.operations"
local option_schema = require "purser.util.option_schema"
local postgresql = require "purser.util.database.postgresql"
local private = require "purser.util.private"
local prune = require "purser.write.journal.prune"
local schema = require "purser.write.journal.schema"
local spending = lazy "purser.write.guard.spending"

local time_text = schema.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

---@class purser.Journal
---@field private owners function
---@field private planned function
---@field private open_calls function
---@field private answered_calls function
---@field private delay function
---@field private note_delay function
local Journal = { __name = "purser.journal" }
Journal.__index = Journal

---@class purser.modules.journal
local M = {}

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

local NEW = [[INSERT INTO purser_intents (id, account, operation, key, content, params, digest, attempt, sent_at,
  recv_window, queue, payment, charges, state, record_id, record, message, ended_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, '1', $8, $9, $10, $11, '', 'open', '', '', '', '')
  ON CONFLICT DO NOTHING]]

local AGAIN = [[UPDATE purser_intents SET params = $1, attempt = $2, sent_at = $3, recv_window = $4, state = 'open',
  record_id = '', record = '', answered = '', message = '', ended_at = '' WHERE id = $5]]

local for_update = { postgresql = " FOR UPDATE", sqlite = "" }

-- The error of a call whose own id a payment of a queue carries; nil where none does.
local function payment_error(tx, intent, row, key)
  local other = tx:rows([[SELECT queue, key, operation FROM purser_payments WHERE account = $1 AND client_id = $2
    AND client_id <> '']], intent.account or "", key.name)[1]
  if not other or other.operation ~= intent.operation then return nil end
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
    code = "journal.other_content", details = { key = key.name },
    message = ('the id "%s" is that of payment "%s" in the queue "%s"; nothing was sent'):format(key.name, other.key,
      other.queue), hint = "let the queue make that payment, or give this call an id of its own" }
end

-- Takes the row of a call: one statement owns it, or finds that another call has the key. Returns that call where it
-- was executed, or may have been. One that was not is sent again in its row.
local function take(tx, intent, row, payment, key, digest)
  local params = json.encode(next(intent.params) and intent.params or json.object {})
  local account, window = intent.account or "", ("%d"):format(intent.recv_window)
  local _, inserted = tx:rows(NEW, intent.id, account, intent.operation, key and key.name or "",
    key and key.content or "", params, digest, time_text(intent.sent_at), window, payment and payment.queue or "",
    payment and payment.key or "")
  intent.attempt = 1
  local problem = key and payment_error(tx, intent, row, key)
  if problem then tx:reject(problem) end
  if inserted == 1 then return nil end
  local known = key and tx:rows("SELECT content, " .. calls.COLUMNS .. [[ FROM purser_intents
    WHERE account = $1 AND operation = $2 AND key = $3]] .. for_update[tx.db.name], account, intent.operation,
    key.name)[1]
  if not known then tx:reject "the call has the id of another one" end
  local other = intents.other_content(known, key, row)
  if other then tx:reject(other) end
  if not intents.SPENT_NOTHING[known.state] then return calls.call_of(known) end
  intent.id, intent.attempt = known.id, tonumber(known.attempt) + 1
  tx:rows(AGAIN, params, ("%d"):format(intent.attempt), time_text(intent.sent_at), window, intent.id)
end

--- Records an intent, durably, and gives it its id. `guard` may reject it, and `payment` takes part in the
--- transaction. Returns true; or nil and an error or a message, and then it must not be sent; or nil, nil and the call
--- that has its key already, and was executed or may have been.
---@private
---@param key { name: string, content: string }|nil  what the caller's key is, and what it stands for
---@return boolean|nil ok, any problem, purser.Call|nil known
function Journal:begin(intent, row, guard, payment, key)
  local id, wrong = core.random_token(24)
  if not id then return nil, "no random id could be made: " .. tostring(wrong) end
  intent.id = id
  local digest = intents.digest(row, intent.params)
  local result, problem = self.db:transaction(function(tx)
    if payment then payment:begin(tx, intent) end
    local known = take(tx, intent, row, payment, key, digest)
    if known then return { known = known } end
    approved.admit(tx, intent, row, guard and guard.approved, payment, key)
    local charges = guard and guard:admit(tx, intent, row, digest) or ""
    if charges ~= "" then tx:rows("UPDATE purser_intents SET charges = $1 WHERE id = $2", charges, intent.id) end
    return {}
  end)
  if result and not result.known then
    if payment then
      self.payments[intent.id] = payment
      payment:begun(intent)
    end
    return true
  end
  intent.id, intent.attempt = nil, nil
  return nil, problem, result and result.known
end

-- Gives back what an intent was charged with, since it spent nothing.
local function give_back(tx, id)
  approval_rows.give_back(tx, id)
  local row = tx:rows("SELECT charges FROM purser_intents WHERE id = $1", id)[1]
  if row and row.charges ~= "" then
    spending.give_back(tx, row.charges)
    tx:rows("UPDATE purser_intents SET charges = '' WHERE id = $1", id)
  end
end

-- What another worker found out is not forgotten for what says less, nor an answer that it was done for a look that
-- did not find it.
local only_over = {
  unknown = " AND state IN ('open', 'unknown')", undecided = " AND state IN ('open', 'unknown', 'undecided')",
  rejected = " AND state <> 'done'", not_sent = " AND state <> 'done'", not_done = " AND state <> 'done'",
}

-- That a call was not executed is a promise: whoever heard it may have sent the same again. While such a call is open
-- a record that merely agrees is that one's.
local BY_CONTENT = " AND (state <> 'not_done' OR NOT EXISTS (SELECT 1 FROM purser_intents AS other "
  .. "WHERE other.account = purser_intents.account AND other.operation = purser_intents.operation "
  .. "AND other.digest = purser_intents.digest AND other.id <> purser_intents.id "
  .. "AND other.state IN ('open', 'unknown', 'undecided')))"

-- What is written of a call that was done: its record, and the record's id.
local function done_before(tx, id)
  local row = tx:rows("SELECT record, record_id FROM purser_intents WHERE id = $1 AND state = 'done'", id)[1]
  if row then return { id = row.record_id, record = row.record ~= "" and core.decode(row.record) or {} } end
end

-- Returns whether a call was found not to have been executed, or was sent again under its own key since.
local function is_over_before(tx, id, attempt)
  local row = tx:rows("SELECT state, attempt FROM purser_intents WHERE id = $1", id)[1]
  return row ~= nil and (row.state == "not_done" or attempt ~= nil and tonumber(row.attempt) > tonumber(attempt))
end

-- A text without zero bytes, which the database could not keep.
local function text_of(value)
  return (tostring(value or ""):gsub("%z", "\\0"))
end

local function end_intent(self, intent, state, record, answered, message, err)
  local payment = self.payments[intent.id]
  local record_id = text_of(id_of(record))
  message = text_of(message)
  local attempt = intent.attempt and ("%d"):format(intent.attempt)
  local by_content, is_over = state == "done" and not answered, false
  local ok, problem = self.db:transaction(function(tx)
    local _, changed = tx:rows([[UPDATE purser_intents SET state = $1, record_id = $2, record = $3, message = $4,
      answered = $5, ended_at = $6 WHERE id = $7]] .. (only_over[state] or by_content and BY_CONTENT or "")
      .. (attempt and " AND attempt = $8" or ""), state, record_id, keep(record), message,
      record_id ~= "" and answered or "", time_text(core.now_ms()), intent.id, attempt)
    local known = changed == 0 and intents.SPENT_NOTHING[state] and done_before(tx, intent.id)
    if known then
      if payment then payment:finish(tx, "done", known.id, "") end
      return true, known.record
    end
    is_over = by_content and changed == 0 and is_over_before(tx, intent.id, attempt)
    if is_over then
      if payment then payment:finish(tx, "not_done", "", intents.OVER, err) end
      return true
    end
    if intents.SPENT_NOTHING[state] then give_back(tx, intent.id) end
    if payment then payment:finish(tx, state, record_id, message, err) end
    return true
  end)
  return ok, problem, is_over
end

--- Makes a payment take part in what is kept of an intent from now on; nil ends that. For purser.payouts.
---@private
function Journal:attach(id, payment)
  self.payments[id] = payment
end

--- Keeps how a call ended. Returns true; or nil and a message.
---@private
function Journal:finish(intent, value, err)
  local state = not err and "done" or err.outcome
  return end_intent(self, intent, state, value, not err and "yes", err and err.message, err)
end

--- Keeps what a reconciliation found. Returns true, and the record where the call was known to be done although the
--- reconciliation says that it was not; true, nil and true where it was known not to have been executed although a
--- record agrees with it; or nil and a message.
---@private
function Journal:reconciled(intent, answer)
  return end_intent(self, intent, answer.outcome, answer.record,
    intents.shows_id(intent, answer.record) and "found", answer.reason)
end

-- What evidence asks for of other calls.
for _, name in ipairs { "owners", "planned", "open_calls", "answered_calls", "delay", "note_delay" } do
  Journal[name] = calls[name]
end

--- Returns the call that an intent is of; nil where it is not written; or nil and a message.
---@private
function Journal:call_of(intent)
  if not intent.id then return nil end
  local rows, message = self.db:rows("SELECT " .. calls.COLUMNS .. " FROM purser_intents WHERE id = $1", intent.id)
  if not rows then return nil, message end
  return rows[1] and calls.call_of(rows[1])
end

--- Returns 0: a journal forgets no call whose record is still shown.
---@private
function Journal.forgotten_until() return 0 end

----------------------------------------------------------------------------------------------------- what users call

local function problem(message)
  return nil, failure.error("not_sent", message)
end

--- The journal's own id: a copy has that of its original. Returns it; or nil and an error.
---@return string|nil id, purser.Error|nil err
function Journal:id()
  local rows, message = self.db:rows "SELECT value FROM purser_meta WHERE name = 'journal_id'"
  if not rows then return problem(message) end
  if not rows[1] then return problem "it has no id; it was changed by another program" end
  return rows[1].value
end

--- How often `tx:bump(worker)` was committed, 0 for a worker that never did. A worker that remembers more than that has
--- a journal before it that lacks commits. Nil and an error when it cannot be read.
---@param worker string
---@return integer|nil generation, purser.Error|nil err
function Journal:generation_of(worker)
  local generation, message = self.db:generation_of(worker)
  if not generation then return problem(message) end
  return generation
end

local function entry_of(row)
  return {
    intent = calls.intent_of(row), state = row.state, record = row.record ~= "" and core.decode(row.record) or nil,
    message = row.message ~= "" and row.message or nil, key = row.key ~= "" and row.key or nil,
  }
end

--- Whether an intent is what is written under its id: what became of another call, or of less than its time, must not
--- end it. (One that begins earlier, or ends later, covers other attempts as well.) Returns nil, or an error. A call
--- that is not written is none of the journal's.
---@private
---@param intent purser.Intent
---@return purser.Error|nil
function Journal:mismatch(intent)
  local rows, message = self.db:rows("SELECT operation, digest, sent_at, recv_window FROM purser_intents WHERE id = $1",
    intent.id)
  if not rows then return failure.error("unknown", message) end
  local known, row = rows[1], operations.by_name[intent.operation]
  if not known then return nil end
  local ok, digest = pcall(intents.digest, row, intent.params)
  local first, ends = tonumber(known.sent_at), tonumber(known.sent_at) + tonumber(known.recv_window)
  local sent_at, window = tonumber(intent.sent_at) or 0, tonumber(intent.recv_window) or 0
  if ok and known.operation == intent.operation and known.digest == digest and sent_at <= first
    and sent_at + window >= ends then
    return nil
  end
  return errors.argument(nil, "reconcile: the intent is not the call that the journal has under its id",
    "give the one of journal:entries()")
end

local columns = [[id, account, operation, key, params, attempt, sent_at, recv_window, state, record_id, record, message,
  ended_at]]

---@class purser.JournalEntry
---@field intent purser.Intent
---@field key string|nil     the caller's: it is used once
---@field state "open"|"unknown"|"done"|"rejected"|"not_sent"|"not_done"|"undecided"
---@field record table|nil   what the service answered, or what it keeps
---@field message string|nil

local filter_rules = {
  state = { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" }, account = "string",
  id = "string", limit = { 1, 2 ^ 31 - 1 }, after = "table",
}

local is_undecided = { open = true, unknown = true, undecided = true }

-- The query for a filter, and its values.
local function query_of(filter)
  local conditions, values = {}, {}
  for _, name in ipairs { "id", "account", "state" } do
    if filter[name] then
      values[#values + 1] = filter[name]
      conditions[#values] = ("%s = $%d"):format(name, #values)
    end
  end
  if is_undecided[filter.state] then conditions[#conditions + 1] = schema.UNDECIDED end
  local after = filter.after and filter.after.intent
  if after then
    conditions[#conditions + 1] = ("(sent_at, id) > ($%d, $%d)"):format(#values + 1, #values + 2)
    values[#values + 1], values[#values + 2] = time_text(after.sent_at), after.id
  end
  local where = conditions[1] and " WHERE " .. table.concat(conditions, " AND ") or ""
  local limit = filter.limit and (" LIMIT %d"):format(filter.limit) or ""
  return "SELECT " .. columns .. " FROM purser_intents" .. where .. " ORDER BY sent_at, id" .. limit, values
end

---@class purser.Recovered
---@field intent purser.Intent
---@field answer purser.Reconciliation|nil
---@field err purser.Error|nil

---@class purser.JournalFilter
---@field state "open"|"unknown"|"done"|"rejected"|"not_sent"|"not_done"|"undecided"|nil
---@field account string|nil
---@field id string|nil
---@field limit integer|nil             at most so many; without it all of them, in memory
---@field after purser.JournalEntry|nil only what comes after this one

--- What is written, oldest first: all of it, or what the filter lets through.
---@param filter purser.JournalFilter|nil
---@return purser.JournalEntry[]|nil entries, purser.Error|nil err
function Journal:entries(filter)
  filter = filter or {}
  local wrong, name, hint = option_schema.check(filter, filter_rules, "filter of journal:entries")
  if not wrong and filter.after and not (filter.after.intent and filter.after.intent.id) then
    wrong, name, hint = "filter of journal:entries: after is no entry", "after", "give one of journal:entries()"
  end
  if wrong then return nil, errors.option(wrong, name, hint) end
  local sql, values = query_of(filter)
  local rows, message = self.db:rows(sql, unpack(values))
  if not rows then return problem(message) end
  for i, row in ipairs(rows) do rows[i] = entry_of(row) end
  return rows
end

local PAGE = 500

--- What is written, oldest first, one after the other, with no more than a page of them in memory:
---
---     for entry in journal:each_entry { account = "treasury" } do ... end
---
--- What cannot be read is raised as an error of kind "config".
---@param filter purser.JournalFilter|nil
---@return fun(): purser.JournalEntry|nil next
function Journal:each_entry(filter)
  local requested = { limit = PAGE }
  for name, value in pairs(filter or {}) do requested[name] = value end
  local page, at = nil, 0
  return function()
    if page and at == #page then
      if #page < requested.limit then return nil end
      page = nil
    end
    if not page then
      local err
      page, err = self:entries(requested)
      if not page then error(err, 0) end
      at, requested.after = 0, page[#page] or requested.after
    end
    at = at + 1
    return page[at]
  end
end

--- Deletes what was sent before a time and is decided, and what payments that were made then carried; keys of payments
--- stay, so that none is made a second time. `before` is at least 184 days back. Returns { intents =, payments =,
--- periods = }, how many were deleted or made smaller; or nil and an error, and then it may be called again.
---@param options { before: integer }  epoch ms
---@return { intents: integer, payments: integer, periods: integer }|nil counts, purser.Error|nil err
function Journal:prune(options)
  local wrong, name, hint = prune.message(options)
  if wrong then return nil, errors.option("journal:prune: " .. wrong, name, hint) end
  local counts, message = prune.run(self.db, options.before)
  if not counts then return problem(message) end
  return counts
end

---@class purser.OpenCount
---@field calls integer     outside of queues: recover finds out about them
---@field payments integer  of queues: the next run of their queue does
---@field queues table<string, integer>  of which queue how many

--- Returns how many calls of an account have no known end.
---@param account string|nil  as of client:account(); nil: of all accounts
---@return purser.OpenCount|nil count, purser.Error|nil err
function Journal:open_count(account)
  local rows, message = self.db:rows("SELECT queue, payment FROM purser_intents WHERE " .. schema.UNDECIDED
    .. (account and " AND account = $1" or ""), unpack { account })
  if not rows then return problem(message) end
  local count = { calls = 0, payments = 0, queues = {} }
  for _, row in ipairs(rows) do
    if row.payment == "" then
      count.calls = count.calls + 1
    else
      count.payments = count.payments + 1
      count.queues[row.queue] = (count.queues[row.queue] or 0) + 1
    end
  end
  return count
end

--- Reconciles what was left open under this client's key: after a crash, or after an unknown outcome that was not
--- reconciled. Payments of purser.payouts are left to their queue. Returns a list of { intent, answer | err }; or nil
--- and an error.
---@param client purser.Client
---@param options purser.ReconcileOptions|nil
---@return purser.Recovered[]|nil recovered, purser.Error|nil err
function Journal:recover(client, options)
  if not private.state_of(client) then
    return nil, errors.argument(nil, "journal:recover has no client", "give the one whose calls are to be reconciled")
  end
  local rows, message = self.db:rows("SELECT " .. columns .. " FROM purser_intents WHERE " .. schema.UNDECIDED
    .. " AND state <> 'undecided' AND account = $1 AND payment = '' ORDER BY sent_at, id", client:account())
  if not rows then return problem(message) end
  local reconciled = {}
  for i, row in ipairs(rows) do
    local intent = calls.intent_of(row)
    local answer, err = client:reconcile(intent, options)
    reconciled[i] = { intent = intent, answer = answer, err = err }
  end
  return reconciled
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

---@class purser.JournalOptions  one of the first two is required
---@field sqlite string|nil           a path
---@field postgresql purser.PostgresqlOptions|nil
---@field lock_timeout_ms integer|nil how long SQLite's lock is waited for. Default: 5000
---@field sleep fun(ms: integer)|nil  by which coroutines of this host wait: without it a wait for SQLite's lock stops
--- the thread

local rules = {
  sqlite = "string", postgresql = "table", lock_timeout_ms = { 0, 2 ^ 31 - 1 }, sleep = "function",
}

local function error_of(options)
  local message, name, hint = option_schema.check(options, rules, "journal option")
  if not message and options.postgresql then
    message, name, hint = option_schema.check(options.postgresql, postgresql.rules, "postgresql option")
  end
  if message then return message, hint, name end
  if (options.sqlite == nil) == (options.postgresql == nil) then
    return "journal.open has no database, or two", "give sqlite = path or postgresql = {...}"
  end
  return options.postgresql and postgresql.message(options.postgresql)
end

local NO_JOURNAL = "give the database of a journal, or one that does not exist yet"

-- A file whose middle or end is missing is a journal all the same: SQLite's word for it is the only sign.
local function hint_of(message)
  if message:find("LuaDBI", 1, true) then return nil end -- the message says what to install
  if message:find("connection", 1, true) then return nil end -- the database was not even seen
  if message:find("second name", 1, true) or message:find("mounted by itself", 1, true) then return nil end
  if message:find("malformed", 1, true) then
    return "restore it from a copy (docs/backups.md); what was open is in the service's histories"
  end
  return failure.lock_hint(message) or NO_JOURNAL
end

local function name_of(options)
  return options.sqlite and ('the journal "%s"'):format(options.sqlite) or "the journal"
end

--- Opens a journal, and makes its tables when the database is new. A server that is not this machine must show a
--- certificate with its name (sslmode "verify-full"), unless allow_insecure = true. Returns it; or nil and an error of
--- kind "config".
---@param options purser.JournalOptions
---@return purser.Journal|nil journal, purser.Error|nil err
function M.open(options)
  local wrong, hint, option = error_of(options)
  if wrong then return nil, errors.config(wrong, hint, option) end
  local db, message
  db, message, hint = database.open(options)
  if not db then
    return nil, errors.config(name_of(options) .. " cannot be opened: " .. message, hint or hint_of(message))
  end
  local ok
  ok, message = schema.prepare(db)
  if not ok then
    db:close()
    return nil, errors.config(name_of(options) .. " cannot be used: " .. (message.text or message),
      message.hint or hint_of(message.text or message))
  end
  db:count_commits()
  return setmetatable({ db = db, payments = {} }, Journal)
end

colon.check(Journal, "journal")

return M

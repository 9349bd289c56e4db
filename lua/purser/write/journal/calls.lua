-- SPDX-License-Identifier: MIT
-- The rows of a journal in a database: how a row is taken, how it ends, and what the rows say of other calls.
-- memory.lua has the same of a client that has no journal.

local accounts = require "purser.write.journal.accounts"
local core = require "purser.core"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local gates = require "purser.write.gates"
local intents = require "purser.write.intent"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local names_of = require "purser.client.util.names_of"
local operations = require "purser.client.operations"
local schema = require "purser.write.journal.schema"
local spending = lazy "purser.write.guard.spending"

local time_text = intents.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

---@class purser.Call  a write call as a journal knows it
---@field id string
---@field key string|nil        the caller's; nil where there is none
---@field content string        what that stands for
---@field operation string
---@field params table
---@field sent_at integer       of its latest attempt
---@field recv_window integer
---@field state string
---@field record_id string|nil  of the record that it made
---@field record table|nil      what the service answered, or keeps
---@field answered boolean      the id came from its own answer, or from a record that shows the call's id
---@field found boolean|nil     from a record: perhaps of an attempt that this journal lacks
---@field digest string         equal calls have the same
---@field intent purser.Intent  of its latest attempt

--- Returns the intent of a row's latest attempt.
---@return purser.Intent
function M.intent_of(row)
  return { id = row.id, account = row.account, operation = row.operation, params = core.decode(row.params),
    host = row.host ~= "" and row.host or nil, signer = row.signer ~= "" and row.signer or nil,
    sent_at = tonumber(row.sent_at) or 0, recv_window = tonumber(row.recv_window), attempt = tonumber(row.attempt) }
end

--- Returns the call that a row is.
function M.call_of(row)
  local intent = M.intent_of(row)
  return { id = row.id, key = row.key ~= "" and row.key or nil, content = row.content, operation = row.operation,
    intent = intent, params = intent.params, sent_at = intent.sent_at, recv_window = intent.recv_window,
    state = row.state, record_id = row.record_id ~= "" and row.record_id or nil,
    record = row.record ~= "" and core.decode(row.record) or nil,
    answered = row.answered == "yes" or row.answered == "found",
    found = row.answered == "found", digest = row.digest }
end

----------------------------------------------------------------------------------------------------- how a row is taken

--- Adds a row, unless another has its id, its key, or its place in a queue. Returns whether it was added.
---@param tx table
---@param row table<string, string>  its columns; the others have their defaults
---@return boolean
function M.insert(tx, row)
  local names, places, values = names_of(row), {}, {}
  for i, name in ipairs(names) do places[i], values[i] = "$" .. i, row[name] end
  local _, inserted = tx:rows(("INSERT INTO purser_calls (%s) VALUES (%s) ON CONFLICT DO NOTHING"):format(
    table.concat(names, ", "), table.concat(places, ", ")), unpack(values, 1, #names))
  return inserted == 1
end

--- Changes rows. Returns how many.
---@param set table<string, string>  columns and what they are to hold
---@param where string               a condition, with `?` for each of the further values
---@return integer changed
function M.update(tx, set, where, ...)
  local names, values = names_of(set), {}
  for i, name in ipairs(names) do names[i], values[i] = ("%s = $%d"):format(name, i), set[name] end
  local count = #names
  for i = 1, select("#", ...) do values[count + i] = (select(i, ...)) end
  local at = count
  where = where:gsub("%?", function()
    at = at + 1
    return "$" .. at
  end)
  return select(2, tx:rows("UPDATE purser_calls SET " .. table.concat(names, ", ") .. " WHERE " .. where,
    unpack(values, 1, at)))
end

--- Locks the rows that a query finds until the transaction ends. (SQLite's transactions lock everything.)
M.for_update = { postgresql = " FOR UPDATE", sqlite = "" }

--- Returns calls of an account without a known end that do the same as another, as their rows: one of them, or all,
--- locked.
---@param same string  the digest of both
---@param id string  of that other
---@param lock string|nil  of M.for_update
---@return table<string, string>[] rows
function M.equal_calls(tx, account, same, id, lock)
  return tx:rows("SELECT * FROM purser_calls WHERE digest = $1 AND account = $2 AND id <> $3 AND " .. schema.UNDECIDED
    .. (lock or " LIMIT 1"), same, account, id)
end

-- Begins another attempt of a row, whose earlier ones were certainly not executed. Returns whether that was so.
local function begin_again(tx, intent, known, fields, where, ...)
  local set = { params = intents.encode(intent), attempt = ("%d"):format(known.attempt + 1), state = "open",
    sent_at = time_text(intent.sent_at), recv_window = ("%d"):format(intent.recv_window), host = intent.host or "",
    signer = intent.signer or "", record_id = "", record = "", answered = "", message = "", ended_at = "" }
  for name, value in pairs(fields) do set[name] = value end
  if M.update(tx, set, "id = ? AND attempt = ? AND NOT (" .. schema.UNDECIDED .. ")" .. where, known.id,
    ("%d"):format(known.attempt), ...) == 0 then
    return false
  end
  intent.id, intent.attempt = known.id, known.attempt + 1
  return true
end

-- Begins an attempt of a payment, which a worker has taken.
local function begin_payment(tx, intent, payment, columns)
  columns.stage, columns.due_at, columns.rejected = "sent", "", ""
  columns.tries = ("%d"):format(payment.attempts + 1)
  columns.first_sent_at = time_text(payment.first_sent_at or intent.sent_at)
  local ok = begin_again(tx, intent, payment, columns, " AND worker = ? AND stage = 'taken' AND lease_until > ?",
    payment.worker, time_text(tx:now()))
  if ok then return end
  local err = errors.argument(nil, "the payment is no longer this worker's; another one has it")
  err.code = "payouts.lease"
  tx:reject(err)
end

-- The error of a call whose id a payment carries.
local function payment_error(row, known)
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
    code = "journal.other_content", details = { key = known.key },
    message = ('the id "%s" is that of payment "%s" in the queue "%s"; nothing was sent'):format(known.key,
      known.payment, known.queue), hint = "let the queue make that payment, or give this call an id of its own" }
end

-- Makes calls with this key come one after the other, of any operation and under whatever names of their accounts.
local function lock_key(tx, key) tx:lock(tonumber(digest.id("key", key.name):sub(1, 7), 16)) end

-- Ends the transaction where the key was used otherwise: for another operation whose records are in the same list, for
-- a payment of a queue, or by what may be this account under another name, whatever the key stands for there.
local function check_others(tx, new, row, key)
  local function is_shown_alike(other)
    return other.operation == new.operation or other.history ~= "" and other.history == new.history
  end
  for _, other in ipairs(tx:rows([[SELECT * FROM purser_calls WHERE key = $1 AND key <> '' AND id <> $2]], key.name,
    new.id)) do
    if other.account == new.account then
      if is_shown_alike(other) then
        tx:reject(other.queue ~= "" and payment_error(row, other) or intents.other_content(other, key, row))
      end
    elseif is_shown_alike(other) and (accounts.is_unnamed(tx, new.account, key)
      or accounts.is_unnamed(tx, other.account, key)) then
      tx:reject(intents.other_account(other.account, new.account, key.unnamed,
        ('nothing was sent: the key "%s" is that of a call'):format(key.name)))
    end
  end
  for _, other in ipairs(tx:rows([[SELECT * FROM purser_calls WHERE account = $1 AND payment = $2 AND queue <> '']],
    new.account, key.name)) do
    if is_shown_alike(other) then tx:reject(payment_error(row, other)) end
  end
end

--- Ends the transaction where a single call has the name of a payment as its key, and does the same: one of the two
--- would be made in place of the other.
---@param columns table<string, string>  of the payment
---@return table<string, string>|nil row  of that call
function M.call_with_key(tx, columns)
  lock_key(tx, { name = columns.payment })
  return tx:rows([[SELECT * FROM purser_calls WHERE account = $1 AND key = $2 AND key <> '' AND operation = $3
    AND queue = '']], columns.account, columns.payment, columns.operation)[1]
end

local WITH_KEY = "SELECT * FROM purser_calls WHERE account = $1 AND key = $2 AND key <> '' AND operation = $3"

--- Returns the call outside of queues that has a key, as it is now; false where none has; nil and a message where the
--- journal cannot be read.
---@param name string
---@return purser.Call|false|nil call, string|nil message
---@param self purser.Journal
function M.used(self, account, row, name)
  local rows, message = self.db:rows(WITH_KEY .. " AND queue = ''", account, name, row.full_name)
  if not rows then return nil, message end
  return rows[1] ~= nil and M.call_of(rows[1])
end

-- Returns the row of the call outside of queues that has this key, locked; nil where none has.
local function find_known(tx, intent, row, key)
  lock_key(tx, key)
  local known = tx:rows(WITH_KEY .. M.for_update[tx.db.name], intent.account or "", key.name, intent.operation)[1]
  if not known then return nil end
  if known.queue ~= "" then tx:reject(payment_error(row, known)) end
  local other = intents.other_content(known, key, row)
  if other then tx:reject(other) end
  return known
end

-- Takes the row of a call: one of its own, or that of the call with its key, which was certainly not executed.
local function take(tx, intent, row, key, known, columns)
  if known then return begin_again(tx, intent, { id = known.id, attempt = tonumber(known.attempt) }, columns, "") end
  local account, sent_at = intent.account or "", time_text(intent.sent_at)
  intent.attempt = 1
  local new = { id = intent.id, account = account, operation = intent.operation, history = intents.makes_in(row),
    key = key and key.name or "", content = key and key.content or "", params = intents.encode(intent), attempt = "1",
    digest = intents.digest(row, intent.params), state = "open", first_sent_at = sent_at, sent_at = sent_at,
    recv_window = ("%d"):format(intent.recv_window), host = intent.host or "", signer = intent.signer or "" }
  for name, value in pairs(columns) do new[name] = value end
  if key then check_others(tx, new, row, key) end
  if M.insert(tx, new) then return end
  if key then find_known(tx, intent, row, key) end -- a list took the key in the meantime: the error says so
  tx:reject "the call has the id of another one"
end

--- Records what is about to be sent, durably, in a row of its own or in that of its key or payment. `guard` may reject
--- it. Returns true; or nil and an error or a message, and then it must not be sent; or nil, nil and the call that has
--- its key already, and was executed or may have been.
---@param intent purser.Intent  gets the id of the row that it is sent in, and its attempt
---@param key { name: string, content: string, unnamed: string }|nil  what the caller's key is, and what it stands for;
--- and the account of a client with this API key and no name
---@param payment { id: string, attempt: integer, attempts: integer, first_sent_at: integer|nil, worker: string }|nil
--- one that a worker has taken; it is told of its attempt
---@return boolean|nil ok, any problem, purser.Call|nil known
---@param self purser.Journal
function M.begin(self, intent, row, guard, key, payment)
  local id = intent.id
  local result, problem = self.db:transaction(function(tx)
    local known = key and not payment and find_known(tx, intent, row, key) or nil
    if known and not intents.SPENT_NOTHING[known.state] then return { known = M.call_of(known) } end
    -- a repeat takes over what its own content was counted for
    local earlier = known or payment and payment.disowned
      and tx:rows("SELECT * FROM purser_calls WHERE id = $1", payment.id)[1] or nil
    if earlier and earlier.disowned == "yes" then
      if M.counts(earlier) then gates.count(tx, earlier, -1) end
      if earlier.charges ~= "" then spending.give_back(tx, earlier.charges) end
    end
    local columns = gates.admit(tx, guard and guard.gates or {}, intent, row, { queue = payment and payment.queue or "",
      key = payment and payment.key or key and key.name or "",
      call = payment and payment.id or known and known.id or "" })
    columns.charges = guard and guard:admit(tx, intent, row, function()
      return M.equal_calls(tx, intent.account or "", intents.digest(row, intent.params), payment and payment.id
        or known and known.id or intent.id)[1]
    end) or ""
    if payment then begin_payment(tx, intent, payment, columns) else take(tx, intent, row, key, known, columns) end
    return {}
  end)
  if result and not result.known then
    if payment then
      payment.attempt, payment.attempts = intent.attempt, payment.attempts + 1
      payment.sent_at, payment.recv_window = intent.sent_at, intent.recv_window
      payment.first_sent_at = payment.first_sent_at or intent.sent_at
    end
    return true
  end
  intent.id, intent.attempt = id, nil
  return nil, problem, result and result.known
end

------------------------------------------------------------------------------------------------------------ how it ends

-- A record as JSON, without what must not be kept, and without members that JSON cannot hold.
local function keep(record)
  if type(record) ~= "table" then return "" end
  local kept = {}
  for name, value in pairs(record) do
    if name ~= "secretKey" and pcall(json.encode, value) then kept[name] = value end
  end
  if next(kept) == nil then return "" end
  local ok, text = pcall(json.encode, kept)
  return ok and text or ""
end

-- A text without zero bytes, which the database could not keep.
local function text_of(value)
  return (tostring(value or ""):gsub("%z", "\\0"))
end

local MAX_DELAY_MS = 3 * 86400000 -- no payment is put off for longer

---@class purser.Stage  what becomes of a payment
---@field stage string
---@field due_in number|nil     ms until it may be sent
---@field blocked boolean|nil   until something changes
---@field rejected boolean|nil  it is looked for before it counts as failed
---@field message string|nil

--- Returns the columns of what becomes of a payment.
---@param change purser.Stage
---@return table<string, string> columns
function M.staged(tx, change)
  local set = { stage = change.stage, blocked = change.blocked and "yes" or "",
    rejected = change.rejected and "yes" or "", message = text_of(change.message),
    due_at = change.due_in and time_text(tx:now() + math.min(change.due_in, MAX_DELAY_MS)) or "" }
  if change.stage ~= "sent" and change.stage ~= "taken" then set.worker = "" end
  return set
end

-- The stage of a payment about which another than its worker finds out. Its worker sends again what was not made.
local STAGES = { done = "done", undecided = "undecided" }

--- Returns whether a row counts in sums: its call may have been executed, as far as anything is proved.
---@param row table<string, string>
---@return boolean
function M.counts(row)
  return row.state ~= "planned" and (not intents.SPENT_NOTHING[row.state] or row.disowned == "yes")
end

-- Returns the row of a call as sums count it. One that this journal never sent, and that a history shows, counts at the
-- time of its record.
local function counted_row(tx, row, ending)
  if row.sent_at ~= "" then return row end
  local lookup = operations.by_name[row.operation].reconcile
  local at = type(ending.record) == "table" and lookup and tonumber(ending.record[lookup.time_member])
  return setmetatable({ sent_at = time_text(at or tx:now()) }, { __index = row })
end

-- Writes an end in the row of a call, where it says more than what is written. Returns a verdict.
local function write_end(tx, intent, ending)
  if not intent.id then return {} end
  local known = tx:rows("SELECT * FROM purser_calls WHERE id = $1" .. M.for_update[tx.db.name], intent.id)[1]
  if not known then return {} end
  local later = intent.attempt and tonumber(known.attempt) - intent.attempt or 0
  local verdict = intents.judge_end(M.call_of(known), later, ending, function()
    return M.equal_calls(tx, known.account, known.digest, known.id)[1] ~= nil
  end)
  if not verdict.counts then return verdict end
  local set = { state = ending.state, record_id = ending.record_id or "", record = keep(ending.record),
    message = text_of(ending.message), ended_at = time_text(core.now_ms()),
    answered = ending.record_id and ending.answered or ending.state == "done" and "no" or "" }
  local change = known.queue ~= "" and (ending.change or STAGES[ending.state] and { stage = STAGES[ending.state],
    message = ending.message })
  for name, value in pairs(change and M.staged(tx, change) or {}) do set[name] = value end
  -- what a person's word ended stays counted, whatever the next attempt ends with
  local spent, spends = M.counts(known), not intents.SPENT_NOTHING[ending.state] or known.disowned == "yes"
  local counted = counted_row(tx, known, ending)
  if spent ~= spends then gates.count(tx, counted, spends and 1 or -1) end
  if spends and not spent and known.sent_at == "" then
    set.charges = spending.charge_found(tx, M.call_of(known), counted.sent_at)
  end
  if not spends then
    if known.charges ~= "" then spending.give_back(tx, known.charges) end
    set.charges = ""
  end
  M.update(tx, set, "id = ?", known.id)
  return verdict
end

-- Returns whether a call whose end could not be written has the record.
local function has_record(call, account, id)
  return call.record_id == id and (call.intent.account or "") == (account or "")
end

--- Writes how a call ended. The unique index of records refuses one that another call has, in whatever process.
---@return purser.Verdict|nil verdict, string|nil message
---@param self purser.Journal
function M.end_call(self, intent, ending)
  local id = type(ending.record) == "table" and intents.id_of(ending.record)
  ending.record_id = id and text_of(id)
  local verdict, problem = self.db:transaction(function(tx) return write_end(tx, intent, ending) end)
  local message = not verdict and tostring(problem) or ""
  if message:find("purser_calls_record", 1, true) or message:find("purser_calls.record_id", 1, true) then
    return { is_taken = true }
  end
  if intent.id and ending.record_id then
    local is_owner = not verdict and intents.makes_in(operations.by_name[intent.operation]) ~= "" -- all the same
    self.unwritten[intent.id] = is_owner and { id = intent.id, operation = intent.operation, intent = intent,
      params = intent.params, sent_at = intent.sent_at, recv_window = intent.recv_window, ended_at = core.now_ms(),
      record_id = ending.record_id, answered = ending.answered and true or false, state = ending.state } or nil
  end
  return verdict, problem
end

M.finish, M.reconciled = intents.finish, intents.reconciled

local CONTESTED = "another call's answer names the same record, so one of the two answers was not its own"

--- Takes back that another call was answered with a record, since this call's answer names it as well. What ended
--- before this call was sent had its record by then.
---@param id string  of the record
---@param since integer  epoch ms, the machine's clock: before this call was sent
---@param self purser.Journal
function M.contest(self, intent, id, since)
  for other, call in pairs(self.unwritten) do
    local is_contested = other ~= intent.id and has_record(call, intent.account, id) and call.ended_at > since
    if is_contested then self.unwritten[other] = nil end
  end
  self.db:transaction(function(tx)
    for _, row in ipairs(tx:rows([[SELECT id, queue FROM purser_calls WHERE account = $1 AND record_id = $2
      AND record_id <> '' AND history <> '' AND id <> $3 AND answered = 'yes' AND state = 'done' AND ended_at > $4]]
      .. M.for_update[tx.db.name], intent.account or "", id, intent.id, time_text(since))) do
      local set = { state = "unknown", record_id = "", record = "", answered = "", message = CONTESTED }
      for name, value in pairs(row.queue ~= "" and M.staged(tx, { stage = "sent", message = CONTESTED }) or {}) do
        set[name] = value
      end
      M.update(tx, set, "id = ?", row.id)
    end
    return true
  end)
end

---------------------------------------------------------------------------------------------- what is known of others

--- Returns the call that an intent is of; nil where it is not written; or nil and a message. One that was written by
--- hand has no id, and is that of its content and time.
---@param self purser.Journal
function M.call_of_intent(self, intent)
  local rows, message
  if intent.id then
    rows, message = self.db:rows("SELECT * FROM purser_calls WHERE id = $1", intent.id)
  else
    rows, message = self.db:rows("SELECT * FROM purser_calls WHERE digest = $1 AND sent_at = $2 AND account = $3",
      intents.digest(operations.by_name[intent.operation], intent.params), time_text(intent.sent_at),
      intent.account or "")
  end
  if not rows then return nil, message end
  return rows[1] and M.call_of(rows[1])
end

local IDS = 50 -- at once: one statement serves for all

-- Returns a query for the rows in which a column has one of the ids.
local function query_by(column)
  local places = {}
  for i = 1, IDS do places[i] = ("$%d"):format(i + 1) end
  return ("SELECT * FROM purser_calls WHERE account = $1 AND %s <> '' AND %s IN (%s)"):format(column, column,
    table.concat(places, ", "))
end

local BY = { record_id = query_by "record_id" .. " AND history <> ''", key = query_by "key" }

--- Returns the calls of an account, sent or planned, that have one of these ids, by id, of several the latest; or nil
--- and a message. Each history counts its ids for itself: `names` restricts the calls to those of some operations.
---@param column "record_id"|"key"  the ids are those of the records that they made, or those that the calls carry
---@param ids string[]
---@param names table<string, boolean>|nil  of operations
---@return table<string, purser.Call>|nil owners, string|nil message
---@param self purser.Journal
function M.owners(self, column, account, ids, names)
  local found, asked = {}, {}
  local function note(id, call)
    local is_meant = not names or names[call.operation]
    if is_meant and not (found[id] and found[id].sent_at > call.sent_at) then found[id] = call end
  end
  for _, id in ipairs(ids) do
    id = tostring(id)
    for _, call in pairs(column == "record_id" and self.unwritten or {}) do
      if has_record(call, account, id) then note(id, call) end
    end
    if not found[id] then asked[#asked + 1] = id end
  end
  for first = 1, #asked, IDS do
    local values = {}
    for i = 1, IDS do values[i] = asked[math.min(first + i - 1, #asked)] end
    local rows, message = self.db:rows(BY[column], account or "", unpack(values))
    if not rows then return nil, message end
    for _, row in ipairs(rows) do note(row[column], M.call_of(row)) end
  end
  return found
end

--- Returns the calls of an account whose end is not known, and that can have made a record between two times; or nil
--- and a message.
---@param names table<string, boolean>|nil  of operations; nil: of all
---@return purser.Call[]|nil calls, string|nil message
---@param self purser.Journal
function M.open_calls(self, account, names, first, last)
  local rows, message = self.db:rows("SELECT * FROM purser_calls WHERE " .. schema.UNDECIDED
    .. " AND account = $1 AND sent_at >= $2 AND sent_at <= $3 ORDER BY sent_at, id", account or "",
    time_text(first - intents.LATEST_MS), time_text(last))
  if not rows then return nil, message end
  local found = {}
  for _, row in ipairs(rows) do
    local made = self.unwritten[row.id]
    local is_open = not (made and made.intent.attempt == tonumber(row.attempt))
    if is_open and (not names or names[row.operation]) then found[#found + 1] = M.call_of(row) end
  end
  return found
end

local NEAREST = 500 -- calls at either end of a window, of each operation: what they show is the same in between

--- Returns calls that were made, and were sent between two times; or nil and a message. Of very many it returns those
--- next to either end.
---@param names table<string, boolean>  of operations
---@return purser.Call[]|nil calls, string|nil message
---@param self purser.Journal
function M.made_calls(self, account, names, first, last)
  local found, seen = {}, {}
  for name in pairs(names) do
    for _, order in ipairs { "ASC", "DESC" } do
      local rows, message = self.db:rows(("SELECT * FROM purser_calls WHERE account = $1 "
        .. "AND operation = $2 AND answered <> '' AND sent_at >= $3 AND sent_at <= $4 ORDER BY sent_at %s LIMIT %d")
        :format(order, NEAREST), account or "", name, time_text(first), time_text(last))
      if not rows then return nil, message end
      for _, row in ipairs(rows) do
        if not seen[row.id] then found[#found + 1], seen[row.id] = M.call_of(row), true end
      end
      if #rows < NEAREST then break end
    end
  end
  return found
end

return M

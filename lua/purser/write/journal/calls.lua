-- SPDX-License-Identifier: MIT
-- The rows of a journal in a database: their beginning and their end. facts.lua reads the rows; memory.lua is the
-- journal of a client without a database.

local facts = require "purser.write.journal.facts"
local candidates = require "purser.write.candidates"
local core = require "purser.core"
local digest = require "purser.client.util.digest"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local home = require "purser.write.journal.home"
local intents = require "purser.write.intent"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local operations = require "purser.client.operations"
local policy = require "purser.write.policy"
local schema = require "purser.write.journal.schema"
local statements = require "purser.client.util.database.statements"
local spending = lazy "purser.write.guard.spending"
local equal = lazy "purser.write.equal"

local time_text = intents.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

----------------------------------------------------------------------------------------------------- how a row is taken

local ADD = "INSERT INTO purser_calls (%s) VALUES (%s) ON CONFLICT DO NOTHING"

local function insertion(names, what)
  local places = {}
  for i = 1, #names do places[i] = "$" .. i end
  return what:format(table.concat(names, ", "), table.concat(places, ", "))
end

local function setting(names, where)
  local sets, at = {}, #names
  for i, name in ipairs(names) do sets[i] = ("%s = $%d"):format(name, i) end
  return "UPDATE purser_calls SET " .. table.concat(sets, ", ") .. " WHERE " .. where:gsub("%?", function()
    at = at + 1
    return "$" .. at
  end)
end

--- Adds a row, unless another has its id, its key, or its place in a queue. Returns whether it was added.
---@return boolean
function M.insert(tx, row)
  row.form = digests.form(row.queue and row.queue ~= "" and row.payment or row.key or "")
  local sql, values, count = statements.of(row, ADD, insertion)
  return select(2, tx:rows(sql, unpack(values, 1, count))) == 1
end

--- Changes rows. Returns how many.
---@param where string               a condition, with `?` for each of the further values
---@return integer changed
function M.update(tx, set, where, ...)
  local sql, values, count = statements.of(set, where, setting)
  local further = select("#", ...)
  for i = 1, further do values[count + i] = (select(i, ...)) end
  return select(2, tx:rows(sql, unpack(values, 1, count + further)))
end

--- Locks the rows that a query finds until the transaction ends. (SQLite's transactions lock everything.)
M.for_update = { postgresql = " FOR UPDATE", sqlite = "" }

local EQUAL = "SELECT * FROM purser_calls WHERE digest = $1 AND id <> $2 AND (" .. schema.UNDECIDED
  .. " OR " .. intents.IN_DOUBT .. " AND sent_at >= $3)"

--- Returns the rows of an account's calls without a known end that do the same as another, those among it that were
--- rejected and not looked for: one, or all locked.
---@param now integer       epoch ms
---@param lock string|nil  of M.for_update
---@return table<string, string>[] rows
function M.equal_calls(tx, same, id, now, lock)
  return tx:rows(EQUAL .. (lock or " LIMIT 1"), same, id, time_text(now - intents.DOUBTED_MS))
end

local ATTEMPT = "host, signer, sent_at, recv_window, plan, approved_by, state, answered, record_id, message, ended_at"
local KEEP = ("INSERT INTO purser_attempts (call, number, %s) SELECT id, attempt, %s FROM purser_calls WHERE id = $1 "
  .. "AND sent_at <> '' AND ended_at <> ''"):format(ATTEMPT, ATTEMPT)

-- Keeps the end of a row's latest attempt, whose place another attempt or end takes.
local function keep_end(tx, id) tx:rows(KEEP, id) end

-- Begins another attempt of a row whose earlier ones were not executed. Returns whether that was so.
local function begin_again(tx, intent, known, fields, where, ...)
  local set = { params = intents.encode(intent), attempt = ("%d"):format(known.attempt + 1), state = "open",
    sent_at = time_text(intent.sent_at), recv_window = ("%d"):format(intent.recv_window), host = intent.host or "",
    signer = intent.signer or "", record_id = "", record = "", answered = "", message = "", ended_at = "",
    rejected = "", why = "" }
  for name, value in pairs(fields) do set[name] = value end
  if known.attempt > 0 then keep_end(tx, known.id) end
  local is_over = "NOT (" .. schema.UNDECIDED .. " AND " .. intents.WAS_SENT .. ")"
  if M.update(tx, set, "id = ? AND attempt = ? AND " .. is_over .. where, known.id, ("%d"):format(known.attempt),
    ...) == 0 then
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

-- Returns the lock of a key of all operations and queues, in whatever letters.
local function lock_of(name) return tonumber(digest.id("key", digests.form(name)):sub(1, 7), 16) end

-- Ends the transaction where a payment has the key as name or id.
local function check_payments(tx, row, key)
  local other = tx:rows([[SELECT * FROM purser_calls WHERE form = $1 AND queue <> '' UNION ALL
    SELECT * FROM purser_calls WHERE key = $2 AND key <> '' AND queue <> '']], digests.form(key.name), key.name)[1]
  if other then tx:reject(intents.key_of_payment(row, other, key.name)) end
end

--- Returns the row of the single call whose key is a payment's name or id, or of another payment of the queue whose
--- name has other letters alone; nil for none.
---@return table<string, string>|nil row
function M.call_with_key(tx, columns)
  local form = digests.form(columns.payment)
  tx:lock(lock_of(columns.payment))
  if columns.key ~= "" then tx:lock(lock_of(columns.key)) end -- a call whose key is the payment's id locks that
  return tx:rows([[SELECT * FROM purser_calls WHERE form = $1 AND form <> '' AND queue = '' UNION ALL
    SELECT * FROM purser_calls WHERE key = $2 AND key <> '' AND queue = '' UNION ALL
    SELECT * FROM purser_calls WHERE form = $3 AND queue = $4 AND queue <> '' AND payment <> $5]], form,
    columns.key, form, columns.queue, columns.payment)[1]
end

-- Returns the row of the call outside of queues that has this key, locked; nil where none has. The key is locked.
local function find_known(tx, row, key)
  local known = tx:rows(facts.WITH_KEY .. M.for_update[tx.db.name], digests.form(key.name))[1]
  if not known then return nil end
  local other = intents.other_content(known, key, row)
  if other then tx:reject(other) end
  return known
end

-- Takes a row of its own for a call, or that of its key.
local function take(tx, intent, row, key, known, columns)
  if known then return begin_again(tx, intent, { id = known.id, attempt = tonumber(known.attempt) }, columns, "") end
  local sent_at = time_text(intent.sent_at)
  intent.attempt = 1
  local new = { id = intent.id, operation = intent.operation, history = intents.makes_in(row),
    key = key and key.name or "", content = key and key.content or "", attempt = "1",
    params = intents.encode(intent),
    digest = digests.likeness(row, intent.params), state = "open", first_sent_at = sent_at, sent_at = sent_at,
    recv_window = ("%d"):format(intent.recv_window), host = intent.host or "", signer = intent.signer or "" }
  for name, value in pairs(columns) do new[name] = value end
  local is_new = M.insert(tx, new)
  if key then check_payments(tx, row, key) end -- the row waited for a list that was moved in, or the list waits for it
  if is_new then return end
  if key then find_known(tx, row, key) end
  tx:reject "the call has the id of another one"
end

-- Counts a call that another program sent.
local function count_sent(tx, intent)
  local row = M.locked(tx, intent.id)
  policy.count(tx, setmetatable({ state = "planned" }, { __index = row }), 1) -- new to the policy
  spending.charge_found(tx, row, intent.params, intent.sent_at)
end

--- Records a call before its sending, in a row of its own or of its key or payment. Returns true; or nil and an error
--- or a message; or nil, nil and the call with the same key, which was executed or may have been.
---@param intent purser.Intent  gets the id of the row that it is sent in, and its attempt
---@param key { name: string, content: string }|nil  what the caller's key is, and what it stands for
---@param payment table|nil  one that a worker has taken, as a queue reads it; it is told of its attempt
---@param guard purser.Guard|false|nil  false: another program sent the call, so nobody is asked, and all count the call
---@return boolean|nil ok, any problem, purser.Call|nil known
function M.begin(self, intent, row, guard, key, payment)
  local id = intent.id
  local result, problem = self.db:transaction(function(tx)
    tx:lock(home.LOCK, true, key and not payment and lock_of(key.name) or nil) -- one round trip
    local own = home.enter(tx, intent.account, intent.host)
    local known = key and not payment and find_known(tx, row, key) or nil
    if known and not intents.is_free(facts.call_of(known)) then return { known = facts.call_of(known) } end
    -- a payment is looked for at the service first, where the server is another one
    if tx.db.doubt and not payment and guard ~= false then tx:reject(tx.db.doubt) end
    -- a repeat takes its charges over
    local earlier = known or payment and (payment.disowned or intents.UNDECIDED[payment.call_state])
      and tx:rows("SELECT * FROM purser_calls WHERE id = $1", payment.id)[1] or nil
    if earlier and (earlier.disowned == "yes" or earlier.recv_window == "0") then
      if intents.counts(earlier) then policy.count(tx, earlier, -1) end
      spending.release(tx, earlier)
    end
    if key and key.equal_since and guard ~= false then equal.check(tx, intent, row, key) end
    local columns = guard == false and {} or policy.admit(tx, own, guard and guard.policy, intent, row, {
      queue = payment and payment.queue or "", key = payment and payment.key or key and key.name or "",
      call = payment and payment.id or known and known.id or "" })
    local charged = payment or known or { id = intent.id, content = key and key.content or "" }
    if guard then
      guard:admit(tx, row, function()
        return M.equal_calls(tx, digests.likeness(row, intent.params), charged.id, intent.sent_at)[1]
      end)
    end
    local refused = guard ~= false and spending.admit(tx, own, intent, row, charged, guard and guard.limits or {})
    if refused then tx:reject(refused) end
    if payment then begin_payment(tx, intent, payment, columns) else take(tx, intent, row, key, known, columns) end
    if guard == false then count_sent(tx, intent) end
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

-- A record as JSON, without secrets and members that JSON cannot hold.
local function keep(record)
  if type(record) ~= "table" or next(record) == nil then return "" end
  local ok, text = pcall(json.encode, record)
  if ok and record.secretKey == nil then return text end
  local kept = {}
  for name, value in pairs(record) do
    if name ~= "secretKey" and pcall(json.encode, value) then kept[name] = value end
  end
  if next(kept) == nil then return "" end
  ok, text = pcall(json.encode, kept)
  return ok and text or ""
end

-- A text without zero bytes, which the database could not keep.
local function text_of(value)
  return (tostring(value or ""):gsub("%z", "\\0"))
end

local MAX_DELAY_MS = 3 * 86400000 -- no payment is put off for longer

---@class purser.Stage  what becomes of a payment
---@field stage string
---@field due_in number|nil     ms until it may be sent, or is looked for
---@field is_left boolean|nil   its worker does not wait for that
---@field state string|nil       of its call, where that is not the state of the end
---@field blocked boolean|nil   until something changes
---@field rejected boolean|nil  it is looked for before it counts as failed
---@field message string|nil
---@field why string|nil       of one that is undecided before it was sent: the word of its reason

--- Returns the columns of what becomes of a payment.
---@return table<string, string> columns
function M.staged(tx, change)
  local set = { stage = change.stage, blocked = change.blocked and "yes" or "",
    rejected = change.rejected and "yes" or "", message = text_of(change.message), state = change.state,
    due_at = change.due_in and time_text(tx:now() + math.min(change.due_in, MAX_DELAY_MS)) or "" }
  if change.is_left or change.stage ~= "sent" and change.stage ~= "taken" then set.worker = "" end
  if change.is_left then set.lease_until = "" end -- it is taken over when it is due
  set.why = change.why
  if change.candidates then set.record = candidates.text(change.candidates, keep) end
  return set
end

-- The stage of a payment about which another than its worker finds out. Its worker sends again what was not made.
local STAGES = { done = "done", undecided = "undecided" }

-- Returns the row of a call as sums count it. A call that this journal never sent counts at its record's time, or from
-- now on where no record is known to be its own.
local function counted_row(tx, row, ending)
  if row.sent_at ~= "" then return row end
  local lookup = operations.by_name[row.operation].reconcile
  local at = type(ending.record) == "table" and lookup and tonumber(ending.record[lookup.time_member])
  return setmetatable({ sent_at = time_text(at or tx:now()) }, { __index = row })
end

--- Writes an end in a locked row, counts it in sums, and keeps the end before.
---@param ending table  { state, record_id, record, answered, message, change, disowned }: all but the first may lack
function M.write_end(tx, known, ending)
  local set = { state = ending.state, record_id = ending.record_id or "",
    record = ending.candidates and candidates.text(ending.candidates, keep) or keep(ending.record),
    message = text_of(ending.message), ended_at = time_text(core.now_ms()),
    answered = ending.record_id and ending.answered or ending.state == "done" and "no" or "",
    disowned = ending.disowned or known.disowned, rejected = ending.rejected and "yes" or "",
    why = ending.why or "" }
  local change = known.queue ~= "" and (ending.change or STAGES[ending.state] and { stage = STAGES[ending.state],
    message = ending.message })
  for name, value in pairs(change and M.staged(tx, change) or {}) do set[name] = value end
  -- a call that a person's word ended stays counted
  local spent, spends, counted = intents.counts(known), intents.counts(set), counted_row(tx, known, ending)
  if spends then set.sent_at = counted.sent_at end
  if spent ~= spends then policy.count(tx, counted, spends and 1 or -1) end
  if not spends then
    spending.release(tx, known)
  elseif not spent then
    spending.charge_found(tx, known, core.decode(known.params), tonumber(counted.sent_at))
  end
  if known.ended_at ~= "" then keep_end(tx, known.id) end
  M.update(tx, set, "id = ?", known.id)
end

local UNSENT = { state = "planned", sent_at = "", recv_window = "0", host = "", signer = "", plan = "",
  approved_by = "", policy = "", destination = "", record_id = "", record = "", answered = "", ended_at = "",
  rejected = "" }
local OF_NO_QUEUE = { queue = "", payment = "", stage = "", key = "", worker = "", lease_until = "", due_at = "",
  blocked = "", added_at = "", tries = "0",
  record_id = "", record = "", answered = "" } -- its record has one row; the attempt that is kept names it

--- Keeps what a locked row was sent as, before another content takes its place. A content that goes on counting in
--- sums, since no more than a person's word says that it was not made, becomes a call of its own. Returns the columns
--- of a row that was never sent.
---@return table<string, string> columns
function M.set_aside(tx, row)
  keep_end(tx, row.id)
  if intents.counts(row) then
    local id, why = core.random_token(24)
    if not id then tx:reject("no random id could be made: " .. tostring(why)) end
    local call = { id = id, message = ('%s; it was payment "%s" of the queue "%s", which has another content since')
      :format(row.message, row.payment, row.queue) }
    for name, value in pairs(row) do call[name] = call[name] or OF_NO_QUEUE[name] or value end
    if not M.insert(tx, call) then tx:reject "what the payment was sent as could not be kept" end
    spending.hand_over(tx, row, id)
  end
  local columns = {}
  for name, value in pairs(UNSENT) do columns[name] = value end
  return columns
end

--- Returns the row of a call, locked; nil where there is none.
function M.locked(tx, id)
  return tx:rows("SELECT * FROM purser_calls WHERE id = $1" .. M.for_update[tx.db.name], id)[1]
end

-- Writes an end, where it says more than what is written. Returns a verdict.
local function judge(tx, intent, ending)
  local known = M.locked(tx, intent.id)
  if not known then return {} end
  local later = intent.attempt and tonumber(known.attempt) - intent.attempt or 0
  local verdict = intents.judge_end(facts.call_of(known), later, ending, function()
    return M.equal_calls(tx, known.digest, known.id, intent.sent_at)[1] ~= nil
  end)
  if verdict.counts then M.write_end(tx, known, ending) end
  return verdict
end

function M.is_taken(message)
  return (message:find("purser_calls_record", 1, true) or message:find("purser_calls.record_id", 1, true)) ~= nil
end

--- Writes how a call ended. The unique index of records refuses one that another call has, in whatever process.
---@return purser.Verdict|nil verdict, string|nil message
function M.end_call(self, intent, ending)
  local id = not ending.is_renumbered and type(ending.record) == "table" and intents.id_of(ending.record)
  ending.record_id = id and text_of(id)
  if not intent.id then return {} end -- of a payment that no journal knows to be sent
  local verdict, problem = self.db:transaction(function(tx) return judge(tx, intent, ending) end)
  local message = not verdict and tostring(problem) or ""
  if M.is_taken(message) then return { is_taken = true } end
  if ending.record_id then
    local is_owner = not verdict and intents.makes_in(operations.by_name[intent.operation]) ~= "" -- all the same
    self.unwritten[intent.id] = is_owner and { id = intent.id, operation = intent.operation, intent = intent,
      params = intent.params, sent_at = intent.sent_at, recv_window = intent.recv_window, ended_at = core.now_ms(),
      record_id = ending.record_id, answered = ending.answered and true or false, state = ending.state,
      signer = intent.signer } or nil
  end
  return verdict, problem
end

M.finish, M.reconciled = intents.finish, intents.reconciled

local CONTESTED = "another call's answer names the same record, so one of the two answers was not its own"

--- Takes back that another call was answered with a record which this call's answer names as well. A call that ended
--- before this one was sent had its record by then.
---@param id string  of the record
---@param since integer  epoch ms, the machine's clock: before this call was sent
function M.contest(self, intent, id, since)
  for other, call in pairs(self.unwritten) do
    local is_contested = other ~= intent.id and facts.has_record(call, id) and call.ended_at > since
    if is_contested then self.unwritten[other] = nil end
  end
  self.db:transaction(function(tx)
    for _, row in ipairs(tx:rows([[SELECT id, queue FROM purser_calls WHERE record_id = $1
      AND record_id <> '' AND history <> '' AND id <> $2 AND answered = 'yes' AND state = 'done' AND ended_at > $3]]
      .. M.for_update[tx.db.name], id, intent.id, time_text(since))) do
      local set = { state = "unknown", record_id = "", record = "", answered = "", message = CONTESTED }
      for name, value in pairs(row.queue ~= "" and M.staged(tx, { stage = "sent", message = CONTESTED }) or {}) do
        set[name] = value
      end
      keep_end(tx, row.id)
      M.update(tx, set, "id = ?", row.id)
    end
    return true
  end)
end

return M

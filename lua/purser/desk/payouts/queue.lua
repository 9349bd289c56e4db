-- SPDX-License-Identifier: MIT
-- The payments of a queue: rows of the journal with the queue's name. Each function runs within a transaction, so that
-- no payment has two workers. `self` is the queue of an account: { queue =, account = }, of a worker with
-- { worker =, lease_ms = }. The journal writes the end of an attempt and the payment's next stage.

local core = require "purser.core"
local json = require "purser.json"
local planned = require "purser.write.planned"

local M = {}

local time_text = planned.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

-- The longest delay and lease.
local MAX_DELAY_MS = 3 * 86400000
M.MAX_LEASE_MS = 3600000

M.PATIENCE_MS = 300000 -- a run waits so long for a payment that is not due

-- The last condition lets a database use the queues' indices.
local IN_QUEUE = " FROM purser_calls WHERE queue = $1 AND queue <> ''"
local OF_QUEUE = "queue = ? AND queue <> ''"
local BLOCKED = " AND stage = 'waiting' AND blocked <> ''"

---@class purser.Payment
---@field key string
---@field queue string
---@field operation string
---@field params table
---@field taken_from string|nil  the worker whose lease of it ended, of one that was taken over
---@field payee string|nil      of payouts:list: the payee's name, as the list had it
---@field state purser.payment_states
---@field attempts integer      since it was added, or a person put it back: the option `attempts` bounds them
---@field record_id string|nil  the id that the service gave
---@field message string|nil    why it failed, or is undecided
---@field why string|nil        undecided, or sent and to be asked about once more: the word of the reason, of
--- docs/write/outcomes.md
---@field candidates purser.Candidate[]|nil  undecided: the records that may be its own, the likest first
---@field client_id string|nil  the id of yours that it was given
---@field id string             of its row in the journal
---@field call_state string     the state of its latest attempt, as journal:entries has it
---@field arrival "accepted"|"sent"|"failed"|"cancelled"|nil  in lists: what the record of a payment that is done showed
--- later; nil without a look
---@field sent_at integer|nil   of the latest attempt, epoch ms
---@field recv_window integer   of the latest attempt
---@field attempt integer       how often it was sent in all: 0 where it never was
---@field first_sent_at integer|nil  epoch ms
---@field content string        a digest of what it is to pay
---@field worker string         the worker that has it, "" for none
---@field rejection string|nil  sent: why it was rejected, while it is looked for
---@field is_put_back boolean   sent: not found, it is sent again
---@field added_at integer      epoch ms
---@field due_at integer|nil     when it may be sent, epoch ms; nil: at once
---@field disowned boolean      a person said by `retry` that it was not made

local function some(text) return text ~= "" and text or nil end

local function payment_of(row)
  local message = some(row.message)
  return {
    id = row.id, queue = row.queue, key = row.payment, operation = row.operation, params = core.decode(row.params),
    state = row.stage, attempts = tonumber(row.tries), attempt = tonumber(row.attempt), message = message,
    first_sent_at = tonumber(row.first_sent_at), record_id = some(row.record_id), client_id = some(row.key),
    added_at = tonumber(row.added_at), disowned = row.disowned ~= "",
    rejection = row.rejected ~= "" and (message or "it was rejected") or nil,
    is_put_back = row.rejected ~= "" and row.due_at ~= "",
    content = row.content, worker = row.worker, due_at = tonumber(row.due_at), call_state = row.state,
    arrival = row.stage == "done" and rawget(row, "arrival") or nil,
    sent_at = tonumber(row.sent_at), recv_window = tonumber(row.recv_window), host = some(row.host),
    signer = some(row.signer), why = some(row.why), candidates = planned.candidates(row),
  }
end

-- Returns the payments of a query.
local function payments(tx, sql, ...)
  local rows = tx:rows(sql, ...)
  for i, row in ipairs(rows) do rows[i] = payment_of(row) end
  return rows
end

--- Returns the intent of a payment's latest attempt; of a payment that this journal never saw sent, the intent of now.
function M.intent_of(self, payment)
  return { id = payment.id, account = self.account, operation = payment.operation, params = payment.params,
    sent_at = payment.sent_at or self.client:now(), recv_window = payment.recv_window, attempt = payment.attempt,
    host = payment.host, signer = payment.signer }
end

------------------------------------------------------------------------------------------------------------- adding

--- Adds a payment. Returns false where the queue has its key, or a call its id.
---@param payment { key: string, operation: string, params: table, id: string|nil }
function M.insert(tx, self, payment)
  local row = planned.columns(payment.operation, payment.params, payment.id)
  row.queue, row.payment, row.stage = self.queue, payment.key, "waiting"
  row.added_at = time_text(tx:now())
  return planned.insert(tx, row)
end

--- Returns another call of the account with the id of a payment, in the same parameter: { queue =, payment = }, both ""
--- for a single call; nil where there is none.
function M.other_with_id(tx, self, payment)
  for _, row in ipairs(tx:rows([[SELECT queue, payment, operation FROM purser_calls WHERE key = $1
    AND key <> '' AND NOT (queue = $2 AND payment = $3)]], payment.id, self.queue, payment.key)) do
    local operation = planned.operation(row.operation)
    if operation and operation.reconcile.client_id == payment.given_id then return row end
  end
end

------------------------------------------------------------------------------------------------------------- taking

-- The payments that a run takes, as a condition on `$2`: of its mark (runs.lua), without any mark, or all.
local MARKED = " AND %sEXISTS (SELECT 1 FROM purser_run_rows WHERE of_queue = queue "
  .. "AND of_payment = payment AND run %s $2)"
local OF_RUN, OF_NO_RUN, OF_ANY = MARKED:format("", "="), MARKED:format("NOT ", ">="), " AND queue <> $2"

-- Queries what `self` takes. The further values begin with `$3`.
local function own(tx, self, columns, condition, ...)
  local which = self.mark and OF_RUN or self.takes_unmarked and OF_NO_RUN or OF_ANY
  return (tx:rows("SELECT " .. columns .. IN_QUEUE .. which .. condition, self.queue, self.mark or "",
    ...))
end

-- Returns the end of a query of rows that no other worker takes meanwhile.
local function limit(tx, count)
  return (" LIMIT %d%s"):format(count, tx.db.name == "postgresql" and " FOR UPDATE SKIP LOCKED" or "")
end

local function lease(tx, self, rows, stage)
  local lease_until = time_text(tx:now() + self.lease_ms)
  for i, row in ipairs(rows) do
    local holder = some(row.worker)
    row.stage, row.worker = stage or row.stage, self.worker
    planned.update(tx, { stage = row.stage, worker = row.worker, lease_until = lease_until }, "id = ?", row.id)
    rows[i] = payment_of(row)
    rows[i].taken_from = not stage and holder or nil
  end
  return rows
end

--- Takes up to `count` payments that are due.
function M.take_waiting(tx, self, count)
  return lease(tx, self, own(tx, self, "*", " AND stage = 'waiting' AND blocked = '' AND due_at <= $3 ORDER BY due_at"
    .. limit(tx, count), time_text(tx:now())), "taken")
end

--- Takes over the payments of ended leases that are due. A payment that is only "taken" was not sent.
function M.take_abandoned(tx, self, count)
  local now = time_text(tx:now())
  return lease(tx, self, own(tx, self, "*", " AND stage IN ('taken', 'sent') AND lease_until < $3 AND due_at <= $4"
    .. limit(tx, count), now, now))
end

local HELD = OF_QUEUE .. " AND stage IN ('taken', 'sent') AND "

--- Ends the transaction where the run may take a payment of an operation that this Purser does not know.
function M.check_operations(tx, self)
  for _, row in ipairs(own(tx, self, "DISTINCT operation", " AND stage IN ('waiting', 'taken', 'sent')")) do
    if not planned.operation(row.operation) then
      tx:reject(("the queue holds a payment of %s, which this Purser does not know; use the newer Purser")
        :format(row.operation))
    end
  end
end

--- Ends the leases of an earlier life of this worker, and what a wrong clock wrote: later leases and delays than any.
function M.reclaim(tx, self)
  planned.update(tx, { lease_until = "" }, HELD .. "(worker = ? OR lease_until > ?)", self.queue,
    self.worker, time_text(tx:now() + M.MAX_LEASE_MS))
  planned.update(tx, { due_at = time_text(tx:now()) }, OF_QUEUE .. " AND stage IN ('waiting', 'sent') AND due_at > ?",
    self.queue, time_text(tx:now() + MAX_DELAY_MS))
end

--- Prolongs the leases of this worker.
function M.renew(tx, self)
  planned.update(tx, { lease_until = time_text(tx:now() + self.lease_ms) }, HELD .. "worker = ? AND lease_until <> ''",
    self.queue, self.worker)
end

--- Puts a payment into another stage, if it is still this worker's and was not sent since: a worker whose lease ended
--- unnoticed may hold a payment twice. Returns whether it did.
function M.move(tx, self, payment, change)
  local row = planned.locked(tx, payment.id)
  local is_held = row and (row.stage == "taken" or row.stage == "sent")
  if not is_held or row.worker ~= self.worker or tonumber(row.attempt) ~= payment.attempt then return false end
  if change.stage == "undecided" then
    -- what its last attempt came to, or an attempt that the journal lacks, is not known: the call counts in sums
    planned.write_end(tx, row, { state = "undecided", message = change.message, candidates = change.candidates,
      why = change.why, change = change })
  else
    planned.update(tx, planned.staged(tx, change), "id = ?", row.id)
  end
  return true
end

--- Keeps why a payment is asked about once more after the others: another life asks then only. One that was never
--- sent, and that a record may show, counts from now on: others must not take its room in limits meanwhile.
---@param why string  the word of the first answer's reason
function M.put_off(tx, self, payment, why)
  local row = planned.locked(tx, payment.id)
  if row.worker ~= self.worker or tonumber(row.attempt) ~= payment.attempt then return end
  if row.stage == "sent" then
    planned.update(tx, { why = why }, "id = ?", row.id)
  elseif row.stage == "taken" and row.state == "planned" then
    local change = { stage = "taken", message = "a record may be its own" }
    planned.write_end(tx, row, { state = "undecided", message = change.message, change = change })
    payment.call_state = "undecided"
  end
end

------------------------------------------------------------------------------------------------------------ looking

local NUMBER = ", CAST(count(*) AS TEXT) AS number"
local COUNTS = "queue, stage, CASE WHEN stage = 'waiting' THEN blocked ELSE '' END AS blocked" .. NUMBER
local BY_QUEUE = " GROUP BY 1, 2, 3 ORDER BY 1"

local function no_counts(queue)
  return { queue = queue, waiting = 0, taken = 0, sent = 0, done = 0, failed = 0, undecided = 0,
    dropped = 0, blocked = 0, total = 0 }
end

--- Returns how many payments each stage has, by queue: of all, or of what `self` takes.
---@param self { queue: string }|nil
function M.queues(tx, self)
  local list = {}
  for _, row in ipairs(self and own(tx, self, COUNTS, BY_QUEUE)
    or tx:rows("SELECT " .. COUNTS .. " FROM purser_calls WHERE queue <> ''" .. BY_QUEUE)) do
    local last, number = list[#list], tonumber(row.number)
    if not last or last.queue ~= row.queue then
      last = no_counts(row.queue)
      list[#list + 1] = last
    end
    last[row.stage], last.total = last[row.stage] + number, last.total + number
    if row.blocked ~= "" then last.blocked = last.blocked + number end
  end
  return list
end

--- Returns how many payments of the queue each stage has.
function M.counts(tx, self) return M.queues(tx, self)[1] or no_counts(self.queue) end

--- Returns how many payments a run has to make or to wait for.
function M.left(tx, self)
  return tonumber(own(tx, self, "CAST(count(*) AS TEXT) AS number", " AND stage IN ('waiting', 'taken', 'sent') "
    .. "AND blocked = '' AND due_at <= $3", time_text(tx:now() + M.PATIENCE_MS))[1].number)
end

--- Returns whether the run looks for a rejected payment, or takes it over when its worker's lease ends.
function M.is_looking(tx, self)
  return own(tx, self, "id", " AND stage = 'sent' AND rejected = 'yes' AND due_at <= $3 LIMIT 1",
    time_text(tx:now() + M.PATIENCE_MS))[1] ~= nil
end

--- Returns why a worker sends nothing: { due_at = of the next payment that waits or was left by a run, message = the
--- reason of the delay, sent = the number of the worker's payments in stage "sent", others = the number of payments of
--- other workers, lease_until = the first end of the other workers' leases }.
function M.next_due(tx, self)
  local row = own(tx, self, "due_at, message", " AND (stage = 'waiting' AND blocked = '' "
    .. "OR stage = 'sent' AND worker = '' AND due_at <> '') ORDER BY due_at LIMIT 1")[1]
  local found = { sent = 0, others = 0, due_at = row and tonumber(row.due_at), message = row and some(row.message) }
  for _, held in ipairs(own(tx, self, "worker, min(lease_until) AS lease_until" .. NUMBER,
    " AND stage IN ('taken', 'sent') AND worker <> '' GROUP BY worker")) do
    if held.worker == self.worker then
      found.sent = tonumber(held.number)
    else
      found.others = found.others + tonumber(held.number)
      found.lease_until = math.min(found.lease_until or math.huge, tonumber(held.lease_until) or 0)
    end
  end
  return found
end

local function by_key(a, b) return a.key < b.key end

--- Returns the payments in a stage, those that are "blocked", or all, in the order of their keys. Lua sorts: a database
--- that sorts by the key reads every payment of the queue.
function M.list(tx, self, stage)
  local which = stage == "blocked" and BLOCKED or stage and " AND stage = $2" or ""
  local list = payments(tx, "SELECT *, " .. planned.ARRIVAL .. IN_QUEUE .. which, unpack { self.queue,
    which ~= BLOCKED and stage or nil })
  table.sort(list, by_key)
  return list
end

-- All that a plan reads of a payment, as one text.
local MARK = "coalesce((SELECT run FROM purser_run_rows WHERE of_queue = queue "
  .. "AND of_payment = payment), '')"
local VERSION = "id || ' ' || stage || ' ' || state || ' ' || attempt || ' ' || disowned || ' ' || content || ' ' || "
  .. MARK .. " || ' ' || operation || ' ' || key"
local READ = "SELECT *, " .. VERSION .. " AS version, " .. MARK .. " AS mark" .. IN_QUEUE
local CHANGED = READ .. " AND " .. VERSION .. " NOT IN (SELECT value FROM %s)"
-- Each payment of the list is a list: its key, and the name of its payee.
local MARK_ALL = "INSERT INTO purser_run_rows (of_queue, run, of_payment, payee) "
  .. "SELECT $1, $2, %s, %s FROM %s "
  .. "WHERE true ON CONFLICT (of_queue, of_payment) DO UPDATE SET run = excluded.run, payee = excluded.payee"

-- The rows of a JSON list of texts, the second value of a statement.
local OF_LIST = { sqlite = "json_each($2)", postgresql = "json_array_elements_text(CAST($2 AS json))" }

--- Gives payments of the queue the names of their payees: for persons, never sent, and no part of the content.
function M.with_names(tx, self, list)
  local names = {}
  for _, row in ipairs(tx:rows("SELECT of_payment, payee FROM purser_run_rows WHERE of_queue = $1 AND payee <> ''",
    self.queue)) do
    names[row.of_payment] = row.payee
  end
  for _, payment in ipairs(list) do payment.payee = names[payment.key] end
  return list
end

--- Returns all payments of the queue, in the order of their keys.
---@param before purser.Payment[]|nil  an earlier result: only changes are read; returned itself where there are none
function M.read(tx, self, before)
  local found = before and tx:rows(CHANGED:format(OF_LIST[tx.db.name]), self.queue, before.versions)
    or tx:rows(READ, self.queue)
  if before and not found[1] then return before end
  local rows, versions, place = {}, {}, {}
  for i, row in ipairs(before or {}) do rows[i], place[row.key] = row, i end
  for _, row in ipairs(found) do
    local payment = payment_of(row)
    payment.version, payment.mark = row.version, row.mark
    rows[place[payment.key] or #rows + 1] = payment
  end
  table.sort(rows, by_key)
  for i, row in ipairs(rows) do versions[i] = row.version end
  rows.versions = json.encode(json.list(versions))
  return rows
end

--- Gives payments the mark of a run, and their payees' names.
---@param marked string[][]  each a payment's key, and the name of its payee or ""
function M.mark(tx, self, run, marked)
  local sql = tx.db.name == "sqlite"
    and MARK_ALL:format("json_extract(value, '$[0]')", "json_extract(value, '$[1]')", "json_each($3)")
    or MARK_ALL:format("value ->> 0", "value ->> 1", "json_array_elements(CAST($3 AS json))")
  tx:rows(sql, self.queue, run, json.encode(json.list(marked)))
end

--- Returns the payment of that key, or nil.
function M.find(tx, self, key)
  return payments(tx, "SELECT *" .. IN_QUEUE .. " AND payment = $2", self.queue, key)[1]
end

--- Returns the payments of other queues that may still be made.
function M.elsewhere(tx, self)
  return payments(tx, [[SELECT * FROM purser_calls WHERE queue <> $1 AND queue <> ''
    AND stage IN ('waiting', 'taken', 'undecided')]], self.queue)
end

--- Returns an equal call without a known end, an undecided call first: { id, state, payment = its key or "", over_at =
--- until when the service takes it, in_queue = whether workers of this queue reconcile it }; nil where there is none.
--- The transaction holds the call as it is.
function M.equal_call(tx, self, payment, now)
  local row = planned.equal_call(tx, payment.operation, payment.params, now)
  return row and { id = row.id, state = row.state, payment = row.payment,
    in_queue = row.queue == self.queue and row.stage == "sent",
    over_at = tonumber(row.sent_at) + tonumber(row.recv_window) }
end

--- Returns how many payments of an equal content stand undecided, and were never sent as far as the journal knows.
--- Another network, or another operation, may have other records.
function M.undecided_equals(tx, payment)
  return #tx:rows([[SELECT other.id FROM purser_calls AS one JOIN purser_calls AS other ON other.digest = one.digest
    AND other.content = one.content WHERE one.id = $1 AND other.stage = 'undecided'
    AND NOT other.]] .. planned.WAS_SENT, payment.id)
end

local ANSWERED = " FROM purser_calls WHERE operation = $1 AND answered <> '' AND answered <> 'no' AND "
  .. planned.WAS_SENT .. " "

--- Returns the time of the first answered call of an operation that was sent at `since` or later, or nil.
function M.answered_since(tx, operation, since)
  return tonumber(tx:rows("SELECT min(sent_at) AS sent_at" .. ANSWERED .. "AND sent_at >= $2", operation,
    time_text(since))[1].sent_at)
end

-- An answer that the latest look could not know, to a later call of the operation.
local NEW_WITNESS = "SELECT id" .. ANSWERED .. "AND sent_at > $2 AND ended_at >= $3 LIMIT 1"

--- Lets the run ask again about payments that are undecided for want of a later answered call, where one was answered
--- since the latest look.
function M.ask_again(tx, self)
  for _, row in ipairs(own(tx, self, "id, operation, sent_at, ended_at", " AND stage = 'undecided' "
    .. "AND state = 'undecided' AND why = 'next' AND " .. planned.WAS_SENT)) do
    if tx:rows(NEW_WITNESS, row.operation, row.sent_at, row.ended_at)[1] then
      planned.update(tx, { stage = "sent", worker = "", lease_until = "" }, "id = ? AND stage = 'undecided'", row.id)
    end
  end
end

------------------------------------------------------------------------------------------------ what a person decides

--- Lets blocked payments be sent again. Returns how many.
function M.unblock(tx, self)
  return planned.update(tx, { due_at = "", blocked = "" }, OF_QUEUE .. BLOCKED, self.queue)
end

--- The stages of payments that a person may put back, and that a person may give up.
M.STOPPED = { failed = true, undecided = true, dropped = true }
M.IDLE = { waiting = true, taken = true, failed = true, undecided = true }

--- Returns whether a person may decide about a payment: its state is one of `stages`, or the payment is sent and no
--- worker's until a later time.
---@param stages table<string, true>
function M.may_decide(tx, payment, stages)
  return stages[payment.state] or payment.state == "sent" and planned.is_left(payment, tx:now())
end

--- Takes a payment from a worker that has not sent it.
function M.free(tx, payment)
  if payment.state ~= "taken" then return end
  planned.update(tx, { stage = "waiting", worker = "", lease_until = "" }, "id = ? AND stage = 'taken'", payment.id)
end

-- Changes a payment, and takes the payment out of the run. Returns false where another process changed the payment
-- after the caller's reading.
local function decide(tx, self, payment, change, columns)
  tx:rows("UPDATE purser_run_rows SET run = '' WHERE of_queue = $1 AND of_payment = $2",
    self.queue, payment.key)
  local set = planned.staged(tx, change)
  set.why = ""
  for name, value in pairs(columns) do set[name] = value end
  return planned.update(tx, set, "id = ? AND attempt = ? AND stage = ? AND content = ?", payment.id,
    ("%d"):format(payment.attempt), payment.state, payment.content) == 1
end

--- Puts a payment back into the queue, and unblocks the others. Returns as `decide` does.
---@param by string|nil  who said that it was not made
function M.put_back(tx, self, payment, by)
  local change = { stage = "waiting", message = by and by .. " said that it was not executed" or nil }
  local columns = { disowned = by and "yes" or nil, tries = "0" }
  local done = M.may_decide(tx, payment, M.STOPPED) and decide(tx, self, payment, change, columns)
  M.unblock(tx, self)
  return done
end

--- Gives a payment up by a person's word, and unblocks the others. Returns as `decide` does.
function M.drop(tx, self, payment, by)
  local done = M.may_decide(tx, payment, M.IDLE)
    and decide(tx, self, payment, { stage = "dropped", message = by .. " gave it up" }, {})
  M.unblock(tx, self)
  return done
end

--- Gives a payment another content, with which it waits; M.unblock is the caller's. Returns as `decide` does.
---@param columns table  of the new content, as planned.columns makes them
function M.replace(tx, self, payment, columns)
  local row = planned.locked(tx, payment.id)
  local is_idle = M.IDLE[payment.state] and row and row.stage == payment.state
  if not is_idle or row.content ~= payment.content then return false end
  local set = planned.set_aside(tx, row)
  set.tries, set.disowned = "0", row.disowned ~= "" and "other" or nil
  set.attempt = payment.attempt > 0 and ("%d"):format(payment.attempt + 1) or nil -- a late end is not of this one
  for name, value in pairs(columns) do set[name] = value end
  return decide(tx, self, payment, { stage = "waiting" }, set)
end

return M

-- SPDX-License-Identifier: MIT
-- A queue is the journal's rows with its name: adding, taking with a lease, and what becomes of a payment. Every
-- function runs within a transaction, so that any number of workers can take from one queue and no payment has two of
-- them. `self` is the queue of an account: { queue =, account = }, and of a worker { worker =, lease_ms = } as well.
-- The journal writes what ends an attempt, with what becomes of the payment.

local core = require "purser.core"
local json = require "purser.json"
local planned = require "purser.write.planned"

local M = {}

local time_text = planned.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

-- No payment is put off for longer, and none is leased for longer. What lies further ahead was written while the clock
-- was wrong, so it counts as over.
local MAX_DELAY_MS = 3 * 86400000
M.MAX_LEASE_MS = 3600000

-- A run waits for what is due within this time; what is due later a later run makes.
local PATIENCE_MS = 300000

-- The last part says to a database that the queues' indices serve.
local IN_QUEUE = " FROM purser_calls WHERE account = $1 AND queue = $2 AND queue <> ''"
local OF_QUEUE = "account = ? AND queue = ? AND queue <> ''"
local BLOCKED = " AND stage = 'waiting' AND blocked <> ''"

---@class purser.Payment
---@field key string
---@field queue string
---@field operation string
---@field params table
---@field state purser.payment_states
---@field attempts integer      since it was added, or a person put it back: the option `attempts` bounds them
---@field record_id string|nil  the id that the service gave
---@field message string|nil    why it failed, or is undecided
---@field client_id string|nil  the id of yours that it was given
---@field id string             of its row in the journal
---@field call_state string     what is known of its latest attempt, as journal:entries has it
---@field sent_at integer|nil   of that, epoch ms
---@field recv_window integer   of that
---@field attempt integer       how often it was sent in all: 0 where it never was
---@field first_sent_at integer|nil  epoch ms
---@field content string        a digest of what it is to pay
---@field worker string         who has it, "" for nobody
---@field rejection string|nil  sent: why it was rejected, while it is looked for
---@field added_at integer      epoch ms
---@field due_at integer|nil     when it may be sent, epoch ms; nil: at once
---@field disowned boolean      a person said by `retry` that it was not made

local function payment_of(row)
  local message = row.message ~= "" and row.message or nil
  return {
    id = row.id, queue = row.queue, key = row.payment, operation = row.operation, params = core.decode(row.params),
    state = row.stage, attempts = tonumber(row.tries), attempt = tonumber(row.attempt),
    first_sent_at = tonumber(row.first_sent_at), record_id = row.record_id ~= "" and row.record_id or nil,
    message = message, client_id = row.key ~= "" and row.key or nil, added_at = tonumber(row.added_at),
    disowned = row.disowned ~= "", rejection = row.rejected ~= "" and (message or "it was rejected") or nil,
    content = row.content, worker = row.worker, due_at = tonumber(row.due_at), call_state = row.state,
    sent_at = tonumber(row.sent_at), recv_window = tonumber(row.recv_window),
    host = row.host ~= "" and row.host or nil, signer = row.signer ~= "" and row.signer or nil,
  }
end

--- Returns the intent of a payment's latest attempt; of one that this journal never saw sent, that of now.
function M.intent_of(self, payment)
  return { id = payment.id, account = self.account, operation = payment.operation, params = payment.params,
    sent_at = payment.sent_at or self.client:now(), recv_window = payment.recv_window, attempt = payment.attempt,
    host = payment.host, signer = payment.signer }
end

------------------------------------------------------------------------------------------------------------- adding

--- Adds a payment. Returns whether the payment was added: not where one has its key, or a call its id.
---@param payment { key: string, operation: string, params: table, id: string|nil }
function M.insert(tx, self, payment)
  local row = planned.columns(payment.operation, payment.params, payment.id)
  row.account, row.queue, row.payment, row.stage = self.account, self.queue, payment.key, "waiting"
  row.added_at = time_text(tx:now())
  return planned.insert(tx, row)
end

--- Returns another call of the account that has the id of a payment, in the same parameter: { queue =, payment = },
--- both "" where it is no payment; nil where there is none.
function M.other_with_id(tx, self, payment)
  for _, row in ipairs(tx:rows([[SELECT queue, payment, operation FROM purser_calls WHERE account = $1 AND key = $2
    AND key <> '' AND NOT (queue = $3 AND payment = $4)]], self.account, payment.id, self.queue, payment.key)) do
    local operation = planned.operation(row.operation)
    if operation and operation.reconcile.client_id == payment.given_id then return row end
  end
end

------------------------------------------------------------------------------------------------------------- taking

-- Which payments a run takes, as a condition on `$3`: those with its mark (runs.lua), those that no run ever had, or
-- all.
local MARKED = " AND %sEXISTS (SELECT 1 FROM purser_run_rows WHERE of_account = account AND of_queue = queue "
  .. "AND of_payment = payment AND run %s $3)"
local OF_RUN, OF_NO_RUN, OF_ANY = MARKED:format("", "="), MARKED:format("NOT ", ">="), " AND queue <> $3"

-- Returns the condition of what `self` takes, and what stands in its place.
local function own(self)
  if self.mark then return IN_QUEUE .. OF_RUN, self.mark end
  return IN_QUEUE .. (self.takes_unmarked and OF_NO_RUN or OF_ANY), ""
end

local skip_locked = { postgresql = " FOR UPDATE SKIP LOCKED", sqlite = "" }

local function lease(tx, self, rows, stage)
  local lease_until = time_text(tx:now() + self.lease_ms)
  for i, row in ipairs(rows) do
    row.stage, row.worker = stage or row.stage, self.worker
    planned.update(tx, { stage = row.stage, worker = row.worker, lease_until = lease_until }, "id = ?", row.id)
    rows[i] = payment_of(row)
  end
  return rows
end

local WAITING = "SELECT *%s AND stage = 'waiting' AND blocked = '' AND %s ORDER BY due_at LIMIT %d%s"

--- Takes up to `count` payments that are due.
function M.take_waiting(tx, self, count)
  local now, lock = tx:now(), skip_locked[tx.db.name]
  local from, mark = own(self)
  local rows = tx:rows(WAITING:format(from, "due_at <= $4", count, lock), self.account, self.queue, mark,
    time_text(now))
  if not rows[1] then
    rows = tx:rows(WAITING:format(from, "due_at > $4", count, lock), self.account, self.queue, mark,
      time_text(now + MAX_DELAY_MS))
  end
  return lease(tx, self, rows, "taken")
end

--- Takes over what a worker left behind whose lease has ended. What was only taken had not been sent.
function M.take_abandoned(tx, self, count)
  local now = tx:now()
  local from, mark = own(self)
  local rows = tx:rows(("SELECT *%s AND stage IN ('taken', 'sent') "
    .. "AND (lease_until < $4 OR (lease_until > $5 AND worker <> $6)) LIMIT %d%s")
    :format(from, count, skip_locked[tx.db.name]), self.account, self.queue, mark, time_text(now),
    time_text(now + M.MAX_LEASE_MS), self.worker)
  return lease(tx, self, rows)
end

local HELD = OF_QUEUE .. " AND worker = ? AND stage IN ('taken', 'sent')"

--- Ends the leases of an earlier life of this worker.
function M.reclaim(tx, self)
  planned.update(tx, { lease_until = "" }, HELD, self.account, self.queue, self.worker)
end

--- Prolongs the leases of this worker.
function M.renew(tx, self)
  planned.update(tx, { lease_until = time_text(tx:now() + self.lease_ms) }, HELD .. " AND lease_until <> ''",
    self.account, self.queue, self.worker)
end

--- Puts a payment that was taken into another stage, if it is still this worker's and was not sent since: a worker
--- whose lease ended unnoticed may hold it twice. Returns whether it was.
function M.move(tx, self, payment, change)
  return planned.update(tx, planned.staged(tx, change), "id = ? AND worker = ? AND attempt = ? "
    .. "AND stage IN ('taken', 'sent')", payment.id, self.worker, ("%d"):format(payment.attempt)) == 1
end

------------------------------------------------------------------------------------------------------------ looking

local NUMBER = ", CAST(count(*) AS TEXT) AS number"
local COUNTS = "SELECT account, queue, stage, CASE WHEN stage = 'waiting' THEN blocked ELSE '' END AS blocked" .. NUMBER
local BY_QUEUE = " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"

local function no_counts(account, queue)
  return { account = account, queue = queue, waiting = 0, taken = 0, sent = 0, done = 0, failed = 0, undecided = 0,
    dropped = 0, blocked = 0, total = 0 }
end

--- Returns how many payments each stage has, of all queues of a journal, of every account, or of one; `blocked` says
--- how many of those that wait cannot be made before something changes.
---@param self { account: string, queue: string }|nil
function M.queues(tx, self)
  local list, from, mark = {}, " FROM purser_calls WHERE queue <> ''", nil
  if self then from, mark = own(self) end
  local values = self and { self.account, self.queue, mark } or {}
  for _, row in ipairs(tx:rows(COUNTS .. from .. BY_QUEUE, unpack(values))) do
    local last, number = list[#list], tonumber(row.number)
    if not last or last.account ~= row.account or last.queue ~= row.queue then
      last = no_counts(row.account, row.queue)
      list[#list + 1] = last
    end
    last[row.stage], last.total = last[row.stage] + number, last.total + number
    if row.blocked ~= "" then last.blocked = last.blocked + number end
  end
  return list
end

--- Returns how many payments of the queue each stage has.
function M.counts(tx, self) return M.queues(tx, self)[1] or no_counts(self.account, self.queue) end

--- Returns how many payments a run has to make or to wait for. Those that are finished may be many, and are not read.
function M.left(tx, self)
  local now = tx:now()
  local from, mark = own(self)
  return tonumber(tx:rows("SELECT CAST(count(*) AS TEXT) AS number" .. from .. " AND stage IN ('waiting', 'taken', "
    .. "'sent') AND (stage <> 'waiting' OR blocked = '' AND (due_at <= $4 OR due_at > $5))", self.account, self.queue,
    mark, time_text(now + PATIENCE_MS), time_text(now + MAX_DELAY_MS))[1].number)
end

-- Returns a time that is kept; one that lies further ahead than any is over.
local function time_of(tx, text, longest)
  local time = tonumber(text)
  return time and time > tx:now() + longest and 0 or time
end

--- Returns what keeps a worker from sending anything: { due_at = when the next payment that waits is due, message = why
--- it was put off, sent = how many of this worker's were sent, others = how many other workers have, lease_until =
--- until when the first of these }.
function M.next_due(tx, self)
  local found, from, mark = { sent = 0, others = 0 }, own(self)
  local row = tx:rows("SELECT due_at, message" .. from .. " AND stage = 'waiting' AND blocked = '' "
    .. "ORDER BY due_at LIMIT 1", self.account, self.queue, mark)[1]
  if row then
    found.due_at = time_of(tx, row.due_at, MAX_DELAY_MS)
    found.message = row.message ~= "" and row.message or nil
  end
  for _, held in ipairs(tx:rows("SELECT worker, min(lease_until) AS lease_until" .. NUMBER .. from
    .. " AND stage IN ('taken', 'sent') GROUP BY worker", self.account, self.queue, mark)) do
    if held.worker == self.worker then
      found.sent = tonumber(held.number)
    else
      found.others = found.others + tonumber(held.number)
      found.lease_until = math.min(found.lease_until or math.huge, time_of(tx, held.lease_until, M.MAX_LEASE_MS) or 0)
    end
  end
  return found
end

local function by_key(a, b) return a.key < b.key end

--- Returns the payments in a stage, those that are "blocked", or all, in the order of their keys. Sorted here: a
--- database that is to sort by the key reads every payment of the queue for the few of one state.
function M.list(tx, self, stage)
  local which = stage == "blocked" and BLOCKED or stage and " AND stage = $3" or ""
  local rows = tx:rows("SELECT *" .. IN_QUEUE .. which, unpack { self.account, self.queue,
    which ~= BLOCKED and stage or nil })
  for i, row in ipairs(rows) do rows[i] = payment_of(row) end
  table.sort(rows, by_key)
  return rows
end

-- All that a plan reads of a payment, as one text: where the text is as it was, so is the payment.
local MARK = "coalesce((SELECT run FROM purser_run_rows WHERE of_account = account AND of_queue = queue "
  .. "AND of_payment = payment), '')"
local VERSION = "id || ' ' || stage || ' ' || state || ' ' || attempt || ' ' || disowned || ' ' || content || ' ' || "
  .. MARK .. " || ' ' || operation || ' ' || key"
local READ = "SELECT *, " .. VERSION .. " AS version, " .. MARK .. " AS mark" .. IN_QUEUE
local CHANGED = READ .. " AND " .. VERSION .. " NOT IN (SELECT value FROM %s)"
local MARK_ALL = "INSERT INTO purser_run_rows (of_account, of_queue, run, of_payment) SELECT $1, $2, $3, value FROM %s "
  .. "WHERE true ON CONFLICT (of_account, of_queue, of_payment) DO UPDATE SET run = excluded.run"

-- Returns a statement that reads the texts of a JSON list, its last value, as rows: one statement for a list of any
-- length.
local function of_list(tx, sql, number)
  return sql:format((tx.db.name == "sqlite" and "json_each($%d)" or "json_array_elements_text(CAST($%d AS json))")
    :format(number))
end

--- Returns all payments of the queue, in the order of their keys. Where an earlier list is given, the changed ones
--- alone are read, and the earlier list itself is returned where nothing has changed.
---@param before purser.Payment[]|nil
function M.read(tx, self, before)
  local found = before and tx:rows(of_list(tx, CHANGED, 3), self.account, self.queue, before.versions)
    or tx:rows(READ, self.account, self.queue)
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

--- Gives payments the mark of a run.
function M.mark(tx, self, run, keys)
  tx:rows(of_list(tx, MARK_ALL, 4), self.account, self.queue, run, json.encode(json.list(keys)))
end

--- Returns the payment of that key, or nil.
function M.find(tx, self, key)
  local row = tx:rows("SELECT *" .. IN_QUEUE .. " AND payment = $3", self.account, self.queue, key)[1]
  return row and payment_of(row)
end

--- Returns the other accounts that have payments in the queue of this name: a list of { account =, payments = }.
function M.other_accounts(tx, self)
  local others, after = {}, ""
  while true do
    local row = tx:rows([[SELECT account FROM purser_calls WHERE account > $1 AND queue <> '' ORDER BY account
      LIMIT 1]], after)[1]
    if not row then return others end
    after = row.account
    local number = after ~= self.account and tonumber(tx:rows("SELECT CAST(count(*) AS TEXT) AS number" .. IN_QUEUE,
      after, self.queue)[1].number) or 0
    if number > 0 then others[#others + 1] = { account = after, payments = number } end
  end
end

--- Ends the transaction where other accounts have payments in the queue, and one may be that of this client, under
--- another name: one of the two has no name, and is but its API key, or this one is to be `run` and has none there.
function M.check_account(tx, self, is_run)
  local unnamed, is_unsure = planned.unnamed(self.client), not self.has_own_account
    or is_run and not tx:rows("SELECT 1" .. IN_QUEUE .. " LIMIT 1", self.account, self.queue)[1]
  for _, other in ipairs(M.other_accounts(tx, self)) do
    if is_unsure or other.account == unnamed then
      tx:reject(planned.other_account(other.account, self.account, unnamed,
        ('the queue "%s" holds %d payments'):format(self.queue, other.payments)))
    end
  end
end

--- Returns a call without a known end that is equal to a payment, an undecided one first: { id, state, payment = its
--- key or "", over_at = until when the service takes it, in_queue = whether it is a payment that workers of this queue
--- reconcile }; nil when there is none. Until the end of the transaction it stays as it is.
function M.equal_call(tx, self, payment)
  local row = planned.equal_call(tx, self.account, payment.operation, payment.params)
  return row and { id = row.id, state = row.state, payment = row.payment,
    in_queue = row.queue == self.queue and row.stage == "sent",
    over_at = tonumber(row.sent_at) + tonumber(row.recv_window) }
end

--- Returns how many payments of this one's content stand undecided, and were never sent as far as the journal knows.
--- One on another network, or by another operation, may own other records.
function M.undecided_equals(tx, self, payment)
  return #tx:rows([[SELECT other.id FROM purser_calls AS one JOIN purser_calls AS other ON other.digest = one.digest
    AND other.content = one.content WHERE one.id = $1 AND other.account = $2 AND other.state = 'planned'
    AND other.stage = 'undecided']], payment.id, self.account)
end

--- Returns when the first call of an operation was sent that was answered, of those sent since then; nil where none
--- was.
function M.answered_since(tx, self, operation, since)
  return tonumber(tx:rows("SELECT min(sent_at) AS sent_at FROM purser_calls WHERE account = $1 AND operation = $2 "
    .. "AND answered <> '' AND answered <> 'no' AND sent_at >= $3", self.account, operation,
    time_text(since))[1].sent_at)
end

------------------------------------------------------------------------------------------------ what a person decides

--- Lets payments that are blocked be retried. Returns how many.
function M.unblock(tx, self)
  return planned.update(tx, { due_at = "", blocked = "" }, OF_QUEUE .. BLOCKED, self.account, self.queue)
end

--- The stages of payments that a person may put back; and of those that one may give up.
M.STOPPED = { failed = true, undecided = true, dropped = true }
M.IDLE = { waiting = true, taken = true, failed = true, undecided = true }

--- Takes a payment out of the hands of a worker that has not sent it.
function M.free(tx, payment)
  if payment.state ~= "taken" then return end
  planned.update(tx, { stage = "waiting", worker = "", lease_until = "" }, "id = ? AND stage = 'taken'", payment.id)
end

-- Changes a payment that stands in one of the stages `may`, and as it was last sent. The payment is no run's any more.
-- Returns whether it was so.
local function decide(tx, self, payment, may, change, columns)
  if not may[payment.state] then return false end
  tx:rows("UPDATE purser_run_rows SET run = '' WHERE of_account = $1 AND of_queue = $2 AND of_payment = $3",
    self.account, self.queue, payment.key)
  local set = planned.staged(tx, change)
  for name, value in pairs(columns) do set[name] = value end
  return planned.update(tx, set, "id = ? AND attempt = ? AND stage = ? AND content = ?", payment.id,
    ("%d"):format(payment.attempt), payment.state, payment.content) == 1
end

--- Puts a payment back into the queue, and lets go on what waited for it. False when it is not as it was: another
--- process did so meanwhile.
---@param by string|nil  who said that it was not made
function M.put_back(tx, self, payment, by)
  local change = { stage = "waiting", message = by and by .. " said that it was not executed" or nil }
  local done = decide(tx, self, payment, M.STOPPED, change, { disowned = by and "yes" or nil, tries = "0" })
  M.unblock(tx, self)
  return done
end

--- Gives a payment up, as this person wants, and lets go on what waited for it. False when it is not as it was.
function M.drop(tx, self, payment, by)
  local done = decide(tx, self, payment, M.IDLE, { stage = "dropped", message = by .. " gave it up" }, {})
  M.unblock(tx, self)
  return done
end

--- Gives a payment another content, with which it waits. False when it is not as it was. What waited for it goes on
--- once M.unblock is called.
---@param columns table  of the new content, as planned.columns makes them
function M.replace(tx, self, payment, columns)
  local set = { tries = "0" }
  for name, value in pairs(columns) do set[name] = value end
  -- sums go on counting the content that a person disowned
  if payment.disowned and set.content ~= payment.content then set.disowned = "other" end
  set.attempt = payment.attempt > 0 and ("%d"):format(payment.attempt + 1) or nil -- a late end is not of this one
  return decide(tx, self, payment, M.IDLE, { stage = "waiting" }, set)
end

return M

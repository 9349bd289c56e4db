-- The queue's table: adding, taking with a lease, and what becomes of a payment. Every function runs within a
-- transaction, so that any number of workers can take from one queue and no payment has two of them.

local core = require "purser.core"
local intents = require "purser.intent"
local operations = require "purser.operations"
local time_text = require("purser.journal").time_text

local M = {}

local columns = "key, operation, params, digest, state, worker, attempts, intent, record_id, message"

local function payment_of(queue, row)
  return {
    queue = queue, key = row.key, operation = row.operation, params = core.decode(row.params), state = row.state,
    attempts = tonumber(row.attempts), intent = row.intent ~= "" and row.intent or nil,
    record_id = row.record_id ~= "" and row.record_id or nil, message = row.message ~= "" and row.message or nil,
  }
end

--- The digest of the payment of that key, or nil.
function M.find_digest(tx, queue, account, key)
  local row = tx:rows("SELECT digest FROM purser_payments WHERE account = $1 AND queue = $2 AND key = $3", account,
    queue, key)[1]
  return row and row.digest
end

--- Adds a payment that is not there.
function M.insert(tx, queue, account, payment)
  tx:rows([[INSERT INTO purser_payments (account, queue, key, operation, params, handle, digest, state, due_at, worker,
    lease_until, attempts, intent, record_id, message, added_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8, '', '', '0', '', '', '', $8)]], account, queue, payment.key,
    payment.operation, payment.json, payment.id or "", payment.digest, time_text(tx:now()))
end

local skip_locked = { postgresql = " FOR UPDATE SKIP LOCKED", sqlite = "" }

local function lease(tx, self, rows, state, until_)
  local payments = {}
  for i, row in ipairs(rows) do
    tx:rows([[UPDATE purser_payments SET state = $1, worker = $2, lease_until = $3 WHERE account = $4
      AND queue = $5 AND key = $6]], state or row.state, self.worker, until_, self.account, self.queue, row.key)
    payments[i] = payment_of(self.queue, row)
    payments[i].state = state or row.state
  end
  return payments
end

--- Takes up to `count` payments that are due, for `self` = { queue, account, worker, lease_ms }.
function M.take_waiting(tx, self, count)
  local now = tx:now()
  local rows = tx:rows(("SELECT %s FROM purser_payments WHERE queue = $1 AND account = $2 AND state = 'waiting' "
    .. "AND due_at <= $3 ORDER BY due_at LIMIT %d%s"):format(columns, count, skip_locked[tx.db.name]),
    self.queue, self.account, time_text(now))
  return lease(tx, self, rows, "taken", time_text(now + self.lease_ms))
end

--- Takes over what a worker left behind whose lease has ended. What was only taken had not been sent.
function M.take_abandoned(tx, self, count)
  local now = tx:now()
  local rows = tx:rows(("SELECT %s FROM purser_payments WHERE queue = $1 AND account = $2 "
    .. "AND state IN ('taken', 'sent') AND lease_until < $3 LIMIT %d%s"):format(columns, count,
    skip_locked[tx.db.name]), self.queue, self.account, time_text(now))
  return lease(tx, self, rows, nil, time_text(now + self.lease_ms))
end

--- Ends the leases of an earlier life of this worker.
function M.reclaim(tx, self)
  tx:rows([[UPDATE purser_payments SET lease_until = '' WHERE queue = $1 AND account = $2 AND worker = $3
    AND state IN ('taken', 'sent')]], self.queue, self.account, self.worker)
end

--- Prolongs the leases of this worker.
function M.renew(tx, self)
  tx:rows([[UPDATE purser_payments SET lease_until = $1 WHERE queue = $2 AND account = $3 AND worker = $4
    AND state IN ('taken', 'sent') AND lease_until <> '']], time_text(tx:now() + self.lease_ms), self.queue,
    self.account, self.worker)
end

--- Marks a payment as sent by an intent. False when it is no longer this worker's, or was sent meanwhile: then it must
--- not be sent.
function M.mark_sent(tx, self, payment, intent_id)
  local _, changed = tx:rows([[UPDATE purser_payments SET state = 'sent', intent = $1, attempts = $2
    WHERE account = $3 AND queue = $4 AND key = $5 AND worker = $6 AND state = 'taken' AND lease_until > $7
    AND intent = $8]], intent_id, ("%d"):format(payment.attempts + 1), self.account, self.queue, payment.key,
    self.worker, time_text(tx:now()), payment.intent or "")
  return changed == 1
end

--- Puts a payment into another state, if it is still this worker's and was last sent as `payment` says: a worker whose
--- lease ended unnoticed may hold it twice, and what became of an earlier attempt says nothing of a later one.
---@param change { state: string, due_in: integer|nil, record_id: string|nil, message: string|nil }
function M.move(tx, self, payment, change)
  local held = change.state == "sent" or change.state == "taken"
  tx:rows([[UPDATE purser_payments SET state = $1, due_at = $2, record_id = $3, message = $4, worker = $5
    WHERE account = $6 AND queue = $7 AND key = $8 AND worker = $9 AND intent = $10]], change.state,
    change.due_in and time_text(tx:now() + change.due_in) or "",
    change.record_id or "", change.message or "", held and self.worker or "", self.account, self.queue, payment.key,
    self.worker, payment.intent or "")
end

--- When a payment was first sent (epoch ms), by its intents. Some of version 1 do not say their queue; they count.
function M.first_sent_at(tx, self, payment)
  local row = tx:rows([[SELECT min(sent_at) AS first FROM purser_intents
    WHERE account = $1 AND queue IN ($2, '') AND payment = $3 AND payment <> '']], self.account, self.queue,
    payment.key)[1]
  return row and tonumber(row.first)
end

--- How many payments are in each state.
function M.counts(tx, queue, account)
  local counts = { waiting = 0, taken = 0, sent = 0, done = 0, failed = 0, undecided = 0, total = 0 }
  for _, row in ipairs(tx:rows([[SELECT state, CAST(count(*) AS TEXT) AS number FROM purser_payments WHERE queue = $1
    AND account = $2 GROUP BY state]], queue, account)) do
    counts[row.state] = tonumber(row.number)
    counts.total = counts.total + counts[row.state]
  end
  return counts
end

--- How many payments are not finished. Those that are may be many, and are not looked at.
function M.left(tx, queue, account)
  return tonumber(tx:rows([[SELECT CAST(count(*) AS TEXT) AS number FROM purser_payments WHERE account = $1
    AND queue = $2 AND state IN ('waiting', 'taken', 'sent')]], account, queue)[1].number)
end

--- The payments in a state, or all, in the order of their keys.
function M.list(tx, queue, account, state)
  local rows = tx:rows("SELECT " .. columns .. [[ FROM purser_payments WHERE queue = $1 AND account = $2
    AND ($3 = '' OR state = $3) ORDER BY key]], queue, account, state or "")
  for i, row in ipairs(rows) do rows[i] = payment_of(queue, row) end
  return rows
end

--- The payment of that key if it failed or was left undecided, else nil.
function M.stopped(tx, queue, account, key)
  local row = tx:rows("SELECT " .. columns .. [[ FROM purser_payments WHERE queue = $1 AND account = $2 AND key = $3
    AND state IN ('failed', 'undecided')]], queue, account, key)[1]
  return row and payment_of(queue, row)
end

local unchanged = " AND queue = $2 AND account = $3 AND key = $4 AND state IN ('failed', 'undecided') AND intent = $5"

--- Puts what failed or was left undecided back into the queue. False when somebody else did so meanwhile.
function M.put_back(tx, queue, account, payment)
  local _, changed = tx:rows("UPDATE purser_payments SET state = 'waiting', due_at = '', attempts = '0', message = '', "
    .. "worker = '' WHERE state <> $1" .. unchanged, "waiting", queue, account, payment.key, payment.intent or "")
  return changed == 1
end

--- Notes that such a payment had been made. False when it is not as it was.
function M.found_done(tx, queue, account, payment, record)
  local _, changed = tx:rows("UPDATE purser_payments SET state = 'done', due_at = '', message = '', record_id = $1 "
    .. "WHERE state <> 'done'" .. unchanged, intents.id_of(record) or "", queue, account, payment.key,
    payment.intent or "")
  return changed == 1
end

--- The payments of this account that carry the id `handle`, by which the service tells payments apart: a list of
--- { queue =, key =, name = the parameter that holds it }.
function M.with_handle(tx, account, handle)
  local found = {}
  for i, row in ipairs(tx:rows([[SELECT queue, key, operation FROM purser_payments WHERE account = $1 AND handle = $2
    AND handle <> '']], account, handle)) do
    local operation = operations.by_name[row.operation]
    found[i] = { queue = row.queue, key = row.key, name = operation and operation.settle.handle or "" }
  end
  return found
end

return M

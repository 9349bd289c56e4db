-- SPDX-License-Identifier: MIT
-- The queue's table: adding, taking with a lease, and what becomes of a payment. Every function runs within a
-- transaction, so that any number of workers can take from one queue and no payment has two of them.

local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local time_text = require("purser.write.journal.schema").time_text

local M = {}

-- No payment is put off for longer, and none is leased for longer. What lies further ahead was written while the clock
-- was wrong, so it counts as over.
local MAX_DELAY_MS = 3 * 86400000
M.MAX_LEASE_MS = 3600000

local PERSON = "a person" -- who approved a payment: no record that is already there is its

local columns = "key, operation, params, client_id, digest, state, due_at, blocked, rejected, approved_by, worker, "
  .. "attempts, intent, record_id, message, added_at"

local function payment_of(queue, row)
  local message = row.message ~= "" and row.message or nil
  return {
    queue = queue, key = row.key, operation = row.operation, params = core.decode(row.params), state = row.state,
    attempts = tonumber(row.attempts), intent = row.intent ~= "" and row.intent or nil,
    record_id = row.record_id ~= "" and row.record_id or nil, message = message,
    client_id = row.client_id ~= "" and row.client_id or nil, added_at = tonumber(row.added_at),
    approved = row.approved_by ~= "",
    rejection = row.rejected ~= "" and (message or "it was rejected") or nil,
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
  tx:rows([[INSERT INTO purser_payments (account, queue, key, operation, params, client_id, digest, state,
    due_at, worker, lease_until, attempts, intent, record_id, message, added_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', '', '', '', '0', '', '', '', $8)]], account, queue, payment.key,
    payment.operation, payment.json, payment.id or "", payment.digest, time_text(tx:now()))
end

local skip_locked = { postgresql = " FOR UPDATE SKIP LOCKED", sqlite = "" }
local for_update = { postgresql = " FOR UPDATE", sqlite = "" }

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

local waiting = "SELECT " .. columns .. " FROM purser_payments WHERE account = $1 AND queue = $2 "
  .. "AND state = 'waiting' AND blocked = '' AND %s ORDER BY due_at LIMIT %d%s"

--- Takes up to `count` payments that are due, for `self` = { queue, account, worker, lease_ms }.
function M.take_waiting(tx, self, count)
  local now, lock = tx:now(), skip_locked[tx.db.name]
  local rows = tx:rows(waiting:format("due_at <= $3", count, lock), self.account, self.queue, time_text(now))
  if not rows[1] then
    rows = tx:rows(waiting:format("due_at > $3", count, lock), self.account,
      self.queue, time_text(now + MAX_DELAY_MS))
  end
  return lease(tx, self, rows, "taken", time_text(now + self.lease_ms))
end

--- Takes over what a worker left behind whose lease has ended: what was rejected and waits to be looked for, or the
--- rest. What was only taken had not been sent.
function M.take_abandoned(tx, self, count, rejected)
  local now = tx:now()
  local rows = tx:rows(("SELECT %s FROM purser_payments WHERE account = $1 AND queue = $2 "
    .. "AND state IN ('taken', 'sent') AND (lease_until < $3 OR (lease_until > $4 AND worker <> $5)) "
    .. "AND rejected = '%s' LIMIT %d%s")
    :format(columns, rejected and "yes" or "", count, skip_locked[tx.db.name]), self.account,
    self.queue, time_text(now), time_text(now + M.MAX_LEASE_MS), self.worker)
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
  local _, changed = tx:rows([[UPDATE purser_payments SET state = 'sent', intent = $1, attempts = $2, due_at = '',
    rejected = '' WHERE account = $3 AND queue = $4 AND key = $5 AND worker = $6 AND state = 'taken'
    AND lease_until > $7 AND intent = $8]], intent_id, ("%d"):format(payment.attempts + 1), self.account, self.queue,
    payment.key, self.worker, time_text(tx:now()), payment.intent or "")
  return changed == 1
end

--- Puts a payment into another state, if it is still this worker's and was last sent as `payment` says: a worker whose
--- lease ended unnoticed may hold it twice, and what became of an earlier attempt says nothing of a later one.
---@param change table  state; and due_in, blocked, rejected, record_id, message
function M.move(tx, self, payment, change)
  local held = change.state == "sent" or change.state == "taken"
  local due_at = change.due_in and time_text(tx:now() + math.min(change.due_in, MAX_DELAY_MS)) or ""
  tx:rows([[UPDATE purser_payments SET state = $1, due_at = $2, blocked = $3, rejected = $4, record_id = $5,
    message = $6, worker = $7 WHERE account = $8 AND queue = $9 AND key = $10 AND worker = $11 AND intent = $12]],
    change.state, due_at, change.blocked and "yes" or "", change.rejected and "yes" or "",
    change.record_id or "", change.message or "", held and self.worker or "", self.account, self.queue, payment.key,
    self.worker, payment.intent or "")
end

--- When a payment was first sent (epoch ms), by its intents.
function M.first_sent_at(tx, self, payment)
  local row = tx:rows([[SELECT min(sent_at) AS first FROM purser_intents
    WHERE account = $1 AND queue = $2 AND payment = $3 AND payment <> '']], self.account, self.queue,
    payment.key)[1]
  return row and tonumber(row.first)
end

--- How many payments are in each state; `blocked` says how many of those that wait cannot be made before something
--- changes.
function M.counts(tx, queue, account)
  local counts = { waiting = 0, taken = 0, sent = 0, done = 0, failed = 0, undecided = 0, dropped = 0, total = 0,
    blocked = 0 }
  for _, row in ipairs(tx:rows([[SELECT state,
    CASE WHEN state = 'waiting' AND blocked <> '' THEN 'yes' ELSE 'no' END AS blocked,
    CAST(count(*) AS TEXT) AS number FROM purser_payments WHERE account = $1 AND queue = $2 GROUP BY 1, 2]], account,
    queue)) do
    local number = tonumber(row.number)
    counts[row.state] = counts[row.state] + number
    counts.total = counts.total + number
    if row.blocked == "yes" then counts.blocked = counts.blocked + number end
  end
  return counts
end

--- How many payments are neither finished nor blocked. Those that are finished may be many, and are not looked at.
function M.left(tx, queue, account)
  return tonumber(tx:rows([[SELECT CAST(count(*) AS TEXT) AS number FROM purser_payments WHERE account = $1
    AND queue = $2 AND state IN ('waiting', 'taken', 'sent') AND (state <> 'waiting' OR blocked = '')]],
    account, queue)[1].number)
end

--- What keeps a worker from sending anything: { due_at = when the next payment that waits is due, message = why it was
--- put off, sent = how many of this worker's were sent, others = how many other workers have, lease_until = until when
--- the first of these }.
function M.next_due(tx, self)
  local found = { sent = 0, others = 0 }
  local row = tx:rows([[SELECT due_at, message FROM purser_payments WHERE account = $1 AND queue = $2
    AND state = 'waiting' AND blocked = '' ORDER BY due_at LIMIT 1]], self.account, self.queue)[1]
  if row then
    found.due_at = tonumber(row.due_at)
    found.message = row.message ~= "" and row.message or nil
  end
  for _, held in ipairs(tx:rows([[SELECT worker, CAST(count(*) AS TEXT) AS number, min(lease_until) AS lease_until
    FROM purser_payments WHERE account = $1 AND queue = $2 AND state IN ('taken', 'sent') GROUP BY worker]],
    self.account, self.queue)) do
    if held.worker == self.worker then
      found.sent = tonumber(held.number)
    else
      found.others = found.others + tonumber(held.number)
      found.lease_until = math.min(found.lease_until or math.huge, tonumber(held.lease_until) or 0)
    end
  end
  return found
end

--- Lets payments that are blocked be retried.
function M.unblock(tx, queue, account)
  tx:rows([[UPDATE purser_payments SET due_at = '', blocked = ''
    WHERE account = $1 AND queue = $2 AND state = 'waiting' AND blocked <> '']], account, queue)
end

-- Sorted here: a database that is to sort by the key reads every payment of the queue for the few of one state.
local function in_order(queue, rows)
  table.sort(rows, function(a, b) return a.key < b.key end)
  for i, row in ipairs(rows) do rows[i] = payment_of(queue, row) end
  return rows
end

--- The payments that are blocked, in the order of their keys.
function M.blocked(tx, queue, account)
  local rows = tx:rows("SELECT " .. columns .. [[ FROM purser_payments WHERE account = $1 AND queue = $2
    AND state = 'waiting' AND blocked <> '']], account, queue)
  return in_order(queue, rows)
end

--- Whether the account has no payment in the queue.
function M.is_empty(tx, queue, account)
  return not tx:rows("SELECT 1 FROM purser_payments WHERE account = $1 AND queue = $2 LIMIT 1", account, queue)[1]
end

--- Which other accounts have payments in the queue of this name, and how many: a list of { account =, payments = }.
function M.other_accounts(tx, queue, account)
  local others, after = {}, ""
  while true do
    local row = tx:rows("SELECT account FROM purser_payments WHERE account > $1 ORDER BY account LIMIT 1", after)[1]
    if not row then return others end
    after = row.account
    local number = after ~= account and tonumber(tx:rows([[SELECT CAST(count(*) AS TEXT) AS number FROM purser_payments
      WHERE account = $1 AND queue = $2]], after, queue)[1].number) or 0
    if number > 0 then others[#others + 1] = { account = after, payments = number } end
  end
end

--- Returns the queues of a journal, of every account: { account =, queue =, and how many payments each state has }.
function M.queues(tx)
  local list = {}
  for _, row in ipairs(tx:rows [[SELECT account, queue, state, CAST(count(*) AS TEXT) AS number FROM purser_payments
    GROUP BY account, queue, state ORDER BY account, queue, state]]) do
    local last = list[#list]
    if not last or last.account ~= row.account or last.queue ~= row.queue then
      last = { account = row.account, queue = row.queue, waiting = 0, taken = 0, sent = 0, done = 0, failed = 0,
        undecided = 0, dropped = 0 }
      list[#list + 1] = last
    end
    last[row.state] = tonumber(row.number)
  end
  return list
end

--- The first call without a known end that is equal to a payment: { id, state, payment = its key or "", over_at = until
--- when the service takes it, in_queue = whether it is a payment that workers of this queue reconcile }; nil when there
--- is none. Until the end of the transaction it stays as it is.
function M.equal_call(tx, self, payment)
  local digest = intents.digest(operations.by_name[payment.operation], payment.params)
  local row = tx:rows([[SELECT id, state, queue, payment, sent_at, recv_window FROM purser_intents WHERE digest = $1
    AND account = $2 AND state IN ('open', 'unknown', 'undecided')
    ORDER BY CASE WHEN state = 'undecided' THEN 0 ELSE 1 END LIMIT 1]] .. for_update[tx.db.name], digest,
    self.account)[1]
  if not row then return nil end
  local held = row.payment ~= "" and tx:rows([[SELECT state FROM purser_payments WHERE account = $1 AND queue = $2
    AND key = $3 AND intent = $4 AND state = 'sent']], self.account, self.queue, row.payment, row.id)[1]
  return { id = row.id, state = row.state, payment = row.payment, in_queue = held ~= nil and held ~= false,
    over_at = tonumber(row.sent_at) + tonumber(row.recv_window) }
end

--- The payments in a state, or all, in the order of their keys.
function M.list(tx, queue, account, state)
  local selection = "SELECT " .. columns .. " FROM purser_payments WHERE account = $1 AND queue = $2"
  local rows = state and tx:rows(selection .. " AND state = $3", account, queue, state)
    or not state and tx:rows(selection, account, queue)
  return in_order(queue, rows)
end

--- The payment of that key, or nil.
function M.find(tx, queue, account, key)
  local row = tx:rows("SELECT " .. columns .. [[ FROM purser_payments WHERE account = $1 AND queue = $2
    AND key = $3]], account, queue, key)[1]
  return row and payment_of(queue, row)
end

--- The payment of that key if it failed or was left undecided, else nil.
function M.stopped(tx, queue, account, key)
  local row = tx:rows("SELECT " .. columns .. [[ FROM purser_payments WHERE queue = $1 AND account = $2 AND key = $3
    AND state IN ('failed', 'undecided')]], queue, account, key)[1]
  return row and payment_of(queue, row)
end

local unchanged = " WHERE queue = $2 AND account = $3 AND key = $4 AND state IN ('failed', 'undecided') AND intent = $5"

--- Puts what failed or was left undecided back into the queue, `approved` by a person or not. False when another
--- process did so meanwhile.
function M.put_back(tx, queue, account, payment, approved)
  local _, changed = tx:rows("UPDATE purser_payments SET state = 'waiting', due_at = '', blocked = '', rejected = '', "
    .. "approved_by = $1, attempts = '0', message = '', worker = ''" .. unchanged, approved and PERSON or "", queue,
    account, payment.key,
    payment.intent or "")
  M.unblock(tx, queue, account)
  return changed == 1
end

--- The payment of that key if nobody has it now, and it was not made: else nil.
function M.idle(tx, queue, account, key)
  local payment = M.find(tx, queue, account, key)
  return payment and (payment.state == "waiting" or payment.state == "failed" or payment.state == "undecided")
    and payment or nil
end

local idle = " AND state IN ('waiting', 'failed', 'undecided') AND intent = "

--- Gives a payment up. False when it is not as it was.
function M.drop(tx, queue, account, payment)
  local _, changed = tx:rows([[UPDATE purser_payments SET state = 'dropped', due_at = '', blocked = '', rejected = '',
    worker = '', message = 'dropped' WHERE queue = $1 AND account = $2 AND key = $3]] .. idle .. "$4", queue, account,
    payment.key,
    payment.intent or "")
  M.unblock(tx, queue, account)
  return changed == 1
end

--- Gives a payment another content, with which it waits. False when it is not as it was.
---@param made table  as of insert
function M.replace(tx, queue, account, payment, made, approved)
  local _, changed = tx:rows([[UPDATE purser_payments SET state = 'waiting', due_at = '', blocked = '', rejected = '',
    approved_by = $1, attempts = '0', message = '', worker = '', operation = $2, params = $3, client_id = $4,
    digest = $5 WHERE queue = $6 AND account = $7 AND key = $8]] .. idle .. "$9", approved and PERSON or "",
    made.operation, made.json, made.id or "", made.digest, queue, account, payment.key, payment.intent or "")
  M.unblock(tx, queue, account)
  return changed == 1
end

--- Notes that such a payment had been made. False when it is not as it was.
function M.found_done(tx, queue, account, payment, record)
  local _, changed = tx:rows("UPDATE purser_payments SET state = 'done', due_at = '', rejected = '', message = '', "
    .. "record_id = $1"
    .. unchanged, intents.id_of(record) or "", queue, account, payment.key, payment.intent or "")
  M.unblock(tx, queue, account)
  return changed == 1
end

--- The payments of this account that carry the id `client_id`, by which the service distinguishes payments: a list of
--- { queue =, key =, name = the parameter that holds it }.
function M.with_client_id(tx, account, client_id)
  local found = {}
  for i, row in ipairs(tx:rows([[SELECT queue, key, operation FROM purser_payments WHERE account = $1 AND client_id = $2
    AND client_id <> '']], account, client_id)) do
    local operation = operations.by_name[row.operation]
    found[i] = { queue = row.queue, key = row.key, name = operation and operation.reconcile.client_id or "" }
  end
  return found
end

--- Whether a call outside of queues has this id for its key.
function M.is_id_of_call(tx, account, operation, client_id)
  return tx:rows("SELECT id FROM purser_intents WHERE account = $1 AND operation = $2 AND key = $3 AND key <> ''",
    account, operation, client_id)[1] ~= nil
end

return M

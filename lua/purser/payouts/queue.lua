-- SPDX-License-Identifier: MIT
-- A queue is the journal's rows with its name: adding, taking with a lease, and what becomes of a payment. Every
-- function runs within a transaction, so that any number of workers can take from one queue and no payment has two of
-- them. What ends an attempt is written by the journal, with what becomes of the payment.

local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local schema = require "purser.write.journal.schema"

local M = {}

local time_text = schema.time_text

-- No payment is put off for longer, and none is leased for longer. What lies further ahead was written while the clock
-- was wrong, so it counts as over.
local MAX_DELAY_MS = 3 * 86400000
M.MAX_LEASE_MS = 3600000

-- The last part says to a database that the queues' indices serve.
local IN_QUEUE = " FROM purser_calls WHERE account = $1 AND queue = $2 AND queue <> ''"
local OF_QUEUE = "account = ? AND queue = ? AND queue <> ''"

---@class purser.Payment
---@field key string
---@field queue string
---@field operation string
---@field params table
---@field state purser.payment_states
---@field attempts integer
---@field record_id string|nil  the id that the service gave
---@field message string|nil    why it failed, or is undecided
---@field client_id string|nil  the id of yours that it was given
---@field id string             of its row in the journal
---@field intent string|nil     the same, once it was sent
---@field attempt integer       how often a request of it was recorded
---@field first_sent_at integer|nil  epoch ms
---@field content string        a digest of what it is to pay
---@field worker string         who has it, "" for nobody
---@field rejection string|nil  sent: why it was rejected, while it is looked for
---@field added_at integer      epoch ms
---@field approved boolean      a person said by `retry` that it was not made

local function payment_of(row)
  local message, attempt = row.message ~= "" and row.message or nil, tonumber(row.attempt)
  return {
    id = row.id, queue = row.queue, key = row.payment, operation = row.operation, params = core.decode(row.params),
    state = row.stage, attempts = tonumber(row.tries), attempt = attempt, intent = attempt > 0 and row.id or nil,
    first_sent_at = tonumber(row.first_sent_at), record_id = row.record_id ~= "" and row.record_id or nil,
    message = message, client_id = row.key ~= "" and row.key or nil, added_at = tonumber(row.added_at),
    approved = row.disowned ~= "", rejection = row.rejected ~= "" and (message or "it was rejected") or nil,
    content = row.content, worker = row.worker,
  }
end

-- Sorted here: a database that is to sort by the key reads every payment of the queue for the few of one state.
local function in_order(rows)
  for i, row in ipairs(rows) do rows[i] = payment_of(row) end
  table.sort(rows, function(a, b) return a.key < b.key end)
  return rows
end

------------------------------------------------------------------------------------------------------------- adding

-- The columns of what a payment is to pay.
---@param payment { key: string, operation: string, params: table, content: string, id: string|nil }
local function content_of(payment)
  local row, params = operations.by_name[payment.operation], payment.params
  return { operation = payment.operation, params = intents.encode(payment), key = payment.id or "",
    content = payment.content, digest = intents.digest(row, params), history = intents.makes_in(row) }
end

--- Adds a payment. Returns whether it was added: not where one has its key, or a call its id.
function M.insert(tx, queue, account, payment)
  local id, message = core.random_token(24)
  if not id then tx:reject("no random id could be made: " .. tostring(message)) end
  local row = content_of(payment)
  row.id, row.account, row.queue, row.payment, row.state, row.stage = id, account, queue, payment.key, "planned",
    "waiting"
  row.added_at = time_text(tx:now())
  return calls.insert(tx, row)
end

--- The calls of this account that have the id `client_id`, by which the service distinguishes them: a list of
--- { queue =, key =, name = the parameter that holds it }; the queue of a call that is no payment is "".
function M.with_client_id(tx, account, client_id)
  local found = {}
  for i, row in ipairs(tx:rows([[SELECT queue, payment, operation FROM purser_calls WHERE account = $1 AND key = $2
    AND key <> '']], account, client_id)) do
    local operation = operations.by_name[row.operation]
    found[i] = { queue = row.queue, key = row.payment, name = operation and operation.reconcile.client_id or "" }
  end
  return found
end

-- Returns whether a record is known to be that of another call of the account than the payment.
local function is_taken(tx, account, payment, record_id)
  local history = intents.makes_in(operations.by_name[payment.operation])
  local owner = calls.owners({ db = tx }, "record_id", account, { record_id }, intents.shown_in(history))[record_id]
  return owner ~= nil and owner.id ~= payment.id
end

------------------------------------------------------------------------------------------------------------- taking

local skip_locked = { postgresql = " FOR UPDATE SKIP LOCKED", sqlite = "" }

local function lease(tx, self, rows, stage)
  local lease_until = time_text(tx:now() + self.lease_ms)
  for i, row in ipairs(rows) do
    row.stage, row.worker = stage or row.stage, self.worker
    calls.update(tx, { stage = row.stage, worker = row.worker, lease_until = lease_until }, "id = ?", row.id)
    rows[i] = payment_of(row)
  end
  return rows
end

local WAITING = "SELECT *" .. IN_QUEUE .. " AND stage = 'waiting' AND blocked = '' AND %s ORDER BY due_at LIMIT %d%s"

--- Takes up to `count` payments that are due, for `self` = { queue, account, worker, lease_ms }.
function M.take_waiting(tx, self, count)
  local now, lock = tx:now(), skip_locked[tx.db.name]
  local rows = tx:rows(WAITING:format("due_at <= $3", count, lock), self.account, self.queue, time_text(now))
  if not rows[1] then
    rows = tx:rows(WAITING:format("due_at > $3", count, lock), self.account, self.queue, time_text(now + MAX_DELAY_MS))
  end
  return lease(tx, self, rows, "taken")
end

--- Takes over what a worker left behind whose lease has ended: what was rejected and waits to be looked for, or the
--- rest. What was only taken had not been sent.
function M.take_abandoned(tx, self, count, rejected)
  local now = tx:now()
  local rows = tx:rows(("SELECT *" .. IN_QUEUE .. " AND stage IN ('taken', 'sent') "
    .. "AND (lease_until < $3 OR (lease_until > $4 AND worker <> $5)) AND rejected = '%s' LIMIT %d%s")
    :format(rejected and "yes" or "", count, skip_locked[tx.db.name]), self.account, self.queue, time_text(now),
    time_text(now + M.MAX_LEASE_MS), self.worker)
  return lease(tx, self, rows)
end

local HELD = OF_QUEUE .. " AND worker = ? AND stage IN ('taken', 'sent')"

--- Ends the leases of an earlier life of this worker.
function M.reclaim(tx, self)
  calls.update(tx, { lease_until = "" }, HELD, self.account, self.queue, self.worker)
end

--- Prolongs the leases of this worker.
function M.renew(tx, self)
  calls.update(tx, { lease_until = time_text(tx:now() + self.lease_ms) }, HELD .. " AND lease_until <> ''",
    self.account, self.queue, self.worker)
end

--- Puts a payment that was taken into another stage, if it is still this worker's and was not sent since: a worker
--- whose lease ended unnoticed may hold it twice. Returns whether it was.
---@param change purser.Stage  and record_id, of one that was found
function M.move(tx, self, payment, change)
  local record_id = change.stage == "done" and change.record_id or ""
  if record_id ~= "" and is_taken(tx, self.account, payment, record_id) then
    change = { stage = "undecided", message = "the record that was found for it is another call's" }
  end
  local set = calls.staged(tx, change)
  if change.stage == "done" then set.state, set.record_id = "done", record_id end
  return calls.update(tx, set, "id = ? AND worker = ? AND attempt = ? AND stage IN ('taken', 'sent')", payment.id,
    self.worker, ("%d"):format(payment.attempt)) == 1
end

------------------------------------------------------------------------------------------------------------ looking

--- How many payments are in each stage; `blocked` says how many of those that wait cannot be made before something
--- changes.
function M.counts(tx, queue, account)
  local counts = { waiting = 0, taken = 0, sent = 0, done = 0, failed = 0, undecided = 0, dropped = 0, total = 0,
    blocked = 0 }
  for _, row in ipairs(tx:rows("SELECT stage, CASE WHEN stage = 'waiting' AND blocked <> '' THEN 'yes' ELSE 'no' END "
    .. "AS blocked, CAST(count(*) AS TEXT) AS number" .. IN_QUEUE .. " GROUP BY 1, 2", account, queue)) do
    local number = tonumber(row.number)
    counts[row.stage] = counts[row.stage] + number
    counts.total = counts.total + number
    if row.blocked == "yes" then counts.blocked = counts.blocked + number end
  end
  return counts
end

--- How many payments are neither finished nor blocked. Those that are finished may be many, and are not looked at.
function M.left(tx, queue, account)
  return tonumber(tx:rows("SELECT CAST(count(*) AS TEXT) AS number" .. IN_QUEUE .. " AND stage IN ('waiting', 'taken', "
    .. "'sent') AND (stage <> 'waiting' OR blocked = '')", account, queue)[1].number)
end

--- What keeps a worker from sending anything: { due_at = when the next payment that waits is due, message = why it was
--- put off, sent = how many of this worker's were sent, others = how many other workers have, lease_until = until when
--- the first of these }.
function M.next_due(tx, self)
  local found = { sent = 0, others = 0 }
  local row = tx:rows("SELECT due_at, message" .. IN_QUEUE .. " AND stage = 'waiting' AND blocked = '' "
    .. "ORDER BY due_at LIMIT 1", self.account, self.queue)[1]
  if row then
    found.due_at = tonumber(row.due_at)
    found.message = row.message ~= "" and row.message or nil
  end
  for _, held in ipairs(tx:rows("SELECT worker, CAST(count(*) AS TEXT) AS number, min(lease_until) AS lease_until"
    .. IN_QUEUE .. " AND stage IN ('taken', 'sent') GROUP BY worker", self.account, self.queue)) do
    if held.worker == self.worker then
      found.sent = tonumber(held.number)
    else
      found.others = found.others + tonumber(held.number)
      found.lease_until = math.min(found.lease_until or math.huge, tonumber(held.lease_until) or 0)
    end
  end
  return found
end

--- The payments in a stage, or all, in the order of their keys.
function M.list(tx, queue, account, stage)
  local sql = "SELECT *" .. IN_QUEUE
  return in_order(stage and tx:rows(sql .. " AND stage = $3", account, queue, stage)
    or not stage and tx:rows(sql, account, queue))
end

--- The payments that are blocked, in the order of their keys.
function M.blocked(tx, queue, account)
  return in_order(tx:rows("SELECT *" .. IN_QUEUE .. " AND stage = 'waiting' AND blocked <> ''", account, queue))
end

--- The payment of that key, or nil.
function M.find(tx, queue, account, key)
  local row = tx:rows("SELECT *" .. IN_QUEUE .. " AND payment = $3", account, queue, key)[1]
  return row and payment_of(row)
end

--- Whether the account has no payment in the queue.
function M.is_empty(tx, queue, account)
  return not tx:rows("SELECT 1" .. IN_QUEUE .. " LIMIT 1", account, queue)[1]
end

--- Which other accounts have payments in the queue of this name, and how many: a list of { account =, payments = }.
function M.other_accounts(tx, queue, account)
  local others, after = {}, ""
  while true do
    local row = tx:rows([[SELECT account FROM purser_calls WHERE account > $1 AND queue <> '' ORDER BY account
      LIMIT 1]], after)[1]
    if not row then return others end
    after = row.account
    local number = after ~= account and tonumber(tx:rows("SELECT CAST(count(*) AS TEXT) AS number" .. IN_QUEUE, after,
      queue)[1].number) or 0
    if number > 0 then others[#others + 1] = { account = after, payments = number } end
  end
end

--- Returns the queues of a journal, of every account: { account =, queue =, and how many payments each stage has }.
function M.queues(tx)
  local list = {}
  for _, row in ipairs(tx:rows [[SELECT account, queue, stage, CAST(count(*) AS TEXT) AS number FROM purser_calls
    WHERE queue <> '' GROUP BY account, queue, stage ORDER BY account, queue, stage]]) do
    local last = list[#list]
    if not last or last.account ~= row.account or last.queue ~= row.queue then
      last = { account = row.account, queue = row.queue, waiting = 0, taken = 0, sent = 0, done = 0, failed = 0,
        undecided = 0, dropped = 0 }
      list[#list + 1] = last
    end
    last[row.stage] = tonumber(row.number)
  end
  return list
end

--- The first call without a known end that is equal to a payment: { id, state, payment = its key or "", over_at = until
--- when the service takes it, in_queue = whether it is a payment that workers of this queue reconcile }; nil when there
--- is none. Until the end of the transaction it stays as it is.
function M.equal_call(tx, self, payment)
  local row = tx:rows("SELECT * FROM purser_calls WHERE digest = $1 AND account = $2 AND " .. schema.UNDECIDED
    .. " ORDER BY CASE WHEN state = 'undecided' THEN 0 ELSE 1 END LIMIT 1" .. calls.for_update[tx.db.name],
    intents.digest(operations.by_name[payment.operation], payment.params), self.account)[1]
  return row and { id = row.id, state = row.state, payment = row.payment,
    in_queue = row.queue == self.queue and row.stage == "sent",
    over_at = tonumber(row.sent_at) + tonumber(row.recv_window) }
end

------------------------------------------------------------------------------------------------ what a person decides

--- Lets payments that are blocked be retried.
function M.unblock(tx, queue, account)
  calls.update(tx, { due_at = "", blocked = "" }, OF_QUEUE .. " AND stage = 'waiting' AND blocked <> ''", account,
    queue)
end

-- Changes a payment that is in one of these stages, and as it was last sent; then lets go on what waited for it.
-- Returns whether it was so.
local function decide(tx, payment, stages, account, set)
  set.due_at, set.blocked, set.rejected, set.worker = "", "", "", ""
  local changed = calls.update(tx, set, "id = ? AND attempt = ? AND stage IN (" .. stages .. ")", payment.id,
    ("%d"):format(payment.attempt))
  M.unblock(tx, payment.queue, account)
  return changed == 1
end

local STOPPED, IDLE = "'failed', 'undecided'", "'waiting', 'failed', 'undecided'"

local function found_in(payment, stages)
  return payment and stages:find("'" .. payment.state .. "'", 1, true) and payment or nil
end

--- The payment of that key if it failed or was left undecided, else nil.
function M.stopped(tx, queue, account, key) return found_in(M.find(tx, queue, account, key), STOPPED) end

--- The payment of that key if nobody has it now, and it was not made: else nil.
function M.idle(tx, queue, account, key) return found_in(M.find(tx, queue, account, key), IDLE) end

-- A payment that waits to be made, `disowned` by a person or not.
local function anew(set, disowned)
  set.stage, set.disowned, set.tries = "waiting", disowned and "yes" or "", "0"
  set.message = disowned and "a person said that it was not executed" or ""
  return set
end

--- Puts what failed or was left undecided back into the queue. False when another process did so meanwhile.
---@param disowned boolean  a person said that it was not made
function M.put_back(tx, _, account, payment, disowned)
  return decide(tx, payment, STOPPED, account, anew({}, disowned))
end

--- Gives a payment up. False when it is not as it was.
function M.drop(tx, _, account, payment)
  return decide(tx, payment, IDLE, account, { stage = "dropped", message = "dropped" })
end

--- Gives a payment another content, with which it waits. False when it is not as it was.
---@param made table  as of insert
function M.replace(tx, _, account, payment, made, disowned)
  return decide(tx, payment, IDLE, account, anew(content_of(made), disowned))
end

--- Notes that such a payment had been made. False when it is not as it was, or the record is another call's.
function M.found_done(tx, _, account, payment, record)
  local id = tostring(intents.id_of(record) or "")
  if is_taken(tx, account, payment, id) then return false end
  return decide(tx, payment, STOPPED, account, { stage = "done", state = "done", message = "", record_id = id })
end

return M

-- SPDX-License-Identifier: MIT
-- One worker: tasks that take payments, send them, and find out what became of those whose answer was lost.

local call = require "purser.write.call"
local history_check = require "purser.payouts.history_check"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local private = require "purser.util.private"
local queue = require "purser.payouts.queue"
local reading = require "purser.write.evidence.reading"
local rejected = require "purser.payouts.rejected"
local schedule = require "purser.schedule"
local service_clock = require "purser.call.clock"

local M = {}

-- A payment that this worker has. What an attempt ended with says what becomes of it.
local Payment = {}
Payment.__index = Payment

-- The pause before the next attempt.
local function backoff(self)
  return math.min(30000, self.run.retry_ms * 2 ^ math.min(self.attempts, 10))
end

-- A payment that carries an id is looked for by that id before it counts as failed: an attempt may have been executed
-- that this journal does not know, or whose answer was not the service's. Until the look it counts as sent.
local function failed(self, message)
  if not self.client_id then return { stage = "failed", message = message } end
  self.rejection = message
  return { stage = "sent", rejected = true, message = message }
end

local function again(self, message, ms)
  if self.attempts >= self.run.attempts then
    return failed(self, ("gave up after %d attempts: %s"):format(self.attempts, message))
  end
  return { stage = "waiting", due_in = math.floor(ms or backoff(self)), message = message }
end

-- What becomes of the payment: one function a state of its call.
local after = {}

function after.done() return { stage = "done" } end

function after.unknown(_, message) return { stage = "sent", message = message } end

function after.undecided(_, message) return { stage = "undecided", message = message } end

function after.not_sent(self, message) return again(self, message) end

function after.not_done(self, message)
  if self.rejection then return { stage = "failed", message = self.rejection } end
  message = message and message ~= "" and message or "it was not executed"
  if self.attempts >= self.run.attempts then
    return { stage = "failed", message = ("gave up after %d attempts: %s"):format(self.attempts, message) }
  end
  return again(self, message, 0)
end

function after.rejected(self, message, err)
  if err and err.kind == "throttled" then return again(self, message, (err.retry_after or 1) * 1000) end
  if err and err.kind ~= "api" then return again(self, message) end -- not the service's word: a firewall's, perhaps
  if err and err.code == service_clock.OUTSIDE_WINDOW then return again(self, message) end -- the clock was wrong
  return failed(self, message)
end

--- Returns what becomes of the payment, once what an attempt ended with is written.
---@return purser.Stage
function Payment:after(outcome, message, err)
  local change = after[outcome](self, message, err)
  self.state = change.stage
  return change
end

-- Puts a payment that was not sent back, outside of any intent.
local function release(self, payment, change)
  local ok, problem = self.journal.db:transaction(function(tx)
    queue.move(tx, self, payment, change)
    return true
  end)
  if not ok then self.problem = self.problem or problem end
end

-- What to conclude when the service rejects the request: an account that it does not know, say, is the reason that it
-- gave for the payment, too.
local function after_rejections(payment, err)
  if payment.rejection and payment.rejection == err.message then
    return { outcome = "not_done", reason = payment.rejection }
  end
  return { outcome = "undecided", reason = "it cannot be looked for: " .. err.message }
end

-- Writes what was found out about a payment elsewhere than by asking for it. Returns nothing, or a problem.
local function conclude(self, payment, intent, answer)
  local verdict, problem = self.journal:reconciled(intent, answer, payment:after(answer.outcome, answer.reason))
  if verdict and verdict.is_taken then
    return conclude(self, payment, intent, { outcome = "undecided", reason = "its record is another call's" })
  end
  return problem
end

-- Finds out what became of a payment that was sent. Tries until the service shows it, or the run is stopped.
local function reconcile(self, payment, intent)
  local failures = { tries = 0, rejections = 0 }
  while not self.stopping and not self.problem do
    local window = payment.window or { readings = self.readings, payment = payment }
    local answer, err = self.client:reconcile(intent, self.reconcile_options, window)
    if answer then break end
    if err.phase == "journal" then
      self.problem = err
      break
    end
    local over = history_check.after_failure(self, failures, err)
    if over == "rejected" then self.problem = conclude(self, payment, intent, after_rejections(payment, err)) end
    if over then break end
  end
end

-- The payment that an earlier life, or another worker, had sent.
local function reconcile_abandoned(self, payment)
  local entries, err = self.journal:entries { id = payment.id }
  if not entries then
    self.problem = err
    return
  end
  local intent, known = entries[1].intent, payment.client_id and history_check.look(self, payment)
  if known and known.stage == "done" then -- by an attempt, perhaps, that the journal lacks
    self.problem = conclude(self, payment, intent, { outcome = "done", record = known.record })
    return
  end
  if payment.rejection then return rejected.park(self, payment, intent) end
  reconcile(self, payment, intent)
end

local EQUAL_CALL_MS = 60000 -- how long a call that no worker of this queue reconciles may have no known end

-- What becomes of a payment that guard.no_duplicates holds up: it waits for an equal one that workers of this queue
-- reconcile, or that was sent a moment ago; after any other it is blocked until a person has acted.
---@param equal table|nil  as of now: see queue.equal_call
local function after_equal(equal, now, message)
  local waits = { stage = "waiting", due_in = 500, message = message }
  if not equal then return waits end
  local name = equal.payment ~= "" and ('payment "%s"'):format(equal.payment) or "call"
  if equal.state == "undecided" then
    return { stage = "waiting", blocked = true, message = ("an equal %s is undecided (journal entry %s), and the guard "
      .. "rail no_duplicates allows one at a time; decide that one first"):format(name, equal.id) }
  elseif not equal.in_queue and now > equal.over_at + EQUAL_CALL_MS then
    return { stage = "waiting", blocked = true, message = ("an equal %s has no known end (journal entry %s), and the "
      .. "guard rail no_duplicates allows one at a time; reconcile it first (journal:recover, or its own queue)")
      :format(name, equal.id) }
  end
  return waits
end

-- Looks for the equal call and puts the payment back in one transaction: what decides the call in between lets go on
-- only what is blocked by then.
local function hold_back(self, payment, message)
  local now = self.client:now()
  local ok, problem = self.journal.db:transaction(function(tx)
    queue.move(tx, self, payment, after_equal(queue.equal_call(tx, self, payment), now, message))
    return true
  end)
  if not ok then self.problem = self.problem or problem end
end

-- A rejection that was not the service's: by a guard rail, a lost lease, or what concerns all payments alike, such as a
-- journal that cannot be written or a credentials function that says nothing.
local function not_admitted(self, payment, err)
  if history_check.ends_run(err) then
    self.problem = err
  elseif err.kind == "throttled" then
    release(self, payment, { stage = "waiting", due_in = (err.retry_after or 1) * 1000, message = err.message })
  elseif err.code == "guard.no_duplicates" then
    hold_back(self, payment, err.message)
  elseif err.code == "guard.approval" then -- it waits for persons, or only for time
    local due_in = err.details.due_in
    release(self, payment, { stage = "waiting", due_in = due_in, blocked = not due_in, message = err.message })
  elseif err.code ~= "payouts.lease" then
    release(self, payment, { stage = "failed", message = err.message })
  end
end

-- What a person approved is looked for by its id all the same, over all of its attempts: a record that carries the id
-- proves more. Whether it was found, and is done.
local function was_made(self, payment)
  if not payment.approved or not payment.client_id or not payment.intent then return false end
  local entries = self.journal:entries { id = payment.intent }
  local intent = entries and entries[1] and entries[1].intent
  if not intent then return false end
  intent.id = nil
  local answer = self.client:reconcile(intent, self.reconcile_options, rejected.window_of(self, payment, intent))
  if not answer or answer.outcome ~= "done" then return false end
  release(self, payment, { stage = "done", record_id = intents.id_of(answer.record) })
  return true
end

local function send(self, payment)
  local info = {}
  self.sending = self.sending + 1
  local value, err = call.run(private.state_of(self.client), operations.by_name[payment.operation],
    payment.params, { info = info }, payment)
  self.sending = self.sending - 1
  local intent = info.intent
  if info.journal_error then self.problem = info.journal_error end
  if value ~= nil or self.problem then return end
  if not (intent and intent.id) then return not_admitted(self, payment, err) end
  if payment.state == "sent" and payment.rejection then
    rejected.park(self, payment, intent)
  elseif err.outcome == "unknown" or payment.state == "sent" then
    reconcile(self, payment, intent)
  end
end

local function pay(self, payment)
  if payment.window then return reconcile(self, payment, payment.intent_to_find) end
  if payment.state == "sent" then return reconcile_abandoned(self, payment) end
  local known = history_check.look(self, payment)
  if self.problem or self.stopping then return end
  if known then return release(self, payment, known) end
  if not was_made(self, payment) then send(self, payment) end
end

-- Payments for the hand: first what was left behind, then what waits, then what was left behind rejected; that comes
-- before others once a minute, so that it is looked for while payments are added all the time.
local function take(self, tx, now)
  local taken = {}
  if now >= self.take_rejected_at then
    taken = queue.take_abandoned(tx, self, self.concurrency, true)
    if #taken == 0 then self.take_rejected_at = now + rejected.TOGETHER_MS end
  end
  if #taken == 0 and now >= self.look_for_abandoned_at then
    taken = queue.take_abandoned(tx, self, self.concurrency)
    if #taken == 0 then self.look_for_abandoned_at = now + math.min(1000, self.lease_ms) end
  end
  if #taken == 0 then taken = queue.take_waiting(tx, self, self.concurrency) end
  if #taken == 0 then taken = queue.take_abandoned(tx, self, self.concurrency, true) end
  return taken
end

-- Whether there is any work left at all.
local function refill(self)
  local now = self.clock()
  if now < self.refill_at then return self.left end
  local took, left = self.journal.db:transaction(function(tx)
    if self.hand[1] then return {} end -- while this task waited for the connection another one took payments
    local taken = take(self, tx, now)
    return taken, #taken > 0 and #taken or queue.left(tx, self.queue, self.account)
  end)
  if not took then
    self.problem = left
    return 0
  elseif not left then
    return self.left
  end
  self.left = left
  if #took == 0 then self.refill_at = now + self.idle_ms end
  for _, payment in ipairs(took) do
    payment.run = self
    self.hand[#self.hand + 1] = setmetatable(payment, Payment)
  end
  return self.left
end

-- Sleeps while others are at work on what is left, or while it is not due yet; `ms` until a look is due, or nil.
local function sleep(self, ms)
  if not ms or self.is_sleeping then return schedule.sleep(self.idle_ms) end
  self.is_sleeping = true -- one task is enough to wait by the client's clock
  history_check.sleep(self, math.max(1, math.min(ms, 1000)))
  self.is_sleeping = false
end

local function next_payment(self)
  while not self.stopping and not self.problem do
    local payment = rejected.next(self, false) or table.remove(self.hand, 1)
    if payment or self.problem then return payment end
    local left = refill(self)
    if #self.hand == 0 then
      local ms
      payment, ms = rejected.next(self, true)
      if payment or self.problem then return payment end
      if left == 0 and rejected.count(self) == 0 then return nil end
      sleep(self, ms)
    end
  end
end

local function work(self)
  local payment = next_payment(self)
  while payment do -- Lua 5.1 does not wait within the iterator of a for
    self.busy = self.busy + 1
    pay(self, payment)
    self.busy = self.busy - 1
    payment = next_payment(self)
  end
end

-- The tasks that are still at work. When one has raised, the others end what they have begun.
local function at_work(self, tasks)
  local working = {}
  for _, task in ipairs(tasks) do
    if task.failed then self.stopping = true end
    if not task.done then working[#working + 1] = task end
  end
  return working
end

-- Calls the program's progress function. What that raises ends the run, but not before the tasks have ended what they
-- have begun: tasks that are left alone would go on paying when the run has ended.
local function report(self)
  if self.raised then return end
  local ok, raised = schedule.protect(self.report_progress)
  if not ok then self.raised, self.stopping = { raised }, true end
end

-- Whether this run has payments in its hands. What else is leased under its worker's name was left by another run of
-- that name: the lease must end, so that it is taken over.
local function has_payments(self)
  return self.busy > 0 or #self.hand > 0 or rejected.count(self) > 0
end

-- What happens now and then while the tasks work: leases are renewed, and progress is reported.
local function attend(self, tasks)
  local renew_at, report_at = self.clock() + self.lease_ms / 3, 0
  local working = at_work(self, tasks)
  while working[1] do
    local now = self.clock()
    if now >= renew_at then
      renew_at = now + self.lease_ms / 3
      if has_payments(self) then self.journal.db:transaction(function(tx) queue.renew(tx, self) end) end
    end
    if now >= report_at then
      report(self)
      report_at = now + self.progress_ms
    end
    schedule.await_any(working, math.max(1, math.ceil(math.min(renew_at - now, self.progress_ms))))
    working = at_work(self, tasks)
  end
  report(self)
end

--- Runs a worker until nothing is left to do. Returns nothing, or what kept it from going on.
function M.run(self)
  self.hand, self.look_for_abandoned_at, self.refill_at, self.sending = {}, 0, 0, 0
  self.take_rejected_at = self.clock() + rejected.TOGETHER_MS
  self.readings = reading.share() -- of those whose answer was lost
  rejected.begin(self)
  self.is_sleeping, self.waiting_for, self.raised, self.busy = false, nil, nil, 0
  local ok, problem = self.journal.db:transaction(function(tx)
    queue.reclaim(tx, self)
    queue.unblock(tx, self.queue, self.account)
    return true
  end)
  if not ok then return problem end
  problem = history_check.begin(self)
  if problem then return problem end
  schedule.run(function()
    local tasks = {}
    for i = 1, self.concurrency do
      tasks[i] = schedule.spawn(work, self)
      tasks[i].joined = true -- what it raises is raised below, when the others have ended
    end
    attend(self, tasks)
    for _, task in ipairs(tasks) do schedule.join(task) end
    if self.raised then error(self.raised[1], 0) end
  end)
  if self.problem or self.stopping then return self.problem end
  return history_check.finish(self)
end

return M

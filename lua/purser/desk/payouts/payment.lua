-- SPDX-License-Identifier: MIT
-- One payment that a worker has: it is looked for, sent, and found out about when its answer was lost. What an attempt
-- ended with says what becomes of it.

local history_check = require "purser.desk.payouts.history_check"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

---@class purser.payouts.Payment: purser.Payment
---@field private run purser.payouts.Run  that has it
local Payment = {}
Payment.__index = Payment

-- Returns the pause before the next attempt.
local function backoff(self)
  return math.min(30000, self.run.retry_ms * 2 ^ math.min(self.attempts, 10))
end

-- A payment that carries an id is looked for by that id before it counts as failed: an attempt may have been executed
-- that this journal does not know, or whose answer was not the service's. Until the look it counts as sent.
local function failed(self, message, was_looked_for)
  if was_looked_for or not self.client_id then return { stage = "failed", message = message } end
  self.rejection = message
  return { stage = "sent", rejected = true, message = message }
end

local function again(self, message, ms, was_looked_for)
  if self.attempts >= self.run.attempts then
    return failed(self, ("gave up after %d attempts: %s"):format(self.attempts, message), was_looked_for)
  end
  return { stage = "waiting", due_in = math.floor(ms or backoff(self)), message = message }
end

-- Returns what becomes of the payment: one function a state of its call.
local after = {}

function after.done() return { stage = "done" } end

function after.unknown(_, message) return { stage = "sent", message = message } end

-- The first time nothing is written: it is asked about once more when the others are made, whose records are witnesses.
function after.undecided(self, message)
  return self.put_off_at ~= nil and { stage = "undecided", message = message }
end

function after.not_sent(self, message) return again(self, message) end

function after.not_done(self, message)
  if self.rejection then return failed(self, self.rejection, true) end
  return again(self, message and message ~= "" and message or "it was not executed", 0, true)
end

function after.rejected(self, message, err)
  if err and err.kind == "throttled" then return again(self, message, (err.retry_after or 1) * 1000) end
  if err and err.kind ~= "api" then return again(self, message) end -- not the service's word: a firewall's, perhaps
  if planned.was_too_late(err) then return again(self, message) end -- the clock was wrong
  return failed(self, message)
end

--- Returns what becomes of the payment, once what an attempt ended with is written.
---@param outcome string
---@param message string
---@param err purser.Error|nil
---@return purser.Stage|false change  false: it is asked about once more
function Payment:after(outcome, message, err)
  local change = after[outcome](self, message, err)
  if change then self.state = change.stage end
  return change
end

-- Puts a payment that was not sent back, by what `change` says: it is asked within the transaction.
local function release(self, change)
  local run = self.run
  local _, err = planned.within(run.journal, function(tx)
    queue.move(tx, run, self, type(change) == "function" and change(tx) or change)
    return true
  end)
  run.problem = run.problem or err
end

--------------------------------------------------------------------------------------------------- after it was sent

local TAKEN = "its record is another call's"

-- Writes what was found out about it elsewhere than by asking for it. One that was not sent since it was put back, or
-- was rejected, keeps what is known of its last attempt, unless it was made.
local function conclude(self, answer)
  local run = self.run
  local change = self:after(answer.outcome, answer.reason) or { stage = answer.outcome, message = answer.reason }
  local verdict, problem = run.journal:reconciled(queue.intent_of(run, self), answer, change)
  run.problem = run.problem or problem
  if not verdict or verdict.counts then return end
  if verdict.is_taken then return conclude(self, { outcome = "undecided", reason = TAKEN }) end
  release(self, verdict.is_over and { stage = "waiting", due_in = 500, message = TAKEN } or change)
end

-- Finds out what became of it. Tries until the service shows it, or the run ends.
local function reconcile(self)
  local run = self.run
  local window = self.window or { readings = run.readings, payment = self }
  local answer, err = history_check.ask(run, function()
    return run.client:reconcile(queue.intent_of(run, self), nil, window)
  end)
  if answer and answer.outcome == "undecided" and not self.put_off_at then
    window.readings, self.window = run.last_readings, window
    return run:put_off(self)
  end
  if not err then return end
  -- an account that the service does not know, say, is the reason that it gave for the payment, too
  conclude(self, self.rejection and self.rejection == err.message
    and { outcome = "not_done", reason = self.rejection }
    or { outcome = "undecided", reason = "it cannot be looked for: " .. err.message })
end

-- Finds out about one that an earlier life, or another worker, had sent.
local function take_over(self)
  local run = self.run
  local known = self.client_id and history_check.look(run, self)
  if known and known.record then -- by an attempt, perhaps, that the journal lacks
    return conclude(self, { outcome = "done", record = known.record })
  elseif self.rejection then
    return run:park(self)
  end
  reconcile(self)
end

------------------------------------------------------------------------------------------------------ before it is sent

local EQUAL_CALL_MS = 60000 -- how long a call that no worker of this queue reconciles may have no known end

-- Returns what becomes of it where guard.no_duplicates holds it up: it waits for an equal one that workers of this
-- queue reconcile, or that was sent a moment ago; after any other it is blocked until a person has acted. What decides
-- the call lets go on what is blocked by then, so this is asked in the transaction that puts it back.
local function after_equal(self, tx, now, message)
  local equal = queue.equal_call(tx, self.run, self)
  local is_undecided = equal and equal.state == "undecided"
  local is_left = equal and not equal.in_queue and now > equal.over_at + EQUAL_CALL_MS
  if not is_undecided and not is_left then return { stage = "waiting", due_in = 500, message = message } end
  return { stage = "waiting", blocked = true, message = ("an equal %s %s (journal entry %s), and the guard rail "
    .. "no_duplicates allows one at a time; %s"):format(
    equal.payment ~= "" and ('payment "%s"'):format(equal.payment) or "call",
    is_undecided and "is undecided" or "has no known end", equal.id, is_undecided and "decide that one first"
    or "reconcile it first (journal:recover, or its own queue)") }
end

-- Puts it back after a rejection that was not the service's: by a guard rail, a lost lease, or what concerns all
-- payments alike, such as a journal that cannot be written or a credentials function that says nothing.
local function not_admitted(self, err)
  local run, change = self.run, { stage = "failed", message = err.message }
  if history_check.ends_run(err) then
    run.problem = err
    return
  elseif err.code == "payouts.lease" then
    return
  elseif err.kind == "throttled" then
    change = { stage = "waiting", due_in = (err.retry_after or 1) * 1000, message = err.message }
  elseif err.code == "guard.no_duplicates" then
    local now = run.client:now()
    change = function(tx) return after_equal(self, tx, now, err.message) end
  elseif err.code == "guard.spending_limit" then -- the next period admits it
    change = { stage = "waiting", blocked = true, message = err.message }
  elseif err.code == "guard.approval" then -- it waits for persons, or only for time
    local due_in = err.details.due_in
    change = { stage = "waiting", due_in = due_in, blocked = not due_in, message = err.message }
  end
  release(self, change)
end

-- Returns whether one that a person disowned was made all the same, by whichever attempt, as a record with its id
-- shows; then it is done.
local function was_made(self)
  if not self.disowned or not self.client_id or self.attempt == 0 then return false end
  local run = self.run
  local answer = run.client:reconcile(queue.intent_of(run, self), nil, history_check.window_of(run, self))
  return answer ~= nil and answer.outcome == "done"
end

local function send(self)
  local run, info = self.run, {}
  run.sending = run.sending + 1
  local value, err = planned.send(run.client, self, info)
  run.sending = run.sending - 1
  run.problem = run.problem or info.journal_error
  if value ~= nil or run.problem then return end
  if not info.intent then return not_admitted(self, err) end
  if self.state == "sent" and self.rejection then
    run:park(self)
  elseif err.outcome == "unknown" or self.state == "sent" then
    reconcile(self)
  end
end

--- Does what is due: one that was sent is found out about, any other is sent unless it was made already.
function Payment:pay()
  if self.window then
    reconcile(self)
  elseif self.state == "sent" then
    take_over(self)
  else
    local known = history_check.look(self.run, self)
    if self.run.problem or self.run.stopping then return end
    if known and known.is_put_off then
      self.run:put_off(self)
    elseif known and known.record then
      conclude(self, { outcome = "done", record = known.record })
    elseif known then
      release(self, known)
    elseif not was_made(self) then
      send(self)
    end
  end
end

return Payment

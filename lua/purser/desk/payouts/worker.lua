-- SPDX-License-Identifier: MIT
-- A run of a worker: tasks take payments, look for the payments' records, send, and reconcile after a lost answer.
--
--   held       while nothing shows that the journal is the newest, a run looks for all payments before sending one:
--              the records found count in limits and policies first
--   rejected   a run looks for a payment before the payment counts as failed, or is sent again; one reading serves many
--   undecided  a run asks about a payment once more after the others, whose records are witnesses
--   lease      renewed while the tasks work; a payment of a lost lease is another worker's

local core = require "purser.core"
local history_check = require "purser.desk.payouts.history_check"
local lazy = require "purser.client.util.lazy"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"
local runs = lazy "purser.desk.payouts.runs"
local schedule = require "purser.schedule"
local stages = require "purser.desk.payouts.stages"

local M = {}

---@class purser.payouts.Payment: purser.Payment
---@field private run purser.payouts.Run  that has it
local Payment = {}
Payment.__index = Payment

---@class purser.payouts.Run  the state of one run; the options of its queue are read through it
---@field payouts purser.Payouts
---@field problem any        what ends the run
---@field stopping boolean   it begins nothing more
---@field hand purser.payouts.Payment[]      taken, or to be looked for now, and not begun
---@field parked purser.payouts.Payment[]    rejected, and to be looked for from their `look_at` on
---@field held purser.payouts.Payment[]      not found, and sent once all others were looked for
---@field taken_over { key: string, worker: string }[]  whose worker's lease had ended
---@field had table<string, true>  by key: this run had the payment before
---@field last purser.payouts.Payment[]      undecided so far, and to be asked about once more
---@field busy integer       payments that tasks are at work on
---@field sending integer    payments that are being sent
---@field is_dry boolean    nothing was left to be taken
---@field waiting_for string|nil  why nothing is sent, where a task knows it
---@field is_over boolean    nothing is left, and no task is at work
---@field resting purser.task[]  tasks without work: another one looks for it

--- Returns the payment's next stage, which the journal writes with the end of the attempt; false where the payment is
--- asked about once more.
---@param outcome string
---@param message string
---@param err purser.Error|nil
---@return purser.Stage|false change
function Payment:after(outcome, message, err)
  local change = stages.next(self, outcome, message, err)
  if change then self.state = change.stage end
  return change
end

-- Puts back a payment that was not sent: `change` is a stage, or a function of the transaction to one.
local function release(self, change)
  local run = self.run
  local _, err = planned.within(run.journal, function(tx)
    queue.move(tx, run, self, type(change) == "function" and change(tx) or change)
    return true
  end)
  run.problem = run.problem or err
end

------------------------------------------------------------------------------------------------ a payment that was sent

local TAKEN = "its record is another call's"

-- Writes an answer that is not the attempt's own. A payment that was rejected, or put back and not sent since, keeps
-- the end of its last attempt unless a record shows that the payment was made.
local function conclude(self, answer)
  local run = self.run
  local change = self:after(answer.outcome, answer.reason) or { stage = answer.outcome, message = answer.reason }
  local verdict, problem = run.journal:reconciled(queue.intent_of(run, self), answer, change)
  run.problem = run.problem or problem
  if not verdict or verdict.counts then return end
  if verdict.is_taken then return conclude(self, { outcome = "undecided", reason = TAKEN }) end
  change.why = answer.why
  release(self, verdict.is_over and { stage = "waiting", due_in = 500, message = TAKEN } or change)
end

-- Leaves a payment to the last question, after the others. `why` is the word of the first answer; nil where the journal
-- has it: an earlier life of this worker, or another worker, put the payment off.
local function put_off(self, why)
  local run = self.run
  self.put_off_at = run.client:now()
  table.insert(run.last, self)
  if not why then return end
  local _, err = planned.within(run.journal, function(tx) return queue.put_off(tx, run, self, why) or true end)
  run.problem = run.problem or err
end

-- Returns what the last question about a payment that was sent is asked with.
local function last_window(self, window)
  window.readings, window.payment = self.run.last_readings, self
  return window
end

-- Asks until the service shows what became of the payment, or the run ends.
local function reconcile(self)
  local run = self.run
  local window = self.window or { readings = run.readings, payment = self }
  window.is_first = not self.put_off_at
  local answer, err = history_check.ask(run, function()
    return run.client:reconcile(queue.intent_of(run, self), nil, window)
  end)
  if answer and answer.outcome == "undecided" and not self.put_off_at then
    self.window = last_window(self, window)
    put_off(self, answer.why)
  elseif answer and answer.outcome == "undecided" and self.rejection then
    conclude(self, answer) -- the call keeps the end of its attempt
  elseif err then
    -- the service may reject both for one reason, such as an account that does not exist
    conclude(self, self.rejection and not self.is_put_back and self.rejection == err.message
      and planned.is_of_each_copy(err) and { outcome = "not_done", reason = self.rejection }
      or { outcome = "undecided", reason = "it cannot be looked for: " .. err.message })
  end
end

-- Lets a rejected payment wait until its record must be visible, and the service takes requests again. A payment for
-- which a run has no patience is taken over when it is due.
local function park(self)
  local run, now = self.run, self.run.client:now()
  if (self.look_from or now) - now > queue.PATIENCE_MS then return end
  self.look_at = math.max(now, self.look_from or now, self.sent_at + history_check.visible_ms(run))
  table.insert(run.parked, self)
end

-- Finds out about a payment that another worker, or an earlier life of this one, had sent.
local function take_over(self)
  local known = self.client_id and history_check.look(self.run, self)
  if known and known.record then -- of an attempt, perhaps, that the journal lacks
    return conclude(self, { outcome = "done", record = known.record })
  end
  if self.why then
    self.window = last_window(self, self.rejection and history_check.window_of(self.run, self) or {})
    return put_off(self)
  end
  return (self.rejection and park or reconcile)(self)
end

------------------------------------------------------------------------------------------- a payment that was not sent

local EQUAL_CALL_MS = 60000 -- until then an equal call that no worker of this queue reconciles may end by itself

-- Returns the next stage of a payment that guard.no_duplicates rejected. The payment waits for an equal one that this
-- queue reconciles, or that was just sent; any other blocks the payment until a person acts. Asked in the transaction
-- of `release`, because the end of the equal call unblocks only what is blocked by then.
local function after_equal(self, tx, now, message)
  local equal = queue.equal_call(tx, self.run, self, now)
  local is_undecided = equal and equal.state == "undecided"
  local is_left = equal and not equal.in_queue and now > equal.over_at + EQUAL_CALL_MS
  if not is_undecided and not is_left then return { stage = "waiting", due_in = 500, message = message } end
  return { stage = "waiting", blocked = true, message = ("an equal %s %s (journal entry %s), and the guard rail "
    .. "no_duplicates allows one at a time; %s"):format(
    equal.payment ~= "" and ('payment "%s"'):format(equal.payment) or "call",
    is_undecided and "is undecided" or "has no known end", equal.id, is_undecided and "decide that one first"
    or "reconcile it first (journal:recover, or its own queue)") }
end

-- Returns a payment to the queue after a local rejection: a guard rail, a lost lease, or a fault of all payments.
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
  elseif err.code == "guard.spending_limit" or err.code == "guard.approval" then
    -- the next period admits it, or persons do, or only time; or the end of a look for what counts until then
    local due_in = err.details and err.details.due_in
    change = function(tx)
      local ms = queue.is_looking(tx, run) and 500 or due_in
      return { stage = "waiting", due_in = ms, blocked = not ms, message = err.message }
    end
  end
  release(self, change)
end

-- Asks once more about a payment that a person said was not made. Returns whether no record shows the payment. A failed
-- reading sends nothing, unless the histories are never to be checked.
local function is_still_disowned(self)
  if not self.disowned or not self.client_id or self.attempt == 0 then return true end
  local run = self.run
  local answer, err = history_check.ask(run, function()
    return run.client:reconcile(queue.intent_of(run, self), nil, history_check.window_of(run, self))
  end)
  local why = err and err.message or answer and answer.incomplete and answer.reason
  if not why then return answer ~= nil and answer.outcome ~= "done" end
  if run.history_check ~= "never" then release(self, history_check.unreadable(self, why)) end
  return run.history_check == "never"
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
    park(self)
  elseif err.outcome == "unknown" or self.state == "sent" then
    reconcile(self)
  end
end

-- Does what is due: reconciles a payment that was sent, and sends any other unless a history shows it.
local function pay(self)
  local run = self.run
  if self.window then return reconcile(self) end
  if self.state == "sent" then return take_over(self) end
  local known = history_check.look(run, self)
  if run.problem or run.stopping then return end
  if known and known.put_off then
    put_off(self, known.put_off)
  elseif known and known.record then
    conclude(self, { outcome = "done", record = known.record })
  elseif known then
    release(self, known)
  elseif history_check.is_searching(run) then
    table.insert(run.held, self)
  elseif is_still_disowned(self) then
    send(self)
  end
end

------------------------------------------------------------------------------------------------------------- the hand

-- Starts the check of rejected payments, all with one reading: once the oldest payment waited twice the delay of a
-- record, or all may be checked and nothing else is to be sent. Returns the milliseconds until then, nil where none is
-- parked.
local function begin_looks(self, is_idle)
  local now = self.parked[1] and self.client:now() -- another task may begin them while a program's own clock waits
  if not self.parked[1] then return nil end
  local first, last = math.huge, 0
  for _, payment in ipairs(self.parked) do
    -- no look is farther off, unless the clock was set back
    payment.look_at = math.min(payment.look_at, now + queue.PATIENCE_MS + history_check.visible_ms(self))
    first, last = math.min(first, payment.look_at), math.max(last, payment.look_at)
  end
  local due_at = math.min(is_idle and last or math.huge, first + history_check.visible_ms(self))
  if due_at > now then return due_at - now end
  local readings, parked = planned.readings(now), self.parked
  self.parked = {}
  for _, payment in ipairs(parked) do
    local is_due = payment.look_at <= now
    if is_due then
      local window = history_check.window_of(self, payment, now)
      readings:expect(window.since)
      window.readings, window.payment, payment.window = readings, payment, window
    end
    table.insert(is_due and self.hand or self.parked, payment)
  end
  return 0
end

-- Returns a payment to be asked about once more, when the others are made or those of other workers must be visible;
-- or nil, and in how many milliseconds there will be one, nil where there is none.
local function next_of_last(self, left)
  local payment, now = self.last[1], self.last[1] and self.client:now()
  if not payment or self.busy > 0 then return nil, nil end
  local ms = payment.put_off_at + history_check.visible_ms(self) - now
  if left > #self.last and ms > 0 then return nil, ms end
  return table.remove(self.last, 1)
end

local function waiting_for_looks(self) return #self.parked + #self.last end

-- Takes payments: once a second first those that a worker left behind, then those that wait.
local function take(self, tx, now)
  local taken = {}
  if self.mark then runs.live(tx, self) end
  if now >= self.look_for_abandoned_at then
    taken = queue.take_abandoned(tx, self, self.concurrency)
    if #taken == 0 then self.look_for_abandoned_at = now + math.min(1000, self.lease_ms) end
  end
  return taken[1] and taken or queue.take_waiting(tx, self, self.concurrency)
end

-- Fills the hand. Returns how much work is left.
local function refill(self)
  local now = core.monotonic_ms()
  if now < self.refill_at then return self.left end
  local took, left = self.journal.db:transaction(function(tx)
    if self.hand[1] then return {} end -- another task took payments while this one waited for the connection
    local taken = take(self, tx, now)
    return taken, #taken > 0 and #taken or queue.left(tx, self)
  end)
  if not took then
    self.problem = left
    return 0
  elseif not left then
    return self.left
  end
  self.left, self.is_dry = left, #took == 0
  -- each task asks anew whether nothing is left: a task at work may put its payment back
  if #took == 0 and left > 0 then self.refill_at = now + self.idle_ms end
  for _, payment in ipairs(took) do
    payment.run = self
    if payment.taken_from and not self.had[payment.key] then
      table.insert(self.taken_over, { key = payment.key, worker = payment.taken_from })
    end
    self.had[payment.key] = true
    self.hand[#self.hand + 1] = setmetatable(payment, Payment)
  end
  return self.left
end

local function next_payment(self)
  while not self.stopping and not self.problem and (self.hand[1] or not self.is_over) do
    begin_looks(self, false)
    local left = self.hand[1] and 0 or refill(self)
    if self.held[1] and not self.hand[1] and self.busy == 0 and self.is_dry then
      history_check.end_search(self)
      self.hand, self.held = self.held, {}
    end
    local ms = not self.hand[1] and begin_looks(self, true) or nil
    local payment = table.remove(self.hand, 1)
    if not payment and not ms then payment, ms = next_of_last(self, left) end
    if payment or self.problem then return payment end
    if left == 0 and waiting_for_looks(self) == 0 and not self.held[1] then
      self.is_over = self.busy == 0
      return nil
    end
    -- until a look is due, or while others work on what is left
    if ms then history_check.nap(self, ms) else history_check.rest(self) end
  end
end

local function work(self)
  local payment = next_payment(self)
  while payment do -- Lua 5.1 does not wait within the iterator of a for
    self.busy = self.busy + 1
    history_check.wake(self)
    pay(payment)
    self.busy = self.busy - 1
    payment = next_payment(self)
  end
  history_check.wake(self, true)
end

------------------------------------------------------------------------------------------------------------- progress

local function seconds(ms) return ("%d s"):format(math.max(1, math.ceil(ms / 1000))) end

-- Returns why nothing is sent now; nil while something is.
local function reason(self, tx)
  local limited = (self.sending > 0 or not self.waiting_for) and planned.wait_text(self.client)
  if limited or self.sending > 0 then return limited or nil end
  if self.waiting_for or #self.hand > 0 then return self.waiting_for end
  local now, parts, left = tx:now(), {}, queue.next_due(tx, self)
  local parked = waiting_for_looks(self)
  if parked > 0 then parts[1] = ("%d wait to be looked for"):format(parked) end
  if left.due_at and left.due_at > now then
    parts[#parts + 1] = ("the next is due in %s"):format(seconds(left.due_at - now))
      .. (left.message and (" (%s)"):format(left.message) or "")
  end
  if left.sent > 0 and parked == 0 then parts[#parts + 1] = ("%d are being reconciled"):format(left.sent) end
  if left.others > 0 then
    parts[#parts + 1] = ("other workers have %d, the first lease ends in %s"):format(left.others,
      seconds(left.lease_until - now))
  end
  return parts[1] and table.concat(parts, ", ") or nil
end

-- Calls the program's progress function. An error of the function ends the run after the tasks have ended what they
-- have begun: tasks that are left alone would go on paying.
local function report(self)
  if self.raised or not self.progress then return end
  local ok, raised = schedule.protect(function()
    local waiting_for
    local counts = self.journal.db:transaction(function(tx)
      local found = queue.counts(tx, self)
      if found.waiting - found.blocked + found.taken + found.sent > 0 then waiting_for = reason(self, tx) end
      return found
    end, true)
    if not counts then return end
    local finished = counts.done + counts.failed + counts.undecided + counts.dropped
    self.finished_before = self.finished_before or finished
    -- a wait before the first end does not lower the rate
    if finished == self.finished_before then self.started_ms = core.monotonic_ms() end
    local rate = math.floor((finished - self.finished_before) * 1000
      / math.max(1, core.monotonic_ms() - self.started_ms))
    self.progress {
      total = counts.total, finished = finished, done = counts.done, failed = counts.failed,
      undecided = counts.undecided, blocked = counts.blocked, waiting_for = waiting_for,
      taken_over = #self.taken_over,
      rate = rate, seconds_left = rate > 0 and math.ceil((counts.total - finished) / rate) or nil,
    }
  end)
  if not ok then self.raised, self.stopping = { raised }, true end
end

-------------------------------------------------------------------------------------------------------------- the run

-- Renews the leases of the run's payments, and reports progress, while the tasks work. An earlier run may have left a
-- lease under the same name, which must end before a worker takes the payment over.
local function attend(self, tasks)
  local renew_at, report_at = core.monotonic_ms() + self.lease_ms / 3, 0
  while true do
    local working = {}
    for _, task in ipairs(tasks) do
      if task.failed then -- the others end what they have begun
        self.stopping = true
        history_check.wake(self, true)
      end
      if not task.done then working[#working + 1] = task end
    end
    if not working[1] then break end
    local now = core.monotonic_ms()
    if now >= renew_at then
      renew_at = now + self.lease_ms / 3
      local has_payments = self.busy > 0 or self.hand[1] or self.held[1] or waiting_for_looks(self) > 0
      if has_payments then self.journal.db:transaction(function(tx) queue.renew(tx, self) end) end
      if self.mark then self.journal.db:transaction(function(tx) runs.live(tx, self) end) end
    end
    if now >= report_at then
      report(self)
      report_at = now + self.progress_ms
    end
    schedule.await_any(working, math.max(1, math.ceil(math.min(renew_at - now, self.progress_ms))))
  end
  report(self)
end

-- Works until nothing is left to do. Returns nothing, or what ended the run before.
local function run(self)
  local _, problem = planned.within(self.journal, function(tx)
    planned.enter(tx, self.client)
    queue.check_operations(tx, self)
    queue.reclaim(tx, self)
    queue.unblock(tx, self)
    queue.ask_again(tx, self)
    return true
  end)
  problem = problem or history_check.begin(self)
  if problem then return problem end
  schedule.run(function()
    local tasks = {}
    for i = 1, self.concurrency do
      tasks[i] = schedule.spawn(work, self)
      tasks[i].joined = true -- its error is raised below, when the others have ended
    end
    attend(self, tasks)
    for _, task in ipairs(tasks) do schedule.join(task) end
    if self.raised then error(self.raised[1], 0) end
  end)
  if self.problem or self.stopping then return self.problem end
  return history_check.finish(self)
end

--- Runs a worker of a queue until nothing is left to do. Returns the queue's report; or nil and an error.
---@param mark string|nil  of the run whose payments it takes
---@param takes_all boolean|nil  without a mark: takes all, and not only what no run ever had
function M.run(payouts, mark, takes_all)
  local self = setmetatable({ payouts = payouts, mark = mark, takes_unmarked = not mark and not takes_all,
    stopping = false, hand = {}, held = {}, parked = {}, last = {}, resting = {}, taken_over = {}, had = {},
    busy = 0, sending = 0,
    look_for_abandoned_at = 0, refill_at = 0, started_ms = core.monotonic_ms(),
    -- of payments with a lost answer, and of undecided payments
    readings = planned.readings(), last_readings = planned.readings() }, { __index = payouts })
  payouts.current = self
  local problem = run(self)
  if problem then return nil, planned.error(problem) end
  local counts, err = payouts:report()
  if not counts then return nil, err end
  if self.taken_over[1] then counts.taken_over = self.taken_over end
  if mark then
    counts.run = mark
    counts.of_run = payouts.journal.db:transaction(function(tx) return queue.counts(tx, self) end, true)
  end
  return counts, err
end

return M

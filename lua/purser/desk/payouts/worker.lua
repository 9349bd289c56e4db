-- SPDX-License-Identifier: MIT
-- One run of a worker: tasks that take payments and pay them, leases, and what the run reports about itself.
--
-- Payments that were rejected and carry an id are looked for by it before they count as failed. They wait for each
-- other, and are looked for together: one reading of a history serves all of them. Those that the histories left
-- undecided wait until the others are made.

local core = require "purser.core"
local history_check = require "purser.desk.payouts.history_check"
local payment_class = require "purser.desk.payouts.payment"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"
local runs = require "purser.desk.payouts.runs"
local schedule = require "purser.schedule"

local M = {}

---@class purser.payouts.Run  what one run holds while it works; what the queue was made with is read through it
---@field payouts purser.Payouts
---@field problem any        what keeps it from continuing
---@field stopping boolean   it begins nothing more
---@field hand purser.payouts.Payment[]      taken, or to be looked for now, and not begun
---@field parked purser.payouts.Payment[]    rejected, and to be looked for from their `look_at` on
---@field last purser.payouts.Payment[]      undecided so far, and to be asked about once more
---@field busy integer       payments that tasks are at work on
---@field sending integer    those of them that are being sent
---@field waiting_for string|nil  why nothing is sent, where a task knows it
local Run = {}

function Run.__index(self, name)
  local value = Run[name]
  if value ~= nil then return value end
  return self.payouts[name]
end

-------------------------------------------------------------------------------------------------- rejected payments

--- Lets a payment wait until its record must be visible. What an earlier life left behind waits for the others as well.
---@param payment purser.payouts.Payment
function Run:park(payment)
  payment.look_at = math.max(self.client:now(), payment.sent_at + history_check.visible_ms(self))
  table.insert(self.parked, payment)
end

-- Takes into the hand what may be looked for now, with the readings that they share: when the first has waited for as
-- long as a record may need, or when all can be looked for and nothing else is to be sent. Returns in how many
-- milliseconds that is, nil where none waits.
local function begin_looks(self, is_idle)
  local now = self.parked[1] and self.client:now() -- another task may begin them while a program's own clock waits
  if not self.parked[1] then return nil end
  local first, last = math.huge, 0
  for _, payment in ipairs(self.parked) do
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

--- Lets a payment wait until the others are made. Those of other workers are waited for as long as a record may need.
---@param payment purser.payouts.Payment
function Run:put_off(payment)
  payment.put_off_at = self.client:now()
  table.insert(self.last, payment)
end

-- Returns the payment that is asked about once more; or nil, and in how many milliseconds one will be, nil where none
-- is.
local function next_of_last(self, left)
  local payment, now = self.last[1], self.last[1] and self.client:now()
  if not payment or self.busy > 0 then return nil, nil end
  local ms = payment.put_off_at + history_check.visible_ms(self) - now
  if left > #self.last and ms > 0 then return nil, ms end
  return table.remove(self.last, 1)
end

-- Returns how many payments of this run wait for a look.
local function waiting_for_looks(self) return #self.parked + #self.last end

---------------------------------------------------------------------------------------------------------- the hand

-- Takes payments: first what was left behind, for which it looks once a second, then what waits.
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
    if self.hand[1] then return {} end -- while this task waited for the connection another one took payments
    local taken = take(self, tx, now)
    return taken, #taken > 0 and #taken or queue.left(tx, self)
  end)
  if not took then
    self.problem = left
    return 0
  elseif not left then
    return self.left
  end
  self.left = left
  -- that nothing is left is asked anew by each task: one that is at work may put its payment back
  if #took == 0 and left > 0 then self.refill_at = now + self.idle_ms end
  for _, payment in ipairs(took) do
    payment.run = self
    self.hand[#self.hand + 1] = setmetatable(payment, payment_class)
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
    begin_looks(self, false)
    local left = self.hand[1] and 0 or refill(self)
    local ms = not self.hand[1] and begin_looks(self, true) or nil
    local payment = table.remove(self.hand, 1)
    if not payment and not ms then payment, ms = next_of_last(self, left) end
    if payment or self.problem then return payment end
    if left == 0 and waiting_for_looks(self) == 0 then return nil end
    sleep(self, ms)
  end
end

local function work(self)
  local payment = next_payment(self)
  while payment do -- Lua 5.1 does not wait within the iterator of a for
    self.busy = self.busy + 1
    payment:pay()
    self.busy = self.busy - 1
    payment = next_payment(self)
  end
end

----------------------------------------------------------------------------------------------- what the run reports

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
  if left.sent > 0 and parked == 0 then parts[#parts + 1] = ("%d sent are being reconciled"):format(left.sent) end
  if left.others > 0 then
    parts[#parts + 1] = ("other workers have %d, the first lease ends in %s"):format(left.others,
      seconds(left.lease_until - now))
  end
  return parts[1] and table.concat(parts, ", ") or nil
end

-- Calls the program's progress function. What that raises ends the run, but not before the tasks have ended what they
-- have begun: tasks that are left alone would go on paying when the run has ended.
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
    -- the rate is that of work: a wait before the first end does not count
    if finished == self.finished_before then self.started_ms = core.monotonic_ms() end
    local rate = math.floor((finished - self.finished_before) * 1000
      / math.max(1, core.monotonic_ms() - self.started_ms))
    self.progress {
      total = counts.total, finished = finished, done = counts.done, failed = counts.failed,
      undecided = counts.undecided, blocked = counts.blocked, waiting_for = waiting_for,
      rate = rate, seconds_left = rate > 0 and math.ceil((counts.total - finished) / rate) or nil,
    }
  end)
  if not ok then self.raised, self.stopping = { raised }, true end
end

--- Returns one line that reports the progress, for a terminal.
---@param progress purser.PayoutsProgress
---@return string
function M.progress_line(progress)
  local percent = progress.total > 0 and math.floor(progress.finished * 100 / progress.total) or 100
  local full = math.floor(percent / 5)
  local parts = { ("[%s%s] %d of %d payments (%d %%), %d/s"):format(("#"):rep(full), ("."):rep(20 - full),
    progress.finished, progress.total, percent, progress.rate) }
  if progress.seconds_left then parts[#parts + 1] = ("%d s left"):format(progress.seconds_left) end
  for _, name in ipairs { "failed", "undecided", "blocked" } do
    if (progress[name] or 0) > 0 then parts[#parts + 1] = ("%d %s"):format(progress[name], name) end
  end
  if progress.waiting_for then parts[#parts + 1] = "waits: " .. progress.waiting_for end
  return table.concat(parts, ", ")
end

------------------------------------------------------------------------------------------------------------ the run

-- Returns the tasks that are still at work. When one has raised, the others end what they have begun.
local function at_work(self, tasks)
  local working = {}
  for _, task in ipairs(tasks) do
    if task.failed then self.stopping = true end
    if not task.done then working[#working + 1] = task end
  end
  return working
end

-- Does what is due now and then while the tasks work: leases are renewed, and progress is reported. What is leased
-- under the worker's name and is not in this run's hands was left by another run of that name: the lease must end, so
-- that it is taken over.
local function attend(self, tasks)
  local renew_at, report_at = core.monotonic_ms() + self.lease_ms / 3, 0
  local working = at_work(self, tasks)
  while working[1] do
    local now = core.monotonic_ms()
    if now >= renew_at then
      renew_at = now + self.lease_ms / 3
      local has_payments = self.busy > 0 or self.hand[1] or waiting_for_looks(self) > 0
      if has_payments then self.journal.db:transaction(function(tx) queue.renew(tx, self) end) end
      if self.mark then self.journal.db:transaction(function(tx) runs.live(tx, self) end) end
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

-- Works until nothing is left to do. Returns nothing, or what kept it from going on.
local function run(self)
  local _, problem = planned.within(self.journal, function(tx)
    queue.check_account(tx, self, true)
    runs.follow_joins(tx, self)
    queue.reclaim(tx, self)
    queue.unblock(tx, self)
    return true
  end)
  problem = problem or history_check.begin(self)
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

--- Runs a worker of these payouts until nothing is left to do. Returns their report; or nil and an error.
---@param mark string|nil  of the run whose payments it takes
---@param takes_all boolean|nil  with no mark: all, and not only what no run ever had
function M.run(payouts, mark, takes_all)
  local self = setmetatable({ payouts = payouts, mark = mark, takes_unmarked = not mark and not takes_all,
    stopping = false, hand = {}, parked = {}, last = {}, busy = 0, sending = 0,
    look_for_abandoned_at = 0, refill_at = 0, started_ms = core.monotonic_ms(),
    -- of those whose answer was lost, and of those that are asked about once more
    readings = planned.readings(), last_readings = planned.readings() }, Run)
  payouts.current = self
  local problem = run(self)
  if problem then return nil, planned.error(problem) end
  local counts, err = payouts:report()
  if counts and mark then
    counts.run = mark
    counts.of_run = payouts.journal.db:transaction(function(tx) return queue.counts(tx, self) end, true)
  end
  return counts, err
end

return M

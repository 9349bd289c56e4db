-- One worker: tasks that take payments, send them, and find out what became of those whose answer was lost.

local clients = require "purser.client"
local errors = require "purser.errors"
local operations = require "purser.operations"
local queue = require "purser.payouts.queue"
local schedule = require "purser.schedule"
local service_clock = require "purser.service_clock"

local M = {}

-- What the journal's transactions call for a payment: before it is sent, and when something is known of its end.
local Payment = {}
Payment.__index = Payment

function Payment:begin(tx, intent)
  local is_ours = queue.mark_sent(tx, self.worker, self, intent.id)
  if not is_ours and not self.worker.journal.options.unsafe_without_write_ahead then
    local err = errors.argument(nil, "the payment is no longer this worker's; another one has it")
    err.code = "payouts.lease"
    tx:refuse(err)
  end
end

-- The same, once it is certainly written.
function Payment:begun(intent)
  self.attempts, self.earlier, self.intent = self.attempts + 1, self.intent, intent.id
end

-- The pause before the next attempt.
local function backoff(self)
  return math.min(30000, self.worker.retry_ms * 2 ^ math.min(self.attempts, 10))
end

-- Whether an earlier attempt might have been carried out after all, so that a refusal may mean "a second time".
local function may_be_second(self)
  local settle = operations.by_name[self.operation].settle
  return self.earlier and settle.made and self.params[settle.handle] ~= nil
end

local function again(self, message, ms)
  if self.attempts >= self.worker.attempts then
    return { state = "failed", message = ("gave up after %d attempts: %s"):format(self.attempts, message) }
  end
  return { state = "waiting", due_in = math.floor(ms or backoff(self)), message = message }
end

-- What becomes of the payment: one function a state of its intent.
local after = {}

function after.done(_, id) return { state = "done", record_id = id } end

function after.unknown(_, _, message) return { state = "sent", message = message } end

function after.undecided(_, _, message) return { state = "undecided", message = message } end

function after.not_sent(self, _, message) return again(self, message) end

function after.not_done(self, _, message)
  if self.refusal then return { state = "failed", message = self.refusal } end
  return again(self, message ~= "" and message or "it was not carried out", 0)
end

function after.rejected(self, _, message, err)
  if err and err.kind == "throttled" then return again(self, message, (err.retry_after or 1) * 1000) end
  if err and err.kind ~= "api" then return again(self, message) end -- not the service's word: a firewall's, perhaps
  if err and err.code == service_clock.OUTSIDE_WINDOW then return again(self, message) end -- the clock was wrong
  if may_be_second(self) then
    self.refusal = message
    return { state = "sent", message = message }
  end
  return { state = "failed", message = message }
end

function Payment:finish(tx, state, id, message, err)
  local change = after[state](self, id, message, err)
  queue.move(tx, self.worker, self, change)
  self.state = change.state
end

-- Puts a payment that was not sent back, outside of any intent.
local function release(self, payment, change)
  local ok, problem = self.journal.db:transaction(function(tx)
    queue.move(tx, self, payment, change)
    return true
  end)
  if not ok then self.problem = self.problem or problem end
end

--- The intent that covers all attempts of a payment. One that was refused may have been so because an earlier one was
--- carried out. Nil and a problem when the journal cannot say when the first was made.
function M.widen(self, payment, intent)
  local first, problem = self.journal.db:transaction(function(tx)
    return queue.first_sent_at(tx, self, payment) or false
  end)
  if first == nil then return nil, problem end
  local earlier = math.max(0, intent.sent_at - (first or intent.sent_at))
  local whole = {}
  for name, value in pairs(intent) do whole[name] = value end
  whole.sent_at, whole.recv_window = intent.sent_at - earlier, intent.recv_window + earlier
  return whole
end

local REFUSALS = 10 -- of the look itself, one after the other, until a person has to do it

-- Finds out what became of a payment that was sent. Tries until the service tells, or the run is stopped.
local function settle(self, payment, intent)
  local id = intent.id
  if payment.refusal then
    local whole, problem = M.widen(self, payment, intent)
    if not whole then
      self.problem = problem
      return self.journal:attach(id, nil)
    end
    intent = whole
  end
  self.journal:attach(id, payment)
  local tries, refusals = 0, 0
  while not self.stopping and not self.problem do
    local answer, err = self.client:settle(intent, self.settle_options)
    if answer then break end
    if err.phase == "journal" then
      self.problem = err
      break
    end
    tries = tries + 1
    local refused = err.kind == "argument" or err.kind == "api" and err.outcome == "rejected"
    refusals = refused and refusals + 1 or 0
    if refusals >= REFUSALS then
      self.problem = select(2, self.journal:settled(intent,
        { outcome = "undecided", reason = "it cannot be looked for: " .. err.message }))
      break
    end
    schedule.sleep(math.floor(math.min(30000, self.retry_ms * 2 ^ math.min(tries, 10))))
  end
  self.journal:attach(id, nil)
end

-- The intent of a payment that an earlier life, or another worker, had sent.
local function settle_abandoned(self, payment)
  local entries, err = self.journal:entries { id = payment.intent }
  if not entries then
    self.problem = err
    return
  end
  if not entries[1] then
    return release(self, payment, { state = "undecided", message = "its intent is missing from the journal" })
  end
  settle(self, payment, entries[1].intent)
end

-- A refusal that was not the service's: by a guard rail, a lost lease, or what concerns all payments alike, such as a
-- journal that cannot be written or a credentials function that says nothing.
local function not_admitted(self, payment, err)
  if err.kind == "config" or err.kind == "closed" then
    self.problem = err
  elseif err.kind == "throttled" then
    release(self, payment, { state = "waiting", due_in = (err.retry_after or 1) * 1000, message = err.message })
  elseif err.code == "guard.serial" then
    release(self, payment, { state = "waiting", due_in = 500, message = err.message })
  elseif err.code ~= "payouts.lease" then
    release(self, payment, { state = "failed", message = err.message })
  end
end

local function pay(self, payment)
  if payment.state == "sent" then return settle_abandoned(self, payment) end
  local info = {}
  local value, err = clients.pay(self.client, payment.operation, payment.params, { info = info }, payment)
  local intent = info.intent
  if info.journal_error then self.problem = info.journal_error end
  local is_open = value == nil and not self.problem
  if not (intent and intent.id) then return is_open and not_admitted(self, payment, err) end
  if is_open and (err.outcome == "unknown" or payment.state == "sent") then return settle(self, payment, intent) end
  self.journal:attach(intent.id, nil)
end

-- More payments to send: first what was left behind, then what waits. Returns whether there is any work left at all.
local function refill(self)
  local now = self.clock()
  if now < self.refill_at then return self.left end
  local took, problem = self.journal.db:transaction(function(tx)
    local taken = {}
    if now >= self.look_for_abandoned_at then
      taken = queue.take_abandoned(tx, self, self.concurrency)
      if #taken == 0 then self.look_for_abandoned_at = now + math.min(1000, self.lease_ms) end
    end
    if #taken == 0 then taken = queue.take_waiting(tx, self, self.concurrency) end
    local left = #taken
    if left == 0 then left = queue.left(tx, self.queue, self.account) end
    return taken, left
  end)
  if not took then
    self.problem = problem
    return 0
  end
  self.left = problem
  if #took == 0 then self.refill_at = now + self.idle_ms end
  for _, payment in ipairs(took) do
    payment.worker = self
    self.hand[#self.hand + 1] = setmetatable(payment, Payment)
  end
  return self.left
end

local function next_payment(self)
  while not self.stopping and not self.problem do
    local payment = table.remove(self.hand, 1)
    if payment then return payment end
    local left = refill(self)
    if #self.hand == 0 then
      if left == 0 then return nil end
      schedule.sleep(self.idle_ms) -- others are at work on the rest, or it is not due yet
    end
  end
end

local function work(self)
  local payment = next_payment(self)
  while payment do -- Lua 5.1 does not wait within the iterator of a for
    pay(self, payment)
    payment = next_payment(self)
  end
end

-- Whether any of the tasks is at work. When one has raised, the others end what they have begun.
local function at_work(self, tasks)
  local working = false
  for _, task in ipairs(tasks) do
    if task.failed then self.stopping = true end
    working = working or not task.done
  end
  return working
end

-- What happens now and then while the tasks work: leases are renewed, and progress is told.
local function attend(self, tasks)
  local renew_at = self.clock() + self.lease_ms / 3
  while at_work(self, tasks) do
    if self.clock() >= renew_at then
      renew_at = self.clock() + self.lease_ms / 3
      self.journal.db:transaction(function(tx) queue.renew(tx, self) end)
    end
    self.tell()
    local rest = self.clock() + self.progress_ms
    while at_work(self, tasks) and self.clock() < rest do schedule.sleep(20) end
  end
  self.tell()
end

--- Runs a worker until nothing is left to do. Returns nothing, or what kept it from going on.
function M.run(self)
  local ok, problem = self.journal.db:transaction(function(tx)
    queue.reclaim(tx, self)
    return true
  end)
  if not ok then return problem end
  self.hand, self.look_for_abandoned_at, self.refill_at = {}, 0, 0
  schedule.run(function()
    local tasks = {}
    for i = 1, self.concurrency do
      tasks[i] = schedule.spawn(work, self)
      tasks[i].heard = true -- what it raises is raised below, when the others have ended
    end
    attend(self, tasks)
    for _, task in ipairs(tasks) do schedule.join(task) end
  end)
  return self.problem
end

return M

-- SPDX-License-Identifier: MIT
--- Payouts: a queue of payments, each made once.
--
--     local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "host-1" })
--     assert(payouts:add("invoice-1017", "sub_account.transfer", { toAccount = "desk01", ... }))
--     local report = assert(payouts:run())
--
-- A key names one payment: with other content it is an error. Account, queue and key make the id by which the service
-- knows a payment, so each attempt carries one id. A payment whose answer was lost is sent again only when
-- reconciling says that it was not made.

local add = require "purser.desk.payouts.add"
local views = require "purser.client.util.views"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local history_check = require "purser.desk.payouts.history_check"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"
local runs = lazy "purser.desk.payouts.runs"
local schedule = require "purser.schedule"
local worker = require "purser.desk.payouts.worker"
local lists = lazy "purser.desk.payouts.list"
local plans = lazy "purser.desk.payouts.plan"
local retry = lazy "purser.desk.payouts.retry"

---@class purser.Payouts
local Payouts = { __name = "purser.payouts" }
Payouts.__index = Payouts

---@class purser.modules.payouts
---@field NO_PAYMENT string  the line of a list that was written without payments; a list that was cut does not have it
local M = { NO_PAYMENT = "# no payments: nothing is to be moved" }

--- Returns a payment's parameters as they travel, with the queue's id; or nil and an error.
---@param account string     as of client:account()
---@param queue_name string
---@param key string         of the payment
---@param operation string   full name
---@param params table
---@return table<string, string>|nil params, purser.Error|nil err
function M.params(account, queue_name, key, operation, params)
  local payment, err = add.prepare({ account = account, queue = queue_name }, key, operation, params)
  return payment and payment.params, err
end

--- Adds payments, all or none.
---@param list { key: string, operation: string, params: table }[]
---@return { added: integer, repeated: integer }|nil counts, purser.Error|nil err
function Payouts:add_all(list) return add.add_all(self, list) end

--- Adds one payment. Returns whether it is new; or nil and an error.
---@param key string        names the payment for good
---@param operation string  full name of an operation that moves funds
---@param params table
---@return boolean|nil is_new, purser.Error|nil err
function Payouts:add(key, operation, params)
  local counts, err = self:add_all { { key = key, operation = operation, params = params } }
  return counts and counts.added == 1, err
end

local states = { state = { "waiting", "taken", "sent", "done", "failed", "undecided", "dropped" } }

---@alias purser.payment_states "waiting"|"taken"|"sent"|"done"|"failed"|"undecided"|"dropped"

---@class purser.QueueCounts  how many payments of a queue have each state
---@field account string
---@field queue string
---@field total integer
---@field waiting integer
---@field taken integer      a worker has it, and has not sent it
---@field sent integer       its end is not known yet, or it was rejected and is looked for by its id
---@field done integer
---@field failed integer     rejected, and where it carries an id not found by it
---@field undecided integer  a person must look
---@field dropped integer    given up by a person
---@field blocked integer    waiting until a person acts

---@class purser.PayoutsReport: purser.QueueCounts
---@field undecided_payments purser.Payment[]
---@field blocked_payments purser.Payment[]
---@field run string|nil  the number of the run that ended
---@field of_run purser.QueueCounts|nil  of the run's payments
---@field taken_over { key: string, worker: string }[]|nil  of `run`: payments whose worker ended before they were over,
--- and that worker; those that may have been sent were looked for first
---@field next_due_at integer|nil  epoch ms: the first due time of the payments that wait without a block, or that
--- got "not now" for longer than a run waits

--- Returns how many payments are in each state, and those that need a person.
---@return purser.PayoutsReport|nil report, purser.Error|nil err
function Payouts:report()
  return planned.within(self.journal, function(tx)
    local report = queue.counts(tx, self)
    report.undecided_payments = queue.list(tx, self, "undecided")
    report.blocked_payments = queue.list(tx, self, "blocked")
    report.next_due_at = queue.next_due(tx, self).due_at
    return report
  end, true)
end

--- Returns the payments in a state, or all.
---@param state purser.payment_states|nil
---@return purser.Payment[]|nil payments, purser.Error|nil err
function Payouts:list(state)
  local problem, option, hint = option_schema.check({ state = state }, states, "payouts:list:")
  if problem then return nil, errors.option(problem, option, hint) end
  return planned.within(self.journal, function(tx)
    return queue.with_names(tx, self, queue.list(tx, self, state))
  end, true)
end

--- Returns one payment, or false when no payment has this key; or nil and an error.
---@param key string
---@return purser.Payment|false|nil payment, purser.Error|nil err
function Payouts:find(key)
  return planned.within(self.journal, function(tx) return queue.find(tx, self, key) or false end, true)
end

--- Puts a failed, undecided or dropped payment back, when another look shows that the payment was not made. Returns
--- true, or false without such a payment; or nil and an error with the `code` "payouts.done" (made, by `record`, and
--- marked as done), "payouts.undecided" (unknown; `candidates`) or "payouts.not_checked" (no look is possible).
---@param key string|purser.Payment  as a person saw it: a payment that changed since stays as it is
---@param options { force: boolean|nil, by: string|nil }|nil  force = true: a person, `by`, knows that it was not made;
--- no look
---@return boolean|nil was_put_back, purser.Error|nil err
function Payouts:retry(key, options) return retry.retry(self, key, options) end

--- Gives a waiting, failed or undecided payment up, when another look shows that it was not made. Its key stays used.
--- Returns as `retry` does.
---@param key string|purser.Payment
---@param options { force: boolean|nil, by: string|nil }|nil
---@return boolean|nil was_dropped, purser.Error|nil err
function Payouts:drop(key, options) return retry.drop(self, key, options) end

--- Writes a person's word that a failed or undecided payment was made. Returns whether there was such a payment; or nil
--- and an error.
---@param key string|purser.Payment
---@param record_id string  the id that the service shows
---@param options { by: string|nil }|nil  the person. Default: USER of the environment
---@return boolean|nil was_settled, purser.Error|nil err
function Payouts:settle(key, record_id, options) return retry.settle(self, key, record_id, options) end

--- Returns the queue's runs with payments left, and their living workers.
---@return purser.PayoutsRun[]|nil runs, purser.Error|nil err
function Payouts:runs()
  return planned.within(self.journal, function(tx) return runs.open(tx, self) end, true)
end

--- Puts payments back as `retry` does, with one reading of each history. Returns the keys that were put back, and for
--- each other key the error of `retry`, or false where there was no such payment.
---@param keys (string|purser.Payment)[]
---@param options { force: boolean|nil, by: string|nil }|nil
---@return string[]|nil put_back, table<string, purser.Error|false>|purser.Error others  nil and an error for no list
function Payouts:retry_all(keys, options)
  if type(keys) ~= "table" then return nil, errors.argument("keys", "payouts:retry_all has no list of keys") end
  return retry.retry_all(self, keys, options)
end

---@class purser.PayoutsProgress
---@field total integer
---@field finished integer      done, failed, undecided or dropped
---@field done integer
---@field failed integer
---@field undecided integer
---@field blocked integer       waiting until a person acts
---@field taken_over integer   payments of workers that ended, which this run continues
---@field waiting_for string|nil  why nothing is sent now
---@field rate integer          finished by all workers, per second of this run
---@field seconds_left integer|nil

--- Plans a list of payments, or all that the queue has still to pay, in one reading of the journal, and moves no funds.
--- Each payment of list and queue that is not over stands in one section of the plan.
---@param options purser.QueuePlanOptions|nil
---@return purser.PaymentsPlan|nil plan, purser.Error|nil err
function Payouts:plan(options)
  local problem, option, hint = option_schema.check(options or {}, { payments = "table", unchecked = "boolean" },
    "option of payouts:plan")
  if problem then return nil, errors.option(problem, option, hint) end
  local ok, err = planned.identify(self.client, true)
  if not ok then return nil, err end
  return plans.plan(self.client, options and options.payments, { queue = self, journal = self.journal,
    unchecked = options and options.unchecked })
end

--- Takes, sends and reconciles until no payment is left that is due within five minutes. A plan's run makes what the
--- plan has to send and nothing else; where the queue changed since, nothing is sent (`code` "payouts.changed_since").
--- Without a plan it makes what was added and is no plan's; with { all = true } everything. Returns the report; or nil
--- and the error that ended the run; it may be run again.
---@param what purser.PaymentsPlan|{ all: boolean }|nil
---@return purser.PayoutsReport|nil report, purser.Error|nil err
function Payouts:run(what)
  local plan, problem, option = what == nil and {} or what, nil, nil
  if type(plan) ~= "table" or type(plan.send) ~= "table" then
    problem, option = option_schema.check(plan, { all = "boolean" }, "option of payouts:run")
  elseif plan.bad > 0 then
    return nil, errors.argument("plan", "payments of the plan have problems", "correct them, and plan again")
  end
  if problem then
    return nil, errors.option(problem, option, "give a plan of payouts:plan, or { all = true }; the options of "
      .. "a worker belong to payouts.new")
  end
  local ok, err = planned.identify(self.client)
  if not ok then return nil, err end
  local unlock, mark, report
  unlock, problem = history_check.lock_worker(self)
  if not unlock then return nil, problem end
  if plan.send then
    mark, problem = runs.begin(self, plan)
    if not mark then
      unlock()
      return nil, problem
    end
  end
  self.planned_wait = plan.wait
  ok, report, err = schedule.protect(worker.run, self, mark, plan.all)
  self.current, self.planned_wait = nil, nil
  if mark then schedule.protect(runs.leave, self, mark) end
  unlock()
  if not ok then error(report, 0) end
  return report, err
end

--- Lets `run` end with what it has begun. Called by the progress function, or by another task.
function Payouts:stop()
  if self.current then self.current.stopping = true end
end

local NARROW = 60

--- Returns the progress as a line for a terminal: clauses, the most important first, behind a bar where there is room.
---@param progress purser.PayoutsProgress
---@param columns integer|nil  of the terminal. Default: as many as there need to be
---@return string
function M.progress_line(progress, columns)
  local percent = progress.total > 0 and math.floor(progress.finished * 100 / progress.total) or 100
  local full, is_narrow = math.floor(percent / 5), columns ~= nil and columns < NARROW
  local parts = { ("%d of %d"):format(progress.finished, progress.total)
    .. (is_narrow and "" or (" payments (%d %%)"):format(percent)) }
  if progress.waiting_for then parts[2] = "waits: " .. progress.waiting_for end
  for _, name in ipairs { "failed", "undecided", "blocked" } do
    if (progress[name] or 0) > 0 then parts[#parts + 1] = ("%d %s"):format(progress[name], name) end
  end
  if (progress.taken_over or 0) > 0 then parts[#parts + 1] = progress.taken_over .. " taken over" end
  if progress.seconds_left then parts[#parts + 1] = ("%d s left"):format(progress.seconds_left) end
  parts[#parts + 1] = ("%d/s"):format(progress.rate)
  local line, bar = table.concat(parts, ", "), ("[%s%s] "):format(("#"):rep(full), ("."):rep(20 - full))
  return columns and #bar + #line > columns and line or bar .. line
end

--- Returns the queues of a journal, of every account, with their counts.
---@param journal purser.Journal
---@return purser.QueueCounts[]|nil queues, purser.Error|nil err
function M.queues(journal)
  if type(journal) ~= "table" or not journal.db then
    return nil, errors.argument(nil, "payouts.queues has no journal", "give one that purser.journal.open made")
  end
  return planned.within(journal, function(tx) return queue.queues(tx) end, true)
end

---@class purser.PayoutsOptions
---@field client purser.Client
---@field journal purser.Journal
---@field queue string|nil        its name. Default: "default"
---@field worker string|nil       belongs to one running process at a time. Default: a new name
---@field concurrency integer|nil how many payments are under way at once. Default: 16
---@field lease_ms integer|nil    how long a worker that is gone keeps what it took. Default: 60000
---@field attempts integer|nil    how often a payment is sent. Default: 20
---@field retry_ms integer|nil    the first pause between two attempts. Default: 250
---@field idle_ms integer|nil     pause between two looks for work. Default: 100
---@field progress fun(progress: purser.PayoutsProgress)|nil  called now and then
---@field progress_ms integer|nil how often. Default: 500
---@field history_check "unless_newest"|"never"|nil  whether a journal is compared with the histories first. Default:
--- "unless_newest"
---@field witness string|nil      a file that shows later whether the journal is the newest; needs `worker`
---@field look_back_days integer|nil  how far back payments are looked for. Default: 90

local whole = { 1, option_schema.EXACT }
local DAYS = { 1, 36500 }
local rules = {
  client = "table", journal = "table", concurrency = whole,
  queue = option_schema.NAME, worker = option_schema.NAME,
  lease_ms = { 1, queue.MAX_LEASE_MS }, witness = "string", look_back_days = DAYS,
  history_check = { "unless_newest", "never" },
  attempts = whole, retry_ms = whole, idle_ms = whole, progress = "function", progress_ms = whole,
}
local defaults = {
  queue = "default", concurrency = 16, lease_ms = 60000, attempts = 20, retry_ms = 250, idle_ms = 100,
  progress_ms = 500, look_back_days = 90, history_check = "unless_newest",
}

---@class purser.QueuePlanOptions
---@field payments purser.PlannedPayment[]|nil  the list; nil: what the queue has still to pay
---@field unchecked boolean|nil  an address of another form, or a wrong checksum, is only warned of. Default: false

--- Reads a list of payments from CSV: a header with `key` and names of parameters, then a payment a line, with what is
--- wrong in `problems`. Nil and a message where the file is no list of payments.
---@param path string
---@param operation? string  that of payments without a column `operation`
---@param decimal_mark? "point"|"comma"  of amounts such as 12.500, which have two readings in a file of semicolons
---@param text? string  the text of the list, where it is no file's; then `path` is its name in messages
---@return purser.PlannedPayment[]|nil payments, string|nil message
function M.read(path, operation, decimal_mark, text) return lists.read(path, operation, decimal_mark, text) end

--- Plans a list of payments without a queue: checks each payment, completes networks, finds possible mistakes (equal
--- payments, keys that differ only in case, repeats of the last 7 days, an amount far above the others, texts that a
--- spreadsheet changed), sums and balances. Moves no funds.
---@param client purser.Client
---@param payments purser.PlannedPayment[]
---@param options? purser.PaymentsPlanOptions
---@return purser.PaymentsPlan|nil plan, purser.Error|nil err
function M.plan(client, payments, options) return plans.plan(client, payments, options) end

--- Opens a queue of payments, as one worker; see docs/desk/payouts.md. A worker's name belongs to one running process
--- at a time; the next process of the name continues at once, and others wait until its leases end.
---@param options purser.PayoutsOptions
---@return purser.Payouts|nil payouts, purser.Error|nil err
function M.new(options)
  local problem, option, hint = option_schema.check(options, rules, "payouts option")
  if problem then return nil, errors.config(problem, hint, option) end
  local self = {}
  for name, value in pairs(defaults) do self[name] = value end
  for name, value in pairs(options) do self[name] = value end
  if not self.client or not self.journal then
    return nil, errors.config("payouts.new has no client, or no journal", "give both")
  end
  if not planned.has_journal(self.client, self.journal) then
    return nil, errors.config("the client has another journal, so that it would send what is not recorded",
      "give both the same journal")
  end
  if self.witness then
    if not self.worker then
      return nil, errors.config("a witness file has no worker of a name that stays the same", "give the option worker",
        "worker")
    end
    local message
    self.witness_db, message = history_check.open_witness(self.witness)
    if not self.witness_db then
      return nil, errors.config("the witness file cannot be opened: " .. message,
        "name the file that was next to this journal", "witness")
    end
  end
  if not self.worker then
    local name, message = core.random_token(16)
    if not name then return nil, errors.config("no name could be made for the worker: " .. message) end
    self.worker = name
  end
  self.account = self.client:account()
  local ok, err = runs.prepare(self.journal)
  if not ok then return nil, err end
  return setmetatable(self, Payouts)
end

views.check_colon(Payouts, "payouts")

return M

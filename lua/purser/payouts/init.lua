-- SPDX-License-Identifier: MIT
--- Payouts: a queue of payments, each made once.
--
--     local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "host-1" })
--     assert(payouts:add("invoice-1017", "sub_account.transfer", { toAccount = "desk01", ... }))
--     local report = assert(payouts:run())
--
-- A payment has a key of its own: the same key with the same content is one payment, with other content an error. The
-- id by which the service distinguishes payments comes from account, queue and key, so every attempt carries the same.
-- A payment is recorded before it is sent; one whose answer was lost is reconciled, and sent again only when
-- reconciling says that it was not done; what cannot be decided is listed. A journal that cannot show that it is the
-- newest is compared with the histories first. A run that was killed is continued by the next. Over PostgreSQL any
-- number of workers share a queue.

local colon = require "purser.util.colon"
local core = require "purser.core"
local digest = require "purser.util.digest"
local errors = require "purser.call.errors"
local intents = require "purser.write.intent"
local lazy = require "purser.util.lazy"
local operations = require "purser.api.operations"
local option_schema = require "purser.util.option_schema"
local private = require "purser.util.private"
local progress = require "purser.payouts.progress"
local plain_text = require "purser.util.plain_text"
local queue = require "purser.payouts.queue"
local reconcile = require "purser.write.reconcile"
local retry = require "purser.payouts.retry"
local schedule = require "purser.schedule"
local validate = require "purser.call.validate"
local witness = require "purser.payouts.witness"
local worker = require "purser.payouts.worker"
local lists = lazy "purser.payouts.list"
local names_of = lazy "purser.util.names_of"
local plans = lazy "purser.payouts.plan"
local suggest = lazy "purser.util.suggest"

---@class purser.Payouts
local Payouts = { __name = "purser.payouts" }
Payouts.__index = Payouts

---@class purser.modules.payouts
local M = {}

local function problem_of(problem)
  if errors.is(problem) then return nil, problem end
  return nil, intents.journal_error("not_sent", problem,
    "make the journal readable and writable, then run it again: what was sent is found by it")
end

-- Why this client must not use the queue, where other accounts have payments in it: it has none of its own, or its
-- account is but its API key, and with another key the same list would be paid once more.
local function other_account(self, tx, is_empty)
  if self.has_own_account and not is_empty then return nil end
  local others = queue.other_accounts(tx, self.queue, self.account)
  if not others[1] then return nil end
  local is_named = self.has_own_account
  return errors.config(('the queue "%s" holds %d payments of account "%s", and this client is account "%s"%s'):format(
    self.queue, others[1].payments, others[1].account, self.account, is_named and "" or " (a digest of its API key)"),
    ('where that is one account with a new key, give the client account = "%s", else %s'):format(others[1].account,
    is_named and "add its payments first" or "give each client an account of its own"))
end

-------------------------------------------------------------------------------------------------------- adding

local function argument_error(key, message, hint)
  return nil, errors.argument("key", ('payment "%s": %s'):format(tostring(key), message), hint)
end

-- The id by which the service distinguishes a payment: always the same for one account, queue and key, so that what was
-- paid is found by it even when the journal is lost. Its content is not part of it, so other content under a key that
-- was paid is found as well.
local function made_id(self, key)
  local parts = { "purser payment" }
  for _, part in ipairs { self.account, self.queue, key } do parts[#parts + 1] = ("%d:%s"):format(#part, part) end
  return digest.of(table.concat(parts, "\n")):sub(1, 32)
end

-- A payment ready to be kept: its parameters checked, its id made.
local function prepare(self, key, operation, params)
  if type(key) ~= "string" then
    return nil, errors.argument("key", ("the key of a payment is a %s"):format(type(key)),
      "give a text, then the operation and the parameters: payouts:add(key, operation, params)")
  end
  if key == "" or #key > 200 or key:find "%c" then
    return argument_error(key, "this is no key",
      "give a text of 1 to 200 characters, none of which is a control character")
  end
  if plain_text.has_hidden(key) then
    return argument_error(plain_text.clean(key), "the key begins or ends with a blank, or holds characters that cannot "
      .. "be seen; with and without them it would be paid twice", "remove them")
  end
  local row = operations.by_name[operation]
  if not row or row.effect ~= "transfer" then
    local given = type(operation) == "string" and ('"%s"'):format(operation) or "a " .. type(operation)
    return argument_error(key, given .. " is no operation that moves funds",
      "give one such as wallet.withdraw or broker.transfer")
  end
  local values, err = validate.check(row, params)
  if not values then
    err.message = ('payment "%s": %s'):format(key, err.message)
    return nil, err
  end
  for _, param in ipairs(row.params) do
    if param[2] == "md5" and values[param[1]] then
      return argument_error(key, "a password cannot be kept in the queue",
        "use an operation without one, such as wallet.withdraw")
    end
  end
  local client_id, is_given = row.reconcile.generated_id and row.reconcile.client_id, false
  if client_id then
    is_given = values[client_id] ~= nil and values[client_id] ~= made_id(self, key) -- as a plan has it
    values[client_id] = values[client_id] or made_id(self, key)
  end
  return { key = key, operation = operation, params = values, id = client_id and values[client_id],
    given_id = is_given and client_id or nil, content = intents.content(row, values) }
end

-- Which parameters differ from those in the queue, as a text.
local function difference(known, payment)
  local parts = {}
  if known.operation ~= payment.operation then
    parts[1] = ("operation was %s, is %s"):format(known.operation, payment.operation)
  end
  for _, param in ipairs(operations.by_name[payment.operation].params) do
    local before, now = known.params[param[1]], payment.params[param[1]]
    if before ~= now and param[1] ~= operations.by_name[payment.operation].reconcile.client_id then
      parts[#parts + 1] = ("%s was %s, is %s"):format(param[1], tostring(before or "absent"), tostring(now or "absent"))
    end
  end
  return #parts > 0 and ": " .. table.concat(parts, ", ") or ""
end

-- An id that the user gave must be of one payment, in whatever queue, and of no other call: the record of another would
-- pass for it. Ends the transaction where it is not.
local function check_id(self, tx, payment)
  for _, other in ipairs(payment.given_id and queue.with_client_id(tx, self.account, payment.id) or {}) do
    local is_itself = other.queue == self.queue and other.key == payment.key
    if other.name == payment.given_id and not is_itself then
      local whose = other.queue ~= "" and ('is that of payment "%s"'):format(other.key) or "is that of a call"
      local _, err = argument_error(payment.key, ('its %s "%s" %s; give each its own'):format(payment.given_id,
        payment.id, whose))
      tx:reject(err)
    end
  end
end

-- Adds within a transaction. Whether it is new.
local function add(self, tx, payment)
  check_id(self, tx, payment)
  if queue.insert(tx, self.queue, self.account, payment) then return true end
  local known = queue.find(tx, self.queue, self.account, payment.key)
  if not known then tx:reject(select(2, argument_error(payment.key, "its id is that of another call"))) end
  if known.content ~= payment.content or known.operation ~= payment.operation
    or payment.given_id and known.client_id ~= payment.id then
    local _, err = argument_error(payment.key, "is in the queue with other content" .. difference(known, payment)
      .. ((known.state == "failed" or known.state == "waiting") and "; to correct it, replace it "
      .. "(payouts:replace, `purser payouts replace`)" or "") .. "; give a new payment a key of its own")
    err.code, err.details = "payouts.other_content", { key = payment.key }
    tx:reject(err)
  end
  return false
end

-- Whether a table has payments where a list has none, which would not be added: it is one payment itself, or a list
-- with a gap or with a payment under a name.
local function hides_payments(list)
  local count = 0 -- not #list, which may be any end of a list with gaps
  for i in ipairs(list) do count = i end
  for place, value in pairs(list) do
    if type(place) == "number" and place > count or place == "key" then return true end
    if type(place) ~= "number" and type(value) == "table" then return true end
  end
  return false
end

--- Returns what will travel for a payment of a queue, with the id that the queue gives; or nil and an error.
---@param account string     as of client:account()
---@param queue_name string
---@param key string         of the payment
---@param operation string   full name
---@param params table
---@return table<string, string>|nil params, purser.Error|nil err
function M.params(account, queue_name, key, operation, params)
  local payment, err = prepare({ account = account, queue = queue_name }, key, operation, params)
  return payment and payment.params, err
end

local ADD_LOCK = 7078803

--- Adds payments, all or none: a list of { key =, operation =, params = }. Returns { added =, repeated = }; or nil and
--- an error.
---@param list { key: string, operation: string, params: table }[]
---@return { added: integer, repeated: integer }|nil counts, purser.Error|nil err
function Payouts:add_all(list)
  local prepared = {}
  if type(list) ~= "table" then
    return nil, errors.argument(nil, ("the payments are a %s"):format(type(list)), "give a list of them")
  end
  if hides_payments(list) then
    return nil, errors.argument(nil, "the payments are no list", "give a list without gaps: { { key =, operation =, "
      .. "params = }, ... }")
  end
  for i, entry in ipairs(list) do
    if type(entry) ~= "table" then
      return nil, errors.argument(nil, ("payment %d of the list is a %s"):format(i, type(entry)),
        "give { key =, operation =, params = }")
    end
    local payment, err = prepare(self, entry.key, entry.operation, entry.params)
    if not payment then
      err.details = { key = entry.key, index = i }
      return nil, err
    end
    prepared[i] = payment
  end
  local result, problem = self.journal.db:transaction(function(tx)
    tx:lock(ADD_LOCK)
    local rejection = not self.has_own_account and other_account(self, tx, false)
    if rejection then tx:reject(rejection) end
    local counts = { added = 0, repeated = 0 }
    for _, payment in ipairs(prepared) do
      local word = add(self, tx, payment) and "added" or "repeated"
      counts[word] = counts[word] + 1
    end
    return counts
  end)
  if not result then return problem_of(problem) end
  return result
end

--- Adds one payment. Returns true when it is new, false when it was there; or nil and an error.
---@param key string        yours; it names the payment for good
---@param operation string  full name of an operation that moves funds
---@param params table
---@return boolean|nil is_new, purser.Error|nil err
function Payouts:add(key, operation, params)
  local counts, err = self:add_all { { key = key, operation = operation, params = params } }
  if not counts then return nil, err end
  return counts.added == 1
end

------------------------------------------------------------------------------------------------------- looking

local function read(self, fn)
  local result, problem = self.journal.db:transaction(fn)
  if result == nil then return problem_of(problem) end
  return result
end

local states = { waiting = true, taken = true, sent = true, done = true, failed = true, undecided = true,
  dropped = true }

---@alias purser.payment_states "waiting"|"taken"|"sent"|"done"|"failed"|"undecided"|"dropped"

---@class purser.PayoutsReport
---@field total integer
---@field waiting integer
---@field taken integer      a worker has it, and has not sent it
---@field sent integer       sent, and its end is not known yet, or rejected and looked for by its id
---@field done integer
---@field failed integer     rejected, and where it carries an id not found by it
---@field undecided integer  a person must look
---@field dropped integer    given up by a person
---@field undecided_payments purser.Payment[]  those
---@field blocked integer    of those that wait: nothing can be done before a person has acted
---@field blocked_payments purser.Payment[]  those
---@field other_accounts { account: string, payments: integer }[]  who else has payments in a queue of this name

--- How many payments are in each state, and those that need a person.
---@return purser.PayoutsReport|nil report, purser.Error|nil err
function Payouts:report()
  return read(self, function(tx)
    local report = queue.counts(tx, self.queue, self.account)
    report.undecided_payments = queue.list(tx, self.queue, self.account, "undecided")
    report.blocked_payments = queue.blocked(tx, self.queue, self.account)
    report.other_accounts = queue.other_accounts(tx, self.queue, self.account)
    return report
  end)
end

--- The payments in a state, or all.
---@param state purser.payment_states|nil
---@return purser.Payment[]|nil payments, purser.Error|nil err
function Payouts:list(state)
  if state ~= nil and not states[state] then
    return nil, errors.option(("payouts:list: there is no state %s%s"):format(type(state) == "string"
      and ('"%s"'):format(state) or "that is a " .. type(state), suggest.among(state, states)), "state",
      "give one of " .. table.concat(names_of(states), ", "))
  end
  return read(self, function(tx) return queue.list(tx, self.queue, self.account, state) end)
end

--- One payment, or false when no payment has this key; or nil and an error.
---@param key string
---@return purser.Payment|false|nil payment, purser.Error|nil err
function Payouts:find(key)
  return read(self, function(tx) return queue.find(tx, self.queue, self.account, key) or false end)
end

--- Puts a payment back that failed or was left undecided, when another look shows that it was not made. Returns whether
--- there was such a payment; or nil and an error, whose `code` is "payouts.done" (it was made, and is marked so; the
--- record is in `record`), "payouts.undecided" (it is unknown; `candidates`) or "payouts.not_checked" (it cannot be
--- looked for).
---@param key string
---@param options { force: boolean|nil }|nil  force = true: a person knows that it was not made; nothing is looked for
---@return boolean|nil was_put_back, purser.Error|nil err
function Payouts:retry(key, options)
  return retry.retry(self, key, options, function(fn) return read(self, fn) end)
end

--- Gives a payment up that waits, failed or is undecided, when another look shows that it was not made. Its key stays
--- used. Returns as `retry` does.
---@param key string
---@param options { force: boolean|nil }|nil
---@return boolean|nil was_dropped, purser.Error|nil err
function Payouts:drop(key, options)
  return retry.drop(self, key, options, function(fn) return read(self, fn) end)
end

--- Gives such a payment another content, when another look shows that it was not made: the next run makes it. Returns
--- as `retry` does.
---@param key string
---@param operation string  full name of an operation that moves funds
---@param params table
---@param options { force: boolean|nil }|nil
---@return boolean|nil was_replaced, purser.Error|nil err
function Payouts:replace(key, operation, params, options)
  local made, err = prepare(self, key, operation, params)
  if not made then return nil, err end
  return retry.replace(self, key, made, options, function(fn)
    return read(self, function(tx)
      tx:lock(ADD_LOCK)
      check_id(self, tx, made)
      return fn(tx)
    end)
  end)
end

--- Puts many payments back, as `retry` does each: one reading of a history serves all that are looked for there.
--- Returns the keys of those that were put back; and for every other key the error of `retry`, or false where no such
--- payment had failed or was undecided.
---@param keys string[]
---@param options { force: boolean|nil }|nil
---@return string[] put_back, table<string, purser.Error|false> others
function Payouts:retry_all(keys, options)
  return retry.retry_all(self, keys, options, function(fn) return read(self, fn) end)
end

------------------------------------------------------------------------------------------------------- running

---@class purser.PayoutsProgress
---@field total integer
---@field finished integer      done, failed, undecided or dropped
---@field done integer
---@field failed integer
---@field undecided integer
---@field blocked integer       of those that wait: nothing can be done before a person has acted
---@field waiting_for string|nil  why nothing is sent now
---@field rate integer          finished by all workers, per second of this run
---@field seconds_left integer|nil

-- Locks the worker's name where there is a witness. Returns a function that unlocks it; or nil and a problem.
local function lock_worker(self)
  if not self.witness_db then return function() end end
  local unlock, message = witness.lock_worker(self)
  if unlock then return unlock end
  if unlock == nil then return nil, "the witness file: " .. tostring(message) end
  return nil, errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.worker",
    message = ('payouts: another run of worker "%s" is under way'):format(self.worker),
    hint = "wait until it ends, or give this one a worker name of its own" }
end

---@class purser.payouts.Run  what one run holds while it works; what the queue was made with is read through it
---@field payouts purser.Payouts
---@field problem any        what keeps it from continuing
---@field stopping boolean   it begins nothing more
local Run = {}
function Run.__index(self, name) return self.payouts[name] end

local function run(payouts)
  local self = setmetatable({ payouts = payouts, stopping = false }, Run)
  self.report_progress, payouts.current = progress.reporter(self), self
  local ok, problem = self.journal.db:transaction(function(tx)
    local rejection = other_account(self, tx, queue.is_empty(tx, self.queue, self.account))
    if rejection then tx:reject(rejection) end
    return true
  end)
  if not ok then return problem_of(problem) end
  problem = worker.run(self)
  if problem then return problem_of(problem) end
  return payouts:report()
end

--- Works until no payment is left to make: takes, sends, reconciles. Returns the report; or nil and the error that kept
--- it from continuing; then it may be run again.
---@param ... any  none: options belong to payouts.new
---@return purser.PayoutsReport|nil report, purser.Error|nil err
function Payouts:run(...)
  if select("#", ...) > 0 then
    return nil, errors.argument(nil, "payouts:run takes no arguments", "give the options to payouts.new")
  end
  local unlock, problem = lock_worker(self)
  if not unlock then return problem_of(problem) end
  local ok, report, err = schedule.protect(run, self)
  self.current = nil
  unlock()
  if not ok then error(report, 0) end
  return report, err
end

--- Makes `run` end as soon as what it has begun has ended; to be called by the progress function, or by another task.
function Payouts:stop()
  if self.current then self.current.stopping = true end
end

--- One line that reports the progress, for a terminal.
---@type fun(progress: purser.PayoutsProgress): string
M.progress_line = progress.line

---@class purser.QueueCounts  how many payments of a queue have each state
---@field account string
---@field queue string
---@field waiting integer
---@field taken integer
---@field sent integer       their end is not known yet
---@field done integer
---@field failed integer
---@field undecided integer  a person must look
---@field dropped integer

--- Returns the queues of a journal, of every account, with how many payments each state has.
---@param journal purser.Journal
---@return purser.QueueCounts[]|nil queues, purser.Error|nil err
function M.queues(journal)
  local list, problem = journal.db:transaction(queue.queues)
  if not list then return problem_of(problem) end
  return list
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
---@field reconcile purser.ReconcileOptions|nil
---@field history_check "unless_newest"|"never"|nil  whether a journal is compared with the histories first. Default:
--- "unless_newest"
---@field witness string|nil      a file that shows later whether the journal is the newest; needs `worker`
---@field look_back_days integer|nil  how far back payments are looked for. Default: 90
---@field unidentified "undecided"|"pay"|nil  a payment whose operation has no id of ours. Default: "undecided"

local whole = { 1, option_schema.EXACT }
local DAYS = { 1, 36500 }
local rules = {
  client = "table", journal = "table", queue = "string", worker = "string", concurrency = whole,
  lease_ms = { 1, queue.MAX_LEASE_MS }, witness = "string", look_back_days = DAYS,
  history_check = { "unless_newest", "never" }, unidentified = { "undecided", "pay" },
  attempts = whole, retry_ms = whole, idle_ms = whole, progress = "function", progress_ms = whole, reconcile = "table",
}
local defaults = {
  queue = "default", concurrency = 16, lease_ms = 60000, attempts = 20, retry_ms = 250, idle_ms = 100,
  progress_ms = 500, look_back_days = 90, history_check = "unless_newest", unidentified = "undecided",
}

--- Reads a list of payments from CSV: a header with the names of parameters and `key`, then a payment a line. Each has
--- what is wrong with its line in `problems`. Nil and a message where it is no list of payments.
---@param path string
---@param operation? string  that of payments without a column `operation`
---@return purser.PlannedPayment[]|nil payments, string|nil message
function M.read(path, operation) return lists.read(path, operation) end

--- Plans a list of payments before it is paid: checks each one, completes the names of networks, and finds what may be
--- a mistake (equal ones, keys that differ only in case, what was paid in the last 7 days, an amount far above the
--- others), the sums and the balances. Nothing is sent that moves funds.
---@param client purser.Client
---@param payments purser.PlannedPayment[]
---@param options? purser.PaymentsPlanOptions
---@return purser.PaymentsPlan|nil plan, purser.Error|nil err
function M.plan(client, payments, options) return plans.plan(client, payments, options) end

--- Opens a queue of payments, as one worker; see docs/payouts.md. A worker's name must belong to one running process at
--- a time. One that is started again under its name continues at once with what it had; others wait until its leases
--- end.
---@param options purser.PayoutsOptions
---@return purser.Payouts|nil payouts, purser.Error|nil err
function M.new(options)
  local problem, option, hint = option_schema.check(options, rules, "payouts option")
  if not problem and options.reconcile then problem, option, hint = reconcile.check_options(options.reconcile) end
  for _, name in ipairs { "queue", "worker" } do
    if not problem and options[name] == "" then
      problem, option, hint = ('payouts option "%s" is empty'):format(name), name, "give a name, or leave it out"
    end
  end
  if problem then return nil, errors.config(problem, hint, option) end
  local self = { clock = core.monotonic_ms }
  for name, value in pairs(defaults) do self[name] = value end
  for name, value in pairs(options) do self[name] = value end
  if not self.client or not self.journal then
    return nil, errors.config("payouts.new has no client, or no journal", "give both")
  end
  local state = private.state_of(self.client) -- kept nowhere: a queue is a table that users can read
  if not state or state._journal ~= self.journal then
    return nil, errors.config("the client has another journal, so that it would send what is not recorded",
      "give both the same journal")
  end
  if self.witness then
    if not self.worker then
      return nil, errors.config("a witness file has no worker of a name that stays the same", "give the option worker",
        "worker")
    end
    local message
    self.witness_db, message = witness.open(self.witness)
    if not self.witness_db then
      return nil, errors.config("the witness file cannot be opened: " .. message,
        intents.lock_hint(message) or "name the file that was next to this journal, or one that does not exist yet",
        "witness")
    end
  end
  self.reconcile_options, self.reconcile = self.reconcile, nil
  if not self.worker then
    local name, message = core.random_token(16)
    if not name then return nil, errors.config("no name could be made for the worker: " .. message) end
    self.worker = name
  end
  self.has_own_account = state._account ~= nil -- otherwise it is that of its API key
  self.account = self.client:account()
  return setmetatable(self, Payouts)
end

colon.check(Payouts, "payouts")

return M

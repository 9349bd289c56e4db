-- SPDX-License-Identifier: MIT
-- What the service already holds of a queue, for a journal that may lack its last commits: one that is new, that was
-- restored, or whose connection was opened again. Before the first payment of a kind is sent, the history that would
-- show it is read once, after a pause that makes everything visible that could have been sent just before. Of each
-- payment the question of purser.write.reconcile is asked: which records of this reading may be of it?

local call = require "purser.write.call"
local errors = require "purser.call.errors"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local private = require "purser.util.private"
local reading = require "purser.write.evidence.reading"
local retention = require "purser.history.retention"
local schedule = require "purser.schedule"
local witness = require "purser.payouts.witness"

local M = {}

local DAY = 86400000
local MAX_SLEEP_MS = 1000
local REJECTIONS = 10          -- one after the other, until what was asked for is at fault

--- Lets `ms` pass, by the clock of the client's transport, unless the run ends.
function M.sleep(self, ms)
  while ms > 0 and not self.stopping and not self.problem do
    local slice = math.min(ms, MAX_SLEEP_MS)
    self.client:sleep(slice)
    schedule.sleep(0) -- a transport that blocks lets no other task work while it sleeps
    ms = ms - slice
  end
end

--- Returns how long after a request was stamped its record must be visible (ms).
function M.visible_ms(self)
  local client, options = call.service_of(private.state_of(self.client)), self.reconcile_options or {}
  return reading.visible_ms(client.recv_window, options.visibility_delay_ms or client.visibility_delay_ms)
end

--- Returns the earliest time that is looked at in the history that would show a payment.
function M.earliest(self, reconcile)
  local window, now = operations.by_name[reconcile.lookup].window, self.client:now()
  local earliest = retention.earliest(window, now)
  return math.max(now - self.look_back_days * DAY, earliest and earliest + retention.MARGIN_MS or 0)
end

--- Returns whether an error concerns all calls alike, so that retrying without a change is of no use.
function M.ends_run(err) return err.kind == "config" or err.kind == "closed" end

-- Returns whether a read was rejected for what it asks, as far as one answer shows.
local function is_rejection(err) return err.kind == "argument" or err.kind == "api" and err.outcome == "rejected" end

--- After a read that failed: "ended" when the run ends by it, "rejected" when the service rejects for good; nil when it
--- is to be retried, after a pause. `failures` = { tries, rejections } counts them.
function M.after_failure(self, failures, err)
  if M.ends_run(err) or err.phase == "journal" then
    self.problem = err
    return "ended"
  end
  failures.tries = failures.tries + 1
  failures.rejections = is_rejection(err) and failures.rejections + 1 or 0
  if failures.rejections >= REJECTIONS then return "rejected" end
  M.sleep(self, math.floor(math.min(30000, self.retry_ms * 2 ^ math.min(failures.tries, 10))))
end

------------------------------------------------------------------------------------------- what is known of histories

local function fail(self, message)
  self.problem = self.problem or ("the witness file: " .. tostring(message))
end

local function new_state(self, newest)
  local state = { connection = self.journal.db.handle, newest = newest, sent_at = self.client:now(), rejections = {},
    sleep_ms = newest and 0 or M.visible_ms(self) }
  if newest then state.sent_at = state.sent_at - M.visible_ms(self) end
  self.payouts.history = state
  if self.scope and not newest then
    local ok, message = witness.forget(self)
    if not ok then fail(self, message) end
  end
  return state
end

-- Returns what is known of the histories, for the connection that the journal has now: another one may be to another
-- journal.
local function state_of(self)
  local state = self.history
  if state and state.connection == self.journal.db.handle then return state end
  return new_state(self, false)
end

local function is_of_now(self, state)
  return self.history == state and state.connection == self.journal.db.handle
end

-- Returns the readings of the histories, which are kept next to the journal where that has a witness.
local function readings_of(self, state)
  local store = {}
  function store.load(key)
    if not (self.scope and state.newest) then return nil end
    local kept, message = witness.kept(self, key)
    if message then fail(self, message) end
    return kept
  end
  function store.save(key, kept)
    if not self.scope then return end
    local ok, message = witness.keep(self, key, kept, function() return is_of_now(self, state) end)
    if not ok then fail(self, message) end
  end
  return reading.keep(self.client:now(), self.client:now() - self.look_back_days * DAY, store)
end

--- Notes that a run begins. Returns nothing, or a problem.
function M.begin(self)
  if not self.witness_db then return nil end
  local newest, problem = witness.begin(self)
  if newest == nil then return problem end
  self.began_newest = newest
  if newest and not self.history then new_state(self, true) end
end

--- Notes that a run has ended well. Returns nothing, or a problem.
function M.finish(self)
  if not self.witness_db then return nil end
  local is_unlooked = self.history_check == "never" and not self.began_newest
  local ok, message = (is_unlooked and witness.finish_unlooked or witness.finish)(self)
  if not ok then return "the witness file: " .. tostring(message) end
end

-- The pause before the first reading; the reason, which a terminal may cut at its width, begins with how long it takes.
local function await_visibility(self, state)
  while state.sleep_ms > 0 and not self.stopping and not self.problem do
    self.waiting_for = ("%d s until all that was sent before is visible; the journal cannot show that it is the newest")
      :format(math.ceil(state.sleep_ms / 1000))
    local slice = math.min(state.sleep_ms, MAX_SLEEP_MS)
    M.sleep(self, slice)
    state.sleep_ms = state.sleep_ms - slice
  end
end

------------------------------------------------------------------------------------------------------- the question

local function give_up(self, reconcile, message)
  self.problem = errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.history", message =
    ("payouts: whether payments were made before cannot be looked for in %s: %s; they were not sent")
    :format(reconcile.lookup, message),
    hint = 'make the history readable, or set history_check = "never" where you know that the journal lacks nothing' }
end

-- Returns whether the history can be read that does not name the accounts of a payment: that the service does not know
-- one is a matter of its payments alone. Nil when the run ends.
local function is_readable(self, reconcile, params)
  local asked, has_names = {}, false
  for _, name in ipairs(reconcile.copy_params or {}) do
    local is_name = name == "fromAccount" or name == "toAccount"
    has_names = has_names or is_name and params[name] ~= nil
    if not is_name then asked[name] = params[name] end
  end
  if not has_names then return false end
  local client, failures, now = self.client, { tries = 0, rejections = 0 }, self.client:now()
  local function run(row, of) return client:call(row.full_name, of) end
  while not self.stopping and not self.problem do
    local records, err, why = reading.all(run, operations.by_name[reconcile.lookup], asked, now - DAY, now,
      reconcile.time_member)
    if records or why then return true end
    if M.after_failure(self, failures, err) == "rejected" then return false end
  end
end

--- Returns what is equal for payments that one history shows.
function M.history_of(payment)
  local parts = { payment.operation }
  for _, name in ipairs(operations.by_name[payment.operation].reconcile.copy_params or {}) do
    parts[#parts + 1] = tostring(payment.params[name])
  end
  return table.concat(parts, "\n")
end

-- Asks until there is an answer, the service rejects for good, or the run ends. Returns the answer; or nil and why the
-- history cannot be asked for this payment.
local function ask(self, state, payment, reconcile)
  local key, failures = M.history_of(payment), { tries = 0, rejections = 0 }
  if state.rejections[key] then return nil, state.rejections[key] end
  local intent = { operation = payment.operation, params = payment.params, account = self.account,
    sent_at = state.sent_at, recv_window = call.service_of(private.state_of(self.client)).recv_window }
  local window = { readings = state.readings, is_planned = true, since = M.earliest(self, reconcile),
    to = state.readings.as_of }
  while not self.stopping and not self.problem do
    local answer, err = self.client:reconcile(intent, self.reconcile_options, window)
    if answer and not answer.incomplete then return answer end
    if answer then return give_up(self, reconcile, answer.reason) end
    if M.after_failure(self, failures, err) == "rejected" then
      local readable = is_readable(self, reconcile, payment.params)
      if readable then state.rejections[key] = err.message end
      if readable == false then give_up(self, reconcile, err.message) end
      return nil, state.rejections[key]
    end
  end
end

-- Returns whether none of the records shows an id of ours.
local function are_unidentified(records, name)
  for _, record in ipairs(records) do
    if name and record[name] ~= nil and record[name] ~= "" then return false end
  end
  return records[1] ~= nil
end

local function describe(reconcile, records)
  local words = {}
  for i = 1, math.min(3, #records) do
    words[i] = ("%s at %s"):format(tostring(intents.id_of(records[i]) or "no id"),
      tostring(records[i][reconcile.time_member]))
  end
  local more = #records > 3 and (" and %d more"):format(#records - 3) or ""
  return #records > 0 and (": %s shows %s%s"):format(reconcile.lookup, table.concat(words, ", "), more) or ""
end

-- Returns the change of a payment that the answer means; nil where nothing keeps it from being paid.
local function judge(self, payment, reconcile, answer, rejection)
  if answer and answer.outcome == "done" then
    return { stage = "done", record_id = intents.id_of(answer.record) or "", record = answer.record }
  elseif payment.approved or answer and answer.outcome == "not_done" then
    return nil
  elseif not answer then
    return rejection and { stage = "undecided",
      message = "whether it was made before cannot be looked for: " .. rejection }
  elseif answer.is_busy then
    return { stage = "waiting", due_in = 500, message = "an equal payment is looked for" }
  elseif self.unidentified == "pay" and are_unidentified(answer.candidates, reconcile.client_id) then
    return nil
  end
  return { stage = "undecided", message = answer.reason .. describe(reconcile, answer.candidates) }
end

--- Returns what the histories say of a payment that this worker has taken: nil when nothing keeps it from being paid,
--- or a change for queue.move. To be asked before it is sent; the run may have ended by then (self.stopping,
--- self.problem).
function M.look(self, payment)
  local reconcile = operations.by_name[payment.operation].reconcile
  -- a conversion pays nobody, and converts only what is left
  if self.history_check == "never" or reconcile.strategy == "conversion" then return nil end
  while not self.stopping and not self.problem do
    local state = state_of(self)
    if state.is_waiting then
      schedule.sleep(self.idle_ms)
    elseif state.sleep_ms > 0 then
      state.is_waiting = true
      await_visibility(self, state)
      state.is_waiting = false
    else
      state.readings = state.readings or readings_of(self, state)
      self.waiting_for = reconcile.lookup .. " is read for payments that the journal may lack"
      local answer, rejection = ask(self, state, payment, reconcile)
      self.waiting_for = nil
      if is_of_now(self, state) then return judge(self, payment, reconcile, answer, rejection) end
    end
  end
end

return M

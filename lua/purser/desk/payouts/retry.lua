-- SPDX-License-Identifier: MIT
-- Puts a payment back, drops or settles it by a person's word: once another look shows that it was not made.

local errors = require "purser.client.call.errors"
local history_check = require "purser.desk.payouts.history_check"
local option_schema = require "purser.client.util.option_schema"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

local M = {}

local rules = { force = "boolean", by = option_schema.NAME }

local function person_of(options) return options and options.by or os.getenv "USER" or "a person" end

local function reject(payment, code, message, details)
  return nil, errors.new { kind = "workflow", outcome = "unknown", operation = payment.operation, code = code,
    details = details, message = ('payment "%s" stays as it is: %s'):format(payment.key, message) }
end

local NOT_CHECKED = "; where a person knows that it was not made, the option force = true says so"

-- Looks for a payment that was sent; the journal writes what is found. Returns true where it certainly was not made; or
-- nil and an error. The rejection of a failed payment counts where the look shows no candidate.
local function look(self, payment, readings)
  local window = history_check.window_of(self, payment, readings and readings.as_of)
  window.readings = readings
  local answer, err = self.client:reconcile(queue.intent_of(self, payment), nil, window)
  if not answer then
    if err.phase == "journal" then return nil, err end
    if payment.state == "failed" and err.kind == "api" and err.outcome == "rejected" then return true end
    return reject(payment, "payouts.not_checked", "it cannot be looked for: " .. err.message .. NOT_CHECKED)
  end
  if answer.outcome == "not_done" then return true end
  if answer.outcome == "undecided" then
    if payment.state == "failed" and #answer.candidates == 0 then return true end
    return reject(payment, "payouts.undecided", "it is unknown whether it was made (" .. answer.reason .. ")"
      .. NOT_CHECKED, { candidates = answer.candidates })
  end
  err = select(2, planned.within(self.journal, function(tx) return queue.unblock(tx, self) end))
  if err then return nil, err end
  return reject(payment, "payouts.done", "it was made, and is done now", { record = answer.record })
end

-- Ends a call by a person's word, as journal:settle does: an undecided call would hold up an equal call for ever, and a
-- policy wants a plan that names the word. Returns true; or nil and an error.
local function end_by_hand(self, payment, options, outcome, record_id)
  return self.journal:settle(payment.id, { outcome = outcome, by = person_of(options), record_id = record_id,
    now = self.client:now() })
end

local function key_of(key) return type(key) == "table" and key.key or key end

-- Returns the payment of a key that a person may act on in one of the stages `may`, unchanged since the person saw it;
-- false where there is none; or nil and an error.
local function standing(self, key, may)
  return planned.within(self.journal, function(tx)
    local payment = queue.find(tx, self, key_of(key))
    local seen = type(key) == "table" and key or payment
    return payment and queue.may_decide(tx, payment, may) and payment.state == seen.state
      and payment.attempt == seen.attempt and payment.content == seen.content and payment or false
  end, true)
end

-- Changes a payment of `standing` by change(tx, payment, by, disowned), when a look or a person says that it was not
-- made. Returns whether there was such a payment; or nil and an error.
local function act(self, key, options, may, change, readings)
  local message, name, hint = option_schema.check(options or {}, rules, "payouts option")
  if message then return nil, errors.option(message, name, hint) end
  local payment, err = standing(self, key, may)
  if not payment then return payment, err end
  local disowned, ok = options ~= nil and options.force == true, true
  local was_sent = payment.attempt > 0 and payment.state ~= "waiting"
  if disowned and (was_sent or payment.state == "undecided") then
    if payment.call_state ~= "done" then ok, err = end_by_hand(self, payment, options, "not_done") end
  elseif was_sent then
    ok, err = look(self, payment, readings)
  elseif payment.state == "undecided" then
    -- a record may be the payment's: put back, it is looked for again
    if may == queue.IDLE then
      return reject(payment, "payouts.not_checked", tostring(payment.message) .. NOT_CHECKED)
    end
    self.history = nil
  end
  if not ok then return nil, err end
  return planned.within(self.journal, function(tx) return change(tx, payment, person_of(options), disowned) end)
end

--- Puts a payment back.
---@param readings purser.evidence.Readings|nil  that several share
function M.retry(self, key, options, readings)
  return act(self, key, options, queue.STOPPED, function(tx, payment, by, disowned)
    return queue.put_back(tx, self, payment, disowned and by or nil)
  end, readings)
end

--- Gives a payment up, as retry puts it back.
function M.drop(self, key, options)
  return act(self, key, options, queue.IDLE, function(tx, payment, by) return queue.drop(tx, self, payment, by) end)
end

--- Writes a person's word that a payment was made, as a record of that id.
function M.settle(self, key, record_id, options)
  if type(record_id) ~= "string" or record_id == "" then
    return nil, errors.argument("record_id", "payouts:settle has no id of a record",
      "give the one that the service shows")
  end
  local payment, err = standing(self, key, queue.STOPPED)
  if not payment then return payment, err end
  return end_by_hand(self, payment, options, "done", record_id)
end

--- Puts payments back, with one reading of each history.
---@return string[] put_back, table<string, purser.Error|false> others
function M.retry_all(self, keys, options)
  local readings, done, others = planned.readings(self.client:now()), {}, {}
  for _, key in ipairs(keys) do
    local payment = self:find(key_of(key))
    if payment and payment.attempt > 0 then
      readings:expect(history_check.window_of(self, payment, readings.as_of).since)
    end
  end
  for _, key in ipairs(keys) do
    local ok, err = M.retry(self, key, options, readings)
    if ok then done[#done + 1] = key_of(key) else others[key_of(key)] = err or false end
  end
  return done, others
end

return M

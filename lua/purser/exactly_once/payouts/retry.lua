-- SPDX-License-Identifier: MIT
-- Putting back a payment that failed or was left undecided: the machine looks once more whether it was made.

local option_schema = require "purser.util.option_schema"
local errors = require "purser.call.errors"
local queue = require "purser.exactly_once.payouts.queue"
local worker = require "purser.exactly_once.payouts.worker"

local M = {}

local rules = { force = "boolean" }

local function reject(payment, code, message, details, phase)
  return nil, errors.new { kind = "workflow", outcome = "unknown", operation = payment.operation, code = code,
    phase = phase, details = details,
    message = ('payment "%s" is not put back: %s'):format(payment.key, message) }
end

local NOT_CHECKED = "; where a person knows that it was not made, retry(key, { force = true }) puts it back"

-- What the journal keeps of the payment's latest attempt, widened to all of them; or nil and an error.
local function intent_of(self, payment)
  local entries, err = self.journal:entries { id = payment.intent }
  if not entries then return nil, err end
  if not entries[1] then
    return reject(payment, "payouts.not_checked", "its intent is missing from the journal" .. NOT_CHECKED)
  end
  local intent, problem = worker.widen(self, payment, entries[1].intent)
  if not intent then return reject(payment, "payouts.not_checked", "journal: " .. problem, nil, "journal") end
  return intent
end

-- Looks whether the payment was made. Returns true when it certainly was not; or nil and an error. What failed was
-- rejected by the service, whose word counts where the look shows nothing.
local function look(self, payment, write)
  local intent, err = intent_of(self, payment)
  if not intent then return nil, err end
  local answer
  answer, err = self.client:reconcile(intent, self.reconcile_options)
  if not answer then
    if err.phase == "journal" then return nil, err end
    if payment.state == "failed" and err.kind == "api" and err.outcome == "rejected" then return true end
    return reject(payment, "payouts.not_checked", "it cannot be looked for: " .. err.message .. NOT_CHECKED)
  end
  if answer.outcome == "not_done" then return true end
  if answer.outcome == "undecided" then
    if payment.state == "failed" then return true end
    return reject(payment, "payouts.undecided", "it is unknown whether it was made (" .. answer.reason .. ")"
      .. NOT_CHECKED, { candidates = answer.candidates })
  end
  local moved
  moved, err = write(function(tx) return queue.found_done(tx, self.queue, self.account, payment, answer.record) end)
  if moved == nil then return nil, err end
  return reject(payment, "payouts.done", "it was made, and is done now", { record = answer.record })
end

-- A person's word ends what was undecided: an equal call would be held up by it for ever.
local function end_by_hand(self, payment)
  local entries, err = self.journal:entries { id = payment.intent }
  if not entries then return nil, err end
  if not entries[1] or entries[1].state ~= "undecided" then return true end
  local ok, problem = self.journal:reconciled(entries[1].intent, { outcome = "not_done",
    reason = "a person said that it was not executed" })
  if ok then return true end
  return reject(payment, "payouts.not_checked", "journal: " .. tostring(problem), nil, "journal")
end

--- Puts a payment back. `write(fn)` runs fn(tx) in a transaction. Returns whether there was such a payment; or nil and
--- an error.
function M.retry(self, key, options, write)
  local message, name = option_schema.check(options or {}, rules, "option")
  if message then return nil, errors.argument(name, "payouts:retry: " .. message) end
  local payment, err
  payment, err = write(function(tx) return queue.stopped(tx, self.queue, self.account, key) or false end)
  if not payment then return payment, err end
  local approved = options ~= nil and options.force == true
  local ok = true
  if payment.intent and approved then
    ok, err = end_by_hand(self, payment)
  elseif payment.intent then
    ok, err = look(self, payment, write)
  elseif payment.state == "undecided" then
    self.history = nil -- the histories are looked at again before it is sent
  end
  if not ok then return nil, err end
  return write(function(tx) return queue.put_back(tx, self.queue, self.account, payment, approved) end)
end

return M

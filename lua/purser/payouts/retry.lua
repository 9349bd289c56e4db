-- SPDX-License-Identifier: MIT
-- What a person does with a payment that stands: it is put back, dropped or replaced, once another look shows that it
-- was not made.

local option_schema = require "purser.util.option_schema"
local errors = require "purser.call.errors"
local queue = require "purser.payouts.queue"
local reading = require "purser.write.evidence.reading"
local rejected = require "purser.payouts.rejected"

local M = {}

local rules = { force = "boolean" }

local function reject(payment, code, message, details, phase)
  return nil, errors.new { kind = "workflow", outcome = "unknown", operation = payment.operation, code = code,
    phase = phase, details = details,
    message = ('payment "%s" stays as it is: %s'):format(payment.key, message) }
end

local NOT_CHECKED = "; where a person knows that it was not made, the option force = true says so"

-- Returns what the journal keeps of the payment's latest attempt, and the window of all of them up to `as_of`; or nil
-- and an error.
local function intent_of(self, payment, as_of)
  local entries, err = self.journal:entries { id = payment.intent }
  if not entries then return nil, err end
  if not entries[1] then
    return reject(payment, "payouts.not_checked", "its intent is missing from the journal" .. NOT_CHECKED)
  end
  return entries[1].intent, rejected.window_of(self, payment, entries[1].intent, as_of)
end

-- Looks whether the payment was made. Returns true when it certainly was not; or nil and an error. What failed was
-- rejected by the service, whose word counts where the look shows no record that may be the payment's.
local function look(self, payment, write, shared)
  local intent, window = intent_of(self, payment, shared and shared.as_of)
  if not intent then return nil, window end
  window.readings = shared
  local answer, err = self.client:reconcile(intent, self.reconcile_options, window)
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

-- Finds the payment by `find`, and looks whether it was made, unless a person says that it was not. Returns it, and
-- whether a person said so; false where there is none; or nil and an error.
local function release(self, key, options, write, shared, find)
  local message, name, hint = option_schema.check(options or {}, rules, "payouts option")
  if message then return nil, errors.option(message, name, hint) end
  local payment, err = write(function(tx) return find(tx, self.queue, self.account, key) or false end)
  if not payment then return payment, err end
  local approved, ok = options ~= nil and options.force == true, true
  if payment.intent and payment.state ~= "waiting" then
    if approved then ok, err = end_by_hand(self, payment) else ok, err = look(self, payment, write, shared) end
  end
  if not ok then return nil, err end
  return payment, approved
end

--- Puts a payment back. `write(fn)` runs fn(tx) in a transaction. Returns whether there was such a payment; or nil and
--- an error.
---@param shared table|nil  the readings that several looks share
function M.retry(self, key, options, write, shared)
  local payment, approved = release(self, key, options, write, shared, queue.stopped)
  if not payment then return payment, approved end
  if not payment.intent and not approved and payment.state == "undecided" then
    self.history = nil -- the histories are looked at again before it is sent
  end
  return write(function(tx) return queue.put_back(tx, self.queue, self.account, payment, approved) end)
end

-- The same for what is not sent again as it is: where the histories hold a record that may be its, a person decides.
local function give_up(self, key, options, write, change)
  local payment, approved = release(self, key, options, write, nil, queue.idle)
  if not payment then return payment, approved end
  if payment.state == "undecided" and not payment.intent and not approved then
    return reject(payment, "payouts.not_checked", tostring(payment.message) .. NOT_CHECKED)
  end
  return write(function(tx) return change(tx, payment, approved) end)
end

--- Drops a payment; the arguments and results are those of retry.
function M.drop(self, key, options, write)
  return give_up(self, key, options, write, function(tx, payment)
    return queue.drop(tx, self.queue, self.account, payment)
  end)
end

--- Gives a payment other content.
---@param made table  the payment as it shall be
function M.replace(self, key, made, options, write)
  return give_up(self, key, options, write, function(tx, payment, approved)
    return queue.replace(tx, self.queue, self.account, payment, made, approved)
  end)
end

-- Readings as of now that begin early enough for all of the payments.
local function readings_for(self, keys, write)
  local shared = reading.share(self.client:now())
  for _, key in ipairs(keys) do
    local payment = write(function(tx) return queue.stopped(tx, self.queue, self.account, key) or false end)
    local intent, window = nil, nil
    if payment and payment.intent then intent, window = intent_of(self, payment, shared.as_of) end
    if intent then shared:expect(window.since) end
  end
  return shared
end

--- Puts payments back, of which those that must be looked for share one reading of each history. Returns the keys of
--- those that were put back, and for every other key the error, false where there was no such payment.
---@return string[] put_back, table<string, purser.Error|false> others
function M.retry_all(self, keys, options, write)
  local shared = readings_for(self, keys, write)
  local put_back, others = {}, {}
  for _, key in ipairs(keys) do
    local ok, err = M.retry(self, key, options, write, shared)
    if ok then put_back[#put_back + 1] = key else others[key] = err or false end
  end
  return put_back, others
end

return M

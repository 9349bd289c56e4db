-- SPDX-License-Identifier: MIT
-- The stage of a payment after an attempt: made, looked for, sent again, or failed.

local plain_text = require "purser.client.util.plain_text"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

local M = {}

-- An attempt may have been executed without this journal's knowledge, or another than the service may have answered.
-- A gateway may have sent two copies, and a rejection, also "not now", speaks of the one that was judged.
---@param ms integer|nil  found not to be executed, it is sent again, then at the earliest
local function rejected(self, message, ms)
  if planned.operation(self.operation).reconcile.strategy == "nothing" then
    return { stage = "failed", message = message }
  end
  self.rejection, self.is_put_back, self.look_from = message, ms ~= nil, self.run.client:now() + (ms or 0)
  return { stage = "sent", rejected = true, due_in = ms, is_left = ms and ms > queue.PATIENCE_MS, message = message }
end

local function failed(self, message, was_looked_for)
  return was_looked_for and { stage = "failed", message = message } or rejected(self, message)
end

local function again(self, message, ms, was_looked_for)
  if self.attempts >= self.run.attempts then
    local attempts = plain_text.counted(self.attempts, "attempt")
    return failed(self, ("gave up after %s: %s"):format(attempts, message), was_looked_for)
  end
  ms = ms or math.min(30000, self.run.retry_ms * 2 ^ math.min(self.attempts, 10))
  return { stage = "waiting", due_in = math.floor(ms), message = message }
end

-- Each is named for a state of the payment's call.
local after = {}

function after.done() return { stage = "done" } end

function after.unknown(_, message) return { stage = "sent", message = message } end

-- Writes nothing the first time: the records of the payments that are made until then are witnesses.
function after.undecided(self, message)
  return self.put_off_at ~= nil and { stage = "undecided", message = message }
end

function after.not_sent(self, message) return again(self, message) end

function after.not_done(self, message)
  if self.rejection and not self.is_put_back then return failed(self, self.rejection, true) end
  message = self.rejection or message
  return again(self, message and message ~= "" and message or "it was not executed", 0, true)
end

function after.rejected(self, message, err)
  if not err then return failed(self, message) end
  -- a clock that was wrong made each copy too late, or too early
  if err.is_explained then return again(self, message) end
  -- the clock was right: the copy that was judged was a late one, and an earlier one may have been executed
  if planned.was_too_late(err) then return { stage = "sent", state = "unknown", message = message } end
  if err.kind ~= "api" then return rejected(self, message, math.floor((err.retry_after or 0) * 1000)) end
  return failed(self, message)
end

--- Returns a payment's next stage; false where the payment is asked about once more.
---@param payment purser.payouts.Payment
---@param outcome string  the state of its call
---@param message string
---@param err purser.Error|nil
---@return purser.Stage|false change
function M.next(payment, outcome, message, err) return after[outcome](payment, message, err) end

return M

-- SPDX-License-Identifier: MIT
-- Payments that were rejected and carry an id: each is looked for by its id before it counts as failed, because an
-- attempt may have been executed that the journal does not know. They wait until there is nothing else to send, or for
-- a minute, and are looked for together: one reading of a history serves all of them.

local history_check = require "purser.payouts.history_check"
local operations = require "purser.api.operations"
local reading = require "purser.write.evidence.reading"

local M = {}

M.TOGETHER_MS = 60000 -- how long a payment waits for others, at most
local HOUR = 3600000  -- a look does not begin where a history is about to end

--- Returns the window of all attempts of a payment. Of one that carries an id these may be attempts that the journal
--- does not know: up to `as_of`, and since the payment was added where no history check showed them.
---@param as_of integer|nil  the time of the question, epoch ms; now
---@return purser.reconcile.Window window
function M.window_of(self, payment, intent, as_of)
  local first = math.min(payment.first_sent_at or intent.sent_at, intent.sent_at)
  -- the service's own word: only what may be an attempt with this id contradicts it, not any record that nobody claims
  local window = { was_rejected = payment.rejection ~= nil }
  if payment.client_id then
    if self.history_check == "never" then
      local reconcile = operations.by_name[payment.operation].reconcile
      first = math.min(first, math.max(payment.added_at, history_check.earliest(self, reconcile) + 2 * HOUR))
    end
    window.to = as_of or self.client:now()
  end
  window.since = math.floor(first)
  return window
end

--- Notes that a run begins.
function M.begin(self)
  self.rejected = { waiting = {}, first = math.huge, last = 0, round = {}, at = 1, beginning = 0 }
end

-- `first` and `last` say when the first and the last of those that wait may be looked for. What an earlier life left
-- behind waits for the others like any: a round for each would read the histories once for each.
local function wait(rejected, payment, now)
  table.insert(rejected.waiting, payment)
  local look_at = math.max(payment.look_at, now)
  rejected.first, rejected.last = math.min(rejected.first, look_at), math.max(rejected.last, look_at)
end

--- Lets a payment wait until its record must be visible.
function M.park(self, payment, intent)
  payment.intent_to_find, payment.look_at = intent, intent.sent_at + history_check.visible_ms(self)
  wait(self.rejected, payment, self.client:now())
end

--- How many wait, or are to be looked for.
function M.count(self)
  local rejected = self.rejected
  return #rejected.waiting + rejected.beginning + #rejected.round - rejected.at + 1
end

local function is_earlier(one, other)
  if one.history ~= other.history then return one.history < other.history end
  return one.key < other.key
end

-- All that may be looked for now, history by history, with the readings that they share.
local function begin_round(self, now)
  local rejected, shared = self.rejected, reading.share(now)
  local waiting, round = rejected.waiting, {}
  rejected.waiting, rejected.first, rejected.last, rejected.beginning = {}, math.huge, 0, #waiting
  for _, payment in ipairs(waiting) do
    if payment.look_at > now then
      wait(rejected, payment, now)
    else
      local window = M.window_of(self, payment, payment.intent_to_find, now)
      shared:expect(window.since)
      window.readings, window.payment = shared, payment
      payment.window, payment.history = window, history_check.history_of(payment)
      round[#round + 1] = payment
    end
  end
  table.sort(round, is_earlier)
  rejected.round, rejected.at, rejected.beginning = round, 1, 0
end

-- When the next round begins: while there is something else to send a minute after the first could be looked for;
-- otherwise when all can be, or the first has waited for as long as a record may need.
local function due_at(self, is_idle)
  local rejected = self.rejected
  if not rejected.waiting[1] then return nil end
  if not is_idle then return rejected.first + M.TOGETHER_MS end
  return math.min(rejected.last, rejected.first + history_check.visible_ms(self))
end

--- The payment to look for next; or nil, and in how many milliseconds the next may be looked for, nil where none waits.
---@param is_idle boolean  whether there is nothing else to send
function M.next(self, is_idle)
  local rejected = self.rejected
  local function is_over() return not rejected.round[rejected.at] and rejected.beginning == 0 end
  if is_over() and rejected.waiting[1] then
    local now = self.client:now() -- a clock of the program's own may wait, so that another task begins the round
    local due = is_over() and due_at(self, is_idle)
    if due and due > now then return nil, due - now end
    if due then begin_round(self, now) end
  end
  local payment = rejected.round[rejected.at]
  if payment then rejected.at = rejected.at + 1 end
  return payment
end

return M

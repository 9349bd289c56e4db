-- SPDX-License-Identifier: MIT
-- Calls outside of queues that were rejected: they count in sums until they were looked for.

local core = require "purser.core"
local intents = require "purser.write.intent"
local reading = require "purser.write.reading"

local M = {}

local AGAIN_MS = 60000 -- a call that could not be looked for is looked for again after so long

-- Looks for a call. Returns whether it was not executed.
---@param shared { now: integer, whole: table|nil, later: table|nil }  time, the readings for calls whose records are
--- visible, and those for the others
local function look(client, call, shared, reconcile)
  local now, failed = shared.now, client._failed_looks
  local is_ahead = call.sent_at > now + reading.AHEAD_MS -- of a clock that was wrong: it would be waited for
  local failed_at = failed[call.id]
  if is_ahead or failed_at and core.monotonic_ms() - failed_at < AGAIN_MS then return false end
  local is_due = call.sent_at + reading.visible_ms(call.recv_window, client._visibility_delay_ms) <= now
  if is_due then
    shared.whole = shared.whole or reading.share(now, call.sent_at) -- the oldest comes first
  else
    shared.later = shared.later or reading.share()
  end
  local readings = is_due and shared.whole or shared.later
  local answer = reconcile(client, call.intent, nil, { was_rejected = true, readings = readings })
  failed[call.id] = not answer and core.monotonic_ms() or nil
  return answer ~= nil and answer.outcome == "not_done"
end

--- Looks for them, where they may be what a limit or a policy's sum has no room beside, or the equal call that a guard
--- forbids another beside. Returns whether one was not executed.
---@param client table             its inner state
---@param refusal purser.Error|nil
---@param reconcile function
function M.make_room(client, refusal, reconcile)
  local equal = refusal and refusal.code == "guard.no_duplicates" and refusal.details.call
  local is_full = refusal and (refusal.code == "guard.spending_limit"
    or refusal.code == "guard.approval" and refusal.details.is_of_sums)
  if not (is_full or equal) then return false end
  local shared, has_room = { now = client:now() }, false
  client._failed_looks = client._failed_looks or {}
  for _, call in ipairs(client._journal:rejected_calls(shared.now - intents.DOUBTED_MS) or {}) do
    if not equal or call.id == equal then has_room = look(client, call, shared, reconcile) or has_room end
  end
  return has_room
end

return M

-- SPDX-License-Identifier: MIT
-- Calls outside of queues that were rejected: they count in sums until they were looked for.

local core = require "purser.core"
local reading = require "purser.write.reading"

local M = {}

local DOUBTED_MS = 7 * 86400000 -- a history of any service shows as much
local AGAIN_MS = 60000 -- a call that could not be looked for is looked for again after so long

--- Looks for them, where they may be what a limit or a policy's sum has no room beside. Returns whether one was not
--- executed.
---@param client table             its inner state
---@param refusal purser.Error|nil
---@param reconcile function
function M.make_room(client, refusal, reconcile)
  local is_full = refusal and (refusal.code == "guard.spending_limit"
    or refusal.code == "guard.approval" and refusal.details.is_of_sums)
  if not is_full then return false end
  local now, has_room = client:now(), false
  local calls = client._journal:rejected_calls(now - DOUBTED_MS)
  local whole, later -- the readings for calls whose records are visible, and for the others
  local failed = client._failed_looks or {}
  for _, call in ipairs(calls or {}) do
    local is_ahead = call.sent_at > now + reading.AHEAD_MS -- of a clock that was wrong: it would be waited for
    local failed_at = failed[call.id]
    if not is_ahead and not (failed_at and core.monotonic_ms() - failed_at < AGAIN_MS) then
      local is_due = call.sent_at + reading.visible_ms(call.recv_window, client._visibility_delay_ms) <= now
      if is_due and not whole then whole = reading.share(now, call.sent_at) end -- the oldest comes first
      if not is_due and not later then later = reading.share() end
      local readings = is_due and whole or later
      local answer = reconcile(client, call.intent, nil, { was_rejected = true, readings = readings })
      has_room = has_room or answer ~= nil and answer.outcome == "not_done"
      failed[call.id] = not answer and core.monotonic_ms() or nil
      client._failed_looks = failed
    end
  end
  return has_room
end

return M

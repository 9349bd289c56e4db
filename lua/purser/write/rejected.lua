-- SPDX-License-Identifier: MIT
-- Calls outside of queues that were rejected: they count in sums until they were looked for.

local reading = require "purser.write.reading"

local M = {}

local DOUBTED_MS = 7 * 86400000 -- a history of any service shows as much

--- Looks for them, where they may be what a limit or a policy's sum has no room beside. Returns whether one was not
--- executed.
---@param client table             its inner state
---@param refusal purser.Error|nil
---@param reconcile function
function M.make_room(client, refusal, reconcile)
  local is_full = refusal and (refusal.code == "guard.spending_limit"
    or refusal.code == "guard.approval" and refusal.details.is_of_sums)
  local calls, readings, has_room = is_full and client._journal:rejected_calls(client:now() - DOUBTED_MS), nil, false
  for _, call in ipairs(calls or {}) do
    readings = readings or reading.share()
    local answer = reconcile(client, call.intent, nil, { was_rejected = true, readings = readings })
    has_room = has_room or answer ~= nil and answer.outcome == "not_done"
  end
  return has_room
end

return M

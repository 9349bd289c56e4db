-- SPDX-License-Identifier: MIT
-- Services whose records or filters count time in another zone. A history may show a record some hours from when it was
-- made, or take the window that it is asked for to be some hours away. Neither may pass for a missing record.
--
-- Zones differ by quarters of an hour, by 14 hours at most. So a record that a call may have made lies in the call's
-- window, or a whole number of quarters away from it. The history itself can show that it is not so:
--   * A record of a call whose time is known, and that is shown at this time.
--   * A record so new that, moved by as much, it would lie in the future.

local M = {}

local QUARTER_MS = 900000

--- By how much a history may be shifted at most.
M.MARGIN_MS = 14 * 3600000

--- By how much a record that is shown at `at` is shifted if it was made between `first` and `last`: 0, or quarters of
--- an hour; nil where it was not made then.
---@param at any  what is no number may be any time
---@param first integer
---@param last integer
---@return integer|nil
function M.of(at, first, last)
  if type(at) ~= "number" or at >= first and at <= last then return 0 end
  local shift = math.floor((at - first) / QUARTER_MS) * QUARTER_MS
  if at - shift <= last and math.abs(shift) <= M.MARGIN_MS then return shift end
end

--- What the records show of the clock that counts their times.
---@param records table[]
---@param time string  the member that holds a record's time
---@param sent_at fun(record: table): integer|nil  when the call was sent that made it, where that is known
---@return table proof
function M.proof(records, time, sent_at)
  local proof = { newest = -math.huge, agrees = false }
  for _, record in ipairs(records) do
    local at = record[time]
    if type(at) == "number" then
      local known = sent_at(record)
      proof.newest = math.max(proof.newest, at)
      proof.agrees = proof.agrees or known ~= nil and math.abs(at - known) < QUARTER_MS / 2
    end
  end
  return proof
end

--- Whether the history may be shifted by as much, after what it shows.
---@param proof table
---@param shift integer
---@param now integer  the service's time at most
---@return boolean
function M.is_possible(proof, shift, now)
  return shift == 0 or not proof.agrees and proof.newest - shift <= now
end

return M

-- SPDX-License-Identifier: MIT
-- Services whose records or filters count time in another zone. A history may show a record some hours from when it was
-- made, or take the window that it is asked for to be some hours away. Neither may pass for a missing record.
--
-- Zones differ by quarters of an hour, by 14 hours at most. So a record that a call may have made lies in the call's
-- window, or a whole number of quarters away from it. The history itself can show that it is not so:
--   * A record of a call whose time is known, and that is shown at this time.
--   * A record so new that, moved by as much, it would lie in the future.
-- And a reading can show that its filter is right as well: see is_exact.

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

-- How far from when its call was sent a record may be shown in its place, and how far outside of a window that is
-- asked for a service that counts in seconds may look.
local IN_PLACE_MS, ROUNDED_MS = 60000, 5000

--- Whether a reading shows that its service filters and shows times as its clock does, so that every record between
--- `first` and `last` is in it, at its time. Records of known calls, each shown in its place, show that no time is
--- shifted. A filter that is shifted by some quarters of an hour would have shown the window that lies as far away; it
--- is excluded by a known record that lies outside of that window. So the earliest known record excludes all shifts to
--- later when it lies in the first quarter of an hour, and the latest excludes all to earlier when it lies in the last.
--- One record in another place, or outside of what was asked for, and nothing is shown.
---@param records table[]
---@param time string
---@param first integer  what was asked for
---@param last integer
---@param sent_at fun(record: table): integer|nil  when the one call was sent that can have made it, where that is known
function M.is_exact(records, time, first, last, sent_at)
  local earliest, latest = math.huge, -math.huge
  for _, record in ipairs(records) do
    local at, known = record[time], sent_at(record)
    if type(at) ~= "number" or at < first or at > last then return false end
    if known and math.abs(at - known) > IN_PLACE_MS then return false end
    if known then earliest, latest = math.min(earliest, at), math.max(latest, at) end
  end
  return earliest < first + QUARTER_MS - ROUNDED_MS and latest > last - QUARTER_MS + ROUNDED_MS
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

-- SPDX-License-Identifier: MIT
-- Services whose records or filters count time in another zone. A history may show a record some hours from when it was
-- made, or take the window that it is asked for to be some hours away. Neither may pass for a missing record.
--
-- Zones differ by quarters of an hour, by 14 hours at most. So a record that a call may have made lies in the call's
-- window, or a whole number of quarters away from it. The history itself can show that it is not so:
--   * A record of a call whose time is known, and that is shown at this time.
--   * A record so new that, moved by as much, it would lie in the future.
-- And a reading can show that its filter leaves out nothing as well: see covered.

local M = {}

local QUARTER_MS = 900000

-- By how much a history may be shifted at most.
local MARGIN_MS = 14 * 3600000

--- How much more is asked for on both sides, so that nothing is hidden: a filter may be shifted, and count its bounds
--- in whole days.
M.ASKED_MS = MARGIN_MS + 24 * 3600000

--- What a question for the calls' own window asks for before and after it: records of other known calls, which show
--- that nothing is hidden, and what was lost a while before or since.
M.BEFORE_MS, M.AFTER_MS = 60000, 600000

--- By how much a record that is shown at `at` is shifted if it was made between `first` and `last`: 0, or quarters of
--- an hour; nil where it was not made then.
---@param at any  what is no number may be any time
---@param first integer
---@param last integer
---@return integer|nil
function M.of(at, first, last)
  if type(at) ~= "number" or at >= first and at <= last then return 0 end
  local shift = math.floor((at - first) / QUARTER_MS) * QUARTER_MS
  if at - shift <= last and math.abs(shift) <= MARGIN_MS then return shift end
end

--- What the records show of the clock that counts their times.
---@param records table[]
---@param time string  the member that holds a record's time
---@param sent_at fun(record: table): integer|nil  when the call was sent that made it, where that is known
---@return table clock
function M.clock_of(records, time, sent_at)
  local clock = { newest = -math.huge, agrees = false }
  for _, record in ipairs(records) do
    local at = record[time]
    if type(at) == "number" then
      local known = sent_at(record)
      clock.newest = math.max(clock.newest, at)
      clock.agrees = clock.agrees or known ~= nil and math.abs(at - known) < QUARTER_MS / 2
    end
  end
  return clock
end

--- Between which times a reading shows that its service leaves out nothing, and shows every record at its time. The
--- filter of a history may shift time, or count in whole minutes: it lets through all that lies between two records
--- which it lets through. So what a call made between two known calls, whose records are there, is there as well. Each
--- known record must be in its place: then times are shown as they are. One record in another place, or outside of what
--- was asked for, and no time is between the two.
---@param records table[]
---@param time string
---@param first integer  what was asked for
---@param last integer
---@param sent_at fun(record: table): integer|nil  when the one call was sent that can have made it, where that is known
---@param before integer  how long before its call was sent a record may be shown in its place
---@param after integer   and how long after
---@return { earliest: number, latest: number, misplaced: table|nil } covered  and a known record in another place
function M.covered(records, time, first, last, sent_at, before, after)
  local earliest, latest, stray, misplaced = math.huge, -math.huge, false, nil
  for _, record in ipairs(records) do
    local at, known = record[time], sent_at(record)
    local is_time = type(at) == "number"
    stray = stray or not is_time or at < first or at > last
    if known and is_time then
      if at < known - before or at > known + after then misplaced = record end
      earliest, latest = math.min(earliest, math.max(at, known)), math.max(latest, math.min(at, known))
    end
  end
  if stray or misplaced then earliest, latest = math.huge, -math.huge end
  return { earliest = earliest, latest = latest, misplaced = misplaced }
end

--- Whether the history may be shifted by as much, after what it shows.
---@param clock table
---@param shift integer
---@param now integer  the service's time at most
---@return boolean
function M.is_possible(clock, shift, now)
  return shift == 0 or not clock.agrees and clock.newest - shift <= now
end

return M

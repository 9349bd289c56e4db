-- SPDX-License-Identifier: MIT
-- Reads one window of time, or finds that the window holds too much.
--
--   full       a full answer proves nothing: the window is divided in the middle of its records
--   short      services show fewer records than requested: an answer shorter than an earlier one is complete, one as
--              long as the longest is divided
--   bounds     bounds are inclusive or exclusive, in milliseconds or seconds: a second more is requested on both sides,
--              and records outside are dropped
--   seconds    windows are divided between seconds. With pages a second is read to its end; without pages a second is
--              divided by milliseconds, which shows a service that counts in seconds
--   shown      a window's record must come again in the part of its time

local pages = require "purser.client.history.pages"
local turn = require "purser.client.history.turn"
local utc = require "purser.client.util.utc"

local failed = pages.failed

local M = {}

---------------------------------------------------------------------------- the reach of a history: a row's `window`

local DAY = 86400000

-- The distance of a walk's beginning from the reach's edge, which moves on.
local MARGIN_MS = 60000

-- Returns the time `count` calendar months before; the first of the next month for a day that the month lacks.
local function months_before(ms, count)
  local date = utc.civil(ms)
  local index = date.year * 12 + date.month - 1 - count
  local year, month = math.floor(index / 12), index % 12 + 1
  local day = math.min(date.day, utc.days_in(year, month) + 1)
  return utc.days(year, month, day) * DAY + ms % DAY
end

--- Returns the earliest time of a history at `now`, by the latest midnight of all zones; nil without a limit.
function M.earliest(window, now)
  if not window then return nil end
  if window.retention_months then return math.floor(months_before(now, window.retention_months)) end
  return window.retention_days and now - window.retention_days * DAY
end

--- Returns the default beginning of a walk; nil without a limit. A month may have 30 days for the service.
function M.default(window, now)
  local days = window and (window.retention_days or window.retention_months and window.retention_months * 30)
  return days and now - days * DAY + MARGIN_MS
end

--- Returns the reach in words.
function M.words(window)
  if window.retention_months then return ("the last %d months"):format(window.retention_months) end
  return ("the last %d days"):format(window.retention_days)
end

--- Returns the longest window of a request, less the edges' seconds; nil without a limit.
function M.max_window(window)
  if not window or not window.max_window_days then return nil end
  return window.max_window_days * DAY - 3000
end

---------------------------------------------------------------------------------------------------------- one window

-- A second may have more.
local MAX_PAGES = 10
-- The distance outside a window at which a service in seconds shows records; a farther record shows another filter.
local TOLERANCE_MS = 2000

local function between(source, records, first, last)
  local found = {}
  for _, record in ipairs(records) do
    local time = record[source.time]
    if time >= first and time <= last then found[#found + 1] = record end
  end
  return found
end

-- Tells an answer that may have been cut. For records of one time a round number is the sign, as limits are round.
local function may_be_cut(source, records)
  local time = records[1] and records[1][source.time]
  return #records % 10 == 0 or #between(source, records, time, time) < #records
end

-- Returns the records, a state ("whole", or another of turn.read) and the total; or nil and an error.
local function ask(source, first, last, max_pages)
  if source.paging.page then return turn.read(source, first, last, max_pages) end
  local records, err, _, short = pages.ask(source, first, last)
  if not records then return nil, err end
  if #records >= source.paging.page_size then return records, "crowded" end
  return records, not short and may_be_cut(source, records) and "unproven" or "whole"
end

-- Returns the window's records after the filters, each id once. A record far outside is an error: the service filters
-- by another time. A strict source takes it, as its presence is proof.
local function select_records(source, records, first, last)
  local kept, ids = {}, {}
  for _, record in ipairs(records) do
    local time, key, is_id = record[source.time], source.key(record)
    local is_stray = time < first - TOLERANCE_MS or time > last + TOLERANCE_MS
    if is_stray and not source.strict then
      return nil, failed(source, ("a record of the time %d came for the window from %d to %d")
        :format(time, first, last))
    end
    local is_requested = is_stray or time >= first and time <= last
    if is_requested and not (is_id and ids[key]) and source.keep(record) then
      kept[#kept + 1], ids[key] = record, true
    end
  end
  return kept
end

-- Sorts records by time, then by key.
local function sort(source, records)
  local time_of, keys = source.time, {}
  table.sort(records, function(a, b)
    if a[time_of] ~= b[time_of] then return a[time_of] < b[time_of] end
    keys[a], keys[b] = keys[a] or source.key(a), keys[b] or source.key(b)
    return keys[a] < keys[b]
  end)
  return records
end

local function is_second(first, last)
  return math.floor(first / 1000) == math.floor(last / 1000)
end

--- Returns the second's end nearest to `at` that divides a window; within a second the nearest millisecond.
function M.edge(first, last, at)
  if is_second(first, last) then return math.max(first, math.min(last - 1, at)) end
  local lowest, highest = math.floor(first / 1000) * 1000 + 999, math.floor(last / 1000) * 1000 - 1
  return math.max(lowest, math.min(highest, math.floor((at + 1) / 1000) * 1000 - 1))
end

-- Returns the middle of a window's records, so that each part has fewer and some that must come again, and the span of
-- the records. Records of the seconds beside the window count at its ends.
local function middle(source, records, first, last)
  local times, beside = {}, is_second(first, last) and 0 or TOLERANCE_MS
  for i, record in ipairs(between(source, records, first - beside, last + beside)) do
    times[i] = math.max(first, math.min(last, record[source.time]))
  end
  table.sort(times)
  local at, count = times[math.ceil(#times / 2)] or math.floor((first + last) / 2), #times
  return M.edge(first, last, at == times[count] and at - 1 or at), count > 0 and times[count] - times[1] or 0
end

-- Returns the records that a window's parts must show again, of this and earlier answers.
local function expectation(source, records, window)
  local expected, seen = {}, {}
  for i, record in ipairs(records) do expected[i], seen[source.key(record)] = record, true end
  for _, record in ipairs(window.expected or {}) do
    if not seen[source.key(record)] then expected[#expected + 1] = record end
  end
  return between(source, expected, window.first, window.last)
end

-- Tells if all expected records came. With pages one of equal records is enough: a page may repeat a record.
local function has_all(source, records, window)
  if not window.expected then return true end
  local there = {}
  for _, record in ipairs(records) do
    local key = source.key(record)
    there[key] = (there[key] or 0) + 1
  end
  for _, record in ipairs(between(source, window.expected, window.first, window.last)) do
    local key = source.key(record)
    if (there[key] or 0) == 0 then return false end
    if not source.paging.page then there[key] = there[key] - 1 end
  end
  return true
end

local function bounds(window, earliest)
  local from, to = window.first - 1, window.last + 1
  if not window.is_part then
    from, to = math.floor(window.first / 1000) * 1000 - 1000, math.floor(window.last / 1000) * 1000 + 1000
  end
  return math.max(from, math.min(window.first, earliest or 0)), to
end

local problems = {
  crowded = "more than %d records have the time %d, and the service gives no more than that of one %s; narrow it down "
    .. "by other parameters",
  unproven = "%d records have the time %d, and nothing shows that the service would show more of one %s; where you "
    .. "know that it does, say so with `shows_at_least`",
  lacking = "the service shows %d records for the time %d, and says that there are more in this %s",
  repeated = "of %d records with the time %d some come again on later pages, so others of this %s may be missing",
}

-- Makes the error of an incomplete millisecond, or second that cannot be divided.
local function too_many(source, window, count, state)
  local unit = (window.first == window.last and not source.paging.page) and "millisecond" or "second"
  if state == "crowded" then count = source.paging.page_size - 1 end -- the most that can be shown to be all
  local err = failed(source, problems[state]:format(count, window.first, unit))
  err.details = { crowded = true }
  return nil, err
end

-- Reads one millisecond alone, as neighbours may crowd the answer. With exclusive bounds the earlier answer counts.
local function ask_alone(source, time, records, state)
  local alone, state_alone = ask(source, time, time, math.huge)
  local shown = #between(source, records, time, time)
  if alone and #between(source, alone, time, time) < shown then return records, state end
  return alone, state_alone
end

local function has_others(source, records, first, last) return #between(source, records, first, last) < #records end

-- Tells records far outside: dividing would not help.
local function has_strays(source, records, window)
  return has_others(source, records, window.first - TOLERANCE_MS, window.last + TOLERANCE_MS)
end

local function whole(source, records, window)
  if not has_all(source, records, window) then
    local count = #window.expected
    local state = count < source.paging.page_size - 1 and "unproven" or "crowded"
    if window.is_part then return too_many(source, window, count, state) end
    return nil, failed(source, ("a record that was shown before is missing between %d and %d; the service may count "
      .. "time in whole seconds, with more records in one than it shows"):format(window.first, window.last))
  end
  local kept, err = select_records(source, records, window.first, window.last)
  if not kept then return nil, err end
  return { records = sort(source, kept), count = #records }
end

-- Returns the division of a window.
local function division(source, records, window, state, total, max_shown)
  local at, span = middle(source, records, window.first, window.last)
  return { at = at, is_part = is_second(window.first, window.last), span = span, count = #records,
    total = state == "crowded" and total or nil, suspected = state ~= "crowded" and #records ~= max_shown,
    expected = expectation(source, records, window),
    cut = state == "unproven" and #records == max_shown and not source.paging.page }
end

-- Tells if a strict source takes an incomplete window, and notes why: no division shows more where a total promises
-- more, or where the service ignores the time.
local function take_incomplete(source, records, window, state)
  if not source.strict then return false end
  if state == "lacking" then
    source.incomplete = "the service says that there are more records than it shows"
  elseif state ~= "crowded" and has_strays(source, records, window) then
    source.incomplete = "the history does not keep to the time it is asked for, so nothing shows that these are all"
  else
    return false
  end
  return true
end

--- Reads a window { first, last, expected, is_part }, bounds included: `expected` must be shown, `is_part` marks a part
--- of a second. Returns
---   { records }              complete, oldest first
---   { at, count, span, total, suspected, cut, expected, is_part }  too much: divide after `at`; `count` records within
---                            `span` ms; `suspected`: perhaps not too much; `cut`: an answer shows `count` at most
--- or nil and an error.
---@param source purser.history.source
---@param window table
---@param earliest integer|nil  of all requests
function M.read(source, window, earliest)
  local first, last, paged = window.first, window.last, source.paging.page ~= nil
  local is_least = first == last or paged and is_second(first, last)
  local from, to = bounds(window, earliest)
  local max_shown = source.shown
  local records, state, total = ask(source, from, to, is_least and math.huge or MAX_PAGES)
  if records and state ~= "whole" and window.is_part and is_least then
    records, state = ask_alone(source, first, records, state)
  end
  if not records then return nil, state end
  if state == "whole" or take_incomplete(source, records, window, state) then return whole(source, records, window) end
  -- records outside of a part's request: the service counts coarser units
  if is_least and (paged or window.is_part) or window.is_part and has_others(source, records, from, to)
    or source.strict and has_strays(source, records, window) then
    return too_many(source, window, #records, state)
  end
  if is_least then
    local found, err = M.read(source, { first = first, last = last, is_part = true,
      expected = expectation(source, records, window) }, earliest)
    -- a service with exclusive bounds in seconds shows no record of a millisecond
    if found and found.count == 0 then return too_many(source, window, #records, "unproven") end
    return found, err
  end
  return division(source, records, window, state, total, max_shown)
end

--- Returns how many records a window should hold, for one reading and few requests.
function M.goal(source)
  return math.floor(source.paging.page_size * (source.paging.page and MAX_PAGES or 1) * 0.75)
end

return M

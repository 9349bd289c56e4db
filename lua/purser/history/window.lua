-- SPDX-License-Identifier: MIT
-- One window of time of a history, read completely or found to hold too much.
--
-- Nothing is assumed that an answer does not prove:
--   * An answer that is full proves nothing, so its window is divided. The order of records in it only says where.
--   * A service may show fewer records at once than it was asked for, and not say so. An answer that is shorter than
--     another was is complete; one that is as long as the longest may have been cut, so its window is divided: its
--     parts are shorter, or show what was cut off. history/turn.lua says how pages are turned.
--   * Whether the bounds of a window belong to it is documented nowhere, nor whether they are counted in whole seconds.
--     So a whole second more is asked for on both sides, and what lies outside is dropped: a neighbour has it.
--   * Windows are divided between seconds. One second is not divided where there are pages: they are turned to their
--     end. Without pages it is, by milliseconds. A service that counts in seconds shows that then, and ends the walk.
--   * A record that was shown for a window must be shown for the part of it that has the record's time.

local pages = require "purser.history.pages"
local turn = require "purser.history.turn"

local failed = pages.failed

local M = {}

-- A window of more pages is divided. One second is not, so it may have any number.
local MAX_PAGES = 10
-- A record may lie this far outside of what was asked: a service that counts in seconds is distinguished from one that
-- filters by another time than the one it shows.
local TOLERANCE_MS = 2000

-- Tells an answer that may have been cut from one that was not, where all records have one time, so that the window
-- cannot be divided: what every answer shows at most is a round number.
local function may_be_cut(source, records)
  local time_of, same = source.paging.time_member, true
  for _, record in ipairs(records) do same = same and record[time_of] == records[1][time_of] end
  return not same or #records % 10 == 0
end

-- Asks for all of a window. Returns the records, whether they are "whole" (see turn.read for what else), and the total;
-- or nil and an error.
local function ask(source, first, last, max_pages)
  if source.paging.page then return turn.read(source, first, last, max_pages) end
  local records, err, _, short = pages.ask(source, first, last)
  if not records then return nil, err end
  if #records >= source.paging.page_size then return records, "crowded" end
  return records, not short and may_be_cut(source, records) and "unproven" or "whole"
end

-- Returns whether a record lies so far outside that the service does not filter by the time it shows. A strict source
-- takes it: that it is there is proof enough.
local function is_stray(time, first, last)
  return time < first - TOLERANCE_MS or time > last + TOLERANCE_MS
end

-- Returns the records within the window that the filters keep, each id once.
local function select_records(source, records, first, last)
  local kept, ids, time_of = {}, {}, source.paging.time_member
  for _, record in ipairs(records) do
    local time = record[time_of]
    if type(time) ~= "number" then
      return nil, failed(source, ("a record came without its %s, so it has no place in the history"):format(time_of))
    end
    local stray = is_stray(time, first, last)
    if stray and not source.strict then
      return nil, failed(source, ("a record of the time %d came for the window from %d to %d")
        :format(time, first, last))
    end
    local key, is_id = source.key(record)
    local requested = stray or (time >= first and time <= last)
    if requested and not (is_id and ids[key]) and source.keep(record) then
      ids[key] = true
      kept[#kept + 1] = record
    end
  end
  return kept
end

-- Sorts records, the oldest first; those of one millisecond in the order of their keys, which is the same whenever they
-- are read.
local function sort(source, records)
  local time_of, key, keys = source.paging.time_member, source.key, {}
  for _, record in ipairs(records) do keys[record] = key(record) end
  table.sort(records, function(a, b)
    if a[time_of] ~= b[time_of] then return a[time_of] < b[time_of] end
    return keys[a] < keys[b]
  end)
  return records
end

local function is_second(first, last)
  return math.floor(first / 1000) == math.floor(last / 1000)
end

--- Returns the end of a whole second nearest to `at` that divides the window; within one second `at` itself, as far as
--- it does.
function M.edge(first, last, at)
  if is_second(first, last) then return math.max(first, math.min(last - 1, at)) end
  local lowest, highest = math.floor(first / 1000) * 1000 + 999, math.floor(last / 1000) * 1000 - 1
  return math.max(lowest, math.min(highest, math.floor((at + 1) / 1000) * 1000 - 1))
end

-- Returns where to divide a window that holds too much: the last millisecond of the earlier part. Where the order of
-- the records shows which end of the window they are, that end is cut off; every third time it is the middle, so that a
-- misleading order costs requests and no more.
local function divide(source, records, first, last, depth)
  local time_of, low, high = source.paging.time_member, last, first
  for _, record in ipairs(records) do
    local time = record[time_of]
    if type(time) == "number" then low, high = math.min(low, time), math.max(high, time) end
  end
  local head, tail = records[1] and records[1][time_of], records[#records] and records[#records][time_of]
  local at
  if depth % 3 == 2 or type(head) ~= "number" or type(tail) ~= "number" then
    at = math.floor((first + last) / 2)
  elseif head > tail then
    at = low
  else
    at = math.max(head, tail) - 1
  end
  return M.edge(first, last, at), math.max(0, high - low)
end

-- Returns where to divide a window that may be complete, or a second: in the middle of its records, so that each part
-- has clearly fewer, and some that have to be shown again.
local function middle(source, records, first, last)
  local times = {}
  for _, record in ipairs(records) do
    local time = record[source.paging.time_member]
    if type(time) == "number" and time >= first and time <= last then times[#times + 1] = time end
  end
  table.sort(times)
  local at = times[math.ceil(#times / 2)] or math.floor((first + last) / 2)
  return M.edge(first, last, at == times[#times] and at - 1 or at)
end

local function count_at(source, records, time)
  local count = 0
  for _, record in ipairs(records) do
    if record[source.paging.time_member] == time then count = count + 1 end
  end
  return count
end

-- Returns what must be shown again for the parts of a window: the keys and times of the records that were shown for it,
-- and of those that an earlier answer showed.
local function expectation(source, records, before, first, last)
  local expected, seen = { keys = {}, times = {} }, {}
  local function add(key, time)
    if type(time) == "number" and time >= first and time <= last then
      expected.keys[#expected.keys + 1], expected.times[#expected.times + 1] = key, time
    end
  end
  for _, record in ipairs(records) do
    local key = source.key(record)
    seen[key] = true
    add(key, record[source.paging.time_member])
  end
  for i, key in ipairs(before and before.keys or {}) do
    if not seen[key] then add(key, before.times[i]) end
  end
  return expected
end

-- Returns whether all is there that must be. Of records that look the same one will do where pages may have shown it
-- twice.
local function has_all(source, records, window)
  local there, expected = {}, window.expected
  if not expected then return true end
  for _, record in ipairs(records) do
    local key = source.key(record)
    there[key] = (there[key] or 0) + 1
  end
  for i, key in ipairs(expected.keys) do
    local time = expected.times[i]
    if time >= window.first and time <= window.last then
      if (there[key] or 0) == 0 then return false end
      if not source.paging.page then there[key] = there[key] - 1 end
    end
  end
  return true
end

-- Returns what is asked for so that nothing of the window is missed.
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

-- Returns the most records of one moment that an answer without pages can show to be all.
local function limit_of(source)
  return source.paging.page_size - 1
end

-- Makes the error of a millisecond, or of a second that cannot be divided, that is not shown whole.
local function too_many(source, window, count, state)
  local unit = (window.first == window.last and not source.paging.page) and "millisecond" or "second"
  if state == "crowded" then count = limit_of(source) end
  local err = failed(source, problems[state]:format(count, window.first, unit))
  err.details = { crowded = true }
  return nil, err
end

-- Reads one millisecond: its neighbours may be what crowds it; but where bounds do not belong to a window, asking for
-- it alone shows nothing.
local function ask_alone(source, time, records, state)
  local there = count_at(source, records, time)
  local alone, state_alone = ask(source, time, time, math.huge)
  if alone and count_at(source, alone, time) < there then return records, state end
  return alone, state_alone
end

-- Returns whether records came from another time than was asked for: dividing such a window leads nowhere.
local function has_strays(source, records, window)
  for _, record in ipairs(records) do
    local time = record[source.paging.time_member]
    if type(time) == "number" and is_stray(time, window.first, window.last) then return true end
  end
  return false
end

-- Returns the complete window, as it is delivered.
local function whole(source, records, window)
  if not has_all(source, records, window) then
    local count = #window.expected.keys
    local state = count < limit_of(source) and "unproven" or "crowded"
    if window.is_part then return too_many(source, window, count, state) end
    return nil, failed(source, ("a record that was shown before is missing between %d and %d; the service may count "
      .. "time in whole seconds, with more records in one than it shows"):format(window.first, window.last))
  end
  local kept, err = select_records(source, records, window.first, window.last)
  if not kept then return nil, err end
  return { records = sort(source, kept), count = #records }
end

-- Returns how a window is divided, and what it teaches: of a cut answer its length, of one that is only suspected
-- nothing.
local function division(source, records, window, state, total, max_shown)
  local first, last = window.first, window.last
  local at, span = divide(source, records, first, last, window.depth)
  local suspected = state ~= "crowded" and #records ~= max_shown
  if suspected or is_second(first, last) then at = middle(source, records, first, last) end
  return { at = at, is_part = is_second(first, last), span = span, count = #records,
    total = state == "crowded" and total or nil, suspected = suspected,
    expected = expectation(source, records, window.expected, first, last),
    cut = state == "unproven" and #records == max_shown and not source.paging.page }
end

-- Returns whether an answer has records from outside of what was asked for, so that the service counts coarser than
-- that.
local function is_coarse(source, records, from, to)
  for _, record in ipairs(records) do
    local time = record[source.paging.time_member]
    if type(time) == "number" and (time < from or time > to) then return true end
  end
  return false
end

-- Returns whether a strict source takes what is not whole, and notes why it is not: dividing shows no more where a
-- total says that there is more, nor where the service does not keep to the time.
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

--- Reads a window: { first, last, depth = how often it was divided, expected = what has to be in it, is_part = whether
--- it is a part of a second that was divided }; both bounds belong to it. Returns one of
---   { records = {...} }                    complete, oldest first
---   { at =, count =, span =, total = }     too much: divide after `at`; `count` records lay within `span` ms.
---                                          `expected` and `is_part` belong to both parts; `suspected` says that it may
---                                          not be too much, `cut` that `count` is all that an answer shows
--- or nil and an error.
---@param source purser.history.source
---@param window table
---@param earliest integer|nil  no request asks for what lies before
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
  if is_least and (paged or window.is_part) or window.is_part and is_coarse(source, records, from, to)
    or source.strict and has_strays(source, records, window) then
    return too_many(source, window, #records, state)
  end
  if is_least then
    window.is_part, window.expected = true, expectation(source, records, window.expected, first, last)
    return M.read(source, window, earliest)
  end
  return division(source, records, window, state, total, max_shown)
end

local QUARTER, DAY = 900000, 86400000

--- Returns whether a record of this time can show how finely the service counts: midnight, in whatever zone, is not
--- near it.
function M.is_sample(time)
  return type(time) == "number" and time % QUARTER > TOLERANCE_MS and time % QUARTER < QUARTER - TOLERANCE_MS
end

--- Finds out whether a service counts its bounds in days: without the first or the last, records at the ends of each
--- window would be missing. It asks for the second of a time at which a record was shown, and a second on both sides;
--- where none was, for a day more than the walk on both sides. Returns nil and whether a record shows that the
--- service counts finer, or an error.
---@param source purser.history.source
---@param time integer|nil      of a record that was shown
---@param first integer         of the walk
---@param last integer
---@param longest integer       how long a window may be
---@param earliest integer|nil  no request asks for what lies before
---@return purser.Error|nil err, boolean|nil is_shown
function M.check_unit(source, time, first, last, longest, earliest)
  if not time then
    local from = math.max(first - DAY, last + 2 * DAY - longest, earliest or 0)
    local records, err = pages.ask(source, from, math.max(from, last + DAY), 1)
    if not records then return err end
    for _, record in ipairs(records) do
      local at = record[source.paging.time_member]
      if M.is_sample(at) then time = at end
    end
    if not time then return nil end
  end
  local records, err = pages.ask(source, bounds({ first = time, last = time }, earliest), time + 1000, 1)
  if not records then return err end
  if records[1] then return nil, true end
  return failed(source, ("a record of the time %d was shown, but not when its second was asked for: the service may "
    .. "count its bounds in days, so records at the ends of windows may be missing"):format(time))
end

--- Returns how many records a window should hold, so that it is read in one go and few requests are made.
function M.goal(source)
  return math.floor(source.paging.page_size * (source.paging.page and MAX_PAGES or 1) * 0.75)
end

return M

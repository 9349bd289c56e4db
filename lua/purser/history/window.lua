-- SPDX-License-Identifier: MIT
-- One window of time of a history, read completely or found to hold too much.
--
-- Nothing is assumed that an answer does not prove:
--   * An answer that is full proves nothing, so its window is divided. The order of records in it only says where.
--   * A service may show fewer records at once than it was asked for, and not say so. An answer that is shorter than
--     another was is complete; one that is as long as the longest may have been cut, so its window is divided: its
--     parts are shorter, or show what was cut off. history/turn.lua says how pages are turned.
--   * Whether the bounds of a window belong to it is documented nowhere, nor whether they are counted in whole seconds.
--     So more is asked for on both sides, up to whole seconds where the window is that long, and what lies outside is
--     dropped: a neighbour has it.
--   * A record that was shown for a window must be shown for the part of it that has the record's time.

local pages = require "purser.history.pages"
local turn = require "purser.history.turn"

local failed = pages.failed

local M = {}

-- How many pages a window may have before it is divided. One millisecond cannot be, so it may have any number.
local MAX_PAGES = 10
-- How far outside of what was asked a record may lie: a service that counts in seconds is distinguished from one that
-- filters by another time than the one it shows.
local TOLERANCE_MS = 2000

-- What every answer shows at most is a round number. Where all records of a window have one time, so that it cannot be
-- divided, that distinguishes an answer that may have been cut from one that was not.
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

-- Whether a record lies so far outside that the service does not filter by the time it shows. A strict source takes it:
-- that it is there is proof enough.
local function is_stray(time, first, last)
  return time < first - TOLERANCE_MS or time > last + TOLERANCE_MS
end

-- The records within the window that the filters keep, each id once.
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

-- Oldest first; records of one millisecond in the order of their keys, which is the same whenever they are read.
local function sort(source, records)
  local time_of, key, keys = source.paging.time_member, source.key, {}
  for _, record in ipairs(records) do keys[record] = key(record) end
  table.sort(records, function(a, b)
    if a[time_of] ~= b[time_of] then return a[time_of] < b[time_of] end
    return keys[a] < keys[b]
  end)
  return records
end

--- The millisecond nearest to `at` that ends a whole second, so that a service which counts in seconds misses none of
--- the last; `at` itself where the window ends or begins within that second.
function M.edge(first, last, at)
  local down = math.floor((at + 1) / 1000) * 1000 - 1
  for edge = down, down + 1000, 1000 do
    if edge >= first and edge < last then return edge end
  end
  return math.max(first, math.min(last - 1, at))
end

-- Where to divide a window that holds too much: the last millisecond of the earlier part. Where the order of the
-- records shows which end of the window they are, that end is cut off; every third time it is the middle, so that a
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

-- Where to divide a window that may be complete: in the middle of its records, so that each part has clearly fewer.
local function middle(source, records, first, last)
  local times = {}
  for _, record in ipairs(records) do
    local time = record[source.paging.time_member]
    times[#times + 1] = type(time) == "number" and time or nil
  end
  table.sort(times)
  return M.edge(first, last, times[math.ceil(#times / 2)] or first)
end

local function count_at(source, records, time)
  local count = 0
  for _, record in ipairs(records) do
    if record[source.paging.time_member] == time then count = count + 1 end
  end
  return count
end

-- What must be shown again for the parts of a window: the keys and times of the records that were shown for it, and of
-- those that an earlier answer showed.
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

-- Whether all is there that must be. Of records that look the same one will do where pages may have shown it twice.
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

-- What is asked for so that nothing of the window is missed.
local function bounds(window, earliest)
  local from, to = window.first - 1, window.last + 1
  if to - from > 1000 then from, to = math.floor(from / 1000) * 1000, math.ceil(to / 1000) * 1000 end
  return math.max(from, math.min(window.first, earliest or 0)), to
end

-- The error of a millisecond that cannot be shown whole.
local function too_many(source, time, count, state, total)
  local message = "more than %d records have the time %d, and the service gives no more than that of one millisecond; "
    .. "narrow it down by other parameters"
  if state == "unproven" then
    message = "%d records have the time %d, and nothing shows that the service would show more of one millisecond; "
      .. "where you know that it does, say so with `shows_at_least`"
  elseif state == "lacking" then
    message = ("the service says that there are %d records, and shows %%d, for the time %%d"):format(total)
  elseif state == "repeated" then
    message = "of %d records with the time %d some come again on later pages, so others may be missing"
  end
  local err = failed(source, message:format(state == "crowded" and source.paging.page_size - 1 or count, time))
  err.details = { crowded = true }
  return nil, err
end

-- Reads one millisecond: its neighbours may be what crowds it; but where bounds do not belong to a window, asking for
-- it alone shows nothing.
local function ask_alone(source, time, records, state, total)
  local there = count_at(source, records, time)
  local alone, state_alone, total_alone = ask(source, time, time, math.huge)
  if alone and count_at(source, alone, time) < there then return records, state, total end
  return alone, state_alone, total_alone
end

-- Whether records came from another time than was asked for: dividing such a window leads nowhere.
local function has_strays(source, records, window)
  for _, record in ipairs(records) do
    local time = record[source.paging.time_member]
    if type(time) == "number" and is_stray(time, window.first, window.last) then return true end
  end
  return false
end

-- The complete window, as it is delivered.
local function whole(source, records, window)
  if not has_all(source, records, window) then
    return nil, failed(source, ("a record that was shown before is missing between %d and %d; the service may count "
      .. "time in whole seconds, with more records in one than it shows"):format(window.first, window.last))
  end
  local kept, err = select_records(source, records, window.first, window.last)
  if not kept then return nil, err end
  return { records = sort(source, kept), count = #records }
end

-- How a window is divided, and what it teaches: of a cut answer its length, of one that is only suspected nothing.
local function division(source, records, window, state, total, max_shown)
  local at, span = divide(source, records, window.first, window.last, window.depth)
  local suspected = state ~= "crowded" and #records ~= max_shown
  if suspected then at = middle(source, records, window.first, window.last) end
  return { at = at, span = span, count = #records, total = state == "crowded" and total or nil,
    expected = expectation(source, records, window.expected, window.first, window.last),
    suspected = suspected, cut = state == "unproven" and #records == max_shown and not source.paging.page }
end

--- Reads a window: { first, last, depth = how often it was divided, expected = what has to be in it }; both bounds
--- belong to it. Returns one of
---   { records = {...} }                    complete, oldest first
---   { at =, count =, span =, total = }     too much: divide after `at`; `count` records lay within `span` ms.
---                                          `expected` belongs to both parts; `suspected` says that it may not be too
---                                          much, `cut` that `count` is all that an answer shows
--- or nil and an error.
---@param source purser.history.source
---@param window table
---@param earliest integer|nil  no request asks for what lies before
function M.read(source, window, earliest)
  local is_moment = window.first == window.last
  local from, to = bounds(window, earliest)
  local max_shown = source.shown
  local records, state, total = ask(source, from, to, is_moment and math.huge or MAX_PAGES)
  if records and state ~= "whole" and is_moment then
    records, state, total = ask_alone(source, window.first, records, state, total)
    if records and state ~= "whole" then return too_many(source, window.first, #records, state, total) end
  end
  if not records then return nil, state end
  if state == "whole" then return whole(source, records, window) end
  if source.strict and has_strays(source, records, window) then
    if state == "crowded" then return too_many(source, window.first, #records, state) end
    source.incomplete = "the history does not keep to the time it is asked for, so nothing shows that these are all"
    return whole(source, records, window)
  end
  return division(source, records, window, state, total, max_shown)
end

--- How many records a window should hold, so that it is read in one go and few requests are made.
function M.goal(source)
  return math.floor(source.paging.page_size * (source.paging.page and MAX_PAGES or 1) * 0.75)
end

return M

-- One window of time of a history, read completely or found to hold too much.
--
-- Nothing is assumed that an answer does not prove:
--   * An answer that is full proves nothing, so its window is divided. The order of records in it only says where.
--   * A page that is not full, or empty, is not the last one: pages are turned until the total is reached, or a page is
--     empty and the service names no further one.
--   * Whether the bounds of a window belong to it is documented nowhere, so a millisecond more is asked for on both
--     sides, and what lies outside is dropped: a neighbour has it.
--   * Pages that moved while they were turned (a changed total, a record that comes again) are turned again, until two
--     walks agree.

local errors = require "purser.errors"
local pages = require "purser.history.pages"

local M = {}

-- How many pages a window may have before it is divided. One millisecond cannot be, so it may have any number.
local MOST_PAGES = 10
-- How far outside of what was asked a record may lie: a service that counts in seconds is told from one that filters
-- by another time than the one it shows.
local TOLERANCE_MS = 1000
local MOST_ATTEMPTS = 6

local function failed(source, message)
  return errors.new { kind = "workflow", outcome = "unknown", operation = source.row.full_name, phase = "history",
    message = message }
end

-- Turns the pages. Returns the records and how it ended ("whole", "crowded", "moved" or "repeated"); or nil, an error.
local function turn(source, first, last, most_pages)
  local records, seen, page, total, repeated, repeated_id = {}, {}, 0, nil, false, false
  while true do
    page = page + 1
    local list, now_total, now_pages = pages.ask(source, first, last, page)
    if not list then return nil, now_total end
    if page > 1 and now_total ~= total then return records, "moved", now_total end
    total = now_total
    local fresh = 0
    for _, record in ipairs(list) do
      local key, is_id = source.key(record)
      if not seen[key] then
        fresh = fresh + 1
      elseif is_id or seen[key] < page then
        repeated, repeated_id = true, repeated_id or is_id
      end
      seen[key] = seen[key] or page
      records[#records + 1] = record
    end
    if fresh == 0 and #list == source.paging.most and page > 1 then
      return nil, failed(source, ("page %d repeats what earlier pages held; the service seems not to turn pages")
        :format(page))
    end
    -- A total that stays says that nothing moved, unless records have ids and one of them came twice.
    local calm = not repeated or (total and not repeated_id)
    if (total and #records >= total) or (#list == 0 and page >= (now_pages or 0)) then
      return records, calm and "whole" or "repeated", total
    end
    if page >= most_pages or (total and total > most_pages * source.paging.most) then
      return records, "crowded", total
    end
  end
end

local function keys_of(source, records)
  local keys = {}
  for i, record in ipairs(records) do keys[i] = source.key(record) end
  return table.concat(keys, "\29")
end

-- Turns the pages until they have not moved. Twins, records that look the same, come again on every walk.
local function turn_calmly(source, first, last, most_pages)
  local before
  for _ = 1, MOST_ATTEMPTS do
    local records, state, total = turn(source, first, last, most_pages)
    if not records then return nil, state end
    if state == "whole" or state == "crowded" then return records, state, total end
    if state == "repeated" then
      local keys = keys_of(source, records)
      if keys == before then return records, "whole", total end
      before = keys
    end
  end
  return nil, failed(source, "the pages move faster than they can be read; let `to` lie further back")
end

local function ask(source, first, last, most_pages)
  if source.paging.page then return turn_calmly(source, first, last, most_pages) end
  local records, err = pages.ask(source, first, last)
  if not records then return nil, err end
  return records, #records < source.paging.most and "whole" or "crowded"
end

-- The records within the window that the filters keep, each id once.
local function select_records(source, records, first, last)
  local kept, ids, time_of = {}, {}, source.paging.time
  for _, record in ipairs(records) do
    local time = record[time_of]
    if type(time) ~= "number" then
      return nil, failed(source, ("a record came without its %s, so it has no place in the history"):format(time_of))
    end
    if time < first - TOLERANCE_MS or time > last + TOLERANCE_MS then
      return nil, failed(source, ("a record of the time %d came for the window from %d to %d")
        :format(time, first, last))
    end
    local key, is_id = source.key(record)
    if time >= first and time <= last and not (is_id and ids[key]) and source.keep(record) then
      ids[key] = true
      kept[#kept + 1] = record
    end
  end
  return kept
end

-- Oldest first; records of one millisecond in the order of their keys, which is the same whenever they are read.
local function sort(source, records)
  local time_of, key, keys = source.paging.time, source.key, {}
  for _, record in ipairs(records) do keys[record] = key(record) end
  table.sort(records, function(a, b)
    if a[time_of] ~= b[time_of] then return a[time_of] < b[time_of] end
    return keys[a] < keys[b]
  end)
  return records
end

-- Where to divide a window that holds too much: the last millisecond of the earlier part. Where the order of the
-- records tells which end of the window they are, that end is cut off; every third time it is the middle, so that a
-- misleading order costs requests and no more.
local function divide(source, records, first, last, depth)
  local time_of, low, high = source.paging.time, last, first
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
  return math.max(first, math.min(last - 1, at)), math.max(0, high - low)
end

local function count_at(source, records, time)
  local count = 0
  for _, record in ipairs(records) do
    if record[source.paging.time] == time then count = count + 1 end
  end
  return count
end

--- Reads a window: { first, last, depth = how often it was divided }; both bounds belong to it. Returns one of
---   { records = {...} }                    complete, oldest first
---   { at =, count =, span =, total = }     too much: divide behind `at`; `count` records lay within `span` ms
--- or nil and an error.
---@param source purser.history.source
---@param window table
---@param earliest integer|nil  no request asks for what lies before
function M.read(source, window, earliest)
  local first, last = window.first, window.last
  local most_pages = first == last and math.huge or MOST_PAGES
  local from = math.max(first - 1, math.min(first, earliest or first))
  local records, state, total = ask(source, from, last + 1, most_pages)
  if records and state == "crowded" and first == last then
    -- The neighbours may be what crowds it; but where bounds do not belong to a window, this asks for nothing.
    local there = count_at(source, records, first)
    records, state, total = ask(source, first, last, most_pages)
    if records and count_at(source, records, first) < there then state = "crowded" end
  end
  if not records then return nil, state end
  if state == "crowded" then
    if first == last then
      return nil, failed(source, ("more than %d records have the time %d, and the service gives no more than that of "
        .. "one millisecond; narrow it down by other parameters"):format(source.paging.most - 1, first))
    end
    local at, span = divide(source, records, first, last, window.depth)
    return { at = at, span = span, count = #records, total = total }
  end
  local kept, err = select_records(source, records, first, last)
  if not kept then return nil, err end
  return { records = sort(source, kept), count = #records }
end

--- How many records a window should hold, so that it is read in one go and few requests are made.
function M.goal(source)
  return math.floor(source.paging.most * (source.paging.page and MOST_PAGES or 1) * 0.75)
end

return M

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
--
-- A strict source (history.strict) wants every record that was there when the reading began, and no more. A list that
-- grows while its pages are turned moves records to later pages, where they are met again, and never past them. So
-- growth is no reason to turn the pages again; an empty page where there should be more is an error.

local errors = require "purser.errors"
local pages = require "purser.history.pages"

local M = {}

-- How many pages a window may have before it is divided. One millisecond cannot be, so it may have any number.
local MOST_PAGES = 10
-- How far outside of what was asked a record may lie: a service that counts in seconds is told from one that filters
-- by another time than the one it shows.
local TOLERANCE_MS = 1000
local MOST_ATTEMPTS = 6
-- No service shows fewer records at once than this. One that shows fewer than the document says does so silently.
local FEWEST_SHOWN = 10
-- A service that gives pages without end, and nothing new on them, is given up after so many in a row.
local MOST_BARREN = 20

local function failed(source, message)
  return errors.new { kind = "workflow", outcome = "unknown", operation = source.row.full_name, phase = "history",
    message = message }
end

-- Turning pages, this is known of the list: { source, page = its number, records, seen = key -> page, total, grew,
-- barren = how many pages in a row held nothing new, same_id and same_text = whether a record of that kind of key came
-- again }.

-- Notes the records of a page.
local function note(turn, list)
  local seen, fresh = turn.seen, false
  for _, record in ipairs(list) do
    local key, is_id = turn.source.key(record)
    if seen[key] and is_id then
      turn.same_id = true
    elseif seen[key] and seen[key] < turn.page then
      turn.same_text = true
    end
    if not seen[key] then seen[key], fresh = turn.page, true end
    turn.records[#turn.records + 1] = record
  end
  turn.barren = fresh and 0 or (turn.barren or 0) + 1
end

-- Whether the page repeats what earlier ones held, and nothing else. A service that does not turn pages does that; a
-- list that moved may do it, and so may records that only look the same.
local function is_repetition(turn, list)
  local ids = true
  for _, record in ipairs(list) do
    local key, is_id = turn.source.key(record)
    if not turn.seen[key] then return false end
    ids = ids and is_id
  end
  local full = #list == turn.source.paging.most
  return #list > 0 and not turn.grew and (full or ids or turn.source.strict == true), full
end

-- Whether a changed total means that the pages have to be turned again.
local function has_moved(turn, total)
  if turn.page == 1 or total == turn.total then return false end
  turn.grew = turn.source.strict and total and turn.total and total > turn.total
  return not turn.grew
end

-- Whether no record was missed or met twice, as far as the records tell.
local function is_calm(turn)
  if turn.source.strict then return not turn.same_text or turn.total ~= nil and not turn.grew end
  -- A total that stays says that nothing moved, unless records have ids and one of them came twice.
  return not turn.same_id and (not turn.same_text or turn.total ~= nil)
end

-- Whether the page was the last one; or nil and an error.
local function is_last(turn, count, page_count)
  local total, further = turn.total, turn.page < (page_count or 0)
  local reached = total and #turn.records >= total
  if not turn.source.strict then return reached or (count == 0 and not further) end
  if count > 0 then return reached and not further end
  if total and not reached or not total and further then return nil, pages.senseless(turn.source) end
  return true
end

local function stuck(turn)
  return failed(turn.source, ("page %d repeats what earlier pages held; the service seems not to turn pages")
    :format(turn.page))
end

-- The end of a turn whose last page was a repetition. Where a page was full there must be more. A short one may be all
-- there is: a strict source takes it, and notes that without a total nothing shows that.
local function end_repetition(turn, full)
  if full then return nil, stuck(turn) end
  if not turn.source.strict then return turn.records, "stuck", turn.total, stuck(turn) end
  if turn.total and #turn.records < turn.total then return nil, pages.senseless(turn.source) end
  if not turn.total then pages.note_repetition(turn.source) end
  return turn.records, is_calm(turn) and "whole" or "repeated", turn.total
end

-- Turns the pages. Returns the records and how it ended ("whole", "crowded", "moved", "repeated", or "stuck" with what
-- to say of it) with the total between; or nil, an error.
local function turn_pages(source, first, last, most_pages)
  local turn = { source = source, records = {}, seen = {}, page = 0 }
  while true do
    turn.page = turn.page + 1
    local list, total, page_count = pages.ask(source, first, last, turn.page)
    if not list then return nil, total end
    if has_moved(turn, total) then return turn.records, "moved", total end
    turn.total = total
    local repetition, full = is_repetition(turn, list)
    if repetition then return end_repetition(turn, full) end
    note(turn, list)
    local ended, err = is_last(turn, #list, page_count)
    if err then return nil, err end
    if ended then return turn.records, is_calm(turn) and "whole" or "repeated", total end
    if turn.barren > MOST_BARREN then
      return nil, failed(source, ("%d pages in a row hold nothing new; they seem not to end"):format(turn.barren))
    end
    if turn.page >= most_pages or (total and total > most_pages * source.paging.most) then
      return turn.records, "crowded", total
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
  local before, was_stuck
  for _ = 1, MOST_ATTEMPTS do
    local records, state, total, problem = turn_pages(source, first, last, most_pages)
    if not records then return nil, state end
    if state == "stuck" and was_stuck then return nil, problem end
    was_stuck = state == "stuck"
    if state == "whole" or state == "crowded" then return records, state, total end
    if state == "repeated" then
      local keys = keys_of(source, records)
      if keys == before then return records, "whole", total end
      before = keys
    end
  end
  return nil, failed(source, "the pages move faster than they can be read; let `to` lie further back")
end

-- Whether one of the records is not among those of the keys `seen`.
local function has_new(source, records, seen)
  for _, record in ipairs(records) do
    if not seen[source.key(record)] then return true end
  end
  return false
end

-- Whether the service left records out although it was asked for more than it showed; nil and an error when it cannot
-- be asked. What it left out lies before the earliest of the others, or behind the latest.
local function is_cut(source, records, first, last)
  local low, high, seen = last, first, {}
  for _, record in ipairs(records) do
    local time = record[source.paging.time]
    if time >= first and time <= last then low, high = math.min(low, time), math.max(high, time) end
    seen[source.key(record)] = true
  end
  for _, part in ipairs { { first, low }, { high, last } } do
    local others, err = pages.ask(source, part[1], part[2])
    if not others then return nil, err end
    if has_new(source, others, seen) then return true end
  end
  return false
end

local function ask(source, first, last, most_pages)
  if source.paging.page then return turn_calmly(source, first, last, most_pages) end
  local records, err = pages.ask(source, first, last)
  if not records then return nil, err end
  if #records >= source.paging.most then return records, "crowded" end
  if not source.strict or #records < FEWEST_SHOWN or first == last then return records, "whole" end
  local cut
  cut, err = is_cut(source, records, first, last)
  if cut == nil then return nil, err end
  return records, cut and "crowded" or "whole"
end

-- Whether a record lies so far outside that the service does not filter by the time it shows. A strict source takes it:
-- that it is there is proof enough.
local function is_stray(time, first, last)
  return time < first - TOLERANCE_MS or time > last + TOLERANCE_MS
end

-- The records within the window that the filters keep, each id once.
local function select_records(source, records, first, last)
  local kept, ids, time_of = {}, {}, source.paging.time
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
    local wanted = stray or (time >= first and time <= last)
    if wanted and not (is_id and ids[key]) and source.keep(record) then
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
  local from = math.max(first - 1, math.min(first, earliest or 0))
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
      local err = failed(source, ("more than %d records have the time %d, and the service gives no more than that of "
        .. "one millisecond; narrow it down by other parameters"):format(source.paging.most - 1, first))
      err.crowded = true
      return nil, err
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

-- SPDX-License-Identifier: MIT
-- Reads all pages of one list or window, and says if the records may be incomplete.
--
--   end        an empty page, or a short page that agrees with the total; a total alone ends nothing
--   short      services show fewer records than requested, and turn pages by either number: further pages have the size
--              of the first
--   moved      a record id on two pages: the pages are read again
--   equal      equal records without ids on two pages: read again with another size, the counts compared
--   repeated   a page equal to the previous or the first page is dropped, whatever the total
--   strict     (history.strict) wants the records of one moment. Growth at a list's head moves records to later pages,
--              never past them: growth is allowed. Without a total, the last records of a page at the head of the next
--              page prove growth. `source.incomplete` notes doubts

local pages = require "purser.client.history.pages"
local plain_text = require "purser.client.util.plain_text"

local failed = pages.failed

local M = {}

local MAX_ATTEMPTS = 6
local MAX_BARREN = 20

-- A turn: source, page (number), size (records requested), records, seen (key -> page), first and before (the first and
-- the previous page), barren (pages in a row without a new record), held (records shown, without overlaps), total,
-- first_total, either (the total may count pages), reached (the total was reached without proof of the end), own_counts
-- (each total so far counted its own page), again and ids_again (records on a second page; those with an id), overlap
-- (records at the page's head that ended the previous page)

-- Notes a page's records. An overlap is neither doubtful nor new.
local function note(turn, list)
  local seen, fresh = turn.seen, false
  for i, record in ipairs(list) do
    local key, is_id = turn.source.key(record)
    local came = seen[key]
    if i > turn.overlap then
      turn.held = turn.held + 1
      if came and came < turn.page then
        turn.again, turn.ids_again = turn.again + 1, turn.ids_again + (is_id and 1 or 0)
      end
      if not (came and is_id) then turn.records[#turn.records + 1] = record end
    end
    if not came then seen[key], fresh = turn.page, true end
  end
  turn.barren, turn.before, turn.first = fresh and 0 or (turn.barren or 0) + 1, list, turn.first or list
end

local function begins_with(source, list, other, at)
  for i = at, #other do
    local record = list[i - at + 1]
    if not record or source.key(record) ~= source.key(other[i]) then return false end
  end
  return true
end

--- Returns how many records at a page's head ended the previous page in this order: the list grew at its head. 0 for a
--- repetition of the previous page.
---@param source purser.history.source
---@param before table[]  the page before
---@param list table[]
---@return integer
function M.overlap(source, before, list)
  local has_ids = list[1] and select(2, source.key(list[1]))
  for at = has_ids and #before or 0, 2, -1 do
    if begins_with(source, list, before, at) then return #before - at + 1 end
  end
  return 0
end

-- Returns the growth of the total since the first page.
local function growth(turn)
  return turn.total and turn.total - turn.first_total or 0
end

local function is_copy(source, list, other)
  return other ~= nil and #list == #other and begins_with(source, list, other, 1)
end

-- Tells a page without a new record: the service turns no pages, or the list moved.
local function is_repetition(turn, list)
  local source = turn.source
  if turn.overlap == #list or growth(turn) > 0 then return false end
  if is_copy(source, list, turn.before) or is_copy(source, list, turn.first) then return true end
  for _, record in ipairs(list) do
    local key, is_id = source.key(record)
    if not turn.seen[key] or not (is_id or source.strict) then return false end
  end
  return source.strict or #list >= #turn.before
end

local function has_moved(turn, total)
  if turn.page == 1 then turn.first_total = total end
  if turn.page == 1 or total == turn.total then return false end
  return not (turn.source.strict and total and turn.total and total > turn.total)
end

-- Returns the list's total; nil where pages count their own records, as a page after the first decides.
local function total_of(turn, list, total)
  turn.own_counts = turn.own_counts ~= false and total == #list
  if turn.page == 1 or not turn.own_counts then return total end
  local has_new = #list == 0
  for _, record in ipairs(list) do has_new = has_new or not turn.seen[(turn.source.key(record))] end
  if not has_new then return total end
  turn.total, turn.first_total, turn.reached = nil, nil, nil
end

-- Notes a repeated last page: the records may be all, or the service turns no pages.
local function note_repetition(source)
  source.incomplete = "the list seems not to turn its pages, so what it does not show may exist all the same"
end

-- Returns the state without a further page: "whole", "lacking" or "repeated".
local function ending(turn)
  local source, total, shown_pages = turn.source, turn.total, turn.page - (#turn.before == 0 and 1 or 0)
  if turn.again > 0 and not source.strict then return "repeated" end
  local is_of_pages = turn.either and total and total <= shown_pages
  if total and total > turn.held and not is_of_pages then return "lacking" end
  if source.strict and total and total ~= turn.held and not is_of_pages then
    source.incomplete = "the list shows more records than it says that there are"
  end
  if turn.again == 0 then return "whole" end
  if total and not turn.either then return turn.again <= growth(turn) and "whole" or "repeated" end
  if turn.again > turn.ids_again then return "repeated" end
  note_repetition(source)
  return "whole"
end

-- Returns the state at a page, nil before the end.
local function judge(turn, count, page_count, short)
  local strict, further = turn.source.strict, turn.page < (page_count or 0)
  turn.reached = turn.held == turn.total and not (strict and further)
  if count == 0 then
    if not further then return ending(turn) end
    if not strict then return turn.reached and ending(turn) or nil end
    turn.source.incomplete = "a page is empty, and the list says that there are further ones"
    return ending(turn)
  end
  return turn.reached and short and ending(turn) or nil
end

local function stuck(turn)
  return failed(turn.source, ("page %d repeats what earlier pages held; the service seems not to turn pages")
    :format(turn.page))
end

-- Returns the end after a repetition. A full page proves more. A short page may be the end: a strict source takes it,
-- and notes a doubt where there is no total.
local function end_repetition(turn, list)
  if turn.reached then return "unproven" end
  if not turn.source.strict then return "stuck", stuck(turn) end
  if #list == turn.source.paging.page_size then return nil, stuck(turn) end
  if not turn.total then note_repetition(turn.source) end
  return ending(turn)
end

-- Learns the size of further pages from the first, and from the second how many records the service shows.
local function learn_size(turn, count)
  if turn.page == 1 and count > 0 and count < turn.size then
    turn.size, turn.was_short = count, true
  elseif turn.page == 2 and turn.was_short and count == turn.size and count >= pages.FEWEST_SHOWN then
    turn.source.size = count
  end
end

-- Returns the state at the end ("stuck" with an error), nil before the end, or nil and an error.
local function turn_page(turn, first, last, max_pages)
  turn.page = turn.page + 1
  local list, total, page_count, short, either = pages.ask(turn.source, first, last, turn.page, turn.size)
  -- some services reject a page after the last
  if not list and turn.reached and total.outcome == "rejected" and total.kind ~= "throttled" then return "unproven" end
  if not list then return nil, total end
  total, turn.either = total_of(turn, list, total), either
  if has_moved(turn, total) then return "moved" end
  local may_overlap = turn.source.strict and not turn.total and turn.before -- a total tells growth
  turn.total, turn.overlap = total, may_overlap and M.overlap(turn.source, turn.before, list) or 0
  if is_repetition(turn, list) then return end_repetition(turn, list) end
  note(turn, list)
  local state = judge(turn, #list, page_count, short)
  if state then return state end
  learn_size(turn, #list)
  if turn.barren > MAX_BARREN then
    return nil, failed(turn.source, ("%d pages in a row hold nothing new; the service names pages that it does not "
      .. "have"):format(turn.barren))
  end
  if turn.page >= max_pages or (total and not either and total > max_pages * turn.size) then return "crowded" end
end

local function count_text(source, records)
  local keys = {}
  for i, record in ipairs(records) do keys[i] = source.key(record) end
  table.sort(keys)
  return table.concat(keys, "\29")
end

local final = { whole = true, crowded = true, unproven = true, lacking = true }

local REPEATED = "records come again on later pages: their order changes, or the pages move faster than they can be "
  .. "read; let `to` lie further back"
local reasons = {
  moved = "the pages move faster than they can be read; let `to` lie further back", repeated = REPEATED,
  stuck = REPEATED,
}

--- Reads until no page moves. Returns the records, a state and the total; or nil and an error. The states:
---   whole      all records
---   crowded    too many pages
---   unproven   the records agree with the total, which nothing proves
---   lacking    the total promises more
---   repeated   equal records are on two pages in each reading
function M.read(source, first, last, max_pages)
  local before, was_stuck, why
  local size = source.size or source.paging.page_size
  for _ = 1, MAX_ATTEMPTS do
    local turn = { source = source, records = {}, seen = {}, page = 0, again = 0, ids_again = 0, held = 0, size = size }
    local state, problem
    repeat state, problem = turn_page(turn, first, last, max_pages) until state or problem
    if not state then return nil, problem end
    if final[state] then return turn.records, state, turn.total end
    if state == "stuck" and was_stuck then return nil, problem end
    was_stuck, why = state == "stuck", state
    if state == "repeated" then
      local counts = count_text(source, turn.records)
      if counts == before then return turn.records, turn.ids_again > 0 and "repeated" or "whole", turn.total end
      before, size = counts, turn.ids_again > 0 and size or math.max(1, math.min(size, #turn.first) - 1)
    end
  end
  return nil, failed(source, reasons[why])
end

local function read_answer(source, first, last)
  local list, total, _, _, either = pages.ask(source, first, last)
  if not list then return nil, total end
  local turn = { source = source, records = {}, seen = {}, page = 1, again = 0, ids_again = 0, held = 0, overlap = 0,
    total = total, either = either }
  note(turn, list)
  return turn.records, ending(turn), total
end

--- Returns all records of a list without windows, each id once, in the service's order; or nil and an error.
function M.list(source, first, last)
  local read = source.paging.page and M.read or read_answer
  local records, state, total = read(source, first, last, math.huge)
  if not records then return nil, state end
  local message = state == "repeated" and REPEATED
    or state == "lacking" and ("the service says that its list has %s, and shows %d"):format(
      plain_text.counted(total, "record"), #records)
    or state == "unproven" and source.strict and "nothing but its total shows that the list is whole"
  if not message then return records end
  if not source.strict then return nil, failed(source, message) end
  source.incomplete = message
  return records
end

return M

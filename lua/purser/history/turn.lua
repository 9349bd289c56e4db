-- SPDX-License-Identifier: MIT
-- Turning the pages of one window, until all that is on them was seen, or it is known that they cannot show it.
--
-- What is believed of pages:
--   * A page that is not full, or empty, is not the last one. The last is followed by an empty one, or agrees with a
--     total and is shorter than another page was. A total alone ends nothing: it may be that of the page.
--   * A service that shows fewer records than it was asked for may turn its pages by what was asked for, or by what it
--     shows. So the pages after the first are asked for with the size that the first one had: then both are the same.
--   * Records that come again on a later page say that pages moved, so one may have been passed over: they are turned
--     again. Where they come again each time, the window is divided until it has one page.
--
-- A strict source (history.strict) wants every record that was there when the reading began, and no more. A list that
-- grows while its pages are turned moves records to later pages, where they are met again, and never past them. So
-- growth is no reason to turn the pages again; an empty page where there should be more is an error. Without a total,
-- records that are met again prove growth when they are the last of one page and the first of the next; otherwise the
-- service may not turn its pages, and nothing shows that it showed all.

local pages = require "purser.history.pages"

local failed = pages.failed

local M = {}

local MAX_ATTEMPTS = 6
-- A service that gives pages without end, and nothing new on them, is given up after so many in a row.
local MAX_BARREN = 20

-- Turning pages, this is known of the list:
--   source, page = its number, size = how many records are asked for, records, seen = key -> page
--   count = how many records the page before had, barren = how many pages in a row held nothing new
--   total, first_total, reached = whether all that the total names was shown and the end is not yet proven
--   own_counts = whether the total of each page so far was how many records the page itself held
--   again = how many records came again on a later page, texts = whether one of them has no id
--   before = the page before, overlap = how many of its last records this page begins with: see pages.overlap

-- Notes the records of a page. The overlap with the page before is no doubt, and none of its records is one more.
local function note(turn, list)
  local seen, fresh = turn.seen, false
  for i, record in ipairs(list) do
    local key, is_id = turn.source.key(record)
    if i > turn.overlap then
      if seen[key] and seen[key] < turn.page then
        turn.again, turn.texts = turn.again + 1, turn.texts or not is_id
      end
      turn.records[#turn.records + 1] = record
    end
    if not seen[key] then seen[key], fresh = turn.page, true end
  end
  turn.barren, turn.count, turn.before = fresh and 0 or (turn.barren or 0) + 1, #list, list
end

-- The overlap of a page with the one before, of a strict source whose list has no total: that would tell its growth.
local function overlap_of(turn, list)
  return turn.source.strict and not turn.total and pages.overlap(turn.source, turn.before, list) or 0
end

-- By how many records the total has grown.
local function growth(turn)
  return turn.total and turn.total - turn.first_total or 0
end

-- Whether the page repeats what earlier ones held, and nothing else. A service that does not turn pages does that; a
-- list that moved may do it, and so may records that only look the same.
local function is_repetition(turn, list)
  local source, ids = turn.source, true
  if turn.overlap == #list then return false end
  for _, record in ipairs(list) do
    local key, is_id = source.key(record)
    if not turn.seen[key] then return false end
    ids = ids and is_id
  end
  local full = #list == source.paging.page_size
  local like_the_last = source.strict or #list >= (turn.count or 0)
  return #list > 0 and like_the_last and growth(turn) == 0 and (full or ids or source.strict == true), full
end

-- Whether a changed total means that the pages have to be turned again.
local function has_moved(turn, total)
  if turn.page == 1 then turn.first_total = total end
  if turn.page == 1 or total == turn.total then return false end
  return not (turn.source.strict and total and turn.total and total > turn.total)
end

-- The total of a page; nil where each page names how many records it holds itself, and not how many the list has. The
-- first page alone cannot tell; a later one can, where it holds none or one that no page before it had.
local function total_of(turn, list, total)
  turn.own_counts = turn.own_counts ~= false and total == #list
  if turn.page == 1 or not turn.own_counts then return total end
  local has_new = #list == 0
  for _, record in ipairs(list) do has_new = has_new or not turn.seen[(turn.source.key(record))] end
  if not has_new then return total end
  turn.total, turn.first_total, turn.reached = nil, nil, nil
end

-- How the reading ends that met no further page: "whole", or "repeated".
local function ending(turn)
  if turn.again == 0 then return "whole" end
  if not turn.source.strict then return "repeated" end
  if turn.total then return turn.again <= growth(turn) and "whole" or "repeated" end
  if turn.texts then return "repeated" end
  pages.note_repetition(turn.source)
  return "whole"
end

-- What the page says of those that it belongs to: a state that ends the reading, nil when there is more to read, or
-- false and an error.
local function judge(turn, count, page_count, short)
  local strict, total, held = turn.source.strict, turn.total, #turn.records
  local further = turn.page < (page_count or 0)
  if total and held > total then
    if strict then return false, pages.senseless(turn.source) end
    return "exceeded"
  elseif count == 0 then
    local missing = total and held < total
    if strict and (missing or not total and further) then return false, pages.senseless(turn.source) end
    if further and not strict and held ~= total then return nil end
    return missing and "lacking" or ending(turn)
  elseif held == total and not (strict and further) then
    if short then return ending(turn) end
    turn.reached = true
  end
end

local function stuck(turn)
  return failed(turn.source, ("page %d repeats what earlier pages held; the service seems not to turn pages")
    :format(turn.page))
end

-- The end of a turn whose last page was a repetition. Where a page was full there must be more. A short one may be all
-- there is: a strict source takes it, and notes that without a total nothing shows that.
local function end_repetition(turn, full)
  if turn.reached then return turn.records, "unproven", turn.total end
  if full then return nil, stuck(turn) end
  if not turn.source.strict then return turn.records, "stuck", turn.total, stuck(turn) end
  if turn.total and #turn.records < turn.total then return nil, pages.senseless(turn.source) end
  if not turn.total then pages.note_repetition(turn.source) end
  return turn.records, ending(turn), turn.total
end

-- The pages after the first are asked for with the size that it had. Where there are such, that is what the service
-- shows at once.
local function learn_size(turn, count)
  if turn.page == 1 and count > 0 and count < turn.size then
    turn.size, turn.was_short = count, true
  elseif turn.page == 2 and turn.was_short and count == turn.size and count >= pages.FEWEST_SHOWN then
    turn.source.size = count
  end
end

-- A service may reject a page that lies after the last.
local function is_rejection(err)
  return err.outcome == "rejected" and err.kind ~= "throttled"
end

-- Turns the pages once. Returns the records, how it ended, and the total; with "stuck" also what to say of it; or nil
-- and an error.
local function turn_once(source, first, last, max_pages)
  local turn = { source = source, records = {}, seen = {}, page = 0, again = 0,
    size = source.size or source.paging.page_size }
  while true do
    turn.page = turn.page + 1
    local list, total, page_count, short = pages.ask(source, first, last, turn.page, turn.size)
    if not list and turn.reached and is_rejection(total) then return turn.records, "unproven", turn.total end
    if not list then return nil, total end
    total = total_of(turn, list, total)
    if has_moved(turn, total) then return turn.records, "moved", total end
    turn.total, turn.overlap = total, overlap_of(turn, list)
    local repetition, full = is_repetition(turn, list)
    if repetition then return end_repetition(turn, full) end
    note(turn, list)
    local state, err = judge(turn, #list, page_count, short)
    if err then return nil, err end
    if state then return turn.records, state, total end
    learn_size(turn, #list)
    if turn.barren > MAX_BARREN then
      return nil, failed(source, ("%d pages in a row hold nothing new; they seem not to end"):format(turn.barren))
    end
    if turn.page >= max_pages or (total and total > max_pages * turn.size) then
      return turn.records, "crowded", total
    end
  end
end

local function keys_of(source, records)
  local keys, texts = {}, false
  for i, record in ipairs(records) do
    local key, is_id = source.key(record)
    keys[i], texts = key, texts or not is_id
  end
  return table.concat(keys, "\29"), texts
end

local final = { whole = true, crowded = true, unproven = true, lacking = true }

local reasons = {
  moved = "the pages move faster than they can be read; let `to` lie further back",
  repeated = "records come again on later pages: their order changes, or the pages move faster than they can be read; "
    .. "let `to` lie further back",
  exceeded = "the service shows more records than it says that there are, so its total proves nothing",
  stuck = "the pages move faster than they can be read; let `to` lie further back",
}

--- Turns the pages until they have not moved. Returns the records, how it ended and the total, where the state is
---   whole      these are all
---   crowded    there are too many pages
---   unproven   they agree with the total, but nothing shows that the total counts all
---   lacking    the service shows fewer than it says that there are
---   repeated   the same records come on more than one page, each time
--- or nil and an error.
function M.read(source, first, last, max_pages)
  local before, was_stuck, why
  for _ = 1, MAX_ATTEMPTS do
    local records, state, total, problem = turn_once(source, first, last, max_pages)
    if not records then return nil, state end
    if final[state] then return records, state, total end
    if state == "stuck" and was_stuck then return nil, problem end
    was_stuck, why = state == "stuck", state
    if state == "repeated" then
      local keys, texts = keys_of(source, records)
      -- Within one millisecond, which may have any number of pages, records without an id that come again in the same
      -- order only look the same.
      if keys == before then return records, texts and max_pages == math.huge and "whole" or "repeated", total end
      before = keys
    end
  end
  return nil, failed(source, reasons[why])
end

return M

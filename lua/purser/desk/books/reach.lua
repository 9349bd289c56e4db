-- SPDX-License-Identifier: MIT
-- The reach of the books: each list of each owner has a span of its own that was read, and the least far list bounds
-- what was read of all. Statements, --check, closing and the page ask `unread` alone.

local names_of = require "purser.client.util.names_of"
local record = require "purser.desk.books.record"
local schema = require "purser.desk.books.schema"
local sources = require "purser.desk.books.sources"

local M = {}

local QUARTER = 15 * 60000 -- the days of each time zone begin at a quarter of an hour

local function key_of(owner, list) return owner .. "\30" .. list end

-- Returns the list that was read the least far: { owner, list, read_to }, "" where it was never read; nil where no list
-- can be read. A list that cannot be read has a gap of its own, and a list of states has no span.
local function least_of(books)
  local read_to, failing, least = {}, {}, nil
  for _, row in ipairs(books.store:rows("SELECT owner, list, read_to FROM purser_books_source WHERE account = $1",
    books.account)) do
    read_to[key_of(row.owner, row.list)] = row.read_to
  end
  for _, row in ipairs(books.store:rows("SELECT owner, list FROM purser_books_gap WHERE account = $1 AND ends = '' "
    .. "AND closed_rev = ''", books.account)) do
    failing[key_of(row.owner, row.list)] = true
  end
  local function take(owner, list)
    local key = key_of(owner.name, list.list)
    local at = read_to[key] or ""
    if not failing[key] and (not least or at < least.read_to) then
      least = { owner = owner.name, list = list.list, read_to = at }
    end
  end
  take(books.main, sources.sub_accounts(books)) -- a newer account has no lists here
  for _, owner in ipairs(books.owners) do
    for _, list in ipairs(sources.of(books, owner)) do
      if not list.is_state then take(owner, list) end
    end
  end
  return least
end

local function kept_at(books, rev)
  return books.store:rows("SELECT owner, list, read_to FROM purser_books_reach WHERE account = $1 AND rev <= $2 "
    .. "ORDER BY rev DESC LIMIT 1", books.account, rev)[1]
end

--- Keeps the least reach of the lists that are read now, for statements of this revision and later ones. The older
--- reach stays within a quarter of an hour.
function M.keep(books)
  local least, kept = least_of(books), kept_at(books, "9")
  if not least or least.read_to == "" then return end -- what was never read adds nothing to the kept reach
  if kept and kept.read_to <= least.read_to
    and math.floor(kept.read_to / QUARTER) == math.floor(least.read_to / QUARTER) then
    return
  end
  books.store:write(function(tx, rev)
    tx:rows("INSERT INTO purser_books_reach (account, rev, owner, list, read_to) VALUES ($1, $2, $3, $4, $5)",
      books.account, rev(), least.owner, least.list, least.read_to)
  end)
end

-- Adds the gaps between the begin of a span and the first reading of lists: one for lists that were read from one day
-- on.
local function add_beginnings(gaps, books, rev, from, to)
  local groups = {}
  local all = books.store:rows("SELECT owner, list, read_from FROM purser_books_source WHERE account = $1 AND "
    .. "rev <= $2 AND read_from <> '' ORDER BY owner, list", books.account, rev)
  for _, row in ipairs(all) do
    if row.read_from > from then
      local date = books.days:date(row.read_from)
      local group = groups[date] or { owners = {}, lists = {}, ends = "", count = 0 }
      groups[date], group.count = group, group.count + 1
      group.owners[row.owner], group.lists[row.list:match "^%S+"] = true, true
      if row.read_from > group.ends then group.ends = row.read_from end
    end
  end
  for _, date in ipairs(names_of(groups)) do
    local group = groups[date]
    local owners, lists = names_of(group.owners), names_of(group.lists)
    gaps[#gaps + 1] = { owner = owners[2] and ("%d owners"):format(#owners) or owners[1], starts = from,
      list = group.count == #all and schema.EVERY or table.concat(lists, ", "),
      ends = group.ends < to and group.ends or to, why = schema.UNREAD }
  end
  return all[1] ~= nil
end

--- Returns what was not read of a span, as the books knew at a revision: gaps { owner, list, starts, ends, why }; and
--- the least reach { owner, list, read_to } where it lies before the span's end.
function M.unread(books, rev, from, to)
  local gaps, kept = {}, kept_at(books, rev)
  local was_read = add_beginnings(gaps, books, rev, from, to)
  if not was_read then
    return { { owner = "Main", list = schema.EVERY, starts = from, ends = to, why = schema.UNREAD } }
  end
  for _, gap in ipairs(books.store:rows("SELECT owner, list, starts, ends, why FROM purser_books_gap WHERE "
    .. "account = $1 AND rev <= $2 AND (closed_rev = '' OR closed_rev > $3) AND starts < $4 AND (ends = '' OR "
    .. "ends > $5) ORDER BY owner, list, starts", books.account, rev, rev, to, from)) do
    gaps[#gaps + 1] = gap
  end
  kept = kept or { owner = "Main", list = schema.EVERY, read_to = from } -- a first run that was ended between two lists
  if kept.read_to > from then return gaps, kept.read_to < to and kept or nil end
  gaps[#gaps + 1] = { owner = kept.owner, list = kept.list, starts = from, ends = to, why = schema.UNREAD }
  return gaps
end

--- Returns the open gaps, and the list that was read the least far. An account of which a list was never read has one
--- gap, of every list.
function M.open(books)
  local kept = kept_at(books, "9")
  local gaps = books.store:rows("SELECT owner, list, starts, ends, why FROM purser_books_gap WHERE account = $1 AND "
    .. "closed_rev = '' ORDER BY owner, list, starts", books.account)
  if not kept then
    table.insert(gaps, 1, { owner = "Main", list = schema.EVERY, starts = "", ends = "", why = schema.UNREAD })
  end
  return gaps, kept
end

--- Returns the time from which on each list of the account itself was read; nil where none was.
function M.begins(books)
  return books.store:rows("SELECT max(read_from) AS at FROM purser_books_source WHERE account = $1 AND owner = 'Main' "
    .. "AND read_from <> ''", books.account)[1].at
end

--- Returns what was not read, as lines of a statement.
function M.lines(days, gaps, ahead)
  local lines = {}
  for i, gap in ipairs(gaps) do
    lines[i] = ("not read: %s, %s, from %s to %s: %s"):format(gap.owner, gap.list, days:date(gap.starts),
      gap.ends == "" and "now" or days:date(gap.ends), gap.why)
  end
  lines[#lines + 1] = ahead and ("not read yet: what is later than %s (%s, %s)"):format(days:minute(ahead.read_to),
    ahead.owner, ahead.list)
  return lines
end

-- Ends the gaps of an owner that is gone; the newest one says so, from where the owner's lists were read to.
local function end_gaps(books, tx, owner, at, rev)
  local gaps = tx:rows("SELECT list, starts, why FROM purser_books_gap WHERE account = $1 AND owner = $2 AND ends = '' "
    .. "AND closed_rev = ''", books.account, owner)
  local last = tx:rows("SELECT min(read_to) AS at FROM purser_books_source WHERE account = $1 AND owner = $2 AND "
    .. "read_from <> ''", books.account, owner)[1].at
  gaps[#gaps + 1] = last and { list = schema.EVERY, starts = last, why = schema.GONE }
  tx:rows("UPDATE purser_books_gap SET closed_rev = $1 WHERE account = $2 AND owner = $3 AND ends = '' AND "
    .. "closed_rev = ''", rev(), books.account, owner)
  for _, gap in ipairs(gaps) do
    tx:rows("INSERT INTO purser_books_gap (account, owner, list, starts, ends, why, rev, closed_rev) VALUES ($1, "
      .. "$2, $3, $4, $5, $6, $7, '') ON CONFLICT DO NOTHING", books.account, owner, gap.list, gap.starts, at, gap.why,
      rev())
  end
end

--- Leaves out the owners that the list of sub-accounts no longer shows: a gap of each says from when on nobody
--- reads the owner. An owner that is shown again is read from where its lists ended.
function M.leave_out(books, shown, now)
  local at = record.time_text(now)
  for _, row in ipairs(books.store:rows("SELECT owner, gone FROM purser_books_owner WHERE account = $1",
    books.account)) do
    local is_shown = row.owner == "Main" or shown[row.owner] == true
    if is_shown ~= (row.gone == "") then
      books.store:write(function(tx, rev)
        tx:rows("UPDATE purser_books_owner SET gone = $1 WHERE account = $2 AND owner = $3", is_shown and "" or at,
          books.account, row.owner)
        if not is_shown then return end_gaps(books, tx, row.owner, at, rev) end
        tx:rows("UPDATE purser_books_gap SET closed_rev = $1 WHERE account = $2 AND owner = $3 AND list = $4 AND "
          .. "closed_rev = ''", rev(), books.account, row.owner, schema.EVERY)
      end)
    end
  end
end

return M

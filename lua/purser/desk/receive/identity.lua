-- SPDX-License-Identifier: MIT
-- Gives each record of a reading its deposit (docs/desk/receive.md, "One deposit").
--
--   equal   records with equal values are one deposit; n equal records are n deposits
--   doubt   a known deposit that the reading asked for and does not show may be a record that is left over, where the
--           address is equal and the memos are equal or hidden; without such a deposit the record is new
--   strong  without a person: record and deposit are each other's only choice, and the transaction is equal
--   held    else, where the deposit is decided: a person says

local judges = require "purser.desk.receive.judge"
local readers = require "purser.desk.receive.reader"
local states = require "purser.client.operations.states"
local stores = require "purser.desk.receive.store"

local M = {}

local DAY = 86400000
local CONFIRM, WAIT_MS = 2, 2 * 3600000 -- readings, and their span, that confirm a record in doubt

-- Equal records and deposits are paired by state: the successful record is the credited deposit.
local shown_rank = { credit = 1, refused = 2, ask = 3, pending = 4 }
local function rank(one)
  return shown_rank[one.kind] or one.credited and (one.reversed and 2 or 1) or one.closed and 3 or 4
end

local function by_rank(a, b)
  local x, y = rank(a), rank(b)
  if x ~= y then return x < y end
  if a.time ~= b.time then return a.time < b.time end
  return a.dp ~= nil and a.dp < b.dp
end

local function is_decided(row) return row.credited or row.closed or row.ask ~= "" end

-- Returns the number of members that differ.
local function differing(v, row)
  local n = 0
  for _, name in ipairs { "coin", "network", "amount", "tx", "memo" } do n = n + (v[name] ~= row[name] and 1 or 0) end
  return n
end

-- Returns whether a deposit is the record without a person, if no other is. A decided deposit of two records is not.
local function is_strong(v, row)
  if v.memo ~= row.memo or row.held and (row.credited or row.closed) then return false end
  return v.tx ~= "" and v.tx == row.tx or row.tx == "" and v.time == row.time and differing(v, row) == 1
end

-- Returns the records of a reading by their face, and the faces in the order of their first record.
local function grouped(values)
  local groups, order = {}, {}
  for _, v in ipairs(values) do
    if not groups[v.face] then groups[v.face], order[#order + 1] = {}, v.face end
    table.insert(groups[v.face], v)
  end
  return groups, order
end

-- Pairs equal records and deposits, and leaves the other records in their groups.
local function pair_equal(round, groups, order)
  for _, face in ipairs(order) do
    local rows, shown, rest = round.book:with_face(face), groups[face], {}
    table.sort(rows, by_rank)
    table.sort(shown, by_rank)
    for i, v in ipairs(shown) do
      if rows[i] then round.used[rows[i]] = v else rest[#rest + 1] = v end
      if rows[i] then round.shown[judges.root(round.book, rows[i])] = true end
    end
    groups[face] = rest
  end
end

-- Returns the hidden deposits that a record may be.
local function doubts_of(round, v)
  local list, from = {}, round.reading.from
  for _, row in ipairs(round.book:at_address(v.at, from, v.tx, v.time - DAY, v.time + DAY)) do
    local is_near = row.time >= from or v.tx ~= "" and v.tx == row.tx
      or (v.tx == "" or row.tx == "") and math.abs(v.time - row.time) <= DAY
    local is_alike = v.memo == row.memo or v.memo == "" or row.memo == ""
    if is_near and is_alike and not (round.used[row] or round.shown[row]) and row.same == "" then
      list[#list + 1] = row
    end
  end
  return list
end

-- Returns the records without an equal deposit, each with its doubts.
local function left_over(round, groups, order)
  local left = {}
  for _, face in ipairs(order) do
    for i, v in ipairs(groups[face]) do
      v.had = round.book:had_face(face)
      v.twin = i + #v.had > 1 and i
      v.doubts = doubts_of(round, v)
      for _, row in ipairs(v.doubts) do
        if row.time - DAY < round.reading.from then v.far = math.min(v.far or math.huge, row.time - DAY) end
        round.rivals[row] = (round.rivals[row] or 0) + (is_strong(v, row) and 1 or 0)
      end
      left[#left + 1] = v
    end
  end
  return left
end

-- Returns whether later readings have to show a record again; counts this one.
local function has_to_wait(round, v)
  local name, reading, is_grave = v.face .. "#" .. (v.twin or ""), round.reading, v.twin
  for _, row in ipairs(v.doubts) do is_grave = is_grave or is_decided(row) end
  local known = round.waits[name] or { n = 0, since = reading.at }
  local n, is_young = known.n + (v.far and 0 or 1), is_grave and reading.at - known.since < WAIT_MS
  if reading.is_first or not (v.doubts[1] or v.twin) or not (v.far or n < CONFIRM or is_young) then return false end
  round.waiting[name] = { n = n, since = known.since, time = v.time }
  if n < CONFIRM or v.far and not is_young then
    round.need = math.min(round.need or math.huge, v.far or reading.from)
  end
  return true
end

-- Returns the members of a deposit that its record has.
local function shown_of(v)
  return { face = v.face, at = v.at, address = v.address, coin = v.coin, network = v.network, tx = v.tx, memo = v.memo,
    amount = v.amount, time = v.time, state = v.state }
end

-- Returns the deposit of a record: a known deposit, or a new one, held where the record may be a decided deposit.
local function deposit_of(round, v)
  local strong, open, rival = {}, nil, nil
  for _, row in ipairs(v.doubts) do
    if not round.used[row] then
      if is_strong(v, row) then strong[#strong + 1] = row end
      if is_decided(row) or v.memo ~= row.memo then rival = rival or row
      elseif not open or differing(v, row) < differing(v, open) then open = row end
    end
  end
  if #strong == 1 and round.rivals[strong[1]] == 1 then return strong[1] end
  if rival then
    for _, row in ipairs(v.doubts) do
      if not is_decided(row) or is_strong(v, row) then round.book:change(row, { held = true }) end
    end
  elseif open then
    return open
  else
    for _, row in ipairs(v.had) do
      if row.face ~= v.face and is_decided(row) then rival = rival or row end
    end
  end
  local row = shown_of(v)
  row.raw, row.same, row.ask, row.seen = readers.raw(v), "", "", stores.time_text(round.reading.at)
  row.before = v.time < round.since and v.kind == "credit" or round.reading.is_again and v.kind ~= "pending"
  round.book:insert(row)
  if rival then round.book:change(row, { held = true, rival = rival.dp }) end
  return row
end

-- Keeps what waits. A record that is hidden may be respelled, and waits on; a second equal record does not, because a
-- page that moved may have shown one record twice.
local function keep_waits(round, groups)
  for name, known in pairs(round.waits) do
    local is_hidden = not groups[name:match "^[^#]*"] and name:find "#$" and round.reading.at - known.since < 2 * DAY
    if round.waiting[name] or not is_hidden and known.time >= round.reading.from then
      round.book:rows("DELETE FROM purser_receive_wait WHERE name = $1", name)
    end
  end
  for name, wait in pairs(round.waiting) do
    round.book:rows("INSERT INTO purser_receive_wait VALUES ($1, $2, $3, $4)", name, ("%d"):format(wait.n),
      stores.time_text(wait.since), stores.time_text(wait.time))
  end
end

-- Replaces a deposit's members by its record, and judges it.
local function show(round, row, v)
  local book, reading = round.book, round.reading
  local is_other = row.face ~= v.face or row.state ~= v.state or row.time ~= v.time
  book:change(row, is_other and { raw = readers.raw(v) } or {})
  book:change(row, shown_of(v))
  if reading.is_again and v.kind == "pending" then book:change(row, { before = false }) end
  if reading.is_first and v.kind == "credit" then return book:change(row, { credited = true, old = true }) end
  judges.judge(book, row, v.kind, reading.at)
end

-- Notes that each open deposit may be credited already, in commits that the database lacks. Refused deposits are not,
-- nor pending ones.
local function doubt_all(book)
  for _, row in ipairs(book:uncredited()) do
    if states.credit(row.state) ~= "refused" then book:change(row, { before = true }) end
  end
end

--- Takes a whole reading into the database. Returns how far back the next reading has to go for a record that waits
--- (epoch ms), or nil. `is_first`: the reading begins the database; `is_again`: the database was put back.
---@param book table
---@param reading { at: integer, from: integer, values: table[], is_first: boolean?, is_again: boolean? }
---@return integer|nil need
function M.take(book, reading)
  local round = { book = book, reading = reading, used = {}, shown = {}, rivals = {}, waits = {}, waiting = {},
    since = tonumber(book:meta "since") or 0 }
  for _, row in ipairs(book:rows "SELECT * FROM purser_receive_wait") do
    round.waits[row.name] = { n = tonumber(row.n), since = tonumber(row.since), time = tonumber(row.time) }
  end
  if reading.is_again then doubt_all(book) end
  local groups, order = grouped(reading.values)
  pair_equal(round, groups, order)
  for _, v in ipairs(left_over(round, groups, order)) do
    if not has_to_wait(round, v) then round.used[deposit_of(round, v)] = v end
  end
  keep_waits(round, groups)
  local rows = {}
  for row in pairs(round.used) do rows[#rows + 1] = row end
  table.sort(rows, function(a, b) return a.dp < b.dp end)
  for _, row in ipairs(rows) do show(round, row, round.used[row]) end
  return round.need
end

return M

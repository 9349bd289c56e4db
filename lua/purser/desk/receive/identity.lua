-- SPDX-License-Identifier: MIT
-- Assigns each record of a reading to a deposit (docs/desk/receive.md, "One deposit"). A candidate of a record is a
-- known deposit that the reading requested but did not show, with an equal address and an equal or hidden memo. The
-- rules, in order:
--
--   equal   records with equal fingerprints are one deposit; n records in one reading are n deposits (n outputs)
--   new     a remaining record without a candidate is a new deposit
--   wait    a record with candidates, or a further output, must appear in readings over two hours first
--   sure    record and candidate are the only choice for each, and the transaction is equal: one deposit
--   held    a candidate is decided: the record becomes a new deposit, and a person decides
--   open    no candidate is decided: the record belongs to the candidate with the fewest differences

local judges = require "purser.desk.receive.judge"
local readers = require "purser.desk.receive.reader"
local states = require "purser.client.operations.states"
local stores = require "purser.desk.receive.store"

local M = {}

local DAY = 86400000
local CONFIRM, WAIT_MS = 2, 2 * 3600000 -- readings, and their span, that confirm a record with candidates

-- Equal records and deposits are paired by rank: the successful record is the credited deposit.
local rank_of_kind = { credit = 1, refused = 2, ask = 3, pending = 4 }
local rank_of_state = { credited = 1, reversing = 1, old = 1, ["old reversing"] = 1, reversed = 2, ["old reversed"] = 2,
  refused = 3, same = 3, pending = 4, asked = 4 }
local function rank(one) return rank_of_kind[one.kind] or rank_of_state[one.state] end

local function by_rank(a, b)
  local x, y = rank(a), rank(b)
  if x ~= y then return x < y end
  if a.time ~= b.time then return a.time < b.time end
  return a.dp ~= nil and a.dp < b.dp
end

local function is_decided(row) return row.state ~= "pending" end

-- Returns the number of members that differ.
local function differing(record, row)
  local n = 0
  for _, name in ipairs { "coin", "network", "amount", "tx", "memo" } do
    n = n + (record[name] ~= row[name] and 1 or 0)
  end
  return n
end

-- Returns whether a deposit is the record without a person, if no other is. An ended deposit of two records is not.
local function is_sure(record, row)
  if record.memo ~= row.memo or row.held and not judges.is_open(row) then return false end
  return record.tx ~= "" and record.tx == row.tx
    or row.tx == "" and record.time == row.time and differing(record, row) == 1
end

-- Returns the records of a reading by their fingerprint, and the fingerprints in the order of their first record.
local function grouped(records)
  local groups, order = {}, {}
  for _, record in ipairs(records) do
    local name = record.fingerprint
    if not groups[name] then groups[name], order[#order + 1] = {}, name end
    table.insert(groups[name], record)
  end
  return groups, order
end

-- Pairs equal records and deposits, and leaves the other records in their groups.
local function pair_equal(round, groups, order)
  for _, name in ipairs(order) do
    local rows, shown, rest = round.book:with_fingerprint(name), groups[name], {}
    table.sort(rows, by_rank)
    table.sort(shown, by_rank)
    for i, record in ipairs(shown) do
      if rows[i] then round.used[rows[i]] = record else rest[#rest + 1] = record end
      if rows[i] then round.shown[judges.resolve(round.book, rows[i])] = true end
    end
    groups[name] = rest
  end
end

-- Returns the hidden deposits that a record may be.
local function candidates_of(round, record)
  local list, from, tx, time = {}, round.reading.from, record.tx, record.time
  for _, row in ipairs(round.book:at_address(record.at, from, tx, time - DAY, time + DAY)) do
    local is_near = row.time >= from or tx ~= "" and tx == row.tx
      or (tx == "" or row.tx == "") and math.abs(time - row.time) <= DAY
    local is_alike = record.memo == row.memo or record.memo == "" or row.memo == ""
    if is_near and is_alike and not (round.used[row] or round.shown[row]) and row.state ~= "same" then
      list[#list + 1] = row
    end
  end
  return list
end

-- Returns the records without an equal deposit, each with its candidates.
local function left_over(round, groups, order)
  local left = {}
  for _, name in ipairs(order) do
    for i, record in ipairs(groups[name]) do
      record.had = round.book:had_fingerprint(name)
      record.output = i + #record.had > 1 and i -- of several equal outputs
      record.candidates = candidates_of(round, record)
      for _, row in ipairs(record.candidates) do
        local needed = row.time - DAY
        if needed < round.reading.from then record.deeper = math.min(record.deeper or math.huge, needed) end
        round.claims[row] = (round.claims[row] or 0) + (is_sure(record, row) and 1 or 0)
      end
      left[#left + 1] = record
    end
  end
  return left
end

-- Returns whether later readings have to show a record again; counts this one.
local function has_to_wait(round, record)
  local name, reading = record.fingerprint .. "#" .. (record.output or ""), round.reading
  local is_grave, deeper = record.output, record.deeper
  for _, row in ipairs(record.candidates) do is_grave = is_grave or is_decided(row) end
  local known = round.waits[name] or { n = 0, since = reading.at }
  local n, is_young = known.n + (deeper and 0 or 1), is_grave and reading.at - known.since < WAIT_MS
  if reading.is_first or not (record.candidates[1] or record.output) then return false end
  if not (deeper or n < CONFIRM or is_young) then return false end
  round.waiting[name] = { n = n, since = known.since, time = record.time }
  if n < CONFIRM or deeper and not is_young then
    round.need = math.min(round.need or math.huge, deeper or reading.from)
  end
  return true
end

-- Returns the members of a deposit that its record has.
local function shown_of(record)
  return { fingerprint = record.fingerprint, at = record.at, address = record.address, coin = record.coin,
    network = record.network, tx = record.tx, memo = record.memo, amount = record.amount, time = record.time,
    status = record.status }
end

-- Sorts the unused candidates of a record. Returns the sure candidates, the first decided candidate, and the open
-- candidate with the fewest differences.
local function sorted(round, record)
  local sure, decided, open = {}, nil, nil
  for _, row in ipairs(record.candidates) do
    if not round.used[row] then
      if is_sure(record, row) then sure[#sure + 1] = row end
      if is_decided(row) or record.memo ~= row.memo then decided = decided or row
      elseif not open or differing(record, row) < differing(record, open) then open = row end
    end
  end
  return sure, decided, open
end

-- Returns a decided deposit that had the fingerprint of a record, and has another one now; or nil.
local function earlier(record)
  for _, row in ipairs(record.had) do
    if row.fingerprint ~= record.fingerprint and is_decided(row) then return row end
  end
end

-- Adds a deposit; `candidate`: the decided deposit that it may be.
local function insert(round, record, candidate)
  local row, is_again = shown_of(record), round.reading.is_again
  row.raw, row.state, row.seen = readers.raw(record), "pending", stores.time_text(round.reading.at)
  row.before = record.time < round.since and record.kind == "credit" or is_again and record.kind ~= "pending"
  row.held, row.candidate = candidate ~= nil, candidate and candidate.dp or ""
  for _, name in ipairs { "ask", "asked", "same" } do row[name] = "" end
  return round.book:insert(row)
end

-- Returns the deposit of a record: a known one, or a new one, held where the record may be a decided deposit.
local function deposit_of(round, record)
  local sure, decided, open = sorted(round, record)
  if #sure == 1 and round.claims[sure[1]] == 1 then return sure[1] end
  if not decided then return open or insert(round, record, earlier(record)) end
  for _, row in ipairs(record.candidates) do
    if not is_decided(row) or is_sure(record, row) then round.book:change(row, { held = true }) end
  end
  return insert(round, record, decided)
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
local function show(round, row, record)
  local book, reading = round.book, round.reading
  local is_other = row.fingerprint ~= record.fingerprint or row.status ~= record.status
    or row.time ~= record.time
  book:change(row, is_other and { raw = readers.raw(record) } or {})
  book:change(row, shown_of(record))
  if reading.is_again and record.kind == "pending" then book:change(row, { before = false }) end
  if reading.is_first and record.kind == "credit" then return book:change(row, { state = "old" }) end
  judges.judge(book, row, record.kind, reading.at)
end

-- Notes that each open deposit may be credited already, in commits that the database lacks. Refused deposits are not,
-- nor pending ones.
local function doubt_all(book)
  for _, row in ipairs(book:uncredited()) do
    if states.credit(row.status) ~= "refused" then book:change(row, { before = true }) end
  end
end

--- Takes a whole reading into the database. Returns how far back the next reading has to go for a record that waits
--- (epoch ms), or nil. `is_first`: the reading begins the database; `is_again`: the database was put back.
---@param book table
---@param reading { at: integer, from: integer, values: table[], is_first: boolean?, is_again: boolean? }
---@return integer|nil need
function M.take(book, reading)
  local round = { book = book, reading = reading, used = {}, shown = {}, claims = {}, waits = {}, waiting = {},
    since = tonumber(book:meta "since") or 0 }
  for _, row in ipairs(book:rows "SELECT * FROM purser_receive_wait") do
    round.waits[row.name] = { n = tonumber(row.n), since = tonumber(row.since), time = tonumber(row.time) }
  end
  if reading.is_again then doubt_all(book) end
  local groups, order = grouped(reading.values)
  pair_equal(round, groups, order)
  for _, record in ipairs(left_over(round, groups, order)) do
    if not has_to_wait(round, record) then round.used[deposit_of(round, record)] = record end
  end
  keep_waits(round, groups)
  local rows = {}
  for row in pairs(round.used) do rows[#rows + 1] = row end
  table.sort(rows, function(a, b) return a.dp < b.dp end)
  for _, row in ipairs(rows) do show(round, row, round.used[row]) end
  return round.need
end

return M

-- SPDX-License-Identifier: MIT
-- The books at a revision: records as entries, both sides matched, fees placed by the balances, and what balances show
-- beyond. Nothing of a ledger is stored, so a better reading restates all.

local core = require "purser.core"
local decimal = require "purser.decimal"
local match = require "purser.desk.books.match"
local postings = require "purser.desk.books.postings"
local purser_address = require "purser.address"
local reconcile = require "purser.desk.books.reconcile"

local is_final = require("purser.desk.books.record").is_final

local M = {}

local COLUMNS = "rid, entity, owner, sid, client_id, time, booked, seen, rev, state, class, asset, amount, fee, got, "
  .. "got_asset, from_owner, from_place, to_owner, to_place, address, memo, tx, batch, missing_since"
local PAGE = 1000

-- Returns the versions of a record up to a revision, oldest first. A change holds earlier values of changed columns.
-- Each version is a table of its own: Lua follows no long chain of tables.
local function versions_of(row, changes, rev)
  local versions = {}
  for i = #changes + 1, 1, -1 do
    if row.rev <= rev then versions[i] = row end
    local was = {}
    for _, from in ipairs(i > 1 and { row, core.decode(changes[i - 1].body) } or {}) do
      for name, value in pairs(from) do was[name] = value end
    end
    row = was
  end
  return versions
end

-- Adds a version for a person's word, unless the service said how the record ended.
local function with_word(versions, word)
  local last = versions[#versions]
  versions[#versions + 1] = word and not is_final(last.class) and setmetatable({ booked = word.at, seen = word.at,
    rev = word.rev, said = word.value == "success" and (last.entity == "withdrawal" and "sent" or "done") or "void" },
    { __index = last }) or nil
  return versions
end

-- Returns the records of statements by their ids: a list of { versions, row = the last version, fact }, and a map.
local function records_of(books, rev, settled)
  local records, by_rid, last = {}, {}, ""
  repeat
    local rows = books.store:rows("SELECT " .. COLUMNS .. " FROM purser_books_record WHERE account = $1 AND "
      .. "first_rev <= $2 AND rid > $3 ORDER BY rid LIMIT " .. PAGE, books.account, rev, last)
    local changes, first = {}, last
    last = #rows > 0 and rows[#rows].rid or last
    for _, change in ipairs(books.store:rows("SELECT rid, body FROM purser_books_change WHERE rid > $1 AND rid <= $2 "
      .. "ORDER BY rid, rev", first, last)) do
      changes[change.rid] = changes[change.rid] or {}
      table.insert(changes[change.rid], change)
    end
    for _, row in ipairs(rows) do
      if postings.moves(row.entity) then
        local versions = with_word(versions_of(row, changes[row.rid] or {}, rev), settled[row.rid])
        by_rid[row.rid] = { versions = versions, row = versions[#versions], fact = {} }
        records[#records + 1] = by_rid[row.rid]
      end
    end
  until #rows < PAGE
  return records, by_rid
end

-- Returns the words of people up to a revision, by verb and record. A newer word about a withdrawal, or about the
-- deposit, replaces an older word.
local function words_of(books, rev)
  local said, withdrawal_of = { settle = {}, match = {}, outside = {} }, {}
  for _, row in ipairs(books.store:rows("SELECT at, rev, verb, rid, value FROM purser_books_word WHERE account = $1 "
    .. "AND rev <= $2 ORDER BY rev", books.account, rev)) do
    if row.verb ~= "settle" then
      local older = said.match[row.rid]
      if older then withdrawal_of[older.value] = nil end
      said.match[row.rid], said.outside[row.rid] = nil, nil
      if withdrawal_of[row.value] then said.match[withdrawal_of[row.value]] = nil end
      withdrawal_of[row.value] = row.verb == "match" and row.rid or nil
    end
    said[row.verb][row.rid] = row
  end
  return said
end

local function own_places(books, deposits, rev)
  local own = {}
  local shown = books.store:rows("SELECT address, memo, to_owner FROM purser_books_address WHERE account = $1 AND "
    .. "first_rev <= $2", books.account, rev)
  for _, list in ipairs { deposits, shown } do
    for _, row in ipairs(list) do own[match.place(row)] = own[match.place(row)] or row.to_owner ~= "" end
  end
  for address in pairs(books.addresses) do
    own[purser_address.payee((address:gsub(":$", "")))] = true
  end
  return own
end

-- Matches both sides, and notes each counterpart. Returns the withdrawals: { row, fact }.
local function match_sides(books, records, by_rid, said, rev)
  local sides, sent = { withdrawal = {}, deposit = {} }, {}
  for _, record in ipairs(records) do
    local row = record.row
    local side, class = sides[row.entity], postings.class_of(row)
    if side and class ~= "unreadable" and class ~= "void" then side[#side + 1] = row end
  end
  local pair_of, candidates = match.pairs(sides.withdrawal, sides.deposit, said.match, said.outside)
  local own = own_places(books, sides.deposit, rev)
  for _, side in pairs(sides) do
    for _, row in ipairs(side) do
      local fact, pair = by_rid[row.rid].fact, pair_of[row.rid]
      fact.pair, fact.candidates, fact.transit = pair and pair.rid, candidates[row.rid], pair ~= nil
    end
  end
  for i, row in ipairs(sides.withdrawal) do
    local fact, fee = by_rid[row.rid].fact, decimal(row.fee)
    fact.transit = not said.outside[row.rid] and (fact.transit or own[match.place(row)] == true)
    local lost = fact.pair and decimal(row.amount) - pair_of[row.rid].amount
    if not fee or fee:is_zero() then fact.inside = false
    elseif lost and (lost:is_zero() or lost:eq(fee)) then fact.inside, fact.is_measured = not lost:is_zero(), true end
    sent[i] = by_rid[row.rid]
  end
  return sent
end

local function entries_of(records)
  local entries = {}
  for _, record in ipairs(records) do
    for _, entry in ipairs(record.entries) do entries[#entries + 1] = entry end
  end
  return entries
end

-- Makes the entries. A fee without evidence is taken as inside the amount, and measured by the balances; else stands as
-- all measured fees do, else as the user says, else on top.
local function book(books, records, withdrawals, readings, chart)
  local unknown, counts = {}, { [true] = 0, [false] = 0 }
  for _, withdrawal in ipairs(withdrawals) do
    local fact = withdrawal.fact
    fact.is_unknown = fact.inside == nil
    if fact.is_unknown then fact.inside, unknown[#unknown + 1] = true, withdrawal end
  end
  for _, record in ipairs(records) do record.entries = postings.entries(record.versions, record.fact, chart) end
  if unknown[1] then reconcile.measure_fees(entries_of(records), readings, chart) end
  for _, withdrawal in ipairs(withdrawals) do
    local fact = withdrawal.fact
    if fact.is_unknown then fact.inside = fact.measured end
    if fact.is_measured then counts[fact.inside] = counts[fact.inside] + 1 end
  end
  for _, withdrawal in ipairs(unknown) do
    local fact = withdrawal.fact
    if fact.inside == nil then
      fact.is_assumed = (counts[true] == 0) == (counts[false] == 0)
      if fact.is_assumed then fact.inside = books.fee == "inside" else fact.inside = counts[true] > 0 end
    end
    if not fact.inside then withdrawal.entries = postings.entries(withdrawal.versions, fact, chart) end
  end
  return entries_of(records)
end

local function readings_of(books, rev)
  local by_owner = {}
  for _, row in ipairs(books.store:rows("SELECT owner, began, at, rev, body FROM purser_books_reading WHERE "
    .. "account = $1 AND rev <= $2 ORDER BY owner, at, rev", books.account, rev)) do
    by_owner[row.owner] = by_owner[row.owner] or {}
    row.totals = {}
    for asset, parts in pairs((core.decode(row.body))) do row.totals[asset] = decimal(parts[1]) + parts[2] end
    table.insert(by_owner[row.owner], row)
  end
  return by_owner
end

--- Returns the books at a revision: entries in order, readings by owner, checks, and records { row, fact }.
function M.at(books, rev)
  local chart, said, readings = postings.chart(books.account), words_of(books, rev), readings_of(books, rev)
  local records, by_rid = records_of(books, rev, said.settle)
  local withdrawals = match_sides(books, records, by_rid, said, rev)
  local entries = book(books, records, withdrawals, readings, chart)
  local lines, checks = reconcile.lines(entries, readings, chart, books.days)
  for _, line in ipairs(lines) do entries[#entries + 1] = line end
  table.sort(entries, match.before)
  return { entries = entries, readings = readings, checks = checks, records = records, chart = chart }
end

return M

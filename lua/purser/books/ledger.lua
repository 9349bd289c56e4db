-- SPDX-License-Identifier: MIT
-- The books at a revision: every record's versions as entries, matched, with the fees where the balances say they
-- stand, and what the balances show beyond them. Nothing of it is stored, so a better reading restates it.

local core = require "purser.core"
local decimal = require "purser.decimal"
local match = require "purser.books.match"
local postings = require "purser.books.postings"
local reconcile = require "purser.books.reconcile"

local M = {}

local NAMES = "rid, owner, entity, sid, twin, n, time, booked, seen, rev, first_rev, state, class, asset, amount, fee, "
  .. "fee_asset, got, got_asset, from_owner, from_place, to_owner, to_place, network, address, memo, tx, client_id, "
  .. "batch, missing_since"

-- The versions of each record that moves money, by id, up to a revision; and the ids in order.
local function versions_of(books, rev)
  local by_rid, rids = {}, {}
  for _, row in ipairs(books.store:rows("SELECT " .. NAMES .. " FROM purser_books_record WHERE account = $1 "
    .. "AND first_rev <= $2 ORDER BY rid", books.account, rev)) do
    if postings.moves(row.entity) then by_rid[row.rid], rids[#rids + 1] = { row.rev <= rev and row or nil }, row.rid end
  end
  for _, change in ipairs(books.store:rows("SELECT rid, rev, body FROM purser_books_change WHERE rev <= $1 "
    .. "ORDER BY rev DESC", rev)) do
    if by_rid[change.rid] then table.insert(by_rid[change.rid], 1, (core.decode(change.body))) end
  end
  return by_rid, rids
end

-- Returns what people said up to a revision, the last word of each kind about each record.
local function words_of(books, rev)
  local said = { settle = {}, match = {}, outside = {} }
  for _, row in ipairs(books.store:rows("SELECT at, rev, verb, rid, value FROM purser_books_word WHERE account = $1 "
    .. "AND rev <= $2 ORDER BY rev", books.account, rev)) do
    said[row.verb][row.rid] = row
  end
  return said
end

-- Adds the version that a person's word makes of a record.
local function settle(versions, word)
  local last, row = versions[#versions], {}
  for name, value in pairs(last) do row[name] = value end
  row.said = word.value == "success" and (last.entity == "withdrawal" and "sent" or "done") or "void"
  row.booked, row.seen, row.rev = word.at, word.at, word.rev
  versions[#versions + 1] = row
end

-- The addresses of the account's own deposits, and those that were named.
local function own_places(books, deposits)
  local own = {}
  for _, deposit in ipairs(deposits) do
    if deposit.to_owner ~= "" then own[match.place(deposit)] = true end
  end
  for address in pairs(books.addresses) do
    own[address:lower() .. (address:find(":", 1, true) and "" or ":")] = true
  end
  return own
end

local function values_of(words)
  local values = {}
  for rid, word in pairs(words) do values[rid] = word.value end
  return values
end

-- Matches both sides, and says of each record where its counterpart stands.
local function facts_of(books, by_rid, rids, said)
  local withdrawals, deposits, facts = {}, {}, {}
  for _, rid in ipairs(rids) do
    local row = by_rid[rid][#by_rid[rid]]
    local class = postings.class_of(row)
    facts[rid] = {}
    if class ~= "unreadable" and class ~= "void" then
      if row.entity == "withdrawal" then withdrawals[#withdrawals + 1] = row end
      if row.entity == "deposit" then deposits[#deposits + 1] = row end
    end
  end
  local pair_of, candidates = match.pairs(withdrawals, deposits, values_of(said.match), said.outside)
  local own = own_places(books, deposits)
  for _, withdrawal in ipairs(withdrawals) do
    local fact, pair = facts[withdrawal.rid], pair_of[withdrawal.rid]
    fact.pair, fact.candidates = pair and pair.rid, candidates[withdrawal.rid]
    fact.transit = not said.outside[withdrawal.rid] and (pair ~= nil or own[match.place(withdrawal)] == true)
    local fee = decimal(withdrawal.fee)
    if fee and fee:is_zero() or not fee then fact.inside = false
    elseif pair then fact.inside, fact.is_measured = not decimal(withdrawal.amount):eq(pair.amount), true end
  end
  for _, deposit in ipairs(deposits) do
    local pair = pair_of[deposit.rid]
    facts[deposit.rid].pair, facts[deposit.rid].transit = pair and pair.rid, pair ~= nil
  end
  return facts, withdrawals
end

-- Makes the entries of all records; those in `made` are taken over, but for the fees that turned out to be on top.
local function entries_of(by_rid, rids, facts, chart, made)
  local entries = {}
  local function add(entry) entries[#entries + 1] = entry end
  for _, entry in ipairs(made or {}) do
    if not entry.fact.is_unknown or entry.fact.inside then add(entry) end
  end
  for _, rid in ipairs(rids) do
    local fact = facts[rid]
    for _, entry in ipairs((not made or fact.is_unknown and not fact.inside)
      and postings.entries(by_rid[rid], fact, chart) or {}) do
      entry.fact = fact
      add(entry)
    end
  end
  return entries
end

-- Decides the rest: where every measured fee stands alike, the others do too; else the user's word, else on top.
local function assume(books, facts, withdrawals)
  local inside, on_top = 0, 0
  for _, withdrawal in ipairs(withdrawals) do
    local fact = facts[withdrawal.rid]
    if fact.is_measured then
      if fact.inside then inside = inside + 1 else on_top = on_top + 1 end
    end
  end
  for _, withdrawal in ipairs(withdrawals) do
    local fact = facts[withdrawal.rid]
    if fact.inside == nil then
      fact.is_assumed = (inside == 0) == (on_top == 0)
      if fact.is_assumed then fact.inside = books.fee == "inside" else fact.inside = inside > 0 end
    end
  end
end

local function readings_of(books, rev)
  local by_owner = {}
  for _, row in ipairs(books.store:rows("SELECT owner, began, at, rev, body FROM purser_books_reading WHERE "
    .. "account = $1 AND rev <= $2 ORDER BY owner, at, rev", books.account, rev)) do
    by_owner[row.owner] = by_owner[row.owner] or {}
    local totals = {}
    for asset, parts in pairs((core.decode(row.body))) do totals[asset] = decimal(parts[1]) + parts[2] end
    table.insert(by_owner[row.owner], { began = row.began, at = row.at, rev = row.rev, totals = totals })
  end
  return by_owner
end

local function by_order(a, b)
  if a.time ~= b.time then return a.time < b.time end
  if a.rid ~= b.rid then return a.rid < b.rid end
  return (a.order or 0) < (b.order or 0)
end

--- Returns the books at a revision: entries in order, readings by owner, checks, facts by id, and the last version of
--- each record.
---@param books purser.Books
---@param rev string
function M.at(books, rev)
  local chart, said = postings.chart(books.account), words_of(books, rev)
  local by_rid, rids = versions_of(books, rev)
  for rid, word in pairs(said.settle) do
    if by_rid[rid] then settle(by_rid[rid], word) end
  end
  local facts, withdrawals = facts_of(books, by_rid, rids, said)
  local readings = readings_of(books, rev)
  for _, withdrawal in ipairs(withdrawals) do -- unknown ones are taken as inside, then measured
    local fact = facts[withdrawal.rid]
    fact.is_unknown = fact.inside == nil
    if fact.is_unknown then fact.inside = true end
  end
  local entries = entries_of(by_rid, rids, facts, chart)
  reconcile.measure_fees(entries, readings, chart)
  for _, withdrawal in ipairs(withdrawals) do
    local fact = facts[withdrawal.rid]
    if fact.is_unknown then fact.inside = fact.measured end -- nil where the balances do not say it
  end
  assume(books, facts, withdrawals)
  entries = entries_of(by_rid, rids, facts, chart, entries)
  for i, entry in ipairs(entries) do entry.order = i end
  local lines, checks = reconcile.lines(entries, readings, chart)
  for _, line in ipairs(lines) do entries[#entries + 1] = line end
  table.sort(entries, by_order)
  local last = {}
  for i, rid in ipairs(rids) do last[i] = by_rid[rid][#by_rid[rid]] end
  return { entries = entries, readings = readings, checks = checks, facts = facts, records = last, chart = chart }
end

return M

-- SPDX-License-Identifier: MIT
-- A statement as data: holdings, entries, what adds up, and what needs a person. A revision and a span are all that a
-- statement depends on.

local core = require "purser.core"
local decimal = require "purser.decimal"
local ledger = require "purser.desk.books.ledger"
local match = require "purser.desk.books.match"
local postings = require "purser.desk.books.postings"
local reach = require "purser.desk.books.reach"
local record = require "purser.desk.books.record"
local names_of = require "purser.client.util.names_of"
local states = require "purser.client.operations.states"

local M = {}

local ZERO = decimal(0)

local function add(balances, leg, prefix)
  local key = (prefix or "") .. leg[1] .. "\30" .. leg[2]
  balances[key] = (balances[key] or ZERO) + leg[3]
  return key, balances[key]
end

local function add_all(balances, legs, prefix)
  for _, leg in ipairs(legs) do add(balances, leg, prefix) end
end

-- Returns an entry a record for what the books learned later about closed days, on the first open day.
local function corrections(now, before, start, days)
  local new, old, by_rid, list, first = {}, {}, {}, {}, {}
  for _, side in ipairs { { new, now.entries }, { old, before.entries } } do
    for _, entry in ipairs(side[2]) do
      if entry.time < start then add_all(side[1], entry.legs, entry.rid .. "\30") end
    end
  end
  for _, entry in ipairs(now.entries) do first[entry.rid] = first[entry.rid] or entry end
  for _, key in ipairs(names_of(new, old)) do
    local left = (new[key] or ZERO) - (old[key] or ZERO)
    if not left:is_zero() then
      local rid, account, asset = key:match "^(.-)\30(.-)\30(.*)$"
      local known = first[rid] or { time = start }
      if not by_rid[rid] then
        by_rid[rid] = { time = start, rid = rid, legs = {}, row = known.row, fact = known.fact,
          corrects = days:date(known.time):sub(1, 7), text = "correction" }
        list[#list + 1] = by_rid[rid]
      end
      table.insert(by_rid[rid].legs, { account, asset, tostring(left) })
    end
  end
  return list
end

-- Returns the entries of a span, the balances before, the books, and their revision. Closed days stand as closed; later
-- news are corrections on the first open day, so the books of one revision suffice for the time before the span.
local function composed(books, rev, from, to)
  local periods = books.store:rows("SELECT ends, rev FROM purser_books_period WHERE account = $1 AND rev <= $2 "
    .. "AND ends >= $3 ORDER BY ends", books.account, rev, from)
  periods[#periods + 1] = { ends = "9", rev = rev }
  local entries, balances, before, start = {}, {}, nil, from
  for _, period in ipairs(periods) do
    local now = ledger.at(books, period.rev)
    local late = before and corrections(now, before, start, books.days) or {}
    for _, entry in ipairs(late) do entries[#entries + 1] = entry end
    for _, entry in ipairs(now.entries) do
      if not before and entry.time < from then add_all(balances, entry.legs) end
      if entry.time >= start and entry.time < period.ends and entry.time < to then entries[#entries + 1] = entry end
    end
    before, start = now, period.ends
    if period.ends >= to then return entries, balances, now, period.rev end
  end
end

local function is_asset(account) return account:find "^Assets:" ~= nil end

-- Returns balances as a list of { account, asset, amount }, in order.
local function legs_of(balances, keep)
  local legs = {}
  for _, key in ipairs(names_of(balances)) do
    local account, asset = key:match "^(.-)\30(.*)$"
    if keep(account, balances[key]) then legs[#legs + 1] = { account, asset, tostring(balances[key]) } end
  end
  return legs
end

-- Returns the entry that brings balances forward, against the opening account.
local function opening_of(balances, chart, from)
  local against = {}
  local legs = legs_of(balances, function(account, amount) return is_asset(account) and not amount:is_zero() end)
  for _, leg in ipairs(legs) do add(against, { chart.opening, leg[2], tostring(-decimal(leg[3])) }) end
  for _, leg in ipairs(legs_of(against, function(_, amount) return not amount:is_zero() end)) do
    legs[#legs + 1] = leg
  end
  return { time = from, rid = "", text = "brought forward", legs = legs }
end

local function unread(now, closing)
  local list, read = {}, {}
  for owner in pairs(now.readings) do
    read[now.chart.owner(owner, "Spot")], read[now.chart.owner(owner, "Leaving")] = true, true
  end
  for _, leg in ipairs(closing) do
    local is_owners = leg[1]:find "^Assets:[^:]+:[^:]+:"
    if is_owners and not read[leg[1]] and list[#list] ~= leg[1] then list[#list + 1] = leg[1] end
  end
  return list
end

-- Returns why a record cannot be read, by what the service showed at a revision.
local function why_unreadable(books, row, rev)
  local shown = books.store:rows("SELECT raw FROM purser_books_change WHERE rid = $1 AND rev > $2 ORDER BY rev LIMIT 1",
    row.rid, rev)[1] or books.store:rows("SELECT raw FROM purser_books_record WHERE rid = $1", row.rid)[1]
  return record.why_unreadable(row, core.decode(shown.raw))
end

local function open_of(books, now, to, rev)
  local open, shown = {}, {}
  for _, known in ipairs(now.records) do -- a rebate, for one, has another's id there
    local entity = known.row.entity
    if entity == "withdrawal" or entity == "transfer" then shown[known.row.client_id] = true end
  end
  for _, known in ipairs(now.records) do
    local row, fact, class = known.row, known.fact, postings.class_of(known.row)
    local why = class == "unreadable" and why_unreadable(books, row, rev)
      or row.class == "lost_sight" and not row.said and "out of sight: the service shows it no more"
      or fact.candidates and ("%d %ss may be its other side"):format(fact.candidates, row.entity == "deposit"
        and "withdrawal" or "deposit")
      or row.entity == "internal_transfer" and row.from_owner == "" and row.to_owner == "" and "which side is the "
        .. "account's is not known: name the identities"
      or row.entity == "deposit" and row.to_owner == "" and "whose it is is not known: name the address"
      or fact.transit and not fact.pair and class ~= "pending" and row.entity == "withdrawal" and "on its way to an "
        .. "own address: no deposit of it is seen yet"
      or row.entity == "call" and row.missing_since == "" and (row.client_id == "" or not shown[row.client_id]) and
        ("the journal has its call of %s (%s), and no record shows it yet"):format(row.batch, row.state)
      or (class == "pending" or class == "sent" or class == "early") and "not final: " .. row.entity .. " in state "
        .. (states.name(row.entity, row.state) or row.state)
    if why and row.time < to then
      open[#open + 1] = { rid = row.rid, time = row.time, why = why, row = row }
    end
  end
  table.sort(open, match.before)
  return open
end

--- Returns the statement of a span of time texts: `from` counts, `to` does not.
function M.statement(books, from, to, rev)
  local entries, balances, now, effective = composed(books, rev, from, to)
  local gaps, ahead = reach.unread(books, effective, from, to)
  local opening, lines, lowest, assumed = opening_of(balances, now.chart, from), {}, {}, 0
  balances = {}
  add_all(balances, opening.legs)
  for _, entry in ipairs(entries) do
    for _, leg in ipairs(entry.legs) do
      local key, held = add(balances, leg)
      if held:sign() < 0 and is_asset(leg[1]) and not lowest[key] then
        lowest[key] = { account = leg[1], asset = leg[2], amount = held, entry = entry }
      end
    end
    if entry.is_unexplained then lines[#lines + 1] = entry end
    if entry.fact and entry.fact.is_assumed and not entry.is_pending then assumed = assumed + 1 end
  end
  if #opening.legs > 0 then table.insert(entries, 1, opening) end
  local closing = legs_of(balances, is_asset)
  local negative = {}
  for _, key in ipairs(names_of(lowest)) do negative[#negative + 1] = lowest[key] end
  return { account = books.account, from = from, to = to, rev = effective, entries = entries, closing = closing,
    all = legs_of(balances, function() return true end), open = open_of(books, now, to, effective), unexplained = lines,
    gaps = gaps, ahead = ahead, unread = unread(now, closing), checks = now.checks, negative = negative,
    assumed = assumed, days = books.days, put_back = books.store:put_back(effective) }
end

return M

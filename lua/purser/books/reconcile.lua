-- SPDX-License-Identifier: MIT
-- Holds the books against the balances: at each quiet reading, what stands in Spot and Leaving is free plus locked, to
-- the last digit. What is left over becomes a line with a name.

local decimal = require "purser.decimal"
local postings = require "purser.books.postings"
local names_of = require "purser.util.names_of"

local M = {}

local DAY = 86400000
local ZERO = decimal(0)

-- Returns the first reading for which a test of it holds; one more than there are, where it never does.
local function first_reading(readings, holds)
  local low, high = 1, #readings + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(readings[middle]) then high = middle else low = middle + 1 end
  end
  return low
end

-- The legs of entries on the owners' spot accounts: { owner, asset, amount, entry, number }, the number of the first
-- reading that knew of it; `dated` is that of the first one that began after the entry's own time, where that is less.
local function moves_of(entries, readings, chart)
  local owner_of, moves, least = {}, {}, {}
  for owner in pairs(readings) do
    owner_of[chart.owner(owner, "Spot")], owner_of[chart.owner(owner, "Leaving")] = owner, owner
  end
  for _, entry in ipairs(entries) do
    for _, leg in ipairs(entry.legs) do
      local owner = owner_of[leg[1]]
      if owner then
        local key, list = owner .. entry.rid, readings[owner]
        local number = first_reading(list, function(reading)
          return entry.row.rev <= reading.rev and entry.row.seen <= reading.at
        end)
        local dated = first_reading(list, function(reading) return entry.time < reading.began end)
        local floor = least[key] or 1 -- the numbers of a record's entries never go back
        dated, number = math.max(floor, dated), math.max(floor, number)
        least[key] = math.min(dated, number)
        moves[#moves + 1] = { owner = owner, asset = leg[2], amount = leg[3], entry = entry, number = number,
          dated = dated < number and dated or nil }
      end
    end
  end
  return moves
end

local function add(sums, move)
  local of = sums[move.owner] or {}
  sums[move.owner] = of
  of[move.number] = of[move.number] or {}
  of[move.number][move.asset] = (of[move.number][move.asset] or ZERO) + move.amount
end

-- Sums what moved by owner, reading and asset. A record that showed up late belongs to the reading whose balance moved
-- by its amount; where none did, to that of its own time.
local function moved(moves, readings)
  local sums, late = {}, {}
  for _, move in ipairs(moves) do
    if move.dated then late[#late + 1] = move else add(sums, move) end
  end
  for _, move in ipairs(late) do
    local list, latest = readings[move.owner], move.number
    local function fits(number)
      local now, before = list[number], list[number - 1]
      if not now or not before then return false end
      local known = sums[move.owner] and sums[move.owner][number] and sums[move.owner][number][move.asset] or ZERO
      return (now.totals[move.asset] or ZERO) - (before.totals[move.asset] or ZERO) - known == move.amount
    end
    move.number = move.dated
    for number = move.dated, latest do
      if fits(number) then
        move.number = number
        break
      end
    end
    add(sums, move)
  end
  return sums
end

--- Finds out of withdrawals whose fee stands nowhere known whether the balances show it: between two quiet readings,
--- nothing went beyond their amounts, or just the sum of their fees. Sets `measured` (inside or not) of their facts.
--- A difference between is no measure: something else moved.
function M.measure_fees(entries, readings, chart)
  local unknown, moves = {}, moves_of(entries, readings, chart)
  local sums = moved(moves, readings)
  for _, move in ipairs(moves) do
    local class, fact = postings.class_of(move.entry.row), move.entry.fact
    if fact.is_unknown and (class == "sent" or class == "done") then
      local key = ("%s\30%d\30%s"):format(move.owner, move.number, move.asset)
      local group = unknown[key] or { move = move, facts = {}, fees = ZERO }
      unknown[key] = group
      if not group.facts[fact] then group.facts[fact], group.fees = true, group.fees + move.entry.row.fee end
    end
  end
  for _, group in pairs(unknown) do
    local owner, number, asset = group.move.owner, group.move.number, group.move.asset
    local now, before = readings[owner][number], readings[owner][number - 1]
    local beyond = now and before and (before.totals[asset] or ZERO) + (sums[owner][number][asset] or ZERO)
      - (now.totals[asset] or ZERO)
    for fact in pairs(beyond and (beyond:is_zero() or beyond == group.fees) and group.facts or {}) do
      fact.measured, fact.is_measured = beyond:is_zero(), true
    end
  end
end

-- An entry that no record is behind: `account` against what an owner holds. An opening stands before the records of its
-- time, a difference behind them.
local function line_of(time, text, owner, asset, amount, chart, account)
  local spot = chart.owner(owner, "Spot")
  return { time = time, rid = (account == chart.opening and "!" or "~") .. spot .. " " .. asset, text = text,
    owner = owner, asset = asset, amount = amount, legs = { { account, asset, -amount }, { spot, asset, amount } } }
end

-- The lines of one owner: the opening, and a day's difference at its last quiet reading.
local function owner_lines(owner, readings, sums, first, chart, lines, checks)
  local running, days = {}, {}
  for number, reading in ipairs(readings) do
    local moves = sums[number] or {}
    for _, asset in ipairs(names_of(running, moves, reading.totals)) do
      local expected = (running[asset] or ZERO) + (moves[asset] or ZERO)
      local actual = reading.totals[asset] or ZERO
      local left = actual - expected
      if number == 1 and not left:is_zero() then
        lines[#lines + 1] = line_of(first, "opening balance", owner, asset, left, chart, chart.opening)
      elseif number > 1 then
        local day = math.floor(tonumber(reading.at) / DAY)
        local key = ("%s %d"):format(asset, day)
        days[key] = days[key] or { asset = asset, sum = ZERO, since = readings[number - 1].at }
        days[key].sum, days[key].at = days[key].sum + left, reading.at
        if left:is_zero() then checks[chart.owner(owner, "Spot") .. "\30" .. asset] = reading.at end
      end
      running[asset] = actual
    end
  end
  for _, day in pairs(days) do
    if not day.sum:is_zero() then
      local line = line_of(day.at, "not explained by any record", owner, day.asset, day.sum, chart,
        chart.unexplained(owner))
      line.is_unexplained, line.since = true, day.since
      lines[#lines + 1] = line
    end
  end
end

--- Returns the lines that make the books equal to each day's last quiet reading, and when each account last added up,
--- by account and asset.
function M.lines(entries, readings, chart)
  local sums, lines, checks, first = moved(moves_of(entries, readings, chart), readings), {}, {}, nil
  for _, entry in ipairs(entries) do
    if not first or entry.time < first then first = entry.time end
  end
  for _, list in pairs(readings) do
    if not first or list[1].began < first then first = list[1].began end
  end
  for owner, list in pairs(readings) do
    owner_lines(owner, list, sums[owner] or {}, first, chart, lines, checks)
  end
  return lines, checks
end

return M

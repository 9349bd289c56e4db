-- SPDX-License-Identifier: MIT
-- Compares the books with balances: at each quiet reading Spot and Leaving are free plus locked, to the last digit. A
-- difference becomes a line with a name.

local decimal = require "purser.decimal"
local match = require "purser.desk.books.match"
local names_of = require "purser.client.util.names_of"

local M = {}

local ZERO = decimal(0)

local function knows(reading, entry) return entry.row.rev <= reading.rev and entry.row.seen <= reading.at end
local function began_after(reading, entry) return entry.time < reading.began end

-- Sums the moves of spot accounts by owner, reading and asset. A leg belongs to the first reading that knew its record;
-- a leg of a late record to the reading whose balance moved by its amount, else to the reading of its own time. `each`
-- gets (owner, number, leg, entry).
local function moved(entries, readings, chart, each)
  local owner_of, sums, late, least, rid = {}, {}, {}, {}, nil
  for owner in pairs(readings) do
    sums[owner], owner_of[chart.owner(owner, "Spot")], owner_of[chart.owner(owner, "Leaving")] = {}, owner, owner
  end
  local function known_of(owner, number, asset) return (sums[owner][number] or {})[asset] or ZERO end
  local function put(owner, number, leg, entry)
    sums[owner][number] = sums[owner][number] or {}
    sums[owner][number][leg[2]] = known_of(owner, number, leg[2]) + leg[3]
    if each then each(owner, number, leg, entry) end
  end
  for _, entry in ipairs(entries) do
    if entry.rid ~= rid then rid, least = entry.rid, {} end -- the numbers of a record's entries never go back
    for _, leg in ipairs(entry.legs) do
      local owner = owner_of[leg[1]]
      if owner then
        local floor, list = least[owner] or 1, readings[owner]
        local number = math.max(floor, match.first(list, knows, entry))
        local dated = math.max(floor, match.first(list, began_after, entry))
        least[owner] = math.min(dated, number)
        if dated >= number then put(owner, number, leg, entry)
        else late[#late + 1] = { owner = owner, leg = leg, entry = entry, from = dated, to = number } end
      end
    end
  end
  for _, move in ipairs(late) do
    local list, leg, at = readings[move.owner], move.leg, move.from
    for number = move.from, move.to do
      local now, before = list[number], list[number - 1]
      if now and before and ((now.totals[leg[2]] or ZERO) - (before.totals[leg[2]] or ZERO)
        - known_of(move.owner, number, leg[2])):eq(leg[3]) then
        at = number
        break
      end
    end
    put(move.owner, at, leg, move.entry)
  end
  return sums
end

-- Returns the fee that an entry spends: less than zero where a withdrawal came back, nil where no fee moves.
local function fee_of(entry, chart)
  for _, leg in ipairs(entry.legs) do
    if leg[1] == chart.withdrawal_fees then return leg[3] end
  end
end

--- Measures fees that nothing shows: between two quiet readings, nothing went beyond the amounts, or just the fees'
--- sum. Sets `measured` (inside or not) of facts. Any other difference is no measure, nor are fees that add up to zero.
function M.measure_fees(entries, readings, chart)
  local groups = {}
  local sums = moved(entries, readings, chart, function(owner, number, leg, entry)
    local fee = entry.fact.is_unknown and fee_of(entry, chart)
    if not fee then return end
    local key = ("%s\30%d\30%s"):format(owner, number, leg[2])
    local group = groups[key] or { owner = owner, number = number, asset = leg[2], facts = {}, fees = ZERO,
      entries = {} }
    groups[key], group.facts[entry.fact] = group, true
    if not group.entries[entry] then group.entries[entry], group.fees = true, group.fees + fee end
  end)
  for _, group in pairs(groups) do
    local asset, list = group.asset, readings[group.owner]
    local now, before = list[group.number], list[group.number - 1]
    local beyond = now and before and (before.totals[asset] or ZERO) + sums[group.owner][group.number][asset]
      - (now.totals[asset] or ZERO)
    local is_measure = beyond and not group.fees:is_zero() and (beyond:is_zero() or beyond == group.fees)
    for fact in pairs(is_measure and group.facts or {}) do
      fact.measured, fact.is_measured = beyond:is_zero(), true
    end
  end
end

-- Returns an entry without a record: `account` against an owner's holdings. An opening stands before the records of its
-- time, a difference behind.
local function line_of(time, text, owner, asset, amount, chart, account)
  local spot = chart.owner(owner, "Spot")
  return { time = time, rid = (account == chart.opening and "!" or "~") .. spot .. " " .. asset, text = text,
    owner = owner, asset = asset, amount = amount,
    legs = { { account, asset, tostring(-amount) }, { spot, asset, tostring(amount) } } }
end

local function owner_lines(owner, readings, sums, first, chart, lines, checks, days)
  local running, sums_of = {}, {}
  for number, reading in ipairs(readings) do
    local moves = sums[number] or {}
    for _, asset in ipairs(names_of(running, moves, reading.totals)) do
      local expected = (running[asset] or ZERO) + (moves[asset] or ZERO)
      local actual = reading.totals[asset] or ZERO
      local left = actual - expected
      if number == 1 and not left:is_zero() then
        lines[#lines + 1] = line_of(first, "opening balance", owner, asset, left, chart, chart.opening)
      elseif number > 1 then
        local key = ("%s %d"):format(asset, days:number(reading.at))
        sums_of[key] = sums_of[key] or { asset = asset, sum = ZERO, since = readings[number - 1].at }
        sums_of[key].sum, sums_of[key].at = sums_of[key].sum + left, reading.at
        if left:is_zero() then checks[chart.owner(owner, "Spot") .. "\30" .. asset] = reading.at end
      end
      running[asset] = actual
    end
  end
  for _, day in pairs(sums_of) do
    if not day.sum:is_zero() then
      local line = line_of(day.at, "not explained by any record", owner, day.asset, day.sum, chart,
        chart.unexplained(owner))
      line.is_unexplained, line.since = true, day.since
      lines[#lines + 1] = line
    end
  end
end

--- Returns the lines that make the books equal to each day's last quiet reading; and by account and asset the time of
--- the last equality.
function M.lines(entries, readings, chart, days)
  local sums, lines, checks, first = moved(entries, readings, chart), {}, {}, nil
  for _, entry in ipairs(entries) do
    if not first or entry.time < first then first = entry.time end
  end
  for _, list in pairs(readings) do
    if not first or list[1].began < first then first = list[1].began end
  end
  for owner, list in pairs(readings) do
    owner_lines(owner, list, sums[owner], first, chart, lines, checks, days)
  end
  return lines, checks
end

return M

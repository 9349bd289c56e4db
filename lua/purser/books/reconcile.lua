-- SPDX-License-Identifier: MIT
-- Holds the books against the balances: at each quiet reading, what stands in Spot and Leaving is free plus locked, to
-- the last digit. What is left over becomes a line with a name.

local decimal = require "purser.decimal"
local postings = require "purser.books.postings"

local M = {}

local DAY = 86400000
local ZERO = decimal(0)

-- The first reading that an entry belongs to: one that knew of it, or one that began after its own time, for what shows
-- up late.
local function first_reading(readings, entry)
  local low, high = 1, #readings + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local reading = readings[middle]
    local is_known = entry.rev <= reading.rev and entry.seen <= reading.at
    if is_known or entry.time < reading.began then high = middle else low = middle + 1 end
  end
  return low
end

-- Calls found(owner, reading number, asset, amount, entry) for each leg of an owner's spot account.
local function each_move(entries, readings, chart, found)
  local owner_of = {}
  for owner in pairs(readings) do
    owner_of[chart.owner(owner, "Spot")], owner_of[chart.owner(owner, "Leaving")] = owner, owner
  end
  local least = {} -- the number of a record's entries never goes back
  for _, entry in ipairs(entries) do
    for _, leg in ipairs(entry.legs) do
      local owner = owner_of[leg[1]]
      if owner then
        local key = owner .. entry.rid
        local number = math.max(least[key] or 1, first_reading(readings[owner], entry))
        least[key] = number
        found(owner, number, leg[2], leg[3], entry)
      end
    end
  end
end

-- Sums what moved by owner, reading and asset.
local function moved(entries, readings, chart, found)
  local sums = {}
  each_move(entries, readings, chart, function(owner, number, asset, amount, entry)
    local of = sums[owner] or {}
    sums[owner] = of
    of[number] = of[number] or {}
    of[number][asset] = (of[number][asset] or ZERO) + amount
    if found then found(owner, number, asset, entry) end
  end)
  return sums
end

local function assets_of(...)
  local names, seen = {}, {}
  for i = 1, select("#", ...) do
    for asset in pairs((select(i, ...)) or {}) do
      if not seen[asset] then seen[asset], names[#names + 1] = true, asset end
    end
  end
  table.sort(names)
  return names
end

local MOST = 14 -- withdrawals of one interval whose fees are tried

-- The withdrawals of a list whose fees add up to a sum: a set of ids; nil where none do.
local function subset(list, sum, from)
  if sum:is_zero() then return {} end
  for i = from, #list do
    local left = sum - list[i].fee
    local found = left:sign() >= 0 and subset(list, left, i + 1)
    if found then
      found[list[i].rid] = true
      return found
    end
  end
end

--- Finds out of each withdrawal whose fee stands nowhere known whether the balances show it on top: between two quiet
--- readings, what went beyond the amounts is the sum of such fees. Sets `measured` (inside or not) of its facts.
function M.measure_fees(entries, readings, chart)
  local unknown = {}
  local sums = moved(entries, readings, chart, function(owner, number, asset, entry)
    local class = postings.class_of(entry.row)
    if not entry.fact.is_unknown or class ~= "sent" and class ~= "done" then return end
    local key = ("%s\30%d\30%s"):format(owner, number, asset)
    local list = unknown[key] or { owner = owner, number = number, asset = asset }
    unknown[key] = list
    if list[#list] ~= entry then list[#list + 1] = entry end
  end)
  for _, list in pairs(unknown) do
    local now, before = readings[list.owner][list.number], readings[list.owner][list.number - 1]
    if now and before and #list <= MOST then
      for i, entry in ipairs(list) do list[i] = { rid = entry.rid, fee = decimal(entry.row.fee), fact = entry.fact } end
      local left = (before.totals[list.asset] or ZERO) + (sums[list.owner][list.number][list.asset] or ZERO)
        - (now.totals[list.asset] or ZERO)
      local on_top = left:sign() >= 0 and subset(list, left, 1)
      for _, one in ipairs(on_top and list or {}) do
        one.fact.measured, one.fact.is_measured = not on_top[one.rid], true
      end
    end
  end
end

local function line_of(time, text, owner, asset, amount, chart, account)
  return { time = time, rid = "", seen = time, text = text, owner = owner, is_line = true,
    legs = { { account, asset, -amount }, { chart.owner(owner, "Spot"), asset, amount } } }
end

-- The lines of one owner: the opening, and a day's difference at its last quiet reading.
local function owner_lines(owner, readings, sums, first, chart, lines, checks)
  local running, days = {}, {}
  for number, reading in ipairs(readings) do
    local moves = sums[number] or {}
    for _, asset in ipairs(assets_of(running, moves, reading.totals)) do
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
      line.is_unexplained, line.since, line.asset, line.amount = true, day.since, day.asset, day.sum
      lines[#lines + 1] = line
    end
  end
end

--- Returns the lines that make the books equal to each day's last quiet reading, and when each account last added up,
--- by account and asset.
function M.lines(entries, readings, chart)
  local sums, lines, checks, first = moved(entries, readings, chart), {}, {}, nil
  for _, entry in ipairs(entries) do
    if not first or entry.time < first then first = entry.time end
  end
  for _, list in pairs(readings) do
    if not first or list[1].began < first then first = list[1].began end
  end
  for owner, list in pairs(readings) do
    owner_lines(owner, list, sums[owner] or {}, first, chart, lines, checks)
  end
  for _, line in ipairs(lines) do -- an opening stands before the records of its time, a difference behind them
    line.rid = (line.is_unexplained and "~" or "!") .. line.legs[2][1] .. " " .. line.legs[2][2]
  end
  return lines, checks
end

return M

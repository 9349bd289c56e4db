-- SPDX-License-Identifier: MIT
-- Double entry: where the money of a record stands in each of its states. A change of state is the difference of two
-- such positions, so whatever a record goes through, its postings sum to zero.

local decimal = require "purser.decimal"
local record = require "purser.books.record"

local M = {}

-- A name as a part of an account: letters, digits and the hyphen of "Sub-"; any other byte is -XX.
local function part_of(name)
  local front, rest = name:match "^(Sub%-)(.*)$"
  return (front or "") .. (rest or name):gsub("[^A-Za-z0-9]", function(byte) return ("-%02X"):format(byte:byte()) end)
end

--- The names of an account's accounts, made once each.
function M.chart(account)
  local chart, owners = {}, {}
  function chart.owner(owner, place)
    local key = owner .. " " .. place
    owners[key] = owners[key] or ("Assets:%s:%s:%s"):format(account, part_of(owner), place)
    return owners[key]
  end
  function chart.unexplained(owner) return ("Equity:%s:Unexplained:%s"):format(account, part_of(owner)) end
  for name, path in pairs { transit = "Assets:%s:Transit", rebates = "Assets:%s:Rebates",
    withdrawal_fees = "Expenses:%s:Fees:Withdrawal", conversion_fees = "Expenses:%s:Fees:Conversion",
    income = "Income:%s:Rebates", opening = "Equity:%s:Opening", outside = "Equity:%s:Outside",
    conversion = "Equity:%s:Conversion" } do
    chart[name] = path:format(account)
  end
  return chart
end

-- Each position adds legs by `put(account, asset, amount)`. facts: `inside`, `transit`.
local positions = {}

function positions.deposit(row, class, facts, chart, put)
  if class ~= "done" and class ~= "early" or row.to_owner == "" then return end
  put(chart.owner(row.to_owner, "Spot"), row.asset, row.amount)
  put(facts.transit and chart.transit or chart.outside, row.asset, -row.amount)
end

function positions.withdrawal(row, class, facts, chart, put)
  if class == "void" then return end
  local fee = row.fee or decimal(0)
  local total = facts.inside and row.amount or row.amount + fee
  put(chart.owner(row.from_owner, "Spot"), row.asset, -total)
  if class == "pending" then return put(chart.owner(row.from_owner, "Leaving"), row.asset, total) end
  put(facts.transit and chart.transit or chart.outside, row.asset, total - fee)
  put(chart.withdrawal_fees, row.asset, fee)
end

function positions.transfer(row, class, _, chart, put)
  -- no operation shows a futures balance, so nothing of one is held against Leaving
  if class == "void" or class == "pending" and row.from_place ~= "Spot" then return end
  put(chart.owner(row.from_owner, row.from_place), row.asset, -row.amount)
  if class == "pending" then return put(chart.owner(row.from_owner, "Leaving"), row.asset, row.amount) end
  put(chart.owner(row.to_owner, row.to_place), row.asset, row.amount)
end

function positions.internal_transfer(row, class, _, chart, put)
  if class == "void" or row.from_owner == "" and row.to_owner == "" then return end
  put(row.from_owner ~= "" and chart.owner(row.from_owner, "Spot") or chart.outside, row.asset, -row.amount)
  if class == "pending" and row.from_owner ~= "" then
    return put(chart.owner(row.from_owner, "Leaving"), row.asset, row.amount)
  end
  put(row.to_owner ~= "" and chart.owner(row.to_owner, "Spot") or chart.outside, row.asset, row.amount)
end

function positions.conversion(row, class, _, chart, put)
  if class ~= "done" then return end
  local spot, fee = chart.owner(row.owner, "Spot"), row.fee or decimal(0)
  put(spot, row.asset, -row.amount)
  put(chart.conversion, row.asset, row.amount)
  put(chart.conversion, row.got_asset, -(row.got + fee))
  put(chart.conversion_fees, row.got_asset, fee)
  put(spot, row.got_asset, row.got)
end

function positions.rebate(row, class, _, chart, put)
  if class ~= "done" then return end
  put(chart.rebates, row.asset, row.amount)
  put(chart.income, row.asset, -row.amount)
end

--- Tells whether a kind of record moves money.
function M.moves(entity) return positions[entity] ~= nil end

local words = {
  deposit = { done = "deposit", early = "deposit, credited early", pending = "deposit not credited any more",
    void = "deposit taken back" },
  withdrawal = { pending = "withdrawal asked", sent = "withdrawal sent", done = "withdrawal done",
    void = "withdrawal given back" },
  transfer = { pending = "transfer waits", done = "transfer", void = "transfer given back" },
  internal_transfer = { pending = "internal transfer waits", done = "internal transfer",
    void = "internal transfer given back" },
  conversion = { done = "conversion" }, rebate = { done = "rebate" } }

-- The class by which money stands: one that is out of sight stands where it stood.
local function class_of(row)
  return row.said or (row.class == "lost_sight" and record.class(row) or row.class)
end

M.class_of = class_of

-- The legs that lead from one position to the next, in the order of the accounts' names.
local function difference(old, new)
  local legs, keys = {}, {}
  for key, leg in pairs(new) do
    local amount = old[key] and leg[3] - old[key][3] or leg[3]
    if not amount:is_zero() then keys[#keys + 1], legs[key] = key, { leg[1], leg[2], amount } end
  end
  for key, leg in pairs(old) do
    if not new[key] and not leg[3]:is_zero() then keys[#keys + 1], legs[key] = key, { leg[1], leg[2], -leg[3] } end
  end
  table.sort(keys)
  for i, key in ipairs(keys) do keys[i] = legs[key] end
  return keys
end

local function position_of(row, facts, chart)
  local position, class = {}, class_of(row)
  if class == "unreadable" then return position end
  local amounts = setmetatable({ amount = decimal(row.amount), fee = decimal(row.fee), got = decimal(row.got) },
    { __index = row })
  positions[row.entity](amounts, class, facts, chart, function(account, asset, amount)
    local key = account .. "\30" .. asset
    local held = position[key]
    position[key] = { account, asset, held and held[3] + amount or amount }
  end)
  return position
end

--- Returns the entries of one record's versions, oldest first: { time, seen, rid, text, is_pending, row, legs }, each
--- leg { account, asset, amount }.
function M.entries(versions, facts, chart)
  local entries, position, time = {}, {}, ""
  for _, row in ipairs(versions) do
    local new = position_of(row, facts, chart)
    local legs = difference(position, new)
    time = row.booked > time and row.booked or time
    if #legs > 0 then
      local class = class_of(row)
      entries[#entries + 1] = { time = time, seen = row.seen, rev = row.rev, rid = row.rid, row = row, legs = legs,
        text = words[row.entity][class] or row.entity, is_pending = class == "pending" }
    end
    position = new
  end
  return entries
end

return M

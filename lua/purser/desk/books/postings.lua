-- SPDX-License-Identifier: MIT
-- Double entry: the place of a record's money in each state. A change of state is the difference of two positions, so
-- postings always sum to zero.

local decimal = require "purser.decimal"
local record = require "purser.desk.books.record"

local M = {}

-- Returns a name as a part of an account: letters, digits and the hyphen of "Sub-"; another byte is -XX.
local function part_of(name)
  local front, rest = name:match "^(Sub%-)(.*)$"
  return (front or "") .. (rest or name):gsub("[^A-Za-z0-9]", function(byte) return ("-%02X"):format(byte:byte()) end)
end

--- Returns the names of an account's accounts.
function M.chart(account)
  local chart, owners = {}, {}
  function chart.owner(owner, place)
    local key = owner .. " " .. place
    owners[key] = owners[key] or ("Assets:%s:%s:%s"):format(account, part_of(owner), part_of(place))
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

-- A position is a list of legs { account, asset, amount as text }, one an account and asset. fact: `inside`, `transit`.
local positions = {}

local function negative(amount)
  return amount:find "^%-" and amount:sub(2) or amount == "0" and amount or "-" .. amount
end

function positions.deposit(row, class, facts, chart)
  if class ~= "done" and class ~= "early" or row.to_owner == "" then return {} end
  return { { chart.owner(row.to_owner, "Spot"), row.asset, row.amount },
    { facts.transit and chart.transit or chart.outside, row.asset, negative(row.amount) } }
end

function positions.withdrawal(row, class, facts, chart)
  if class == "void" then return {} end
  local fee, total, sent = row.fee ~= "" and row.fee or "0", row.amount, row.amount
  if facts.inside then sent = tostring(decimal(sent) - fee) else total = tostring(decimal(total) + fee) end
  local from = { chart.owner(row.from_owner, "Spot"), row.asset, negative(total) }
  if class == "pending" then return { from, { chart.owner(row.from_owner, "Leaving"), row.asset, total } } end
  return { from, { facts.transit and chart.transit or chart.outside, row.asset, sent },
    { chart.withdrawal_fees, row.asset, fee } }
end

function positions.transfer(row, class, _, chart)
  -- no operation shows a futures balance, so Leaving holds none of its money
  if class == "void" or class == "pending" and row.from_place ~= "Spot" then return {} end
  return { { chart.owner(row.from_owner, row.from_place), row.asset, negative(row.amount) },
    { class == "pending" and chart.owner(row.from_owner, "Leaving") or chart.owner(row.to_owner, row.to_place),
      row.asset, row.amount } }
end

function positions.internal_transfer(row, class, _, chart)
  local is_pending = class == "pending"
  -- waiting money stands with its sender, or outside
  if class == "void" or row.from_owner == row.to_owner or is_pending and row.from_owner == "" then return {} end
  local function side(owner, place) return owner == "" and chart.outside or chart.owner(owner, place) end
  return { { side(row.from_owner, "Spot"), row.asset, negative(row.amount) },
    { is_pending and side(row.from_owner, "Leaving") or side(row.to_owner, "Spot"), row.asset, row.amount } }
end

function positions.conversion(row, class, _, chart)
  if class ~= "done" then return {} end
  local spot, fee = chart.owner(row.owner, "Spot"), row.fee ~= "" and row.fee or "0"
  return { { spot, row.asset, negative(row.amount) }, { chart.conversion, row.asset, row.amount },
    { chart.conversion, row.got_asset, negative(tostring(decimal(row.got) + fee)) },
    { chart.conversion_fees, row.got_asset, fee }, { spot, row.got_asset, row.got } }
end

function positions.rebate(row, class, _, chart)
  if class ~= "done" then return {} end
  return { { chart.rebates, row.asset, row.amount }, { chart.income, row.asset, negative(row.amount) } }
end

-- The record of a call moves the money.
function positions.call() return {} end

--- Tells whether records of a kind stand in statements.
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

-- A withdrawal whose money is back, in the words of its state.
local ENDS = { ["8"] = "withdrawal failed, given back", ["9"] = "withdrawal cancelled, given back" }

local function text_of(row, class)
  return row.entity == "withdrawal" and class == "void" and ENDS[row.state] or words[row.entity][class] or row.entity
end

--- Returns the class by which money stands. Money out of sight stays where it stood.
function M.class_of(row) return row.said or (row.class == "lost_sight" and record.class(row) or row.class) end

local function leg_like(legs, other)
  for _, leg in ipairs(legs) do
    if leg[1] == other[1] and leg[2] == other[2] then return leg end
  end
end

local function by_account(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end

local function difference(old, new)
  local legs = {}
  for _, leg in ipairs(new) do
    local was = leg_like(old, leg)
    if was and was[3] ~= leg[3] then
      legs[#legs + 1] = { leg[1], leg[2], tostring(decimal(leg[3]) - was[3]) }
    elseif not was and leg[3] ~= "0" then
      legs[#legs + 1] = leg
    end
  end
  for _, leg in ipairs(old) do
    if leg[3] ~= "0" and not leg_like(new, leg) then legs[#legs + 1] = { leg[1], leg[2], negative(leg[3]) } end
  end
  table.sort(legs, by_account)
  return legs
end

--- Returns the entries of a record's versions, oldest first: { time, rid, text, is_pending, row, legs, fact }.
function M.entries(versions, facts, chart)
  local entries, position, time = {}, {}, ""
  for _, row in ipairs(versions) do
    local class = M.class_of(row)
    local new = class == "unreadable" and {} or positions[row.entity](row, class, facts, chart)
    local legs = difference(position, new)
    time = row.booked > time and row.booked or time
    if #legs > 0 then
      entries[#entries + 1] = { time = time, rid = row.rid, row = row, legs = legs, fact = facts,
        text = text_of(row, class), is_pending = class == "pending" }
    end
    position = new
  end
  return entries
end

return M

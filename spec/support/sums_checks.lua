-- SPDX-License-Identifier: MIT
-- The checks of sums_histories.lua: sums that a journal keeps are those that its rows count anew, and what the service
-- executed stays within a limit and a policy. The rule of what counts is written a second time here.

local approval_rows = require "purser.desk.approvals.approval_rows"
local core = require "purser.core"
local decimal = require "purser.decimal"
local rules = require "purser.desk.approvals.rules"

local M = { LIMIT = "20", SUM = "34", SUM_HOURS = 2, HOUR = 3600000, DAY = 86400000 }

local HOUR = M.HOUR

--- The states of an attempt that executed nothing.
M.SPENT_NOTHING = { planned = true, rejected = true, not_sent = true, not_done = true }

local function counts(row)
  if row.state == "planned" then return false end
  return not M.SPENT_NOTHING[row.state] or row.disowned == "yes" or row.rejected == "yes"
end

local function add_to(sums, name, amount) sums[name] = (sums[name] or decimal "0") + amount end

local function name_of(coin, place, hour, operation)
  return table.concat({ coin, place, ("%d"):format(hour), operation }, " ")
end

-- Notes where sums differ.
local function compare(what, kept, anew, problems)
  local names = {}
  for _, sums in ipairs { kept, anew } do
    for name in pairs(sums) do names[name] = true end
  end
  for name in pairs(names) do
    local one, other = kept[name] or decimal "0", anew[name] or decimal "0"
    if one:compare(other) ~= 0 then
      problems[#problems + 1] = ("%s of %s: kept %s, counted anew %s"):format(what, name, tostring(one),
        tostring(other))
    end
  end
end

-- Returns the kept sums of a policy since a time.
local function policy_sums(rows, first)
  local sums = {}
  for _, row in ipairs(rows) do
    if row.hour * HOUR >= first then
      sums[name_of(row.coin, row.place, row.hour, row.operation)] = decimal(row.amount)
    end
  end
  return sums
end

-- Adds a call to the sums of its period, and of its hour and places.
local function count(sums, call, at)
  if at < sums.first then return end
  local coin, places = rules.counted(call)
  add_to(sums.periods, "period " .. math.floor(at / HOUR), call.amount)
  for _, place in ipairs(places) do
    add_to(sums.hours, name_of(coin, place, math.floor(at / HOUR), call.operation), call.amount)
  end
end

-- Counts a row, whose charge is to be the only one of its call and content.
local function count_row(sums, row, charges, problems)
  local call = counts(row) and rules.call(row.operation, core.decode(row.params))
  if not (call and call.amount) then return nil end
  local at = tonumber(row.sent_at) or 0
  local is_right = #charges == 1 and tonumber(charges[1].at) == at
    and decimal(charges[1].amount):compare(call.amount) == 0
  if (at >= sums.first or at == 0) and not is_right then
    problems[#problems + 1] = ("%d charges of %s%s (%s, %s), sent at %d"):format(#charges, row.payment, row.key,
      row.state, row.stage, at)
  end
  count(sums, call, at)
  charges.is_counted = true
end

-- Notes a charge whose row counts nothing.
local function check_charge(sums, charge, row, problems)
  if tonumber(charge.at) < sums.first then return end
  problems[#problems + 1] = ("nothing counts the charge of %s (%s)"):format(charge.amount, row
    and table.concat({ row.payment, row.key, row.state, row.stage, row.disowned, row.rejected }, ", ") or "no row")
end

--- Returns where kept sums are not what the rows say.
---@param state { pruned_before: integer|nil }
---@return string[] problems
function M.sums(state, db)
  local problems, of_row, charges, none = {}, {}, {}, {}
  local sums = { first = math.ceil((state.pruned_before or 0) / M.DAY) * M.DAY, periods = {}, hours = {} }
  for _, charge in ipairs(assert(db:rows "SELECT * FROM purser_charges")) do
    local name = charge.call .. charge.content
    charges[name] = charges[name] or {}
    table.insert(charges[name], charge)
  end
  for _, row in ipairs(assert(db:rows "SELECT * FROM purser_calls")) do
    of_row[row.id] = row
    count_row(sums, row, charges[row.id .. row.content] or none, problems)
  end
  for _, list in pairs(charges) do
    for _, charge in ipairs(list.is_counted and {} or list) do
      check_charge(sums, charge, of_row[charge.call], problems)
    end
  end
  local kept = {}
  for name, sum in pairs(sums.periods) do kept[name] = sum end -- one period alone is kept
  for _, row in ipairs(assert(db:rows "SELECT * FROM purser_spending")) do
    if row.number * HOUR >= sums.first then kept["period " .. row.number] = decimal(row.amount) end
  end
  compare("the limit's sum", kept, sums.periods, problems)
  kept = policy_sums(assert(db:rows "SELECT * FROM purser_sums"), sums.first)
  compare("the policy's sum", kept, sums.hours, problems)
  return problems
end

--- Returns where the sums that a newer reader of addresses makes anew are not the kept ones.
---@return string[] problems
function M.sums_read_again(state, db)
  local problems, kept, anew = {}, {}, {}
  if state.pruned_before then return problems end
  db:transaction(function(tx)
    kept = policy_sums(tx:rows "SELECT * FROM purser_sums", 0)
    approval_rows.read_again(tx)
    anew = policy_sums(tx:rows "SELECT * FROM purser_sums", 0)
    tx:reject "nothing is changed"
  end)
  compare("the policy's sum, read again,", kept, anew, problems)
  return problems
end

-- Notes the sums above a bound.
local function exceeding(what, sums, bound, problems)
  for number, sum in pairs(sums) do
    if sum:compare(bound) > 0 then
      problems[#problems + 1] = ("%s were executed in the %s %d"):format(tostring(sum), what, number)
    end
  end
end

--- Returns what the service executed beyond the limit and the policy, and what more often than owed.
---@param state { executed: table[], owed: table<string, integer> }
---@return string[] problems
function M.executed(state)
  local problems, periods, hours, times = {}, {}, {}, {}
  for _, one in ipairs(state.executed) do
    local number = math.floor(one.sent_at / HOUR)
    add_to(periods, number, one.amount)
    for i = 0, M.SUM_HOURS do add_to(hours, number + i, one.amount) end
    times[one.content] = (times[one.content] or 0) + 1
    if times[one.content] > (state.owed[one.content] or 0) then
      problems[#problems + 1] = ("%s was executed %d times"):format(one.content, times[one.content])
    end
  end
  exceeding("period", periods, M.LIMIT, problems)
  exceeding("hours until", hours, M.SUM, problems)
  return problems
end

return M

-- SPDX-License-Identifier: MIT
-- Finds the two sides of what moved between own accounts over a chain: a withdrawal and its deposit. There is no
-- tolerance. Two candidates stay open until a person says which.

local decimal = require "purser.decimal"

local M = {}

local BEFORE, AFTER = 5 * 60000, 86400000 -- where no transaction links them: the deposit's time by the withdrawal's

-- A transaction without the number of its output, in one spelling; nil for none.
local function tx_of(row)
  local tx = row.tx:lower():gsub("^0x", ""):gsub(":%d+$", "")
  return tx ~= "" and tx or nil
end

--- The text of an address with its memo, in one spelling.
function M.place(row) return row.address:lower() .. ":" .. row.memo end

local function fits(withdrawal, deposit, by_tx)
  local amount, fee = decimal(withdrawal.amount), decimal(withdrawal.fee)
  if not (amount:eq(deposit.amount) or fee and (amount - fee):eq(deposit.amount)) then return false end
  local left, right = tx_of(withdrawal), tx_of(deposit)
  if by_tx then return left ~= nil and left == right end
  if left and right then return false end
  local late = tonumber(deposit.time) - tonumber(withdrawal.time)
  return late >= -BEFORE and late <= AFTER
end

-- The candidates of each withdrawal that has no pair yet, and of each deposit.
local function candidates_of(withdrawals, by_place, pair_of, by_tx)
  local of = {}
  for _, withdrawal in ipairs(withdrawals) do
    for _, deposit in ipairs(not pair_of[withdrawal.rid] and by_place[withdrawal.asset .. " " .. M.place(withdrawal)]
      or {}) do
      if not pair_of[deposit.rid] and fits(withdrawal, deposit, by_tx) then
        for _, side in ipairs { { withdrawal, deposit }, { deposit, withdrawal } } do
          of[side[1].rid] = of[side[1].rid] or {}
          table.insert(of[side[1].rid], side[2])
        end
      end
    end
  end
  return of
end

--- Tells whether a record or entry stands before another: by time, by id, by what a record went through.
function M.before(a, b)
  if a.time ~= b.time then return a.time < b.time end
  if a.rid ~= b.rid then return a.rid < b.rid end
  return ((a.row or a).rev or "") < ((b.row or b).rev or "")
end

-- Pairs k equal withdrawals with the k equal deposits that are the only candidates of each of them; k is mostly one.
local function pair_equals(withdrawal, of, pair)
  local deposits = of[withdrawal.rid]
  local others = of[deposits[1].rid]
  if #deposits ~= #others then return false end
  for _, deposit in ipairs(deposits) do
    if deposit.amount ~= deposits[1].amount or #of[deposit.rid] ~= #others then return false end
  end
  for _, other in ipairs(others) do
    if other.amount ~= withdrawal.amount or other.fee ~= withdrawal.fee or #of[other.rid] ~= #deposits then
      return false
    end
    for i, deposit in ipairs(of[other.rid]) do
      if deposit ~= deposits[i] then return false end
    end
  end
  table.sort(others, M.before)
  table.sort(deposits, M.before)
  for i, other in ipairs(others) do pair(other, deposits[i]) end
  return true
end

--- Matches withdrawals with deposits. `said` has what a person named, by withdrawal id: the id of the pair as `value`;
--- `outside` the withdrawals that a person said went elsewhere. Returns the pair of each id, and the candidates of what
--- stays open.
function M.pairs(withdrawals, deposits, said, outside)
  local pair_of, by_rid, by_place, free, open = {}, {}, {}, {}, {}
  local function pair(withdrawal, deposit)
    pair_of[withdrawal.rid], pair_of[deposit.rid] = deposit, withdrawal
  end
  table.sort(deposits, M.before)
  table.sort(withdrawals, M.before)
  for _, deposit in ipairs(deposits) do
    by_rid[deposit.rid] = deposit
    local place = deposit.asset .. " " .. M.place(deposit)
    by_place[place] = by_place[place] or {}
    table.insert(by_place[place], deposit)
  end
  for _, withdrawal in ipairs(withdrawals) do
    local word = said[withdrawal.rid]
    if word and by_rid[word.value] then pair(withdrawal, by_rid[word.value]) end
    if not outside[withdrawal.rid] then free[#free + 1] = withdrawal end
  end
  for _, by_tx in ipairs { true, false } do
    local of, found
    repeat
      found, of = false, candidates_of(free, by_place, pair_of, by_tx)
      for _, withdrawal in ipairs(free) do
        local mine = not pair_of[withdrawal.rid] and of[withdrawal.rid]
        if mine and not pair_of[mine[1].rid] and pair_equals(withdrawal, of, pair) then found = true end
      end
    until not found
    for rid, list in pairs(of) do open[rid] = list end
  end
  for rid in pairs(pair_of) do open[rid] = nil end
  return pair_of, open
end

return M

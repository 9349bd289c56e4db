-- SPDX-License-Identifier: MIT
-- Finds the two sides of what moved between own accounts over a chain: a withdrawal and its deposit. There is no
-- tolerance. Two candidates stay open until a person says which.

local decimal = require "purser.decimal"

local M = {}

local BEFORE, AFTER = 5 * 60000, 86400000 -- where no transaction links them: the deposit's time by the withdrawal's

-- Returns a transaction without the number of its output, in one spelling; nil for none.
local function tx_of(row)
  local tx = row.tx:lower():gsub("^0x", ""):gsub(":%d+$", "")
  return tx ~= "" and tx or nil
end

--- Returns the text of an address with its memo, in one spelling.
function M.place(row) return row.address:lower() .. ":" .. row.memo end

-- Calls `each` with the rows of a list, in the order of time, from a time on until another.
local function within(list, from, to, each)
  local low, high = 1, #list + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if tonumber(list[middle].time) < from then low = middle + 1 else high = middle end
  end
  while list[low] and tonumber(list[low].time) <= to do
    each(list[low])
    low = low + 1
  end
end

-- Returns the candidates of each withdrawal that has no pair yet, and of each deposit; each list in the order of time.
-- A deposit is found by asset, place and amount: by its transaction, or by its time where not both have one.
local function candidates_of(withdrawals, deposits, pair_of, by_tx)
  local of, index = {}, {}
  local function key_of(row, amount, tx) return table.concat({ row.asset, M.place(row), amount, tx }, "\30") end
  local function put(row, candidate)
    of[row.rid] = of[row.rid] or {}
    table.insert(of[row.rid], candidate)
  end
  for _, deposit in ipairs(deposits) do
    local tx = tx_of(deposit)
    if not pair_of[deposit.rid] and (tx or not by_tx) then
      local key = key_of(deposit, tostring(decimal(deposit.amount)), by_tx and tx or tx and "+" or "")
      index[key] = index[key] or {}
      table.insert(index[key], deposit)
    end
  end
  for _, withdrawal in ipairs(withdrawals) do
    local tx, time = tx_of(withdrawal), tonumber(withdrawal.time)
    local amount, fee, found = decimal(withdrawal.amount), decimal(withdrawal.fee), {}
    local amounts = { tostring(amount), fee and not fee:is_zero() and tostring(amount - fee) or nil }
    local from, to = time - BEFORE, time + AFTER
    if by_tx then from, to = -math.huge, math.huge end
    for _, text in ipairs(pair_of[withdrawal.rid] and {} or amounts) do
      for _, mark in ipairs(by_tx and { tx } or tx and { "" } or { "", "+" }) do
        within(index[key_of(withdrawal, text, mark)] or {}, from, to, function(deposit) found[#found + 1] = deposit end)
      end
    end
    table.sort(found, M.before)
    for _, deposit in ipairs(found) do
      put(withdrawal, deposit)
      put(deposit, withdrawal)
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

-- Tells whether the candidates of each of these rows are those, and all rows are equal.
local function are_alike(rows, candidates, of)
  for _, row in ipairs(rows) do
    if row.amount ~= rows[1].amount or row.fee ~= rows[1].fee or #of[row.rid] ~= #candidates then return false end
    for i, candidate in ipairs(of[row.rid]) do
      if candidate ~= candidates[i] then return false end
    end
  end
  return true
end

--- Matches withdrawals with deposits. `said` has what a person named, by withdrawal id: the id of the pair as `value`;
--- `outside` the withdrawals that a person said went elsewhere. Returns the pair of each id, and the candidates of what
--- stays open.
function M.pairs(withdrawals, deposits, said, outside)
  local pair_of, by_rid, free, open = {}, {}, {}, {}
  local function pair(withdrawal, deposit)
    pair_of[withdrawal.rid], pair_of[deposit.rid] = deposit, withdrawal
  end
  table.sort(deposits, M.before)
  table.sort(withdrawals, M.before)
  for _, deposit in ipairs(deposits) do by_rid[deposit.rid] = deposit end
  for _, withdrawal in ipairs(withdrawals) do
    local word = said[withdrawal.rid]
    if word and by_rid[word.value] then pair(withdrawal, by_rid[word.value]) end
    if not outside[withdrawal.rid] then free[#free + 1] = withdrawal end
  end
  for _, by_tx in ipairs { true, false } do
    local of = candidates_of(free, deposits, pair_of, by_tx)
    for _, withdrawal in ipairs(free) do
      local mine = not pair_of[withdrawal.rid] and of[withdrawal.rid]
      local others = mine and of[mine[1].rid]
      -- k equal withdrawals and the k equal deposits that alone may be theirs, in order; k is mostly one
      if mine and #mine == #others and are_alike(others, mine, of) and are_alike(mine, others, of) then
        for i, other in ipairs(others) do pair(other, mine[i]) end
      end
    end
    for rid, list in pairs(of) do open[rid] = list end
  end
  for rid in pairs(pair_of) do open[rid] = nil end
  return pair_of, open
end

return M

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

local function fits(withdrawal, deposit, by_tx)
  local amount, fee = decimal(withdrawal.amount), decimal(withdrawal.fee)
  if not (amount:eq(deposit.amount) or fee and (amount - fee):eq(deposit.amount)) then return false end
  local left, right = tx_of(withdrawal), tx_of(deposit)
  if by_tx then return left ~= nil and left == right end
  if left and right then return false end
  local late = tonumber(deposit.time) - tonumber(withdrawal.time)
  return late >= -BEFORE and late <= AFTER
end

-- Returns the candidates of each withdrawal that has no pair yet, and of each deposit; each list in the order of time.
local function candidates_of(withdrawals, by_place, pair_of, by_tx)
  local of = {}
  local function put(row, candidate)
    of[row.rid] = of[row.rid] or {}
    table.insert(of[row.rid], candidate)
  end
  for _, withdrawal in ipairs(withdrawals) do
    local deposits = not pair_of[withdrawal.rid] and by_place[withdrawal.asset .. " " .. M.place(withdrawal)]
    for _, deposit in ipairs(deposits or {}) do
      if not pair_of[deposit.rid] and fits(withdrawal, deposit, by_tx) then
        put(withdrawal, deposit)
        put(deposit, withdrawal)
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
    local of = candidates_of(free, by_place, pair_of, by_tx)
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

-- SPDX-License-Identifier: MIT
-- Matches withdrawals with deposits of own accounts, without tolerance. Two candidates stay open until a person says
-- which.

local decimal = require "purser.decimal"
local purser_address = require "purser.address"
local tx_of = require("purser.desk.books.record").tx_of

local M = {}

local BEFORE, AFTER = 5 * 60000, 86400000 -- where no transaction links them: the deposit's time by the withdrawal's

--- Returns the payee of an address with its memo: equal for one payee, whatever the spelling.
function M.place(row) return purser_address.payee(row.address, row.memo) end

--- Returns the number of the first row for which `holds(row, value)`, as for all rows behind; else the next number.
function M.first(list, holds, value)
  local low, high = 1, #list + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(list[middle], value) then high = middle else low = middle + 1 end
  end
  return low
end

local function is_from(row, time) return tonumber(row.time) >= time end

local function key_of(row, amount, tx) return table.concat({ row.asset, M.place(row), amount, tx }, "\30") end

-- Returns unpaired deposits as lists, by asset, place, amount and transaction (or by whether there is one). `more`
-- counts how many withdrawals more a row may belong to than the row before.
local function lists_of(deposits, pair_of, by_tx)
  local lists = {}
  for _, deposit in ipairs(deposits) do
    local tx = tx_of(deposit)
    if not pair_of[deposit.rid] and (tx or not by_tx) then
      local key = key_of(deposit, tostring(decimal(deposit.amount)), by_tx and tx or tx and "+" or "")
      lists[key] = lists[key] or { key = key, more = {} }
      table.insert(lists[key], deposit)
    end
  end
  return lists
end

-- Returns a withdrawal's candidates as spans of the lists { list, first, last }, their number, and a name for equal
-- candidates.
local function spans_of(withdrawal, lists, by_tx)
  local spans, size, name, tx, time = {}, 0, "", tx_of(withdrawal), tonumber(withdrawal.time)
  local amount, fee = decimal(withdrawal.amount), decimal(withdrawal.fee)
  for _, text in ipairs { tostring(amount), fee and not fee:is_zero() and tostring(amount - fee) or nil } do
    for _, mark in ipairs(by_tx and { tx } or tx and { "" } or { "", "+" }) do
      local list = lists[key_of(withdrawal, text, mark)] or {}
      local first, last = 1, #list
      if not by_tx then
        first, last = M.first(list, is_from, time - BEFORE), M.first(list, is_from, time + AFTER + 1) - 1
      end
      if first <= last then
        spans[#spans + 1], size = { list, first, last }, size + last - first + 1
        name = ("%s%s\30%d %d\30"):format(name, list.key, first, last)
      end
    end
  end
  return spans, size, name
end

-- Returns the number of candidates of each unpaired row; and withdrawals with equal candidates as lists with `spans`
-- and `size`. Nothing here grows with the number of pairs.
local function candidates_of(withdrawals, deposits, pair_of, by_tx)
  local counts, groups, lists = {}, {}, lists_of(deposits, pair_of, by_tx)
  for _, withdrawal in ipairs(withdrawals) do
    if not pair_of[withdrawal.rid] then
      local spans, size, name = spans_of(withdrawal, lists, by_tx)
      for _, span in ipairs(spans) do
        local more, first, behind = span[1].more, span[2], span[3] + 1
        more[first], more[behind] = (more[first] or 0) + 1, (more[behind] or 0) - 1
      end
      if size > 0 then
        if not groups[name] then groups[name], groups[#groups + 1] = { spans = spans, size = size }, name end
        table.insert(groups[name], withdrawal)
        counts[withdrawal.rid] = size
      end
    end
  end
  for _, list in pairs(lists) do
    local count = 0
    for i, deposit in ipairs(list) do
      count = count + (list.more[i] or 0)
      counts[deposit.rid] = count > 0 and count or nil
    end
  end
  return counts, groups
end

--- Tells whether a record or entry stands before another: by time, id, and revision.
function M.before(a, b)
  if a.time ~= b.time then return a.time < b.time end
  if a.rid ~= b.rid then return a.rid < b.rid end
  return ((a.row or a).rev or "") < ((b.row or b).rev or "")
end

local function are_alike(rows, counts, count)
  for _, row in ipairs(rows) do
    if row.amount ~= rows[1].amount or row.fee ~= rows[1].fee or counts[row.rid] ~= count then return false end
  end
  return true
end

--- Matches withdrawals with deposits. `said` has people's pairs by withdrawal id (`value`), `outside` the withdrawals
--- that went elsewhere. Returns the pair of each id, and the number of candidates of open rows.
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
    local counts, groups = candidates_of(free, deposits, pair_of, by_tx)
    for _, name in ipairs(groups) do
      local group, mine = groups[name], {}
      -- k equal withdrawals, and k equal deposits that are nobody else's, pair in order; mostly k is one
      for _, span in ipairs(group.size == #group and group.spans or {}) do
        for i = span[2], span[3] do mine[#mine + 1] = span[1][i] end
      end
      table.sort(mine, M.before)
      if are_alike(group, counts, #mine) and are_alike(mine, counts, #mine) then
        for i, deposit in ipairs(mine) do pair(group[i], deposit) end
      end
    end
    for rid, count in pairs(counts) do open[rid] = count end
  end
  for rid in pairs(pair_of) do open[rid] = nil end
  return pair_of, open
end

return M

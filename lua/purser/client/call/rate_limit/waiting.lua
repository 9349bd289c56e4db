-- SPDX-License-Identifier: MIT
-- The tickets that wait for a pool, and the first time with room for a call.
--
-- From FIRST on a pool has one slot for each time of tickets, the earliest first: the time, then number, rank and cost
-- of each ticket. Times are few, so a ticket is put, found and removed without a look at other slots.
--
-- `pool.full` saves looking: { from, until when without room, number } by rank, room and whether the call is new, for
-- that ticket and tickets behind it. Room comes from less load ahead alone, two windows before that load at most. No
-- document keeps `full`: a store of texts looks again.

local floor, max, min, huge = math.floor, math.max, math.min, math.huge

local M = {}

local GRACE_MS = 1000 -- a ticket whose owner does not come is removed so long after its time
local SENT, FIRST = 2, 4

--- Notes a ticket's leave: tickets behind may find room.
function M.make_room(pool, at, rank, number)
  for key, entry in pairs(pool.full or {}) do
    local behind = floor(key / 2) % 2 - rank
    if behind > 0 or behind == 0 and entry[3] > number then
      entry[2] = min(entry[2], at - 2 * pool.full_span)
    end
  end
end

--- Removes tickets without owners. Returns whether there were any.
function M.prune(pool, now)
  local is_late = false
  while pool[FIRST] and pool[FIRST][1] + GRACE_MS < now do
    table.remove(pool, FIRST)
    is_late, pool.full = true, nil
  end
  return is_late
end

local function remove_from(pool, index, number)
  local slot = pool[index]
  for i = 2, #slot, 3 do
    if slot[i] == number then
      local at, rank = slot[1], slot[i + 1]
      for _ = 1, 3 do table.remove(slot, i) end
      if not slot[2] then table.remove(pool, index) end
      return at, rank
    end
  end
end

--- Removes a ticket. Returns its time and rank, or nil. A due ticket is among the first, a new one often the last.
function M.remove(pool, number)
  local low, high = FIRST, #pool
  while low <= high do
    local at, rank = remove_from(pool, low, number)
    if not at and low < high then at, rank = remove_from(pool, high, number) end
    if at then return at, rank end
    low, high = low + 1, high - 1
  end
end

function M.put(pool, number, rank, at, cost)
  local place = #pool
  while place >= FIRST and pool[place][1] > at do place = place - 1 end
  if place < FIRST or pool[place][1] < at then
    place = place + 1
    table.insert(pool, place, { at })
  end
  local slot = pool[place]
  local n = #slot
  slot[n + 1], slot[n + 2], slot[n + 3] = number, rank, cost
end

--- Returns number and cost of a pool's tickets.
function M.sum(pool)
  local tickets, cost = 0, 0
  for i = FIRST, #pool do
    for k = 4, #pool[i], 3 do tickets, cost = tickets + 1, cost + pool[i][k] end
  end
  return tickets, cost
end

-- Returns the cost of a slot's tickets before this rank and number.
local function ahead(slot, rank, number)
  local sum = 0
  for i = 2, #slot, 3 do
    if slot[i + 1] < rank or slot[i + 1] == rank and slot[i] < number then sum = sum + slot[i + 2] end
  end
  return sum
end

-- Returns the first slot that counts at `from`. A late ticket counts as if it went now.
local function first_slot(pool, leaves, from, now)
  local low, high = FIRST, #pool + 1
  while low < high do
    local middle = floor((low + high) / 2)
    if leaves(max(now, pool[middle][1])) > from then high = middle else low = middle + 1 end
  end
  return low
end

-- Returns the first time from `from` on with room for a whole window, beside the sums and the tickets ahead. Sums and
-- slots are in the order of time. At equal times a leave comes before an arrival.
local function look(pool, span, leaves, room, from, now, rank, number)
  local sent, s, costs, load = pool[SENT], 1, {}, 0
  local leaving = first_slot(pool, leaves, from, now)
  local arriving = leaving
  while sent[s] and sent[s] + span <= from do s = s + 2 end
  for i = s, #sent, 2 do load = load + sent[i + 1] end
  local start = load <= room and from or nil
  while not start or pool[arriving] do
    local arrives = pool[arriving] and max(now, pool[arriving][1]) or huge
    local sent_leaves = sent[s] and sent[s] + span or huge
    local slot_leaves = leaving < arriving and leaves(max(now, pool[leaving][1])) or huge
    local at = min(arrives, sent_leaves, slot_leaves)
    if at == huge or start and at >= leaves(start) then break end
    if at == sent_leaves then
      load, s = load - sent[s + 1], s + 2
    elseif at == slot_leaves then
      load, leaving = load - costs[leaving], leaving + 1
    else
      costs[arriving] = ahead(pool[arriving], rank, number)
      load, arriving = load + costs[arriving], arriving + 1
    end
    if load > room then start = nil elseif not start then start = max(at, from) end
  end
  return start or from
end

--- Returns the first time from `from` on with room for a whole window, beside the sums and the tickets of a better
--- rank, or of this rank and a lower number.
---@param leaves fun(time: integer): integer  until when a call counts that goes at a time
---@param room integer  what may count beside the call
function M.first_fit(pool, span, leaves, room, from, now, rank, number, is_new)
  if not pool[FIRST] then return look(pool, span, leaves, room, from, now, rank, number) end
  if not pool.full or pool.full_span ~= span then pool.full, pool.full_span = {}, span end
  local key = 4 * room + 2 * rank + (is_new and 1 or 0)
  local entry = pool.full[key]
  local is_known = entry and number >= entry[3] and from >= entry[1] and from <= entry[2]
  local at = look(pool, span, leaves, room, is_known and entry[2] or from, now, rank, number)
  if is_known then
    entry[2], entry[3] = at, number
  elseif at > from and not (entry and number >= entry[3] and from >= entry[1] and entry[2] >= now) then
    pool.full[key] = { from, at, number }
  end
  return at
end

return M

-- SPDX-License-Identifier: MIT
-- The rule of every store: when a call may go, so that no window of a pool ever holds more than its capacity.
--
-- A pool is a sliding log. Time is cut into steps of a 128th of the window; what was sent within a step counts until
-- the end of that step is a window old, so the log keeps one number a step, and never forgets anything too early.
--
-- A call that does not fit gets a time at which it will, and a ticket. At that time it asks once more with its ticket,
-- and goes. A ticket ranks by its priority (0: write calls, 1: read calls), then by its number: first come, first
-- served. A later call may go first only where it delays no ticket of a better rank; a read call whose time a write
-- call took gets another one when it asks. A ticket whose owner does not come is removed a second after its time.
--
-- This file runs inside Redis as well, which has Lua 5.1: it requires nothing, and uses no function beyond that Lua's.
-- `kv` has get(name) -> document | nil and put(name, document, now); `may_forget` where a store may lose what it knew.
-- Documents are flat lists, those of tickets one level deep. `takes` is a list of four values a pool: name, cost,
-- capacity, span (the window and its margin, in ms).

local floor, ceil, max, min, sort = math.floor, math.ceil, math.max, math.min, table.sort

local M = {}

local STEPS = 128
local GRACE_MS = 1000
local MAX_PAUSE_MS = 3 * 86400000 -- the longest ban of the service

-- A pool's document: the newest step that counts no more, the sum of the others, until when the pool is blocked, the
-- last pause that was not named by the service, the length of a step, their number, the span; then a ring of the steps.
local BASE, SUM, BLOCKED, PAUSE, STEP, COUNT, WINDOW, RING = 1, 2, 3, 4, 5, 6, 7, 8

-- The queue's document: the number of the next ticket, until when all pools are held, which run of the store wrote it,
-- the longest span, the tickets.
local NEXT, HELD, RUN, SPAN, TICKETS = 1, 2, 3, 4, 5

-- A ticket: its number, its priority, its time, then two values a pool: name and cost.
local NUMBER, PRIORITY, AT, FIRST = 1, 2, 3, 4

M.QUEUE, M.MEMBERS = "queue", "members"

local function steps_of(span)
  local step = max(1, floor(span / STEPS))
  return step, ceil(span / step)
end

--- Where the step of a time is in the document of a pool.
function M.index(span, now)
  local step, count = steps_of(span)
  return RING + ceil(now / step) % (count + 1)
end

local function new_pool(span, now)
  local step, count = steps_of(span)
  local pool = { floor(now / step) - count, 0, 0, 0, step, count, span }
  for i = RING, RING + count do pool[i] = 0 end
  return pool
end

-- A pool whose window was changed, or whose clock was set back: all that counts was sent just now.
local function rebuilt(old, span, now)
  local pool = new_pool(span, now)
  pool[SUM], pool[PAUSE] = old[SUM], old[PAUSE]
  pool[BLOCKED] = min(old[BLOCKED], now + MAX_PAUSE_MS)
  local ring = RING + ceil(now / pool[STEP]) % (pool[COUNT] + 1)
  pool[ring] = old[SUM]
  return pool
end

-- Forgets the steps that count no more.
local function forget(pool, base)
  local first, size = pool[BASE], pool[COUNT] + 1
  pool[BASE] = base
  if pool[SUM] == 0 then return end
  if base - first >= size then
    for i = RING, RING + size - 1 do pool[i] = 0 end
    pool[SUM] = 0
    return
  end
  local sum = pool[SUM]
  for step = first + 1, base do
    local i = RING + step % size
    sum = sum - pool[i]
    pool[i] = 0
  end
  pool[SUM] = sum
end

local function read_pool(kv, name, span, now)
  local pool = kv.get(name)
  if not pool then return new_pool(span, now) end
  if pool[WINDOW] ~= span then return rebuilt(pool, span, now) end
  local step = pool[STEP]
  local base = (now - now % step) / step - pool[COUNT]
  if base == pool[BASE] then return pool end
  base = floor(base) -- an integer where the Lua has them
  if base > pool[BASE] then
    forget(pool, base)
  elseif base < pool[BASE] - 1 then
    return rebuilt(pool, span, now)
  end
  return pool
end

--- How long a store keeps a document that is not used any more, in ms; 0: for ever.
function M.keep_ms(name, pool, now)
  if name == M.QUEUE then return 0 end
  if name == M.MEMBERS then return 600000 end
  local span = pool[STEP] * pool[COUNT]
  return 2 * span + max(0, pool[BLOCKED] - now) + 5 * pool[PAUSE]
end

local function read_queue(kv, now, run)
  local queue = kv.get(M.QUEUE)
  if not queue then
    -- a store that may have lost what it knew holds every pool for one window; the caller knows how long that is
    queue = { now, 0, run, 0, {} }
    return queue, kv.may_forget
  end
  return queue, queue[RUN] ~= run
end

local function leaves(pool, at)
  return (ceil(at / pool[STEP]) + pool[COUNT]) * pool[STEP]
end

local function by_time(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2] -- what leaves comes before what arrives
end

-- Everything that changes how much counts in a pool: { time, by how much }.
local function events_of(pool, ahead, now)
  local events, size, step, count = {}, pool[COUNT] + 1, pool[STEP], pool[COUNT]
  for number = pool[BASE] + 1, pool[BASE] + size do
    local cost = pool[RING + number % size]
    if cost > 0 then events[#events + 1] = { (number + count) * step, -cost } end
  end
  for i = 1, #ahead, 2 do
    local at, cost = max(now, ahead[i]), ahead[i + 1]
    events[#events + 1] = { at, cost }
    events[#events + 1] = { leaves(pool, at), -cost }
  end
  sort(events, by_time)
  return events
end

-- The first time from `from` on at which there is room for `cost` for a whole window, next to what was sent and the
-- tickets ahead.
local function first_fit(pool, ahead, cost, capacity, from, now)
  local room, load, start = capacity - cost, pool[SUM], nil
  local events = events_of(pool, ahead, now)
  local i = 1
  while events[i] and events[i][1] <= from do
    load, i = load + events[i][2], i + 1
  end
  if load <= room then start = from end
  while events[i] do
    local at = events[i][1]
    if start and at >= leaves(pool, start) then return start end
    load, i = load + events[i][2], i + 1
    if load > room then start = nil elseif not start then start = at end
  end
  return start or from
end

-- The same where no ticket is ahead: enough of what was sent has to leave.
local function first_room(pool, cost, capacity, from)
  local excess = pool[SUM] + cost - capacity
  if excess <= 0 then return from end
  local size, number = pool[COUNT] + 1, pool[BASE]
  while excess > 0 do
    number = number + 1
    excess = excess - pool[RING + number % size]
  end
  return max(from, (number + pool[COUNT]) * pool[STEP])
end

-- The tickets of a better rank that take from a pool: time and cost in turn. Nil when there are none.
local function tickets_ahead(queue, name, priority, number)
  local ahead
  for _, ticket in ipairs(queue[TICKETS]) do
    if ticket[PRIORITY] < priority or ticket[PRIORITY] == priority and ticket[NUMBER] < number then
      for i = FIRST, #ticket, 2 do
        if ticket[i] == name then
          ahead = ahead or {}
          ahead[#ahead + 1], ahead[#ahead + 2] = ticket[AT], ticket[i + 1]
        end
      end
    end
  end
  return ahead
end

-- Removes the tickets whose owners did not come, and that of the caller. Whether there were any.
local function clean(queue, now, number)
  local kept, all = {}, queue[TICKETS]
  for _, ticket in ipairs(all) do
    if ticket[AT] + GRACE_MS >= now and ticket[NUMBER] ~= number then kept[#kept + 1] = ticket end
  end
  queue[TICKETS] = kept
  return #kept < #all
end

local function time_for(pools, takes, queue, priority, number, now)
  local at, waits = max(now, queue[HELD]), #queue[TICKETS] > 0
  local before
  repeat
    before = at
    for i = 1, #takes, 4 do
      local pool, ahead = pools[(i + 3) / 4], waits and tickets_ahead(queue, takes[i], priority, number)
      at = ahead and first_fit(pool, ahead, takes[i + 1], takes[i + 2], at, now)
        or first_room(pool, takes[i + 1], takes[i + 2], at)
    end
  until at == before or #takes == 4 and not waits
  return at
end

local function hold_for(queue, span, now)
  queue[HELD] = max(queue[HELD], now + span)
end

local function longest(takes)
  local span = 0
  for i = 4, #takes, 4 do span = max(span, takes[i]) end
  return span
end

local function ticket_for(takes, number, priority, at)
  local ticket = { number, priority, at }
  for i = 1, #takes, 4 do ticket[#ticket + 1], ticket[#ticket + 2] = takes[i], takes[i + 1] end
  return ticket
end

-- Counts a call that goes now.
local function charge(kv, pools, takes, now)
  local n = 0
  for i = 1, #takes, 4 do
    n = n + 1
    local pool, cost = pools[n], takes[i + 1]
    local ring = RING + ceil(now / pool[STEP]) % (pool[COUNT] + 1)
    pool[ring], pool[SUM] = pool[ring] + cost, pool[SUM] + cost
    kv.put(takes[i], pool, now)
  end
end

-- Keeps which run of the store this is, and the longest span. Whether the queue was changed.
local function note_run(queue, takes, run, lost, now)
  if queue[SPAN] > 0 and not lost then return false end
  queue[SPAN], queue[RUN] = max(queue[SPAN], longest(takes)), run
  if lost then hold_for(queue, queue[SPAN], now) end
  return true
end

-- Reserves a call that may have to wait.
local function reserve_later(kv, now, pools, takes, queue, priority, number, changed)
  local rank = number
  if rank == 0 or rank > queue[NEXT] then rank = queue[NEXT] end
  local at = time_for(pools, takes, queue, priority, rank, now)
  if at <= now then
    charge(kv, pools, takes, now)
    if changed then kv.put(M.QUEUE, queue, now) end
    return 0, rank, now
  end
  if rank == queue[NEXT] then queue[NEXT] = rank + 1 end
  queue[TICKETS][#queue[TICKETS] + 1] = ticket_for(takes, rank, priority, at)
  kv.put(M.QUEUE, queue, now)
  return at - now, rank, now
end

local pools = {} -- of the call under way: nothing here waits

--- Reserves. Returns the milliseconds to wait, the ticket's number, and the time of the store: 0 means that the call
--- goes now and was counted. Returns -1, the milliseconds left and the pool's name where a pool is blocked.
---@param takes table
---@param priority integer  0 or 1
---@param number integer    of the ticket; 0 for a call that has none
---@param run string        names the run of the store; another one than before may have lost what was counted
function M.reserve(kv, now, takes, priority, number, run)
  local queue, lost = read_queue(kv, now, run)
  local changed = (lost or queue[SPAN] == 0) and note_run(queue, takes, run, lost, now) or false
  local waits = queue[TICKETS][1] ~= nil
  if waits then changed = clean(queue, now, number) or changed end
  local blocked, name, at_once, n = 0, nil, not waits and queue[HELD] <= now, 0
  for i = 1, #takes, 4 do
    local pool = read_pool(kv, takes[i], takes[i + 3], now)
    n = n + 1
    pools[n] = pool
    if pool[BLOCKED] - now > blocked then blocked, name = pool[BLOCKED] - now, takes[i] end
    if pool[SUM] + takes[i + 1] > takes[i + 2] then at_once = false end
  end
  if name then
    if changed then kv.put(M.QUEUE, queue, now) end
    return -1, blocked, name
  end
  if not at_once then return reserve_later(kv, now, pools, takes, queue, priority, number, changed) end
  charge(kv, pools, takes, now)
  if changed then kv.put(M.QUEUE, queue, now) end
  return 0, queue[NEXT], now
end

--- Gives back what was reserved and not used: at the time `at` of the store, or, where that is 0, a ticket.
function M.give_back(kv, now, takes, number, at)
  if at == 0 then
    local queue = kv.get(M.QUEUE)
    if queue and clean(queue, now, number) then kv.put(M.QUEUE, queue, now) end
    return 0
  end
  for i = 1, #takes, 4 do
    local pool, cost = read_pool(kv, takes[i], takes[i + 3], now), takes[i + 1]
    local step = ceil(at / pool[STEP])
    local ring = RING + step % (pool[COUNT] + 1)
    if step > pool[BASE] and pool[ring] >= cost then
      pool[ring], pool[SUM] = pool[ring] - cost, pool[SUM] - cost
      kv.put(takes[i], pool, now)
    end
  end
  return 0
end

--- Blocks a pool for `ms`; for a pause that grows with each block soon after the last where `ms` is -1: the service
--- named none. Returns how long the pool is blocked.
function M.block(kv, now, name, span, ms)
  local pool = read_pool(kv, name, span, now)
  if ms < 0 then
    -- responses to calls that were under way together are one block
    if pool[BLOCKED] > now then return pool[BLOCKED] - now end
    local last = pool[PAUSE]
    ms = last > 0 and now - pool[BLOCKED] < 4 * last + span and min(2 * last, MAX_PAUSE_MS) or span
    pool[PAUSE] = ms
  end
  pool[BLOCKED] = max(pool[BLOCKED], now + ms)
  kv.put(name, pool, now)
  return pool[BLOCKED] - now
end

--- Holds every pool for `ms`: nothing goes before.
function M.hold(kv, now, ms, run)
  local queue = read_queue(kv, now, run)
  hold_for(queue, ms, now)
  kv.put(M.QUEUE, queue, now)
  return 0
end

--- Notes that a member uses the pools. Those that were not seen for ten minutes are forgotten.
function M.seen(kv, now, member)
  local known, kept = kv.get(M.MEMBERS) or {}, { member, now }
  for i = 1, #known, 2 do
    if known[i] ~= member and known[i + 1] > now - 600000 then
      kept[#kept + 1], kept[#kept + 2] = known[i], known[i + 1]
    end
  end
  kv.put(M.MEMBERS, kept, now)
  return 0
end

--- What a pool has: how much counts, for how long it is blocked, how many tickets wait for it and what they cost, and
--- for how long all pools are held.
function M.pool(kv, now, name, span)
  local pool, queue = read_pool(kv, name, span, now), kv.get(M.QUEUE)
  local count, cost = 0, 0
  for _, ticket in ipairs(queue and queue[TICKETS] or {}) do
    for i = FIRST, #ticket, 2 do
      if ticket[i] == name and ticket[AT] + GRACE_MS >= now then count, cost = count + 1, cost + ticket[i + 1] end
    end
  end
  return pool[SUM], max(0, pool[BLOCKED] - now), count, cost, queue and max(0, queue[HELD] - now) or 0
end

--- The members that were seen: name and milliseconds since, in turn.
function M.members(kv, now)
  local list = kv.get(M.MEMBERS) or {}
  local result = {}
  for i = 1, #list, 2 do result[i], result[i + 1] = list[i], max(0, now - list[i + 1]) end
  return result
end

return M

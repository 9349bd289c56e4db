-- SPDX-License-Identifier: MIT
-- The rule of every store: when a call may go, so that no window of a pool ever holds more than its capacity.
-- blocks.lua has the pauses that the service asks for.
--
-- A pool is a sliding log. Time is cut into steps of a 128th of the window; what was sent within a step counts until
-- the end of that step is a window old, so the log keeps one sum a step, and never forgets anything too early.
--
-- A call that does not fit gets a time at which it will, and a ticket. At that time it asks once more with its ticket,
-- and goes. Tickets go by their rank (0: write calls, 1: reads), then by their number: first come, first served. A
-- later call may go first only where it delays no ticket ahead of it; a read whose time a write call took gets another
-- one when it asks. A ticket whose owner does not come is removed a second after its time.
--
-- `kv` has get(name) -> document | nil, put(name, document, keep_ms), 0 for ever, and `may_forget` where a store may
-- lose all it knew. A document is a list of lists of words. `takes` is a list of four values a pool: name, cost,
-- capacity, span (the window and its margin, in ms).

local floor, ceil, max, min, sort = math.floor, math.ceil, math.max, math.min, table.sort

local M = {}

local STEPS = 128
local GRACE_MS = 1000

-- A pool: its head, what was sent (the end of a step and its sum, in turn), the tickets, four values each, and what
-- counts before the step of now, where nothing else decides within it.
local HEAD, SENT, TICKETS, BEFORE = 1, 2, 3, 4
-- Its head: the longest span that was asked for, until when it is blocked, the last pause that was not named by the
-- service.
local SPAN, BLOCKED, PAUSE = 1, 2, 3
-- The sum before a step is a list: from when on that is right, the end of the step, the span, the sum, and how long
-- to keep the pool.
-- The head of the queue: the number of the next ticket, until when all pools are held, which run of the store wrote it,
-- the longest span.
local NEXT, HELD, RUN, LONGEST = 1, 2, 3, 4

M.QUEUE = "queue"

--- The longest block: whoever stands between the service and the client may write what it likes.
M.MAX_BLOCK_MS = 7 * 86400000

local function step_end(time, span)
  local step = max(1, floor(span / STEPS))
  return ceil(time / step) * step
end

-- Drops the steps that count no more. Where the clock was set back, or a longer window is asked for than what was
-- dropped before, all that is left counts as sent just now.
local function prune_sent(sent, grows, span, now, newest)
  local n = 0
  for i = 1, #sent, 2 do
    local time, cost = sent[i], sent[i + 1]
    if time + span > now then
      if grows or time > newest then time = newest end
      if n > 0 and sent[n - 1] == time then
        sent[n] = sent[n] + cost
      else
        sent[n + 1], sent[n + 2] = time, cost
        n = n + 2
      end
    end
  end
  for i = #sent, n + 1, -1 do sent[i] = nil end
end

-- Drops the tickets whose owners did not come, and the one of this number. Returns whether there were any.
local function prune_tickets(tickets, now, number)
  local n, count = 0, #tickets
  for i = 1, count, 4 do
    if tickets[i] ~= number and tickets[i + 2] + GRACE_MS >= now then
      for k = 0, 3 do tickets[n + 1 + k] = tickets[i + k] end
      n = n + 4
    end
  end
  for i = count, n + 1, -1 do tickets[i] = nil end
  return n < count
end

--- Returns a pool as it is now, without the ticket of that number, and whether tickets were dropped.
function M.read_pool(kv, name, span, now, number)
  local pool = kv.get(name) or { { span, 0, 0 }, {}, {} }
  local head = pool[HEAD]
  pool[BEFORE] = nil
  local grows = span > head[SPAN]
  head[SPAN] = max(span, head[SPAN])
  head[BLOCKED] = min(head[BLOCKED], now + M.MAX_BLOCK_MS)
  prune_sent(pool[SENT], grows, head[SPAN], now, step_end(now, span))
  return pool, prune_tickets(pool[TICKETS], now, number)
end

--- Returns how much of what was sent counts at a time.
function M.load_at(sent, span, time)
  local sum = 0
  for i = 1, #sent, 2 do
    if sent[i] + span > time then sum = sum + sent[i + 1] end
  end
  return sum
end

--- Puts a pool, with the sum of what counts before this step where the last that was sent is of this step.
function M.put_pool(kv, name, pool, now)
  local head, sent, n = pool[HEAD], pool[SENT], #pool[SENT]
  local ends = step_end(now, head[SPAN])
  local keep_ms = 2 * head[SPAN] + max(0, head[BLOCKED] - now) + 5 * head[PAUSE]
  if sent[n - 1] == ends and head[BLOCKED] <= now and not pool[TICKETS][1] then
    pool[BEFORE] = { now, ends, head[SPAN], M.load_at(sent, head[SPAN], now) - sent[n], keep_ms }
  end
  kv.put(name, pool, keep_ms)
end

-- Returns the head of the queue, and its document where it was changed: a store that may have lost what it knew holds
-- every pool for the longest window.
local function read_queue(kv, takes, now, run)
  local document = kv.get(M.QUEUE)
  local is_new = not document
  document = document or { { now, 0, run, 0 } }
  local head = document[1]
  local lost, longest = is_new and kv.may_forget or head[RUN] ~= run, head[LONGEST]
  for i = 4, #takes, 4 do longest = max(longest, takes[i]) end
  local changed = is_new or lost or longest > head[LONGEST]
  head[RUN], head[LONGEST] = run, longest
  head[HELD] = lost and now + longest or min(head[HELD], now + longest) -- the clock may have been set back
  return head, changed and document
end

local function by_time(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2] -- what leaves comes before what arrives
end

-- Adds the tickets of a better rank to what counts at `from` and to what changes that later. Returns the load.
local function add_tickets(events, tickets, load, span, from, now, rank, number)
  for i = 1, #tickets, 4 do
    if tickets[i + 1] < rank or tickets[i + 1] == rank and tickets[i] < number then
      local at, cost = max(now, tickets[i + 2]), tickets[i + 3]
      if at <= from then load = load + cost else events[#events + 1] = { at, cost } end
      events[#events + 1] = { step_end(at, span) + span, -cost }
    end
  end
  return load
end

-- The first time from `from` on at which there is room for `cost` for a whole window, next to what was sent and the
-- tickets ahead.
local function first_fit(pool, span, cost, capacity, from, now, rank, number)
  local sent, events, room = pool[SENT], {}, capacity - cost
  local load = M.load_at(sent, span, from)
  load = add_tickets(events, pool[TICKETS], load, span, from, now, rank, number)
  if load <= room and not events[1] then return from end
  for i = 1, #sent, 2 do
    if sent[i] + span > from then events[#events + 1] = { sent[i] + span, -sent[i + 1] } end
  end
  sort(events, by_time)
  local start = load <= room and from or nil
  for _, event in ipairs(events) do
    local at = event[1]
    if start and at >= step_end(start, span) + span then return start end
    load = load + event[2]
    if load > room then start = nil elseif not start then start = max(at, from) end
  end
  return start or from
end

local function count(pool, span, cost, now)
  local sent, time = pool[SENT], step_end(now, span)
  for i = #sent - 1, 1, -2 do
    if sent[i] == time then
      sent[i + 1] = sent[i + 1] + cost
      return
    end
  end
  sent[#sent + 1], sent[#sent + 2] = time, cost
end

-- The first time at which there is room in every pool.
local function time_for(pools, takes, from, now, rank, number)
  local at = from
  repeat
    local before = at
    for i = 1, #takes, 4 do
      at = first_fit(pools[(i + 3) / 4], takes[i + 3], takes[i + 1], takes[i + 2], at, now, rank, number)
    end
  until at == before or #takes == 4
  return at
end

local function put_ticket(pools, takes, ticket, rank, at)
  for i = 1, #takes, 4 do
    local tickets = pools[(i + 3) / 4][TICKETS]
    local n = #tickets
    tickets[n + 1], tickets[n + 2], tickets[n + 3], tickets[n + 4] = ticket, rank, at, takes[i + 1]
  end
end

-- Counts a call in its pools from `takes[i]` on, from the last to the first, once each of them has room. Returns false
-- where one has none; then nothing was counted.
local function take_within_step(kv, now, takes, i)
  local name = takes[i]
  if not name then return true end
  local pool = kv.get(name)
  local before = pool and pool[BEFORE]
  if not before or now < before[1] or now > before[2] or takes[i + 3] ~= before[3] then return false end
  local sent = pool[SENT]
  local sum = sent[#sent] + takes[i + 1]
  if before[4] + sum > takes[i + 2] or not take_within_step(kv, now, takes, i + 4) then return false end
  sent[#sent] = sum
  kv.put(name, pool, before[5])
  return true
end

-- Counts a call that fits in a step in which no pool has a ticket, a block or a hold: what counts before the step was
-- summed, and no longer changes. Returns the number of the next ticket; nil where the whole rule decides.
local function go_within_step(kv, now, takes, run)
  local queue = kv.get(M.QUEUE)
  local head = queue and queue[1]
  if not head or head[RUN] ~= run or now < head[HELD] or not take_within_step(kv, now, takes, 1) then return nil end
  return head[NEXT]
end

--- Reserves. Returns the milliseconds to wait, the ticket's number, and the time of the store: 0 means that the call
--- goes now and was counted. Returns -1, the milliseconds left and the pool's name where a pool is blocked.
---@param takes table
---@param rank integer    0 or 1
---@param number integer  of the ticket; 0 for a call that has none
---@param run string      names the run of the store; another one than before may have lost what was counted
function M.reserve(kv, now, takes, rank, number, run)
  local next_ticket = go_within_step(kv, now, takes, run)
  if next_ticket then return 0, number > 0 and number or next_ticket, now end
  local queue, changed = read_queue(kv, takes, now, run)
  local pools, ends, blocked = {}, now, nil
  for i = 1, #takes, 4 do
    local pool = M.read_pool(kv, takes[i], takes[i + 3], now, number)
    pools[#pools + 1] = pool
    if pool[HEAD][BLOCKED] > ends then ends, blocked = pool[HEAD][BLOCKED], takes[i] end
  end
  if blocked then
    if changed then kv.put(M.QUEUE, changed, 0) end
    return -1, ends - now, blocked
  end
  local ticket = number > 0 and number or queue[NEXT]
  local at = time_for(pools, takes, max(now, queue[HELD]), now, rank, ticket)
  if at <= now then
    for i = 1, #takes, 4 do count(pools[(i + 3) / 4], takes[i + 3], takes[i + 1], now) end
  else
    put_ticket(pools, takes, ticket, rank, at)
    if ticket >= queue[NEXT] then
      queue[NEXT] = ticket + 1
      changed = changed or kv.get(M.QUEUE)
    end
  end
  for i = 1, #takes, 4 do M.put_pool(kv, takes[i], pools[(i + 3) / 4], now) end
  if changed then kv.put(M.QUEUE, changed, 0) end
  return max(0, at - now), ticket, now
end

--- Gives back what was reserved and not used: at the time `at` of the store, or, where that is 0, a ticket.
function M.give_back(kv, now, takes, number, at)
  for i = 1, #takes, 4 do
    local pool, changed = M.read_pool(kv, takes[i], takes[i + 3], now, at == 0 and number or 0)
    local sent, cost, time = pool[SENT], takes[i + 1], step_end(at, takes[i + 3])
    for k = 1, at > 0 and #sent or 0, 2 do
      if sent[k] == time and sent[k + 1] >= cost then sent[k + 1], changed = sent[k + 1] - cost, true end
    end
    if changed then M.put_pool(kv, takes[i], pool, now) end
  end
  return 0
end

return M

-- SPDX-License-Identifier: MIT
-- The rule of every store: no window of a pool ever holds more than the capacity. blocks.lua has the service's pauses.
--
-- A pool is a sliding log with one sum a step, a 128th of the window. A sum counts until the step's end is a window
-- old, so nothing is forgotten too early.
--
-- A call that does not fit gets a time and a ticket, and asks again at that time. Tickets go by rank (0: write calls,
-- 1: reads), then by number. A later call goes first only where no ticket ahead is delayed; a read whose time a write
-- call took gets another time. A ticket without its owner ends a second after its time.
--
-- `kv` has get(name) -> document | nil, put(name, document, keep_ms) with 0 for ever, and `may_forget` for a store that
-- may lose all. A document is a list of lists of words. `takes` has four values a pool: name, cost, capacity, span (the
-- window and its margin, ms).

local lazy = require "purser.client.util.lazy"
local waiting = lazy "purser.client.call.rate_limit.waiting"

local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min

local M = {}

local STEPS = 128

-- A pool: head, sent (a step's end and sum, in turn), the sum before the step of now, tickets from FIRST on
-- (waiting.lua).
local HEAD, SENT, BEFORE, FIRST = 1, 2, 3, 4
local NONE = {} -- where the whole rule decides
-- The head: the longest requested span, the end of a block, the last pause that the service did not name.
local SPAN, BLOCKED, PAUSE = 1, 2, 3
-- The sum before a step: since when, the step's end, the span, the sum, how long to keep the pool.
-- The queue's head: the next ticket, the end of all pools' hold, the store's run, the longest span.
local NEXT, HELD, RUN, LONGEST = 1, 2, 3, 4

M.QUEUE = "queue"

--- The longest block: a program between service and client may write anything.
M.MAX_BLOCK_MS = 7 * 86400000

local function step_end(time, span)
  local step = max(1, floor(span / STEPS))
  return ceil(time / step) * step
end

function M.load_at(sent, span, time)
  local sum = 0
  for i = 1, #sent, 2 do
    if sent[i] + span > time then sum = sum + sent[i + 1] end
  end
  return sum
end

-- Drops the steps that count no more. After a clock's step back, or for a longer window than before, all counts as sent
-- now. Returns whether that happened.
local function prune_sent(sent, grows, span, now, newest)
  local n, changed = 0, false
  for i = 1, #sent, 2 do
    local time, cost = sent[i], sent[i + 1]
    if time + span > now then
      if grows or time > newest then time, changed = newest, true end
      if n > 0 and sent[n - 1] == time then
        sent[n] = sent[n] + cost
      else
        sent[n + 1], sent[n + 2] = time, cost
        n = n + 2
      end
    end
  end
  for i = #sent, n + 1, -1 do sent[i] = nil end
  return changed
end

--- Returns a pool at `now`, and whether tickets were dropped.
function M.read_pool(kv, name, span, now)
  local pool = kv.get(name) or { { span, 0, 0 }, {}, NONE }
  local head = pool[HEAD]
  pool[BEFORE] = NONE
  local grows = span > head[SPAN]
  head[SPAN] = max(span, head[SPAN])
  head[BLOCKED] = min(head[BLOCKED], now + M.MAX_BLOCK_MS)
  if prune_sent(pool[SENT], grows, head[SPAN], now, step_end(now, span)) then pool.full = nil end
  return pool, pool[FIRST] ~= nil and waiting.prune(pool, now)
end

--- Puts a pool, with the sum before this step where the last sending is of this step.
function M.put_pool(kv, name, pool, now)
  local head, sent, n = pool[HEAD], pool[SENT], #pool[SENT]
  local ends = step_end(now, head[SPAN])
  local keep_ms = 2 * head[SPAN] + max(0, head[BLOCKED] - now) + 5 * head[PAUSE]
  if sent[n - 1] == ends and head[BLOCKED] <= now and not pool[FIRST] then
    pool[BEFORE] = { now, ends, head[SPAN], M.load_at(sent, head[SPAN], now) - sent[n], keep_ms }
  end
  kv.put(name, pool, keep_ms)
end

-- Returns the queue's head, and the document if changed. A store that may have lost something holds every pool.
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

-- Returns the first time with room in a pool.
local function first_fit(pool, span, room, from, ...)
  if not pool[FIRST] and M.load_at(pool[SENT], span, from) <= room then return from end
  return waiting.first_fit(pool, span, function(time) return step_end(time, span) + span end, room, from, ...)
end

-- Returns the first time with room in every pool.
local function time_for(pools, takes, from, now, rank, number, is_new)
  local at = from
  repeat
    local before = at
    for i = 1, #takes, 4 do
      at = first_fit(pools[(i + 3) / 4], takes[i + 3], takes[i + 2] - takes[i + 1], at, now, rank, number, is_new)
    end
  until at == before or #takes == 4
  return at
end

-- Counts a call in the pools from `takes[i]` on, from the last to the first, if each has room. Returns false, and
-- counts nothing, if one has none.
local function take_within_step(kv, now, takes, i)
  local name = takes[i]
  if not name then return true end
  local pool = kv.get(name)
  local before = pool and pool[BEFORE]
  if not before or takes[i + 3] ~= before[3] or now < before[1] or now > before[2] then return false end
  local sent = pool[SENT]
  local sum = sent[#sent] + takes[i + 1]
  if before[4] + sum > takes[i + 2] or not take_within_step(kv, now, takes, i + 4) then return false end
  sent[#sent] = sum
  kv.put(name, pool, before[5])
  return true
end

-- Counts a call that fits in a step without tickets, blocks or holds, by the sum before the step. Returns the next
-- ticket's number; nil where the whole rule decides.
local function go_within_step(kv, now, takes, run)
  local queue = kv.get(M.QUEUE)
  local head = queue and queue[1]
  if not head or head[RUN] ~= run or now < head[HELD] or not take_within_step(kv, now, takes, 1) then return nil end
  return head[NEXT]
end

--- Returns the milliseconds to wait (0: the call was counted and goes), the ticket's number, and the store's time; or
--- -1, the milliseconds left and the name of a blocked pool.
---@param takes table
---@param rank integer    0 or 1
---@param number integer  of the ticket; 0 for a call that has none
---@param run string      names the run of the store; another one than before may have lost what was counted
function M.reserve(kv, now, takes, rank, number, run)
  local next_ticket = go_within_step(kv, now, takes, run)
  if next_ticket then return 0, number > 0 and number or next_ticket, now end
  local queue, changed = read_queue(kv, takes, now, run)
  local pools, ends, blocked, old, old_rank = {}, now, nil, nil, nil
  for i = 1, #takes, 4 do
    local pool = M.read_pool(kv, takes[i], takes[i + 3], now)
    pools[#pools + 1] = pool
    if number > 0 then old, old_rank = waiting.remove(pool, number) end
    if old and old_rank ~= rank then waiting.make_room(pool, old, old_rank, number) end
    if pool[HEAD][BLOCKED] > ends then ends, blocked = pool[HEAD][BLOCKED], takes[i] end
  end
  local ticket = number > 0 and number or queue[NEXT]
  local at = blocked and ends or time_for(pools, takes, max(now, queue[HELD]), now, rank, ticket, number == 0)
  if old and max(at, old) > now then
    for _, pool in ipairs(pools) do waiting.make_room(pool, old, old_rank, number) end
  end
  if blocked then
    if changed then kv.put(M.QUEUE, changed, 0) end
    return -1, ends - now, blocked
  end
  for i = 1, #takes, 4 do
    local pool = pools[(i + 3) / 4]
    if at <= now then count(pool, takes[i + 3], takes[i + 1], now)
    else waiting.put(pool, ticket, rank, at, takes[i + 1]) end
    M.put_pool(kv, takes[i], pool, now)
  end
  if at > now and ticket >= queue[NEXT] then
    queue[NEXT] = ticket + 1
    changed = changed or kv.get(M.QUEUE)
  end
  if changed then kv.put(M.QUEUE, changed, 0) end
  return max(0, at - now), ticket, now
end

--- Gives back a call of the store's time `at`; 0: a ticket.
function M.give_back(kv, now, takes, number, at)
  for i = 1, #takes, 4 do
    local pool, changed = M.read_pool(kv, takes[i], takes[i + 3], now)
    local ticket_at, rank
    if at == 0 then ticket_at, rank = waiting.remove(pool, number) end
    if ticket_at then waiting.make_room(pool, ticket_at, rank, number) end
    changed = changed or ticket_at
    local sent, cost, time = pool[SENT], takes[i + 1], step_end(at, takes[i + 3])
    for k = 1, at > 0 and #sent or 0, 2 do
      if sent[k] == time and sent[k + 1] >= cost then
        sent[k + 1], changed, pool.full = sent[k + 1] - cost, true, nil
      end
    end
    if changed then M.put_pool(kv, takes[i], pool, now) end
  end
  return 0
end

return M

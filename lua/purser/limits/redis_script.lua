-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Made by tools/docs.lua from sliding_log.lua; `make docs` makes it again. It runs inside Redis: KEYS are those of the
-- queue and of the pools; ARGV the namespace, the operation, its arguments and the run of the server.

return [===[
local ARGV, KEYS, call = ARGV, KEYS, redis.call
local operation = ARGV[2]
-- What there is room for at once, while nothing waits, in the step that was used last: the rule below would count it
-- just so. It needs no clock: the key of a pool's step, which holds its end, is gone when the step is over, and while
-- the pool is blocked; the first key holds the run of the server while nothing waits. Arithmetic makes numbers of the
-- arguments; a comparison would not.
if operation == "reserve" and ARGV[4] == "0" then
  local texts, count, at = call("MGET", unpack(KEYS)), #KEYS, nil
  local at_once = texts[1] == ARGV[5]
  for i = 2, at_once and count or 1, 2 do
    local ends, sum, a = texts[i], texts[i + 1], 2 * i + 3
    if not ends or not sum or sum + ARGV[a] - ARGV[a + 1] > 0 then
      at_once = false
      break
    end
    if not at or ends < at then at = ends end -- a time of this step in every pool
  end
  if at_once and at then
    for i = 3, count, 2 do call("INCRBY", KEYS[i], ARGV[2 * i + 1]) end
    return { 0, 0, at }
  end
end
local time = call("TIME")
local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
local namespace, takes = ARGV[1], {}
local log = (function()
local floor, ceil, max, min, sort = math.floor, math.ceil, math.max, math.min, table.sort
local M = {}
local STEPS = 128
local GRACE_MS = 1000
local MAX_PAUSE_MS = 3 * 86400000 -- the longest ban of the service
local BASE, SUM, BLOCKED, PAUSE, STEP, COUNT, WINDOW, RING = 1, 2, 3, 4, 5, 6, 7, 8
local NEXT, HELD, RUN, SPAN, TICKETS = 1, 2, 3, 4, 5
local NUMBER, PRIORITY, AT, FIRST = 1, 2, 3, 4
M.QUEUE, M.MEMBERS = "queue", "members"
local function steps_of(span)
  local step = max(1, floor(span / STEPS))
  return step, ceil(span / step)
end
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
local function rebuilt(old, span, now)
  local pool = new_pool(span, now)
  pool[SUM], pool[PAUSE] = old[SUM], old[PAUSE]
  pool[BLOCKED] = min(old[BLOCKED], now + MAX_PAUSE_MS)
  local ring = RING + ceil(now / pool[STEP]) % (pool[COUNT] + 1)
  pool[ring] = old[SUM]
  return pool
end
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
function M.keep_ms(name, pool, now)
  if name == M.QUEUE then return 0 end
  if name == M.MEMBERS then return 600000 end
  local span = pool[STEP] * pool[COUNT]
  return 2 * span + max(0, pool[BLOCKED] - now) + 5 * pool[PAUSE]
end
local function read_queue(kv, now, run)
  local queue = kv.get(M.QUEUE)
  if not queue then
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
local function note_run(queue, takes, run, lost, now)
  if queue[SPAN] > 0 and not lost then return false end
  queue[SPAN], queue[RUN] = max(queue[SPAN], longest(takes)), run
  if lost then hold_for(queue, queue[SPAN], now) end
  return true
end
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
function M.block(kv, now, name, span, ms)
  local pool = read_pool(kv, name, span, now)
  if ms < 0 then
    if pool[BLOCKED] > now then return pool[BLOCKED] - now end
    local last = pool[PAUSE]
    ms = last > 0 and now - pool[BLOCKED] < 4 * last + span and min(2 * last, MAX_PAUSE_MS) or span
    pool[PAUSE] = ms
  end
  pool[BLOCKED] = max(pool[BLOCKED], now + ms)
  kv.put(name, pool, now)
  return pool[BLOCKED] - now
end
function M.hold(kv, now, ms, run)
  local queue = read_queue(kv, now, run)
  hold_for(queue, ms, now)
  kv.put(M.QUEUE, queue, now)
  return 0
end
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
function M.members(kv, now)
  local list = kv.get(M.MEMBERS) or {}
  local result = {}
  for i = 1, #list, 2 do result[i], result[i + 1] = list[i], max(0, now - list[i + 1]) end
  return result
end
return M
end)()
local kv = { may_forget = true }
-- A pool is four keys: the fixed fields of its document with the step that was used last and what it holds; a hash of
-- the other steps, of which only those are read and written that are used; what counts, with what went at once since
-- the document was written; and, while calls may go at once, the end of the step. That key is named after the pool's
-- span: a call of another one changes the document first.
local key_of, was, misses, last_of, spans = {}, {}, {}, {}, {}
local function step_key(key, span) return ("%s:%d:step"):format(key, span) end
local pool_meta = { __index = function(pool, i)
  local known, key = was[pool], key_of[pool]
  misses[pool] = (misses[pool] or 0) + 1
  if misses[pool] < 4 then
    known[i] = tonumber(call("HGET", key, i)) or 0
    rawset(pool, i, known[i])
    return known[i]
  end
  local all = call("HGETALL", key)
  for n = 1, #all, 2 do
    local field = tonumber(all[n])
    if known[field] == nil then
      known[field] = tonumber(all[n + 1])
      rawset(pool, field, known[field])
    end
  end
  for n = 8, pool[6] + 8 do
    if known[n] == nil then
      known[n] = 0
      rawset(pool, n, 0)
    end
  end
  return rawget(pool, i)
end }
local function read_pool(name)
  local texts = call("MGET", namespace .. name, namespace .. name .. ":sum")
  if not texts[1] then return nil end
  local base, pause, step, count, last, blocked, span, sum, cost = struct.unpack("<ddddddddd", texts[1])
  local since = texts[2] and texts[2] - sum or 0
  spans[name] = span
  sum, cost = sum + since, cost + since
  local pool = { base, sum, blocked, pause, step, count, span, [last] = cost }
  was[pool], key_of[pool], last_of[pool] = { [last] = cost }, namespace .. name .. ":steps", last
  return setmetatable(pool, pool_meta)
end
local function write_pool(name, pool)
  local key, known = namespace .. name, was[pool]
  local keep = log.keep_ms(name, pool, now)
  local last = log.index(pool[7], now)
  local words, n = { key .. ":steps" }, 1
  if not known then
    call("DEL", words[1])
    known = {}
  end
  for i, value in pairs(pool) do
    if i > 7 and i ~= last and (known[i] ~= value or i == last_of[pool]) and (value ~= 0 or known[i]) then
      words[n + 1], words[n + 2] = i, value
      n = n + 2
    end
  end
  if n > 1 then
    call("HSET", unpack(words))
    call("PEXPIRE", words[1], keep)
  end
  call("SET", key, struct.pack("<ddddddddd", pool[1], pool[4], pool[5], pool[6], last, pool[3], pool[7], pool[2],
    pool[last]), "PX", keep)
  call("SET", key .. ":sum", pool[2], "PX", keep)
  if spans[name] and spans[name] ~= pool[7] then call("DEL", step_key(key, spans[name])) end
  local ends = math.ceil(now / pool[5]) * pool[5]
  if pool[3] > now or ends <= now then return call("DEL", step_key(key, pool[7])) end
  call("SET", step_key(key, pool[7]), ("%.0f"):format(ends), "PX", ends - now)
end
function kv.get(name)
  if name ~= log.QUEUE and name ~= log.MEMBERS then return read_pool(name) end
  local text = call("GET", namespace .. name)
  if not text then return nil end
  if name == log.MEMBERS then return cmsgpack.unpack(text) end
  local document = cmsgpack.unpack(text)
  -- a hold that is over: what is said above may be used again
  if document[6] and document[5][1] == nil and document[2] <= now then kv.put(name, document) end
  return document
end
function kv.put(name, document)
  if name ~= log.QUEUE and name ~= log.MEMBERS then return write_pool(name, document) end
  if name == log.MEMBERS then
    return call("SET", namespace .. name, cmsgpack.pack(document), "PX", log.keep_ms(name, document, now))
  end
  document[6] = document[5][1] ~= nil or document[2] > now
  call("SET", namespace .. name, cmsgpack.pack(document))
  if document[6] then return call("DEL", namespace .. "free") end
  call("SET", namespace .. "free", document[3])
end
if operation == "reserve" or operation == "give_back" then
  local first, second, run = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
  for i = 6, #ARGV do takes[i - 5] = (i - 6) % 4 == 0 and ARGV[i] or tonumber(ARGV[i]) end
  if operation == "give_back" then return { log.give_back(kv, now, takes, first, second) } end
  return { log.reserve(kv, now, takes, first, second, run) }
end
local name, first, second, run = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
if operation == "block" then return { log.block(kv, now, name, tonumber(first), second) } end
if operation == "hold" then return { log.hold(kv, now, tonumber(first), run) } end
if operation == "seen" then return { log.seen(kv, now, first) } end
if operation == "pool" then return { log.pool(kv, now, name, tonumber(first)) } end
return { 0, log.members(kv, now) }
]===]

-- SPDX-License-Identifier: MIT
-- lua/purser/limits/redis_script.lua: the rule of the rate limit as a text that runs inside Redis. An
-- installed copy may be compiled, so that it has no text to send.

local M = {}

local head = [====[
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
]====]

local tail = [====[
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
]====]

--- The file's text.
---@return string
function M.file()
  local lines = {}
  for line in io.lines "lua/purser/call/rate_limit/sliding_log.lua" do
    -- a comment costs Redis nothing but the reading; the head of the file is left out
    if not line:find "^%s*%-%-" and line ~= "" then lines[#lines + 1] = line end
  end
  local text = table.concat(lines, "\n") .. "\n"
  assert(not text:find("]===]", 1, true))
  return head .. text .. tail
end

return M

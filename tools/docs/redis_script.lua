-- SPDX-License-Identifier: MIT
-- lua/purser/call/rate_limit/redis_script.lua: the rule of the rate limit as a text that runs inside Redis. An
-- installed copy may be compiled, so that it has no text to send.

local M = {}

local head = [====[
-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Made by tools/docs.lua from sliding_log.lua; `make docs` makes it again. It runs inside Redis: KEYS are those of the
-- queue and of the pools; ARGV the namespace, the operation, its arguments and the run of the server.

return [===[
local ARGV, call = ARGV, redis.call
local time = call("TIME")
local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
local operation = ARGV[2]
-- What there is room for at once, while nothing waits, in the step that was used last: the rule below would count it
-- just so. Arithmetic makes numbers of the arguments; a comparison would not.
if operation == "reserve" and ARGV[4] == "0" then
  local KEYS, read, write, count = KEYS, struct.unpack, struct.pack, #KEYS
  local texts, used = call("MGET", unpack(KEYS)), {}
  local at_once = texts[1] and texts[1]:find("F" .. ARGV[5], 1, true) == 1
  for i = 2, at_once and count or 1 do
    local text, at = texts[i], 4 * i - 2
    if not text then
      at_once = false
      break
    end
    local blocked, span, ends, sum, cost = read("<ddddd", text, 41)
    local weight = ARGV[at + 1]
    sum = sum + weight
    if now > ends or blocked > now or sum - ARGV[at + 2] > 0 or span - ARGV[at + 3] ~= 0 then
      at_once = false
      break
    end
    used[i] = write("<dd", sum, cost + weight)
  end
  if at_once then
    for i = 2, count do call("SETRANGE", KEYS[i], 64, used[i]) end
    return { 0, 0, now }
  end
end
local namespace, takes = ARGV[1], {}
local log = (function()
]====]

local tail = [====[
end)()
local kv = { may_forget = true }
-- A pool is two keys: the fixed fields of its document with the step that was used last and what it holds, and a hash
-- of the other steps, of which only those are read and written that are used.
local key_of, was, misses, last_of = {}, {}, {}, {}
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
  local text = call("GET", namespace .. name)
  if not text then return nil end
  local base, pause, step, count, last, blocked, span, _, sum, cost = struct.unpack("<dddddddddd", text)
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
  local ends = math.ceil(now / pool[5]) * pool[5]
  call("SET", key, struct.pack("<dddddddddd", pool[1], pool[4], pool[5], pool[6], last, pool[3], pool[7], ends, pool[2],
    pool[last]), "PX", keep)
end
function kv.get(name)
  if name ~= log.QUEUE and name ~= log.MEMBERS then return read_pool(name) end
  local text = call("GET", namespace .. name)
  if not text then return nil end
  if name == log.MEMBERS then return cmsgpack.unpack(text) end
  local rest = text:find(":", 2, true)
  local document = cmsgpack.unpack(text:sub(rest + 1))
  document[3] = text:sub(2, rest - 1)
  -- a hold that is over: what is said above may be used again
  if text:byte() == 84 and document[5][1] == nil and document[2] <= now then kv.put(name, document) end
  return document
end
function kv.put(name, document)
  if name ~= log.QUEUE and name ~= log.MEMBERS then return write_pool(name, document) end
  if name == log.MEMBERS then
    return call("SET", namespace .. name, cmsgpack.pack(document), "PX", log.keep_ms(name, document, now))
  end
  local free = document[5][1] == nil and document[2] <= now
  call("SET", namespace .. name, (free and "F" or "T") .. document[3] .. ":" .. cmsgpack.pack(document))
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

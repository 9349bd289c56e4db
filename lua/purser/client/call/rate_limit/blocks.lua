-- SPDX-License-Identifier: MIT
-- The blocks that the service asks for, and what the pools hold.

local sliding_log = require "purser.client.call.rate_limit.sliding_log"
local waiting = require "purser.client.call.rate_limit.waiting"

local floor, max, min = math.floor, math.max, math.min

-- Places in a pool and its head (sliding_log.lua).
local HEAD, SENT = 1, 2
local BLOCKED, PAUSE = 2, 3
local HELD = 2 -- in the head of the queue

local MAX_PAUSE_MS = 3 * 86400000 -- the longest ban of the service

---@class purser.RateLimit
local RateLimit = {}

--- Blocks a pool for `ms`; -1 (no named pause): for longer with each block soon after the last. Returns the time left.
---@private
function RateLimit.block_pool(kv, now, name, span, ms)
  local pool = sliding_log.read_pool(kv, name, span, now)
  local head = pool[HEAD]
  if ms < 0 then
    -- answers to calls that were under way together are one block
    if head[BLOCKED] > now then return head[BLOCKED] - now end
    local last = head[PAUSE]
    ms = last > 0 and now - head[BLOCKED] < 4 * last + span and min(2 * last, MAX_PAUSE_MS) or span
    head[PAUSE] = ms
  end
  head[BLOCKED] = max(head[BLOCKED], now + min(ms, sliding_log.MAX_BLOCK_MS))
  sliding_log.put_pool(kv, name, pool, now)
  return head[BLOCKED] - now
end

--- Returns what counts in a pool, the time of its block, number and cost of its tickets, and the time of all pools'
--- hold.
---@private
function RateLimit.use_of(kv, now, name, span)
  local pool, queue = sliding_log.read_pool(kv, name, span, now), kv.get(sliding_log.QUEUE)
  local tickets, cost = waiting.sum(pool)
  return sliding_log.load_at(pool[SENT], span, now), max(0, pool[HEAD][BLOCKED] - now), tickets, cost,
    queue and max(0, queue[1][HELD] - now) or 0
end

--- Tells the store of blocks that did not reach it. Returns the milliseconds left where the store still fails.
---@private
function RateLimit:owed_ms(names)
  local longest
  for _, name in ipairs(names) do
    local owed = self.owed[name]
    local left = owed and owed.ends - self.now()
    if owed and (left <= 0 or self:ask({ name }, function(kv, now)
      return RateLimit.block_pool(kv, now, name, owed.span, left)
    end)) then
      self.owed[name] = nil
    elseif owed then
      longest = max(longest or 0, left)
    end
  end
  return longest
end

-- Returns the pool of the address, by weight or else requests: a pause concerns all that share the address; without
-- such a pool the first of the key's account. Returns the pool's name in the store, too.
local function blocked_pool(self, api_key)
  local found
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" and pool.counts == "weight" then return pool, pool.name end
    if pool.scope == "ip" and (not found or found.scope ~= "ip") or api_key and not found then found = pool end
  end
  return found, found and self.name_of(found, api_key)
end

--- Blocks for `ms`; without `ms`, for a pause that grows. Returns the pause: 0 without a pool of the address or a key.
---@param ms integer|nil
---@param api_key string|nil  whose account is blocked where no pool is of the address
---@return integer ms
function RateLimit:block(ms, api_key)
  local pool, name = blocked_pool(self, api_key)
  if not pool then return 0 end
  ms = ms and floor(min(ms, sliding_log.MAX_BLOCK_MS)) or -1
  local left = self:ask({ name }, function(kv, now)
    return RateLimit.block_pool(kv, now, name, pool.span, ms)
  end)
  if left then return left end
  local owed, ends = self.owed[name], self.now() + (ms < 0 and pool.span or ms)
  self.owed[name] = { span = pool.span, ends = max(ends, owed and owed.ends or ends) }
  return self.owed[name].ends - self.now()
end

local says_pause = { ["429"] = true, ["418"] = true }

--- Learns from a failure: 429, 418, these codes in a body, a 403 other than the service's JSON, and any Retry-After
--- block the pool. Returns the pause, or nil.
---@private
---@param err purser.Error
---@param api_key string|nil  that signed the call
---@return integer|nil ms
function RateLimit:learn(err, api_key)
  local named = err.retry_after
  local asked = err.kind == "throttled" and err.http_status ~= nil or says_pause[err.code]
    or err.kind == "http" and err.http_status == 403
  if not named and not asked then return nil end
  return self:block(named and named * 1000, api_key)
end

---@class purser.PoolUse
---@field pool string
---@field capacity integer
---@field window_ms integer
---@field used integer        what counts in the window that ends now
---@field blocked_ms integer  how long the pool stays blocked; 0 when it is not
---@field held_ms integer     how long the store holds every pool, since it may have forgotten what was sent
---@field waiting integer     calls that wait
---@field waiting_weight integer

--- Returns what the pools hold now, with a key's account; or nil and a message where the store fails.
---@param api_key string|nil
---@return purser.PoolUse[]|nil pools, string|nil message
function RateLimit:status(api_key)
  local list = {}
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" or api_key then
      local name = self.name_of(pool, api_key)
      local used, ends, count, weight, held = self:ask({ sliding_log.QUEUE, name }, function(kv, now)
        return RateLimit.use_of(kv, now, name, pool.span)
      end)
      if not used then return nil, ends end
      list[#list + 1] = { pool = name, capacity = pool.capacity, window_ms = pool.window_ms, used = used,
        blocked_ms = ends, held_ms = held, waiting = count, waiting_weight = weight }
    end
  end
  return list
end

return RateLimit

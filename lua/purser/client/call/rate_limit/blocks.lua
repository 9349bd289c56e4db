-- SPDX-License-Identifier: MIT
-- The methods of a rate limit beside waiting for room: blocks that the service asks for, and what the pools hold.

local sliding_log = require "purser.client.call.rate_limit.sliding_log"

---@class purser.RateLimit
local RateLimit = {}

--- Tells the store of a block that did not reach it. Returns the milliseconds left where it still cannot be told.
---@private
function RateLimit:owed_ms()
  local owed = self.owed
  local left = owed.ends - self.now()
  if left > 0 and not self:ask({ owed.name }, function(kv, now)
    return sliding_log.block(kv, now, owed.name, owed.span, left)
  end) then
    return left
  end
  self.owed = false
end

-- Returns the pool of the address: a pause concerns everything that shares it.
local function blocked_pool(self)
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" and pool.counts == "weight" then return pool end
  end
  return self.pools[1]
end

--- The service said to stay away for `ms` milliseconds; without `ms`, for a pause that grows each time. Returns for how
--- long that is.
---@param ms integer|nil
---@return integer ms
function RateLimit:block(ms)
  local pool = blocked_pool(self)
  if not pool then return 0 end
  ms = ms and math.floor(math.min(ms, sliding_log.MAX_BLOCK_MS)) or -1
  local left = self:ask({ pool.name }, function(kv, now)
    return sliding_log.block(kv, now, pool.name, pool.span, ms)
  end)
  if left then return left end
  local ends = self.now() + (ms < 0 and pool.span or ms)
  self.owed = { name = pool.name, span = pool.span, ends = math.max(ends, self.owed and self.owed.ends or ends) }
  return self.owed.ends - self.now()
end

local says_pause = { ["429"] = true, ["418"] = true }

--- Learns from a failure: HTTP 429, 418, their codes in a body, and a 403 that is not the service's JSON block the
--- pool, as does every failure with a Retry-After. Returns for how long, or nil.
---@private
---@param err purser.Error
---@return integer|nil ms
function RateLimit:learn(err)
  local named = err.retry_after
  local asked = err.kind == "throttled" and err.http_status ~= nil or says_pause[err.code]
    or err.kind == "http" and err.http_status == 403
  if not named and not asked then return nil end
  return self:block(named and named * 1000)
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

--- Returns what the pools of this rate limit hold now, that of the account where a key is given; or nil and a message
--- where the store cannot be used.
---@param api_key string|nil
---@return purser.PoolUse[]|nil pools, string|nil message
function RateLimit:status(api_key)
  local list = {}
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" or api_key then
      local name = self.name_of(pool, api_key)
      local used, ends, count, weight, held = self:ask({ sliding_log.QUEUE, name }, function(kv, now)
        return sliding_log.pool(kv, now, name, pool.span)
      end)
      if not used then return nil, ends end
      list[#list + 1] = { pool = name, capacity = pool.capacity, window_ms = pool.window_ms, used = used,
        blocked_ms = ends, held_ms = held, waiting = count, waiting_weight = weight }
    end
  end
  return list
end

return RateLimit

-- SPDX-License-Identifier: MIT
-- The options of a rate limit, their faults, and the pools of options and a profile.

local lazy = require "purser.client.util.lazy"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local profile_rules = lazy "purser.client.operations.profile_rules"

local M = {}

---@class purser.PoolOptions
---@field capacity integer|nil           how much weight, or how many requests, a window may hold
---@field window_ms integer|nil
---@field scope "ip"|"account"|nil       one pool for all, or one for the account of each key
---@field counts "weight"|"requests"|nil

---@class purser.RateLimitOptions
---@field store purser.StoreOptions|table|nil  where use is counted, or a store of your own. Default: in this process
---@field pools table<string, purser.PoolOptions|false>|nil  by name, in place of the profile's; false for none
---@field requests_per_second integer|nil  a further pool that counts each call as one
---@field when_full "wait"|"reject"|nil    what a call does that does not fit (default "wait")
---@field max_wait_ms integer|nil the longest wait: a call that would wait longer is rejected
---@field profile string|table|nil         whose pools and weights (default: the client's)
---@field now (fun(): integer)|nil monotonic milliseconds

M.rules = {
  store = "table", pools = "table", requests_per_second = { 1, 2 ^ 31 }, when_full = { "wait", "reject" },
  max_wait_ms = { 0, 2 ^ 53 }, profile = "string or table", now = "function",
}

local MARGIN = 0.024 -- of a window: how much later than planned a call may reach the service

-- The stores use these names.
local taken = { queue = true, clock = true, lock = true, version = true }

--- Returns a fault and what to do, or nil.
function M.check(options)
  local problem, _, hint = option_schema.check(options, M.rules, "rate_limit option")
  if problem then return problem, hint end
  for name, pool in pairs(options.pools or {}) do
    if type(name) ~= "string" or not name:find "^%w[%w_]*$" then
      return "rate_limit pools: a pool has no name", "a name is made of letters, digits and _"
    end
    if pool ~= false then
      problem, _, hint = option_schema.check(pool, profile_rules.pool_rules, "rate_limit pool option")
      if problem then return problem, hint end
    end
  end
end

-- Returns the profile's pools by name, with the options' values.
local function merged(options, profile)
  local pools = {}
  for name, pool in pairs(profile.pools) do pools[name] = pool end
  for name, pool in pairs(options.pools or {}) do
    local base = pools[name] or {}
    pools[name] = pool and {
      capacity = pool.capacity or base.capacity, window_ms = pool.window_ms or base.window_ms,
      scope = pool.scope or base.scope, counts = pool.counts or base.counts,
    } or nil
  end
  if options.requests_per_second then
    pools.requests = { capacity = options.requests_per_second, window_ms = 1000, counts = "requests" }
  end
  return pools
end

--- Returns the pools by name: { name, capacity, window_ms, span, scope, counts }; or nil, a fault and what to do.
function M.pools(options, profile)
  local list, by_name = {}, merged(options, profile)
  for i, name in ipairs(names_of(by_name)) do
    local pool = by_name[name]
    if not pool.capacity or not pool.window_ms then
      return nil, ('rate_limit pool "%s" has no capacity, or no window_ms'):format(name), "give both"
    end
    if taken[name] then
      return nil, ('rate_limit pool "%s" has a name that the store needs'):format(name), "give it another name"
    end
    list[i] = { name = name, capacity = pool.capacity, window_ms = pool.window_ms,
      span = pool.window_ms + math.floor(pool.window_ms * MARGIN + 0.5), scope = pool.scope or "ip",
      counts = pool.counts or "weight" }
  end
  return list
end

return M

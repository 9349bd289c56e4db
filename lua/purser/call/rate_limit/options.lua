-- SPDX-License-Identifier: MIT
-- The options of a rate limit, and the pools that they and a profile make.

local option_schema = require "purser.util.option_schema"

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
---@field margin_ms integer|nil   how much later than planned a call may reach the service (default: 2.4 % of a window)
---@field when_full "wait"|"reject"|nil    what a call does that does not fit (default "wait")
---@field max_wait_ms integer|nil the longest wait: a call that would wait longer is rejected
---@field share { name: string, part: number }|nil  all clients of that share together use at most that part
---@field fallback_part number|nil         the part of each pool to use while the store is away (default: none)
---@field member string|nil       the name under which this client is shown
---@field profile string|table|nil         whose pools and weights (default: the client's)
---@field now (fun(): integer)|nil monotonic milliseconds

M.rules = {
  store = "table", pools = "table", requests_per_second = { 1, 2 ^ 31 }, margin_ms = { 0, 3600000 },
  when_full = { "wait", "reject" }, max_wait_ms = { 0, 2 ^ 53 }, share = "table", fallback_part = "number",
  member = "string", profile = "string or table", now = "function",
}
local pool_rules = { capacity = { 1, 2 ^ 31 }, window_ms = { 1, 86400000 }, scope = { "ip", "account" },
  counts = { "weight", "requests" } }
local share_rules = { name = "string", part = "number" }

local function is_part(value)
  return value > 0 and value <= 1
end

local function problem_of_pools(pools)
  for name, pool in pairs(pools) do
    if type(name) ~= "string" or not name:find "^%w[%w_]*$" then
      return "rate_limit pools: a pool has no name", "a name is made of letters, digits and _"
    end
    if pool ~= false then
      local problem, _, hint = option_schema.check(pool, pool_rules, "rate_limit pool option")
      if problem then return problem, hint end
    end
  end
end

--- What is wrong with the options, and what to do; or nil.
---@return string|nil problem, string|nil hint
function M.check(options)
  local problem, _, hint = option_schema.check(options, M.rules, "rate_limit option")
  if not problem and options.pools then problem, hint = problem_of_pools(options.pools) end
  if not problem and options.share then
    problem, _, hint = option_schema.check(options.share, share_rules, "rate_limit share option")
  end
  if problem then return problem, hint end
  local share = options.share
  if share and not (share.name and share.name:find "^[%w_.-]+$" and share.part and is_part(share.part)) then
    return 'rate_limit option "share" has no name, or no part',
      "give name, of letters, digits and _.-, and part, a number above 0 and up to 1"
  end
  if options.fallback_part and not is_part(options.fallback_part) then
    return 'rate_limit option "fallback_part" is no part', "give a number above 0 and up to 1"
  end
end

-- Of the pools by name: those of the profile, with what the options say in their place.
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

--- The pools that calls take from, sorted by name: { name, capacity, window_ms, span, scope, counts, share }. A share
--- is a pool of its own next to each. Returns nil, what is wrong and what to do.
---@return table[]|nil pools, string|nil problem, string|nil hint
function M.pools(options, profile)
  local list, by_name, names = {}, merged(options, profile), {}
  for name in pairs(by_name) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local pool = by_name[name]
    if not pool.capacity or not pool.window_ms then
      return nil, ('rate_limit pool "%s" has no capacity, or no window_ms'):format(name), "give both"
    end
    local margin = options.margin_ms or math.floor(pool.window_ms * 0.024 + 0.5)
    local made = { name = name, capacity = pool.capacity, window_ms = pool.window_ms, span = pool.window_ms + margin,
      margin_ms = margin, scope = pool.scope or "ip", counts = pool.counts or "weight" }
    list[#list + 1] = made
    local share = options.share
    if share then
      list[#list + 1] = setmetatable({ name = name .. ":share:" .. share.name,
        capacity = math.max(1, math.floor(pool.capacity * share.part)) }, { __index = made })
    end
  end
  return list
end

return M

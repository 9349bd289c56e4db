-- SPDX-License-Identifier: MIT
-- The pools that the options of a rate limit and a profile make.

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
local function make_pools(options, profile)
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

return make_pools

-- SPDX-License-Identifier: MIT
-- The service's rate limit: the pools of the profile, in windows that slide by the millisecond, counted without the
-- client's code.
--
-- A request above a pool's capacity gets HTTP 429 and a Retry-After; the third within a window gets HTTP 418 and a ban
-- of two minutes, doubled each time, up to three days.

local M = {}

local FIRST_BAN_MS, MAX_BAN_MS, TOLERATED = 120000, 3 * 86400000, 2

--- Returns the state of a rate limit, plain data: pools and weights of a profile, and no counts.
function M.new(profile)
  return { pools = profile.pools, weights = profile.weights, logs = {}, addresses = {} }
end

-- Returns what a request takes from each pool: { log, pool, cost }. Forgets entries older than a window.
local function takes_of(state, ip, account, weight, now)
  local takes = {}
  for name, pool in pairs(state.pools) do
    local owner = pool.scope ~= "account" and ip or account
    if owner then
      local key = name .. " " .. owner
      local log = state.logs[key] or { entries = {}, sum = 0, peak = 0, total = 0, rejected = 0 }
      state.logs[key] = log
      while log.entries[1] and log.entries[1].at <= now - pool.window_ms do
        log.sum = log.sum - table.remove(log.entries, 1).cost
      end
      takes[#takes + 1] = { log = log, pool = pool, cost = pool.counts == "requests" and 1 or weight }
    end
  end
  return takes
end

-- Returns the time until there is room for what a request takes; 0 where there is.
local function wait_for(take, now)
  local sum, pool = take.log.sum + take.cost, take.pool
  if sum <= pool.capacity then return 0 end
  for _, entry in ipairs(take.log.entries) do
    sum = sum - entry.cost
    if sum <= pool.capacity then return entry.at + pool.window_ms - now end
  end
  return pool.window_ms
end

-- Notes a rejection. Returns the ban in ms that it causes, or nil.
local function reject(address, now, window_ms)
  local recent = { now }
  for _, at in ipairs(address.rejected) do
    if at > now - window_ms then recent[#recent + 1] = at end
  end
  address.rejected = recent
  if #recent <= TOLERATED then return nil end
  local ban_ms = math.floor(math.min(FIRST_BAN_MS * 2 ^ address.bans, MAX_BAN_MS))
  address.banned_until, address.bans, address.rejected = now + ban_ms, address.bans + 1, {}
  return ban_ms
end

--- Counts a request that arrives. Returns nil where it may pass, else the HTTP status and the seconds to stay away.
---@param row table|nil      nil for ping and the time, which weigh 1
---@param account string|nil whose key it has
---@return integer|nil status, integer|nil retry_after
function M.arrive(state, row, ip, account, now)
  local address = state.addresses[ip] or { rejected = {}, banned_until = 0, bans = 0 }
  state.addresses[ip] = address
  if address.banned_until > now then return 418, math.ceil((address.banned_until - now) / 1000) end
  local weight = row and (state.weights[row.full_name] or row.weight) or 1
  local takes, wait, window_ms = takes_of(state, ip, account, weight, now), 0, 0
  for _, take in ipairs(takes) do
    local own = wait_for(take, now)
    if own > 0 then
      wait, window_ms = math.max(wait, own), math.max(window_ms, take.pool.window_ms)
      take.log.rejected = take.log.rejected + 1
    end
  end
  if wait > 0 then
    local ban = reject(address, now, window_ms)
    return ban and 418 or 429, math.ceil((ban or wait) / 1000)
  end
  for _, take in ipairs(takes) do
    local log, cost = take.log, take.cost
    log.entries[#log.entries + 1] = { at = now, cost = cost }
    log.sum, log.total = log.sum + cost, log.total + cost
    log.peak = math.max(log.peak, log.sum)
  end
end

--- Returns { peak =, total =, rejected = } by pool with address or account, and the number of bans by address.
function M.report(state)
  local pools, bans = {}, {}
  for key, log in pairs(state.logs) do pools[key] = { peak = log.peak, total = log.total, rejected = log.rejected } end
  for ip, address in pairs(state.addresses) do bans[ip] = address.bans end
  return { pools = pools, bans = bans }
end

return M

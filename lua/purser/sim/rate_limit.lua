-- SPDX-License-Identifier: MIT
-- The service's rate limit: the pools of the profile, each request counted at the time it arrives, in windows that
-- slide by the millisecond. It knows nothing of how the client counts, so it can judge it.
--
-- A request above a pool's capacity gets HTTP 429 and a Retry-After; the third one within a window gets HTTP 418 and
-- bans the address for two minutes, twice as long each time, up to three days.

local M = {}

local FIRST_BAN_MS, MAX_BAN_MS, TOLERATED = 120000, 3 * 86400000, 2

--- Returns the state of a simulator's rate limit, plain data: the pools and the weights of a profile, and nothing
--- counted yet.
function M.new(profile)
  return { pools = profile.pools, weights = profile.weights, logs = {}, addresses = {} }
end

local function log_of(state, key)
  local log = state.logs[key]
  if not log then
    log = { entries = {}, sum = 0, peak = 0, total = 0, rejected = 0 }
    state.logs[key] = log
  end
  return log
end

-- Forgets what is a window old.
local function forget(log, now, window_ms)
  while log.entries[1] and log.entries[1].at <= now - window_ms do
    log.sum = log.sum - table.remove(log.entries, 1).cost
  end
end

-- Returns the time until there is room for `cost`.
local function wait_for(log, cost, pool, now)
  local sum = log.sum + cost
  for _, entry in ipairs(log.entries) do
    sum = sum - entry.cost
    if sum <= pool.capacity then return entry.at + pool.window_ms - now end
  end
  return pool.window_ms
end

local function keys_of(state, ip, account)
  local keys = {}
  for name, pool in pairs(state.pools) do
    if pool.scope ~= "account" then
      keys[name .. " " .. ip] = pool
    elseif account then
      keys[name .. " " .. account] = pool
    end
  end
  return keys
end

local function address_of(state, ip)
  state.addresses[ip] = state.addresses[ip] or { rejected = {}, banned_until = 0, ban_ms = 0, bans = 0 }
  return state.addresses[ip]
end

-- Notes a rejection. Returns the ban in ms that it causes, or nil.
local function reject(address, now, window_ms)
  local recent = { now }
  for _, at in ipairs(address.rejected) do
    if at > now - window_ms then recent[#recent + 1] = at end
  end
  address.rejected = recent
  if #recent <= TOLERATED then return nil end
  address.ban_ms = math.min(address.ban_ms > 0 and 2 * address.ban_ms or FIRST_BAN_MS, MAX_BAN_MS)
  address.banned_until, address.bans, address.rejected = now + address.ban_ms, address.bans + 1, {}
  return address.ban_ms
end

--- Counts a request that arrives. Returns nil where it may pass, else the HTTP status and the seconds to stay away.
---@param row table|nil      nil for ping and the time, which weigh 1
---@param account string|nil whose key it has
---@return integer|nil status, integer|nil retry_after
function M.arrive(state, row, ip, account, now)
  local address = address_of(state, ip)
  if address.banned_until > now then return 418, math.ceil((address.banned_until - now) / 1000) end
  local weight = row and (state.weights[row.full_name] or row.weight) or 1
  local keys, wait, window_ms = keys_of(state, ip, account), 0, 0
  for key, pool in pairs(keys) do
    local log, cost = log_of(state, key), pool.counts == "requests" and 1 or weight
    forget(log, now, pool.window_ms)
    if log.sum + cost > pool.capacity then
      wait, window_ms = math.max(wait, wait_for(log, cost, pool, now)), math.max(window_ms, pool.window_ms)
      log.rejected = log.rejected + 1
    end
  end
  if wait > 0 then
    local ban = reject(address, now, window_ms)
    return ban and 418 or 429, math.ceil((ban or wait) / 1000)
  end
  for key, pool in pairs(keys) do
    local log, cost = log_of(state, key), pool.counts == "requests" and 1 or weight
    log.entries[#log.entries + 1] = { at = now, cost = cost }
    log.sum, log.total = log.sum + cost, log.total + cost
    log.peak = math.max(log.peak, log.sum)
  end
end

--- Returns the counts of the pools, by name and address or account: { peak =, total =, rejected = }; and by address its
--- bans.
function M.report(state)
  local pools, bans = {}, {}
  for key, log in pairs(state.logs) do pools[key] = { peak = log.peak, total = log.total, rejected = log.rejected } end
  for ip, address in pairs(state.addresses) do bans[ip] = address.bans end
  return { pools = pools, bans = bans }
end

return M

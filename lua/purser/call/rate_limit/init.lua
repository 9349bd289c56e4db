-- SPDX-License-Identifier: MIT
-- The rate limit: keeps all that share a store below the service's limits, and silent while the service asks for it.
--
-- A call takes its weight from each pool of the profile before it is sent. The store says when it may go
-- (sliding_log.lua is the rule); the caller waits as its transport does, and asks once more. A store is any object with
--
--   reserve(takes, priority, number) -> ms, number, at | nil, message   0: counted now, at the store's time `at`;
--                                     above 0: ask again after so long with that number; -1, ms, pool: blocked
--   give_back(takes, number, at)      what was reserved and not used; at 0: a ticket
--   block(pool, span, ms)             -> for how long; ms -1: the service named no pause
--   hold(ms), seen(member), pool(name, span), members(), close()
--
-- where what fails returns nil and a message. docs/limits.md says which stores there are.

local core = require "purser.core"
local lazy = require "purser.util.lazy"
local process = require "purser.call.rate_limit.process"
local resolve_profile = require "purser.api.resolve_profile"
local away = lazy "purser.limits.away"
local digest = lazy "purser.util.digest"
local options_ = lazy "purser.call.rate_limit.options"
local stores = lazy "purser.call.rate_limit.stores"

local M = {}

local MAX_BLOCK_MS = 7 * 86400000 -- whoever stands between the service and the client may write what it likes
local SEEN_MS = 60000

---@class purser.RateLimit
local RateLimit = { __name = "purser.rate_limit" }
RateLimit.__index = RateLimit

--- Whether `value` was made here.
function M.is(value)
  return getmetatable(value) == RateLimit
end

local METHODS = { "reserve", "give_back", "block", "hold", "seen", "pool", "members", "close" }

local function is_store(value)
  for _, name in ipairs(METHODS) do
    if type(value[name]) ~= "function" then return false end
  end
  return true
end

-- The store that the options name; or nil and what is wrong.
local function open_store(options)
  local store = options.store
  if not store then return process.new(options) end
  if not is_store(store) then
    local problem
    store, problem = stores.open(store)
    if not store then return nil, problem end
  end
  return store
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

-- Under these names the stores keep something else.
local taken = { queue = true, members = true, clock = true, lock = true, free = true }

-- The pools that calls take from, sorted by name: { name, capacity, window_ms, span, scope, counts, share }. A share
-- is a pool of its own next to each. Returns nil, what is wrong and what to do.
local function make_pools(options, profile)
  local list, by_name, names = {}, merged(options, profile), {}
  for name in pairs(by_name) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local pool = by_name[name]
    if not pool.capacity or not pool.window_ms then
      return nil, ('rate_limit pool "%s" has no capacity, or no window_ms'):format(name), "give both"
    end
    if taken[name] then
      return nil, ('rate_limit pool "%s" has a name that the store needs'):format(name), "give it another name"
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

-- How this client is shown where nothing was given.
local function member_name(options)
  local name = options.member or ("process %d"):format(core.process_id())
  return (name:gsub("[^%w_.:@-]", "_"):sub(1, 60))
end

--- Makes a rate limit for any number of clients. Returns nil and what is wrong where an option makes no sense.
---@param options purser.RateLimitOptions|nil
---@param profile table|nil  of the client it is made for
---@return purser.RateLimit|nil rate_limit, string|nil problem, string|nil hint
function M.make(options, profile)
  local problem, hint
  if options then problem, hint = options_.check(options) end
  if problem then return nil, problem, hint end
  options = options or {}
  if options.profile or not profile then
    profile, problem, hint = resolve_profile(options.profile)
    if not profile then return nil, problem, hint end
  end
  local pools, store
  pools, problem, hint = make_pools(options, profile)
  if not pools then return nil, problem, hint end
  store, problem = open_store(options)
  if not store then return nil, problem end
  local self = setmetatable({
    pools = pools, weights = profile.weights, when_full = options.when_full or "wait",
    max_wait_ms = options.max_wait_ms or math.huge, member = member_name(options), takes = {},
    now = options.now or core.monotonic_ms, seen_at = -SEEN_MS, is_local = store.kind == "process",
  }, RateLimit)
  self.lateness_ms = math.huge
  for _, pool in ipairs(pools) do self.lateness_ms = math.min(self.lateness_ms, pool.margin_ms / 2) end
  self.store = self.is_local and store
    or away.new(store, pools, options.fallback_part, self.now)
  return self
end

--- A rate limit that several clients share: the option `rate_limit` of purser.new. Raises where an option makes no
--- sense.
---@param options purser.RateLimitOptions|nil
---@return purser.RateLimit
function M.new(options)
  local self, problem, hint = M.make(options)
  if not self then error("purser.rate_limit: " .. problem .. (hint and "; " .. hint or ""), 2) end
  return self
end

-- A digest names an account's pool: the store is no place for a key.
local function name_of(pool, api_key)
  if pool.scope == "ip" then return pool.name end
  return pool.name .. ":" .. digest.account_of(api_key)
end

--- The weight of an operation in the table that is in force.
---@private
function RateLimit:weight_of(row)
  return self.weights[row.full_name] or row.weight or 1
end

-- What a call takes. A weight above a capacity counts as all of it, so that the call goes when nothing else does.
local function make_takes(self, row, api_key)
  local takes = {}
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" or api_key and not row.unsigned then
      local cost = pool.counts == "requests" and 1 or self:weight_of(row)
      takes[#takes + 1], takes[#takes + 2] = name_of(pool, api_key), math.min(cost, pool.capacity)
      takes[#takes + 1], takes[#takes + 2] = pool.capacity, pool.span
    end
  end
  return takes
end

-- The same, made once for a row and a key.
local function takes_of(self, row, api_key)
  local by_row = self.takes[api_key or ""]
  if not by_row then
    by_row = {}
    self.takes[api_key or ""] = by_row
  end
  by_row[row] = make_takes(self, row, api_key)
  return by_row[row]
end

local function note_member(self)
  local now = self.now()
  if now - self.seen_at < SEEN_MS then return end
  self.seen_at = now
  self.store:seen(self.member)
end

-- How many milliseconds are whole seconds for a person.
local function seconds(ms)
  return ("%d s"):format(math.ceil(ms / 1000))
end

-- Why a call that does not fit now is not sent; nil where it waits.
local function rejection(self, ms, waited)
  if self.when_full == "reject" then return "the request weight is used up", ms end
  if waited + ms > self.max_wait_ms then
    return ("the request weight is used up, and the wait of %s is longer than max_wait_ms"):format(seconds(ms)), ms
  end
end

local TRIES = 3
local TOO_SLOW = "the store of the rate limit takes longer to answer than the margin allows; move it nearer, or give a "
  .. "longer margin_ms"

-- A call that may have to wait: it waits as its transport does and asks the store once more, or it is not sent. `ms`
-- and `ticket` are what the store said where it was asked.
local function wait(self, row, takes, priority, pause, state, info, ms, ticket)
  local store, number, waited, tries, at = self.store, 0, 0, 0, nil
  while true do
    local asked = self.now()
    if not ms then ms, ticket, at = store:reserve(takes, priority, number) end
    if not ms then return nil, ticket, 0 end
    if ms < 0 then
      return nil, ("the service asked for a pause of %s that is not over"):format(seconds(ticket)), ticket
    elseif ms == 0 then
      if self.now() - asked <= self.lateness_ms then return takes, at end
      store:give_back(takes, ticket, at) -- it would arrive later than was reserved
      number, tries = ticket, tries + 1
      if tries == TRIES then return nil, TOO_SLOW, 0 end
    else
      local why, again = rejection(self, ms, waited)
      if why then
        store:give_back(takes, ticket, 0)
        return nil, why, again
      end
      number, waited = ticket, waited + ms
      pause(state, ms, row, info)
    end
    ms = nil
  end
end

--- Waits until a call may go. Returns what it took and the store's time, for give_back; or nil, why not, and the
--- milliseconds after which it may be retried.
---@private
---@param row table
---@param api_key string|nil
---@param pause fun(self: any, ms: integer, row: table, info: table|nil)  waits as the client's transport does
---@param state any       the first argument of pause
---@param info table|nil  the last one
---@return table|nil takes, integer|string at_or_why, integer|nil ms
function RateLimit:acquire(row, api_key, pause, state, info)
  local by_row = self.takes[api_key or ""]
  local takes = by_row and by_row[row] or takes_of(self, row, api_key)
  local priority, store = row.effect == "read" and 1 or 0, self.store
  if self.is_local then
    local ms, number, at = store:reserve(takes, priority, 0)
    if ms == 0 then return takes, at end
    if not ms then return nil, number, 0 end
    return wait(self, row, takes, priority, pause, state, info, ms, number)
  end
  note_member(self)
  return wait(self, row, takes, priority, pause, state, info)
end

--- Gives back what a call took that was certainly not sent.
---@private
function RateLimit:give_back(takes, at)
  self.store:give_back(takes, 0, at)
end

-- The pool of the address: a pause concerns everything that shares it.
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
  return self.store:block(pool.name, pool.span, ms and math.floor(math.min(ms, MAX_BLOCK_MS)) or -1) or 0
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

---@class purser.Member
---@field name string
---@field seen_ms integer  how long ago it was seen

---@class purser.PoolUse
---@field pool string
---@field capacity integer
---@field window_ms integer
---@field used integer        what counts in the window that ends now
---@field blocked_ms integer  how long the pool stays blocked; 0 when it is not
---@field held_ms integer     how long the store holds every pool, since it may have forgotten what was sent
---@field waiting integer     calls that wait
---@field waiting_weight integer

--- What the pools of this rate limit hold now, that of the account where a key is given. Returns a list, and the
--- members that were seen: { name =, seen_ms = }; or nil and a message where the store is away.
---@param api_key string|nil
---@return purser.PoolUse[]|nil pools, purser.Member[]|string members
function RateLimit:status(api_key)
  local list, members = {}, {}
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" or api_key then
      local name = name_of(pool, api_key)
      local used, blocked, count, weight, held = self.store:pool(name, pool.span)
      if not used then return nil, blocked end
      list[#list + 1] = { pool = name, capacity = pool.capacity, window_ms = pool.window_ms, used = used,
        blocked_ms = blocked, held_ms = held, waiting = count, waiting_weight = weight }
    end
  end
  local seen, message = self.store:members()
  if not seen then return nil, message end
  for i = 1, #seen, 2 do members[#members + 1] = { name = seen[i], seen_ms = seen[i + 1] } end
  return list, members
end

--- Closes the connection to the store. May be called again.
function RateLimit:close()
  self.store:close()
end

return M

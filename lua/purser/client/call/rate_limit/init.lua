-- SPDX-License-Identifier: MIT
-- Keeps all that share a store below the service's limits, and silent while the service asks for silence.
--
-- A call takes its weight from each pool of the profile before its sending. sliding_log.lua says when a call may go;
-- the caller waits as its transport does, and asks again. The counts stand in documents of a store, an object with
--
--   transact(names, fn, patience_ms)  calls fn(kv, now, run) alone, keeps the puts, and returns the results of fn;
--                                     or nil and a message after patience_ms at the latest
--   close()
--
-- kv gets and puts these documents (lists of lists of words), `now` is the store's time, `run` a word (no number) that
-- changes where the store may have lost something. fn may be called again; the last puts count (docs/client/limits.md).

local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local options_ = require "purser.client.call.rate_limit.options"
local process = require "purser.client.call.rate_limit.process"
local profile_rules = require "purser.client.operations.profile_rules"
local sliding_log = require "purser.client.call.rate_limit.sliding_log"
local blocks = lazy "purser.client.call.rate_limit.blocks"
local digest = lazy "purser.client.util.digest"
local errors = lazy "purser.client.call.errors"

local M = {}

local PASSED = 3 -- for so many windows write calls pass a read that waits; then it keeps its place
local PATIENCE_MS = 5000 -- for a store that others use at the moment, where a call does not wait for room

---@class purser.RateLimit
local RateLimit = { __name = "purser.rate_limit" }
RateLimit.__index = RateLimit
setmetatable(RateLimit, { __index = blocks }) -- methods, too

function M.is(value)
  return getmetatable(value) == RateLimit
end

-- Returns the store of the options; or nil and a problem. `open` makes a named store.
local function store_of(options, open)
  local store = options.store
  if not store then return process.new(options.now) end
  if type(store.transact) == "function" and type(store.close) == "function" then return store end
  if open then return open(store) end
  return nil, 'rate_limit option "store" is no store'
end

--- Returns nil and a problem for senseless options.
---@param options purser.RateLimitOptions|nil
---@param profile table|nil  of the client it is made for
---@param open (fun(options: table): table|nil, string|nil)|nil  makes a store that is named; purser.limits.open
---@return purser.RateLimit|nil rate_limit, string|nil problem, string|nil hint
function M.make(options, profile, open)
  options = options or {}
  local problem, hint = options_.check(options)
  if problem then return nil, problem, hint end
  if options.profile or not profile then
    profile, problem, hint = profile_rules.resolve(options.profile)
    if not profile then return nil, problem, hint end
  end
  local pools, store
  pools, problem, hint = options_.pools(options, profile)
  if not pools then return nil, problem, hint end
  store, problem = store_of(options, open)
  if not store then return nil, problem end
  local self = setmetatable({
    pools = pools, weights = profile.weights, store = store, when_full = options.when_full or "wait",
    max_wait_ms = options.max_wait_ms or math.huge, takes = {}, now = options.now or core.monotonic_ms, owed = {},
    is_local = not options.store,
  }, RateLimit)
  self.lateness_ms, self.passed_ms = math.huge, 0
  for _, pool in ipairs(pools) do
    self.lateness_ms = math.min(self.lateness_ms, (pool.span - pool.window_ms) / 2)
    self.passed_ms = math.max(self.passed_ms, PASSED * pool.span)
  end
  self.patience_ms = self.when_full == "wait" and self.max_wait_ms or PATIENCE_MS
  return self
end

--- Makes a rate limit for several clients. Returns nil and an error of kind "config" for senseless options.
---@param options purser.RateLimitOptions|nil
---@return purser.RateLimit|nil, purser.Error|nil err
function M.new(options, open)
  local self, problem, hint = M.make(options, nil, open)
  if not self then return nil, errors.config("purser.rate_limit: " .. problem, hint) end
  return self
end

--- Names an account's pool by a digest: the store is no place for a key.
---@private
function RateLimit.name_of(pool, api_key)
  if pool.scope == "ip" then return pool.name end
  return pool.name .. ":" .. digest.account_of(api_key)
end

---@private
function RateLimit:weight_of(row)
  return self.weights[row.full_name] or row.weight or 1
end

-- Returns what a call takes, and the names of the documents. A weight above a capacity counts as the capacity.
local function make_takes(self, row, api_key)
  local takes = { names = { sliding_log.QUEUE } }
  for _, pool in ipairs(self.pools) do
    if pool.scope == "ip" or api_key and not row.unsigned then
      local cost, name = pool.counts == "requests" and 1 or self:weight_of(row), RateLimit.name_of(pool, api_key)
      takes[#takes + 1], takes[#takes + 2] = name, math.min(cost, pool.capacity)
      takes[#takes + 1], takes[#takes + 2] = pool.capacity, pool.span
      takes.names[#takes.names + 1] = name
    end
  end
  return takes
end

-- Returns the same, made once a row and key.
local function takes_of(self, row, api_key)
  local by_row = self.takes[api_key or ""]
  if not by_row then
    by_row = {}
    self.takes[api_key or ""] = by_row
  end
  by_row[row] = by_row[row] or make_takes(self, row, api_key)
  return by_row[row]
end

--- Returns what fn returns; or nil and an error with the store's name.
---@private
function RateLimit:ask(names, fn, patience_ms)
  local first, second, third, fourth, fifth = self.store:transact(names, fn, patience_ms or PATIENCE_MS)
  if first ~= nil then return first, second, third, fourth, fifth end
  return nil, ("the rate limit's store (%s) cannot be used: %s"):format(self.store.kind or "given",
    tostring(second or "it gave no answer"))
end

-- Returns the rule's answer, and the time of the question by this process's clock.
local function reserve(self, takes, rank, number, patience_ms)
  if self.is_local then -- the store's clock is this one, and it always answers
    local kv, now, run = self.store:state()
    local ms, ticket, at = sliding_log.reserve(kv, now, takes, rank, number, run)
    return ms, ticket, at, now
  end
  local asked
  local ms, ticket, at = self:ask(takes.names, function(kv, now, run)
    asked = self.now()
    return sliding_log.reserve(kv, now, takes, rank, number, run)
  end, patience_ms)
  return ms, ticket, at, asked
end

local function seconds(ms)
  return ("%d s"):format(math.ceil(ms / 1000))
end

-- Returns why a call is not sent; nil where the call waits.
local function rejection(self, ms, waited)
  if self.when_full == "reject" then return "the request weight is used up", ms end
  if waited + ms > self.max_wait_ms then
    return ("the request weight is used up, and the wait of %s is longer than max_wait_ms"):format(seconds(ms)), ms
  end
end

local function blocked(ms)
  return nil, ("the service asked for a pause of %s that is not over"):format(seconds(ms)), ms
end

local TRIES = 3
local TOO_SLOW = "the store of the rate limit takes longer to answer than the margin allows; move it nearer, or give "
  .. "its pools a longer window_ms"

--- Waits until a call may go. Returns what the call took and the store's time, for give_back; or nil, a reason, and the
--- milliseconds until a retry.
---@private
---@param row table
---@param api_key string|nil
---@param pause fun(self: any, ms: integer, row: table, info: table|nil)  waits as the client's transport does
---@param state any       the first argument of pause
---@param info table|nil  the last one
---@param settles boolean|nil  a read that finds out about a payment: it goes with the write calls
---@return table|nil takes, integer|string at_or_why, integer|nil ms
function RateLimit:acquire(row, api_key, pause, state, info, settles)
  local takes = takes_of(self, row, api_key)
  local rank = row.effect == "read" and not settles and 1 or 0
  local number, waited, tries, left = 0, 0, 0, next(self.owed) and self:owed_ms(takes.names)
  if left then return blocked(left) end
  while true do
    local ms, ticket, at, asked = reserve(self, takes, rank, number, self.patience_ms - waited)
    if ms and ms > 0 and rank > 0 and waited >= self.passed_ms then -- it was passed for long enough
      rank = 0
      ms, ticket, at, asked = reserve(self, takes, rank, ticket, self.patience_ms - waited)
    end
    if not ms then return nil, ticket, 0 end
    if ms < 0 then return blocked(ticket) end
    number = ticket
    if ms == 0 then
      if self.now() - asked <= self.lateness_ms then return takes, at end
      self:give_back(takes, at) -- it would arrive later than was reserved
      tries = tries + 1
      if tries == TRIES then return nil, TOO_SLOW, 0 end
    else
      local why, again = rejection(self, ms, waited)
      if why then
        self:give_back(takes, 0, ticket)
        return nil, why, again
      end
      waited = waited + ms
      pause(state, ms, row, info)
    end
  end
end

--- Gives back the weight of an unsent call; a ticket where `at` is 0.
---@private
function RateLimit:give_back(takes, at, ticket)
  return self:ask(takes.names, function(kv, now)
    return sliding_log.give_back(kv, now, takes, ticket, at)
  end)
end

--- May be called again.
function RateLimit:close()
  self.store:close()
end

return M

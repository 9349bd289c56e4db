-- SPDX-License-Identifier: MIT
-- The request-weight budget: keeps a process below the service's rate limit, and silent while it is banned.
--
-- A sliding window of slices, each of which counts until its latest request is a window old. A budget may be shared by
-- any number of clients: purser.new { rate_limit = budget }.

local core = require "purser.core"
local option_schema = require "purser.util.option_schema"

local SLICES = 20
local MAX_MS = 7 * 86400000

local Budget = { __name = "purser.rate_limit" }
Budget.__index = Budget

local M = {}

---@class purser.RateLimitOptions
---@field weight integer|nil     weight allowed in one window (default 500)
---@field window_ms integer|nil  length of the window (default 10000)
---@field when_full "wait"|"reject"|nil  what a call does that does not fit (default "wait")
---@field now (fun(): integer)|nil  monotonic milliseconds

local rules = { weight = { 1, 2 ^ 53 }, window_ms = { 1, 2 ^ 53 }, when_full = { "wait", "reject" }, now = "function" }

--- What is wrong with the options of a budget, or nil.
---@param options table
---@return string|nil message
function M.check(options)
  return (option_schema.check(options, rules, "rate_limit option"))
end

--- Makes a budget. Raises when an option makes no sense.
---@param options purser.RateLimitOptions|nil
function M.new(options)
  options = options or {}
  local message = M.check(options)
  if message then error("purser.rate_limit: " .. message, 2) end
  return setmetatable({
    weight = options.weight or 500,
    window_ms = options.window_ms or 10000,
    when_full = options.when_full or "wait",
    now = options.now or core.monotonic_ms,
    spent = 0, slices = {}, first = 1, last = 0, blocked_until = nil,
  }, Budget)
end

--- Whether `value` is a budget: one made here, or an object of the user's own with these two methods.
function M.is(value)
  return type(value) == "table" and type(value.take) == "function" and type(value.block) == "function"
end

local function forget_old(self, now)
  while self.first <= self.last and self.slices[self.first].latest <= now - self.window_ms do
    self.spent = self.spent - self.slices[self.first].weight
    self.slices[self.first] = nil
    self.first = self.first + 1
  end
end

--- Takes `weight` out of the budget. Returns true, or nil, the milliseconds to wait, and whether the service banned us.
function Budget:take(weight)
  local now = self.now()
  if self.blocked_until then
    if now < self.blocked_until then return nil, self.blocked_until - now, true end
    self.blocked_until = nil
  end
  forget_old(self, now)
  if self.spent > 0 and self.spent + weight > self.weight then
    return nil, math.max(1, self.slices[self.first].latest + self.window_ms - now), false
  end
  local slice = self.slices[self.last]
  if slice and self.first <= self.last and now - slice.at < self.window_ms / SLICES then
    slice.weight, slice.latest = slice.weight + weight, now
  else
    -- may raise for want of memory: counted only then
    self.slices[self.last + 1] = { at = now, latest = now, weight = weight }
    self.last = self.last + 1
  end
  self.spent = self.spent + weight
  return true
end

--- The service said to stay away for `ms` milliseconds. A week at most: no ban of the service is as long.
function Budget:block(ms)
  self.blocked_until = math.max(self.blocked_until or 0, self.now() + math.min(ms, MAX_MS))
end

return M

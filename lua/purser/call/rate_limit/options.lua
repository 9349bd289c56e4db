-- SPDX-License-Identifier: MIT
-- The options of a rate limit, and what is wrong with them. Loaded with the first rate limit that is given any.

local lazy = require "purser.util.lazy"
local option_schema = require "purser.util.option_schema"
local profile_overrides = lazy "purser.api.profile_overrides"

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
      local problem, _, hint = option_schema.check(pool, profile_overrides.pool_rules, "rate_limit pool option")
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
  if options.member == "" then return 'rate_limit option "member" is empty', "leave it out" end
  if options.fallback_part and not is_part(options.fallback_part) then
    return 'rate_limit option "fallback_part" is no part', "give a number above 0 and up to 1"
  end
end

return M

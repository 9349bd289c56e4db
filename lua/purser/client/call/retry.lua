-- SPDX-License-Identifier: MIT
-- Retries of reads: exponential backoff with jitter within a total deadline. Write calls are not retried here, nor
-- unreadable answers: the next answer would look the same.

local core = require "purser.core"
local option_schema = require "purser.client.util.option_schema"

local M = {}

---@class purser.RetryOptions
---@field attempts integer|nil     how often in all (default 3)
---@field base_ms integer|nil      first pause (default 250), doubled each time
---@field max_ms integer|nil       longest pause (default 8000)
---@field deadline_ms integer|nil  for the whole call, pauses included (default 30000)

local defaults = { attempts = 3, base_ms = 250, max_ms = 8000, deadline_ms = 30000 }
local rules = { attempts = { 1 }, base_ms = { 1 }, max_ms = { 1 }, deadline_ms = { 1 } }

--- Returns the policy of options; false: one attempt. Nil, a message and what to do for senseless options.
function M.policy(options)
  if options == false then return { attempts = 1 } end
  local message, _, hint = option_schema.check(options or {}, rules, "retry option")
  if message then return nil, message, hint end
  local policy = {}
  for name, value in pairs(defaults) do policy[name] = options and options[name] or value end
  return policy
end

--- Returns the milliseconds before the next attempt; nil for no further attempt.
---@param policy table|false from policy(); false: that of no options
---@param attempt integer    how many attempts have been made
---@param elapsed_ms integer since the call began
---@param err purser.Error   what the last attempt ended with
function M.pause(policy, attempt, elapsed_ms, err)
  policy = policy or defaults
  if attempt >= policy.attempts or not err.retryable or err.kind == "decode" then return nil end
  local pause = math.min(policy.max_ms, policy.base_ms * 2 ^ (attempt - 1))
  pause = math.floor(pause / 2 + core.random_integer(1000) / 1000 * pause / 2) -- many clients do not come back together
  if err.retry_after then pause = math.max(pause, err.retry_after * 1000) end
  if elapsed_ms + pause > policy.deadline_ms then return nil end
  return pause
end

return M

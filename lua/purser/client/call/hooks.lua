-- SPDX-License-Identifier: MIT
-- The hooks of purser.new. An attempt shows no key, signature or parameter.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local schedule = require "purser.schedule"

local M = {}

local Watch = {}
Watch.__index = Watch

local function run(hook, event, info)
  local ok, message = pcall(hook, event)
  if ok or not info then return end
  local readable, text = pcall(tostring, message) -- what it raised may itself raise
  info.hook_error = readable and text or "an error without a text"
end

--- Calls the hook `wait` before a wait of `ms` for the rate limit.
function M.report_wait(hooks, row, ms, info)
  if not hooks.wait then return end
  run(hooks.wait, { operation = row.full_name, method = row.method, path = row.path, wait_ms = ms }, info)
end

--- Returns a wait as a text for a person.
---@param ms integer
---@return string
function M.room_text(ms)
  return ("the rate limit has room in %d s"):format(math.max(1, math.ceil(ms / 1000)))
end

--- Calls `before`. Returns the attempt's watch, which calls `after`.
function M.begin(hooks, row, request, attempt, info)
  local event = { operation = row.full_name, method = request.method, path = row.path, attempt = attempt }
  if hooks.before then run(hooks.before, event, info) end
  return setmetatable({ event = event, after = hooks.after, info = info, started = core.monotonic_us() }, Watch)
end

--- Calls `after`, once.
function Watch:report(err, response)
  local after, event = self.after, self.event
  if not after then return end
  self.after = nil
  event.duration_us = core.monotonic_us() - self.started
  event.http_status = type(response) == "table" and response.status or nil
  event.error, event.outcome = err, err and err.outcome or "done"
  run(after, event, self.info)
end

local function report_raised(self, raised)
  local readable, text = pcall(tostring, raised)
  self:report(errors.new { kind = "transport", outcome = "unknown", phase = "receive", operation = self.event.operation,
    message = "an error was raised: " .. (readable and text or "one without a text") })
end

local function conclude(self, ok, ...)
  if ok then return ... end
  pcall(report_raised, self, (...))
  error((...), 0)
end

--- Runs `fn(...)`, which sends a read. Raises an error of `fn` after the hook `after` (on Lua 5.1 without the hook in a
--- coroutine that is no task).
function Watch:execute(fn, ...)
  if not self.after then return fn(...) end
  return conclude(self, schedule.protect(fn, ...))
end

--- Reports the end of a write call in which something was raised. `lost`, an error of unknown outcome, holds the
--- parameters: they are not for hooks.
function Watch:report_end(err, lost)
  if err == lost then
    err = errors.new { kind = lost.kind, outcome = lost.outcome, phase = lost.phase, operation = lost.operation,
      message = lost.message, retryable = lost.retryable }
  end
  self:report(err)
end

return M

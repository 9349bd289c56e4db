-- SPDX-License-Identifier: MIT
-- Setbacks of a call: waits for the rate limit, a wrong clock, errors of the stages.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local lazy = require "purser.client.util.lazy"
local plain_text = require "purser.client.util.plain_text"
local service_clock = require "purser.client.call.clock"
local hooks = lazy "purser.client.call.hooks"
local schedule = lazy "purser.schedule"
local unsigned = lazy "purser.client.call.unsigned"

local M = {}

------------------------------------------------------------------------------------------------ errors of the stages

function M.closed(row)
  return errors.new { kind = "closed", outcome = "not_sent", message = "the client is closed", hint = "make another",
    operation = row.full_name }
end

local transport_kinds = { transport = true, decode = true, argument = true, closed = true }

--- Makes the error of a transport, also a user's: the outcome is unknown unless the transport says `not_sent`.
function M.transport(row, failure)
  if type(failure) ~= "table" then failure = { message = failure } end
  local kind = transport_kinds[failure.kind] and failure.kind or "transport"
  local not_sent = failure.outcome == "not_sent"
  return errors.new {
    kind = kind, outcome = not_sent and "not_sent" or "unknown", phase = failure.phase,
    code = failure.code and plain_text.clean(tostring(failure.code), 60), operation = row.full_name,
    message = failure.message and plain_text.clean(tostring(failure.message), 500) or "the transport failed",
    retryable = kind == "transport" and (row.effect == "read" or not_sent),
  }
end

--- Tells an answer that may be a proxy's or another request's. The service's own rejections are certain.
function M.is_doubtful(err)
  return err.outcome == "unknown" or err.kind ~= "api" and (err.kind ~= "throttled" or err.http_status == 403)
end

--- Makes the error of a write call in a child that a hook forked: both processes have the request.
function M.forked(row)
  return errors.new { kind = "transport", outcome = "unknown", phase = "send", operation = row.full_name,
    message = "this process was forked off during the call, which is left to its parent" }
end

--- Makes the error of a call that the rate limit stops. `ms` is the pause; 0 where the store fails, and no pause helps.
function M.no_room(row, why, ms)
  return errors.new { kind = "throttled", outcome = "not_sent", operation = row.full_name, retryable = true,
    retry_after = ms > 0 and math.ceil(ms / 1000) or nil, message = why,
    hint = ms > 0 and "call it again after the pause" or nil }
end

------------------------------------------------------------------------------------------------ waits and the clock

function M.pause(self, ms)
  if self._transport.sleep then return self._transport:sleep(math.ceil(ms)) end
  schedule.sleep(math.ceil(ms))
end

--- Waits for the rate limit. The hook `wait` and `room_ms` report the wait.
function M.wait_for_room(self, ms, row, info)
  local entry = { ends = self._rate_limit.now() + ms }
  self._waits = self._waits or setmetatable({}, { __mode = "k" })
  self._waits[entry] = true
  if self._hooks then hooks.report_wait(self._hooks, row, ms, info) end
  M.pause(self, ms)
  self._waits[entry] = nil
end

--- Returns the milliseconds until the next waiting call has room, or nil.
---@return integer|nil ms
function M.room_ms(self)
  local first, now = nil, self._waits and self._rate_limit.now()
  for entry in pairs(self._waits or {}) do
    local left = entry.ends - now
    if left > 0 then first = math.min(first or left, left) end -- a task that died in its wait may have left an old one
  end
  return first
end

--- Gives back an unsent request's weight.
function M.give_back(self, request)
  if request.takes then self._rate_limit:give_back(request.takes, request.taken_at) end
  request.takes = nil
end

-- Learns the service's time from an answer, or from a rejection's Date header. Returns whether the clock was corrected;
-- if not, the rejection says why.
local function correct_clock(self, run, err)
  local correction, problem = self._clock:learn(run, self, unsigned.rows.server_time)
  if correction or self._clock:learn_date(err and err.service_date) then return true end
  if err then
    err.message = ("%s; the clock was not corrected: %s"):format(err.message:gsub("%.$", ""), problem.message)
  end
  return false
end

-- Corrects the clock once for a burst of calls: one asks, the others wait. An earlier request tells nothing.
local function correct_clock_once(self, run, err, request)
  local clock, ends = self._clock, core.monotonic_ms() + self._timeout_ms
  while clock.asking and core.monotonic_ms() < ends do M.pause(self, 5) end
  if clock.corrections ~= request.corrections then return true end
  clock.asking = true
  local ok, corrected = schedule.protect(correct_clock, self, run, err)
  clock.asking = false
  if not ok then error(corrected, 0) end
  return corrected
end

--- Learns a pause, or a wrong clock once a call; `run` asks for the time. Returns whether the clock was corrected.
function M.learn(self, run, err, request, corrected)
  if self._rate_limit then
    local ms = self._rate_limit:learn(err, self._api_key)
    err.retry_after = err.retry_after or ms and math.ceil(ms / 1000)
    if err.outcome == "not_sent" then M.give_back(self, request) end
  end
  if err.code ~= service_clock.OUTSIDE_WINDOW or not self._correct_clock or corrected then return false end
  if not request.corrections then return false end -- not signed: it has no timestamp that could be wrong
  err.clock_corrected = correct_clock_once(self, run, err, request)
  if err.clock_corrected then err.hint = "the clock is corrected now: call it again, a write call by its key" end
  return err.clock_corrected
end

local CLOCK_OFF_MS = 1000
local HELD_MS = 300000 -- for longer no gateway keeps a copy of a request

--- Notes that a wrong clock explains a rejection: when the request was sent, its stamp was too old for each copy, or
--- lay so far ahead that no copy is left when the service's time comes. Any other clock explains none: the copy that
--- was judged was late, or another comes in time.
--- Both clocks of the machine must say so: one may be set meanwhile, the other stands still while the machine sleeps.
---@param sent_at integer      the request's stamp
---@param began integer        the machine's time before the request was sent
---@param monotonic integer    the monotonic time then
---@param recv_window integer  for how long the service takes the stamp
function M.explain(self, err, sent_at, began, monotonic, recv_window)
  local apart_ms, off_ms = self._clock:read() - sent_at, self._clock.uncertain_ms + CLOCK_OFF_MS
  local passed, by_monotonic = core.now_ms() - began, core.monotonic_ms() - monotonic
  local late_ms, ahead_ms = apart_ms - math.max(passed, by_monotonic), math.min(passed, by_monotonic) - apart_ms
  err.is_explained = late_ms > recv_window + off_ms or ahead_ms > HELD_MS + off_ms or nil
end

--- Corrects a jumped clock before a signed call.
function M.attend_clock(self, run, row)
  if not row.unsigned and self._correct_clock and self._clock:jumped() then correct_clock(self, run) end
end

return M

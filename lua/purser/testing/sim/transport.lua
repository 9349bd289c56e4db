-- SPDX-License-Identifier: MIT
-- The in-process transport. A lost, cut or late answer becomes the failure that a real transport would report.

local core = require "purser.core"

local M = {}

local Transport = {}
Transport.__index = Transport
Transport.__name = "purser.sim.transport"

--- Makes a transport to `sim`.
function M.new(sim)
  return setmetatable({ sim = sim }, Transport)
end

local function lower_names(headers)
  local map = {}
  for name, value in pairs(headers or {}) do map[name:lower()] = value end
  return map
end

local function failure(message, phase)
  return nil, { kind = "transport", outcome = "unknown", message = message, phase = phase }
end

-- Returns the time that an answer takes to arrive (ms).
local function duration(response)
  local dripped = 0
  if response.fault == "drip" then
    dripped = math.ceil(#(response.body or "") / (response.drip_bytes or 1)) * (response.drip_ms or 0)
  end
  return (response.delay_ms or 0) + dripped
end

local broken = {
  close = "the connection was closed before an answer came",
  reset = "the connection was reset before an answer came",
  truncate = "the connection was closed in the middle of the answer",
}

--- Hands a transport's request to a simulator, from the address `ip`. Returns the simulator's response.
function M.ask(sim, request, ip)
  return sim:handle {
    method = request.method, target = request.target, headers = lower_names(request.headers), body = request.body or "",
    ip = ip or "127.0.0.1",
  }
end

--- Returns what a transport returns for the simulator's response: a response, or nil and a failure where it is broken.
function M.answer(response)
  if broken[response.fault] then return failure(broken[response.fault], "receive") end
  return { status = response.status, body = response.body, headers = lower_names(response.headers) }
end

--- Sends a request to the simulator; see docs/contributing/core.md for what a transport is.
function Transport:send(request)
  local sim = self.sim
  if not sim then return nil, { kind = "closed", outcome = "not_sent", message = "the transport is closed" } end
  local response = M.ask(sim, request, self.ip)
  local takes = duration(response)
  if takes > 0 then
    local limit = request.timeout_ms
    self:sleep(limit and limit < takes and limit or takes)
    if limit and limit < takes then return failure(("no answer within %d ms"):format(limit), "receive") end
  end
  return M.answer(response)
end

--- Lets `ms` pass: on a virtual clock at once, on a real one by waiting.
function Transport:sleep(ms)
  if self.sim.clock.mode == "virtual" then self.sim:advance(ms) else core.sleep_ms(ms) end
end

function Transport:close()
  self.sim = nil
end

return M

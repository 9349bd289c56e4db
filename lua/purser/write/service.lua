-- SPDX-License-Identifier: MIT
-- What reconciling needs of a client: its reads, its clock, and what it knows of its own calls.

local pipeline = require "purser.call.pipeline"
local reading = require "purser.write.evidence.reading"
local setbacks = require "purser.call.setbacks"
local write_call = require "purser.write.write_call"

local M = {}

---@class purser.reconcile.Service
---@field recent_calls table               the client's own calls: see recent_calls.lua
---@field journal purser.Journal|nil
---@field visibility_delay_ms integer             how long a new record may be missing from lists
---@field recv_window integer
local Service = {}
Service.__index = Service

---@param client purser.State
---@param readings table|nil  what several calls that are reconciled share: see evidence/reading.lua
---@return purser.reconcile.Service
function M.of(client, readings)
  return setmetatable({ client = client, recent_calls = write_call.recent_calls_of(client), journal = client._journal,
    memory = not client._journal and write_call.journal_of(client) or nil,
    visibility_delay_ms = client._visibility_delay_ms, recv_window = client._recv_window or 5000,
    readings = readings }, Service)
end

--- Runs an operation as the client does.
function Service:read(row, params)
  if row.effect ~= "read" then return write_call.run(self.client, row, params) end
  return reading.ask(pipeline.run, self.client, row, params, pipeline.settles, reading.verify)
end

--- The service's time, as far as it is known.
function Service:now()
  return (assert(self.client._clock:read()))
end

--- By how much the client's clock was set right.
function Service:correction()
  return self.client._clock.offset or nil
end

function Service:pause(ms)
  setbacks.pause(self.client, ms)
end

--- Whether the client's key is of that account.
function Service:signs_as(account)
  return write_call.signs_as(self.client, account)
end

return M

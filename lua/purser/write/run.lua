-- SPDX-License-Identifier: MIT
-- The one entry of every operation: a read call is run by the pipeline, a write call by call.lua.

local errors = require "purser.call.errors"
local lazy = require "purser.util.lazy"
local pipeline = require "purser.call.pipeline"
local call = lazy "purser.write.call"

local M = {}

local function write(...) return call.write(...) end

--- The error of an operation that the client's profile does not allow, or nil.
---@param client purser.State
---@param row table
---@return purser.Error|nil
function M.not_allowed(client, row)
  if not row.live or client.profile.live_operations then return nil end
  return errors.config(row.full_name .. ": the interface document does not have this operation",
    'give profile = "mexc", or a profile with live_operations = true')
end

--- What runs the operation of a row: it returns the result, or nil and an error.
---@param row table
---@return fun(client: purser.State, row: table, params: table|nil, opts: table|nil): any, purser.Error|nil
function M.of(row)
  local run = row.effect == "read" and pipeline.run or write
  if not row.live then return run end
  return function(client, ...)
    local err = M.not_allowed(client, row)
    if err then return nil, err end
    return run(client, ...)
  end
end

--- Runs the operation of a row.
---@param client purser.State
function M.call(client, row, params, opts)
  return M.of(row)(client, row, params, opts)
end

return M

-- SPDX-License-Identifier: MIT
-- The one entry of every operation: a read call is run by the pipeline, a write call by write_call.lua, which is loaded
-- with the first one, with all that reconciling needs.

local errors = require "purser.call.errors"
local lazy = require "purser.util.lazy"
local pipeline = require "purser.call.pipeline"
local reconcile_modules = lazy "purser.write.modules"
local write_call = lazy "purser.write.write_call"

local M = {}

local reconcile_ready = false

--- Loads what a write call and its reconciling need, before it may be sent. Returns the error of a call that must not
--- be sent since that cannot be done, or nil.
---@param row table
---@return purser.Error|nil
function M.load_write_calls(row)
  if reconcile_ready then return nil end
  local rows, problem = lazy.try(reconcile_modules, "rows")
  if rows then reconcile_ready, problem = lazy.try(write_call, "run") end
  if reconcile_ready then return nil end
  return errors.new { kind = "config", outcome = "not_sent", phase = "build", operation = row.full_name,
    message = "nothing was sent, because what reconciles a write call cannot be loaded: " .. problem,
    hint = "call purser.preload while its files can be opened" }
end

local function write(client, row, ...)
  local err = not reconcile_ready and M.load_write_calls(row)
  if err then return nil, err end
  return write_call.run(client, row, ...)
end

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

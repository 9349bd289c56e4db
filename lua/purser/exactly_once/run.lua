-- SPDX-License-Identifier: MIT
-- The one entry of every operation: a read call is run by the pipeline, a write call by write_call.lua, which is loaded
-- with the first one.

local lazy = require "purser.util.lazy"
local pipeline = require "purser.call.pipeline"
local write_call = lazy "purser.exactly_once.write_call"

local M = {}

local function write(...)
  return write_call.run(...)
end

--- What runs the operation of a row: it returns the result, or nil and an error.
---@param row table
---@return fun(client: purser.State, row: table, params: table|nil, opts: table|nil): any, purser.Error|nil
function M.of(row)
  return row.effect == "read" and pipeline.run or write
end

--- Runs the operation of a row.
---@param client purser.State
function M.call(client, row, params, opts)
  return M.of(row)(client, row, params, opts)
end

return M

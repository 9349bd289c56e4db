-- SPDX-License-Identifier: MIT
-- Clients that are made of a `call` and a `now`, for rooms on top.

local history = require "purser.client.history"
local window_reader = require "purser.client.history.window"
local operations = require "purser.client.operations"

local M = {}

--- Gives a client the walks that go through its own `call`.
---@param client table
function M.of(client)
  function client:each(name, params, opts) return history.each(self, name, params, opts) end
  function client:earliest(name, now)
    return window_reader.default(operations.by_name[name].window, now or self:now())
  end
  return client
end

return M

-- SPDX-License-Identifier: MIT
-- The walks of a client's groups, as client.wallet:each_deposit{...}, by group and name.

local operations = require "purser.client.operations"
local views = require "purser.client.util.views"
local lazy = require "purser.client.util.lazy"
local history = lazy "purser.client.history"

local M = {}

for _, group in ipairs(operations.all_group_names) do M[group] = {} end
for _, row in ipairs(operations.list) do
  if row.paging then
    M[row.group]["each_" .. row.paging.iterator] = function(client, params, opts)
      return views.view(history.walk(client, row, params, opts))
    end
  end
end

return M

-- SPDX-License-Identifier: MIT
-- The walks of a client's groups, client.wallet:each_deposit{...} and the like: by group and name a function(client,
-- params, opts) for every row that says how it is paged.

local operations = require "purser.client.operations"
local views = require "purser.client.util.views"
local lazy = require "purser.client.util.lazy"
local history = lazy "purser.client.history"

local M = { broker = {}, sub_account = {}, wallet = {}, live = {} }

for _, row in ipairs(operations.list) do
  if row.paging then
    local name = "each_" .. row.paging.iterator
    assert(not M[row.group][name], row.full_name .. ": its walk has another's name")
    M[row.group][name] = function(client, params, opts)
      return views.view(history.walk(client, row, params, opts))
    end
  end
end

return M

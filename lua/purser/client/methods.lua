-- SPDX-License-Identifier: MIT
-- The methods of a client's groups that are more than one operation: client.wallet:each_deposit{...} and the like.
--
-- By group and name, each is a function(client, ...); a group of a client looks here when no operation has the name.
-- Modules are loaded when one of their methods is first used. For editors, tools/docs/annotations.lua reads this file.

local lazy = require "purser.util.lazy"
local operations = require "purser.api.operations"
local private = require "purser.util.private"
local history = lazy "purser.history"
local balances = lazy "purser.workflow.balances"
local watch = lazy "purser.workflow.watch"

local M = { broker = {}, sub_account = {}, wallet = {}, live = {} }

-- each_<what>: one walk for every row that says how it is paged.
for _, row in ipairs(operations.list) do
  if row.paging then
    local name = "each_" .. row.paging.iterator
    assert(not M[row.group][name], row.full_name .. ": its walk has another's name")
    M[row.group][name] = function(client, params, opts)
      return private.veil(history.walk(client, row, params, opts))
    end
  end
end

-- Methods that live in a module of their own: group, method, module, function.
for _, entry in ipairs {
  { "wallet", "wait_withdrawal", "wait", "withdrawal" },
  { "wallet", "wait_deposit", "wait", "deposit" },
  { "wallet", "wait_transfer", "wait", "transfer" },
  { "broker", "wait_transfer", "wait", "broker_transfer" },
  { "sub_account", "wait_transfer", "wait", "sub_account_transfer" },
  { "wallet", "plan_withdraw", "plan", "withdraw" },
  { "wallet", "plan_create_deposit_address", "plan", "create_deposit_address" },
  { "wallet", "find_network", "coins", "find_network" },
  { "wallet", "convert_all", "dust", "convert_all" },
} do
  local group, name, module, fn = entry[1], entry[2], "purser.workflow." .. entry[3], entry[4]
  M[group][name] = function(...) return require(module)[fn](...) end
end

function M.wallet.watch_deposits(client, params)
  return private.veil(watch.deposits(client, params))
end

function M.broker.watch_deposits(client, params)
  return private.veil(watch.sub_account_deposits(client, params))
end

function M.sub_account.each_balance(client, params)
  return private.veil(balances.each(client, params))
end

return M

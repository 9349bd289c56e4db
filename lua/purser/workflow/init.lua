-- SPDX-License-Identifier: MIT
-- The index of this room: the methods of a client's groups that are more than one operation, by group and name. Each is
-- a function(client, ...). purser.new hands this table to the client; for editors, tools/docs/annotations.lua reads it.

local lazy = require "purser.util.lazy"
local private = require "purser.util.private"
local balances = lazy "purser.workflow.balances"
local coins = lazy "purser.workflow.coins"
local dust = lazy "purser.workflow.dust"
local plan = lazy "purser.workflow.plan"
local wait = lazy "purser.workflow.wait"
local watch = lazy "purser.workflow.watch"

local M = { client = {}, broker = {}, sub_account = {}, wallet = {}, live = {} }

-- Group, method, module, function; `veiled`: what it returns hides its fields.
for _, entry in ipairs {
  { "client", "wait_for", wait, "wait_for" },
  { "wallet", "wait_withdrawal", wait, "withdrawal" },
  { "wallet", "wait_deposit", wait, "deposit" },
  { "wallet", "wait_transfer", wait, "transfer" },
  { "broker", "wait_transfer", wait, "broker_transfer" },
  { "sub_account", "wait_transfer", wait, "sub_account_transfer" },
  { "wallet", "plan_withdraw", plan, "withdraw" },
  { "wallet", "plan_create_deposit_address", plan, "create_deposit_address" },
  { "wallet", "find_network", coins, "find_network" },
  { "wallet", "convert_all", dust, "convert_all" },
  { "wallet", "watch_deposits", watch, "deposits", veiled = true },
  { "broker", "watch_deposits", watch, "sub_account_deposits", veiled = true },
  { "sub_account", "each_balance", balances, "each", veiled = true },
} do
  local module, fn = entry[3], entry[4]
  M[entry[1]][entry[2]] = entry.veiled and function(...) return private.veil(module[fn](...)) end
    or function(...) return module[fn](...) end
end

return M

-- SPDX-License-Identifier: MIT
-- The methods of a client's groups that are more than one operation, by group and name. tools/docs reads them, too.

local lazy = require "purser.client.util.lazy"
local views = require "purser.client.util.views"
local balances = lazy "purser.desk.workflow.balances"
local coins = lazy "purser.desk.workflow.coins"
local dust = lazy "purser.desk.workflow.dust"
local plan = lazy "purser.desk.workflow.plan"
local wait = lazy "purser.desk.workflow.wait"

local M = { client = {}, broker = {}, sub_account = {}, wallet = {}, live = {} }

-- Group, method, module, function; `is_view`: users get a public view of what it returns.
for _, entry in ipairs {
  { "client", "wait_for", wait, "wait_for" },
  { "wallet", "wait_withdrawal", wait, "withdrawal" },
  { "wallet", "wait_transfer", wait, "transfer" },
  { "broker", "wait_transfer", wait, "broker_transfer" },
  { "sub_account", "wait_transfer", wait, "sub_account_transfer" },
  { "wallet", "plan_withdraw", plan, "withdraw" },
  { "wallet", "plan_create_deposit_address", plan, "create_deposit_address" },
  { "wallet", "convert_all", dust, "convert_all" },
  { "wallet", "find_network", coins, "find_network" },
  { "sub_account", "each_balance", balances, "each", is_view = true },
} do
  local module, fn = entry[3], entry[4]
  M[entry[1]][entry[2]] = entry.is_view and function(...) return views.view(module[fn](...)) end
    or function(...) return module[fn](...) end
end

return M

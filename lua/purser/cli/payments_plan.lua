-- SPDX-License-Identifier: MIT
-- What a list of payments would do: each one checked, the sums by asset, and the balances that can be read.

local coins = require "purser.workflow.coins"
local decimal = require "purser.decimal"
local output = require "purser.cli.output"
local plain_text = require "purser.util.plain_text"
local plans = require "purser.workflow.plan"
local validate = require "purser.call.validate"

local M = {}

local MAX_AGE_MS = 300000

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

local function destination_of(payment)
  local params = payment.params
  return params.address or params.toAccount or params.toAccountType or ""
end

-- The parameters without the network, whose name the plan completes.
local function check_params(payment)
  local values, err = validate.check(payment.row, payment.params)
  return not values and err.message or nil
end

local function plan_withdrawal(client, payment)
  local given = {}
  for name, value in pairs(payment.params) do given[name] = value end
  local plan, err = plans.withdraw(client, given, payment.operation)
  if not plan then return err end
  payment.problems, payment.warnings, payment.fee = plan.problems, plan.warnings, plan.fee
  if plan.ok then
    local had_id = payment.params.withdrawOrderId
    payment.params = plan.params
    if not had_id then payment.params.withdrawOrderId = nil end -- the queue makes its own, from the key
  end
end

--- Checks each payment and completes the names of networks: adds `problems`, `warnings` and `fee`. Returns an error
--- when the coins cannot be read.
---@param client purser.Client
---@param payments table[]
---@return purser.Error|nil
function M.check(client, payments)
  for _, payment in ipairs(payments) do
    payment.problems, payment.warnings = {}, {}
    if plans.withdraws(payment.operation) then
      local all, err = coins.read(client, MAX_AGE_MS)
      if not all then return err end
      err = plan_withdrawal(client, payment)
      if err then return err end
    end
    local wrong = not payment.problems[1] and check_params(payment)
    if wrong then payment.problems[1] = wrong end
  end
end

-- Where the funds of a payment come from: a sub-account that is named, else the account of the key.
local function source_of(payment)
  if payment.row.group == "wallet" or not payment.params.fromAccount then return "" end
  return payment.params.fromAccount
end

--- The sums by source and asset: a list of { source, asset, count, amount, fees }.
---@param payments table[]
function M.totals(payments)
  local list, by_key = {}, {}
  for _, payment in ipairs(payments) do
    local amount = decimal(payment.params.amount)
    local key = source_of(payment) .. "\n" .. asset_of(payment)
    local total = by_key[key]
    if not total then
      total = { source = source_of(payment), asset = asset_of(payment), count = 0, amount = decimal(0),
        fees = decimal(0) }
      by_key[key], list[#list + 1] = total, total
    end
    total.count = total.count + 1
    if amount then total.amount = total.amount + amount end
    if payment.fee then total.fees = total.fees + payment.fee end
  end
  return list
end

-- The free balances of a source by asset; nil where no operation shows them.
local function balances_of(client, source)
  local list
  if source == "" then
    list = client.wallet:convertible_balances() -- of the account itself this alone shows any
  else
    list = client.sub_account:balances { subAccount = source, accountType = "SPOT" }
  end
  if not list then return nil end
  local balances = {}
  for _, record in ipairs(list) do balances[record.asset] = record.free or record.balance end
  return balances
end

--- Adds to each total the balance that covers it, where one can be read.
function M.add_balances(client, totals)
  local known = {}
  for _, total in ipairs(totals) do
    if known[total.source] == nil then known[total.source] = balances_of(client, total.source) or false end
    total.balance = known[total.source] and known[total.source][total.asset]
    local balance = total.balance and decimal(total.balance)
    total.is_short = balance ~= nil and balance and balance:compare(total.amount + total.fees) < 0 or false
  end
end

--- The plan as text. Returns it, and how many payments have problems.
---@param payments table[]
---@param totals table[]
---@param path string
---@return string text, integer bad
function M.show(payments, totals, path)
  local lines, bad, notes = {}, 0, {}
  for i, payment in ipairs(payments) do
    lines[i] = { ("%d"):format(payment.line), payment.key, payment.operation, payment.params.amount or "",
      asset_of(payment), payment.params.netWork or payment.params.network or "", destination_of(payment),
      payment.fee or "" }
    for c, text in ipairs(lines[i]) do lines[i][c] = plain_text.clean(text) end
    if payment.problems[1] then bad = bad + 1 end
    for _, kind in ipairs { "problems", "warnings" } do
      for _, text in ipairs(payment[kind]) do
        notes[#notes + 1] = plain_text.clean(("%s:%d: %s: payment \"%s\": %s"):format(path, payment.line,
          kind == "problems" and "error" or "warning", payment.key, text)) .. "\n"
      end
    end
  end
  local sums = {}
  for i, total in ipairs(totals) do
    sums[i] = { total.source == "" and "this account" or total.source, total.asset, ("%d"):format(total.count),
      tostring(total.amount), tostring(total.fees), total.amount + total.fees .. "",
      total.balance or "not shown", total.is_short and "NOT COVERED" or total.balance and "covered" or "" }
  end
  return output.aligned({ "line", "key", "operation", "amount", "asset", "network", "to", "fee" }, lines) .. "\n"
    .. output.aligned({ "from", "asset", "payments", "amount", "fees", "sum", "balance", "" }, sums)
    .. table.concat(notes), bad
end

return M

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
  local plan, err = plans.withdraw(client, given, payment.operation, true)
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

-- Where the funds of a payment come from: a sub-account that is named, else the account of the key; and of which kind
-- its account is.
local function source_of(payment)
  local params = payment.params
  local name = payment.row.group ~= "wallet" and params.fromAccount or ""
  return name, params.fromAccountType or "SPOT"
end

local function add_to(total, payment)
  local amount = decimal(payment.params.amount)
  total.count = total.count + 1
  if amount then total.amount = total.amount + amount end
  if payment.fee then total.fees = total.fees + payment.fee end
end

--- The sums by source and asset of those that are not made yet: a list of { source, account_type, asset, count, amount,
--- fees }.
---@param payments table[]
---@param made table<string, boolean>  by key
function M.totals(payments, made)
  local list, by_key = {}, {}
  for _, payment in ipairs(payments) do
    local source, account_type = source_of(payment)
    local key = table.concat({ source, account_type, asset_of(payment) }, "\n")
    local total = by_key[key]
    if not total and not made[payment.key] then
      total = { source = source, account_type = account_type, asset = asset_of(payment), count = 0,
        amount = decimal(0), fees = decimal(0) }
      by_key[key], list[#list + 1] = total, total
    end
    if not made[payment.key] then add_to(total, payment) end
  end
  return list
end

--- Who pays a total, as text.
function M.payer(total)
  local name = total.source == "" and "this account" or total.source
  return total.account_type == "SPOT" and name or name .. ", " .. total.account_type
end

-- The records of a source's balances, and whether an asset that is not among them has a balance of nothing.
local function read_balances(client, source)
  if source ~= "" then
    return client.sub_account:balances { subAccount = source, accountType = "SPOT" }
  elseif client.profile.live_operations then
    local account, err = client:call "live.account"
    return account and account.balances, err, true
  end
  return client.wallet:convertible_balances() -- of the account itself no other operation of the document shows any
end

-- The free balances of a source by asset: a function, which returns nil for one that is not shown.
local function balances_of(client, source)
  local list, err, is_complete = read_balances(client, source)
  if not list then
    return function() return nil, err and err.message end
  end
  local balances = {}
  for _, record in ipairs(list) do balances[record.asset] = record.free or record.balance end
  return function(asset) return balances[asset] or is_complete and "0" or nil end
end

--- Adds to each total the balance that covers it, where one can be read. No operation shows those of futures accounts.
function M.add_balances(client, totals)
  local known = {}
  for _, total in ipairs(totals) do
    if total.account_type == "SPOT" then
      known[total.source] = known[total.source] or balances_of(client, total.source)
      total.balance, total.unread = known[total.source](total.asset)
    end
    local balance = total.balance and decimal(total.balance)
    total.is_short = balance ~= nil and balance and balance:compare(total.amount + total.fees) < 0 or false
  end
end

--- What is to be known of the sums: a list of texts.
---@return string[]
function M.shortages(totals)
  local list = {}
  for _, total in ipairs(totals) do
    if total.is_short then
      list[#list + 1] = ("the balance of %s %s (%s) does not cover the sum of %s"):format(total.balance, total.asset,
        M.payer(total), tostring(total.amount + total.fees))
    elseif total.unread then
      list[#list + 1] = ("the balance of %s (%s) cannot be read: %s"):format(total.asset, M.payer(total), total.unread)
    end
  end
  return list
end

--- The plan as text. Returns it, and how many payments have problems.
---@param payments table[]
---@param totals table[]
---@param path string
---@param made table<string, boolean>  by key
---@return string text, integer bad
function M.show(payments, totals, path, made)
  local lines, bad, notes, made_count = {}, 0, {}, 0
  for i, payment in ipairs(payments) do
    lines[i] = { ("%d"):format(payment.line), payment.key, payment.operation, payment.params.amount or "",
      asset_of(payment), payment.params.netWork or payment.params.network or "", destination_of(payment),
      payment.fee or "" }
    for c, text in ipairs(lines[i]) do lines[i][c] = plain_text.clean(text) end
    if payment.problems[1] then bad = bad + 1 end
    if made[payment.key] then made_count = made_count + 1 end
    for _, kind in ipairs { "problems", "warnings" } do
      for _, text in ipairs(payment[kind]) do
        notes[#notes + 1] = plain_text.clean(("%s:%d: %s: payment \"%s\": %s"):format(path, payment.line,
          kind == "problems" and "error" or "warning", payment.key, text)) .. "\n"
      end
    end
  end
  local sums, has_fees = {}, false
  for i, total in ipairs(totals) do
    has_fees = has_fees or total.fees:sign() > 0
    sums[i] = { M.payer(total), total.asset, ("%d"):format(total.count),
      tostring(total.amount), tostring(total.fees), total.amount + total.fees .. "",
      total.balance or "not shown", total.is_short and "NOT COVERED" or total.balance and "covered" or "" }
  end
  if has_fees then notes[#notes + 1] = "the fees are assumed to come on top of the amounts\n" end
  for _, text in ipairs(M.shortages(totals)) do notes[#notes + 1] = plain_text.clean("warning: " .. text) .. "\n" end
  if made_count > 0 then
    notes[#notes + 1] = ("%d of %d payments are made already; the sums are of the others\n"):format(made_count,
      #payments)
  end
  return output.aligned({ "line", "key", "operation", "amount", "asset", "network", "to", "fee" }, lines) .. "\n"
    .. output.aligned({ "from", "asset", "payments", "amount", "fees", "sum", "balance", "" }, sums)
    .. table.concat(notes), bad
end

return M

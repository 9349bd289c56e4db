-- SPDX-License-Identifier: MIT
-- What is looked up before a call is made: the plan of a withdrawal, and the name that the service has for a network.

local coins = require "purser.workflow.coins"
local operations = require "purser.api.operations"
local plans = require "purser.workflow.plan"
local report = require "purser.cli.report"

local M = {}

local MAX_AGE_MS = 300000

--- The parameter by which an operation names a network, or nil.
---@param row table
---@return string|nil
local function network_param(row)
  return row.by_name.netWork and "netWork" or row.by_name.network and "network" or nil
end

--- Whether something is looked up before this operation.
---@param row table
function M.has(row) return row.by_name.coin ~= nil and network_param(row) ~= nil end

--- Adds the options to a command of argparse.
function M.define(command, row)
  if not M.has(row) then return end
  if row.by_name.netWork then
    local option = command:option "--network"
    option:hidden(true):target("param_netWork"):argname("<text>"):overwrite(false)
  end
  if plans.withdraws(row.full_name) then
    command:flag("--require-saved-address", "The address must be in the address book.")
  end
  command:flag("--unchecked", plans.withdraws(row.full_name)
    and "Send it as typed, without the plan: for a key that may not read wallet coins."
    or "Send the network as typed, without looking its name up.")
end

local function say_failure(client, err)
  client:close()
  local code = report.failure(operations.by_name["wallet.coins"], {}, err)
  report.say("nothing was sent, because the coins and networks cannot be read%s",
    err.outcome == "rejected" and "; --unchecked sends it as typed" or "")
  return nil, code
end

--- What a plan says, as labels and values.
---@param plan purser.Plan
---@return table[]
function M.fields(plan)
  local fields = {}
  for _, line in ipairs(plan.lines) do fields[#fields + 1] = { line[1], line[2] } end
  for _, problem in ipairs(plan.problems) do fields[#fields + 1] = { "error", problem } end
  for _, warning in ipairs(plan.warnings) do fields[#fields + 1] = { "warning", warning } end
  return fields
end

--- Says what keeps a plan from being executed. Returns the exit code.
---@param plan purser.Plan
function M.reject(plan)
  report.say("%s: nothing was sent", plan.title)
  for _, problem in ipairs(plan.problems) do report.say("error: %s", problem) end
  for _, warning in ipairs(plan.warnings) do report.say("warning: %s", warning) end
  if plan.has_doubtful_address then report.say("--unchecked takes the address as it is") end
  return report.BAD_INPUT
end

local function withdrawal(client, row, params, options)
  local given = { require_saved_address = options.require_saved_address or nil }
  for name, value in pairs(params) do given[name] = value end
  local plan, err = plans.withdraw(client, given, row.full_name)
  if not plan then return say_failure(client, err) end
  if not plan.ok then return nil, M.reject(plan) end
  if options.yes then
    report.say("%s over %s (%s)", plan.title, tostring(plan.network.netWork), tostring(plan.network.network))
    for _, warning in ipairs(plan.warnings) do report.say("warning: %s", warning) end
  end
  return plan.params, nil, M.fields(plan)
end

-- The long name, which these operations take, of a network by whatever name.
local function named_network(client, row, params)
  local name = params.network
  if not name or name:find("(", 1, true) then return params end
  local all, err = coins.read(client, MAX_AGE_MS)
  if not all then return say_failure(client, err) end
  local coin, message = coins.find(all, params.coin)
  local network
  if coin then network, message = coins.network(coin, name) end
  if not network then return nil, report.bad_input("%s: %s", row.full_name, message) end
  local found = {}
  for key, value in pairs(params) do found[key] = value end
  found.coin, found.network = coin.coin, network.network
  return found
end

--- Checks and completes the parameters of a call. Returns them, with what is to be shown before the question; or nil
--- and the exit code.
---@param client purser.Client
---@param row table
---@param params table
---@param options table  of argparse
---@return table|nil params, integer|nil code, table[]|nil fields
function M.run(client, row, params, options)
  if options.unchecked or not M.has(row) then return params end
  if plans.withdraws(row.full_name) then return withdrawal(client, row, params, options) end
  return named_network(client, row, params)
end

return M

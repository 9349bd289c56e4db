-- SPDX-License-Identifier: MIT
-- `purser withdraw-plan`: what a withdrawal would do, and every problem with it; see docs/plans.md.

local confirm = require "purser.cli.confirm"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local json = require "purser.json"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local preflight = require "purser.cli.preflight"
local report = require "purser.cli.report"
local reconcile = require "purser.cli.reconcile"
local rows = require "purser.cli.rows"
local terminal = require "purser.cli.terminal"

local M = { summary = "Check a withdrawal before it is made; make it with --execute." }

function M.define(command)
  command:description("Check everything about a withdrawal that can be known before it is made: network, memo, "
    .. "limits, step, fee. It ends with 0 when no problem is found, else with 2. With --execute it is made.")
  command:option("--coin", "The coin."):argname("<text>"):count(1)
  command:option("--network", "The network by any name: TRX, trc20, \"Tron(TRC20)\"."):argname("<text>")
  command:option("--address", "The address."):argname("<text>"):count(1)
  command:option("--amount", "The amount that goes out."):argname("<amount>"):count(1):overwrite(false)
  command:option("--memo", "The memo, where the address needs one."):argname("<text>")
  command:option("--withdrawOrderId", "Your own id of the withdrawal; one is made when there is none.")
    :argname("<text>"):target("order_id")
  command:flag("--require-saved-address", "The address must be in the address book.")
  command:flag("--execute", "Make the withdrawal when no problem is found; it asks first.")
  command:flag("--yes", "Make it without asking.")
  output.define(command)
  reconcile.define(command)
  connection.define_writes(command)
  connection.define(command)
end

local function execute(plan, options, client, sources)
  local code = confirm.ask(options, "This moves money", sources, confirm.lines(plan))
  if code then return code end
  report.say("withdrawOrderId %s: by it the withdrawal can be found afterwards", plan.params.withdrawOrderId)
  local row = operations.by_name["wallet.withdraw"]
  local result, err = plan:execute()
  if not result then
    if err.kind == "workflow" then return report.bad_input("%s", tostring(err)) end
    if options.reconcile and err.outcome == "unknown" then
      return reconcile.run(client, row, plan.params, err, options.format)
    end
    return report.failure(row, plan.params, err)
  end
  local text = output.render(row, result, options.format, nil, options.raw)
  if report.write(text, options.raw) then return report.DONE end
  report.say("the withdrawal was made; do not run it again")
  return report.NOT_WRITTEN
end

-- Whether the plan is left out: the question shows it on the same terminal, or a program reads the record alone.
local function leaves_plan_out(plan, options)
  if not plan.ok or not options.execute then return false end
  return options.format ~= "table" or not options.yes and terminal.can_ask() and core.is_terminal(1)
end

local MEMBERS = { "operation", "coin", "amount", "fee", "total", "arrives", "arrives_at_least" }

local function as_json(plan)
  local members, params, names = { { "ok", plan.ok } }, {}, {}
  for i, name in ipairs(MEMBERS) do
    members[i + 1] = { name, plan[name] or name == "amount" and plan.params.amount or nil }
  end
  for name in pairs(plan.params) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do params[i] = { name, tostring(plan.params[name]) } end
  members[#members + 1] = { "params", json.object(params) }
  members[#members + 1] = { "errors", json.list(plan.problems) }
  members[#members + 1] = { "warnings", json.list(plan.warnings) }
  return output.json(json.object(members), "  ")
end

local function text_of(plan, options)
  if options.format == "table" then return tostring(plan) .. "\n" end
  if options.format == "json" then return as_json(plan) end
  return rows.render({ "what", "text" }, preflight.fields(plan), options)
end

function M.start(options)
  if options.yes and not options.execute then return report.bad_input("--yes is for --execute") end
  local message = output.message(options)
  if message then return report.bad_input("%s", message) end
  local client, place, sources = connection.open(options)
  if not client then return report.bad_input("%s", place) end
  local plan, err = client.wallet:plan_withdraw {
    coin = options.coin, network = options.network, address = options.address, amount = options.amount,
    memo = options.memo, withdrawOrderId = options.order_id,
    require_saved_address = options.require_saved_address or nil,
  }
  local code
  if not plan then
    code = report.failure({ effect = "read" }, {}, err)
  elseif not leaves_plan_out(plan, options) and not report.write(text_of(plan, options), options.raw) then
    code = report.NOT_WRITTEN
  elseif not plan.ok then
    code = report.BAD_INPUT
  else
    code = options.execute and execute(plan, options, client, sources) or report.DONE
  end
  client:close()
  return code
end

return M

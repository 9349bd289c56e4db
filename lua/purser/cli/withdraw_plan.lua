-- SPDX-License-Identifier: MIT
-- `purser withdraw-plan`: what a withdrawal would do, and every problem with it; see docs/plans.md.

local confirm = require "purser.cli.confirm"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local reconcile = require "purser.cli.reconcile"
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
    if options.reconcile and err.outcome == "unknown" then return reconcile.run(client, row, plan.params, err) end
    return report.failure(row, plan.params, err)
  end
  if report.write(output.render(row, result, "table")) then return report.DONE end
  report.say("the withdrawal was made; do not run it again")
  return report.NOT_WRITTEN
end

-- Whether the question, which shows the plan, comes to the same terminal as the plan would.
local function asks_here(options)
  return options.execute and not options.yes and terminal.can_ask() and core.is_terminal(1)
end

function M.start(options)
  if options.yes and not options.execute then return report.bad_input("--yes is for --execute") end
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
  elseif not (plan.ok and asks_here(options)) and not report.write(tostring(plan) .. "\n") then
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

-- SPDX-License-Identifier: MIT
-- `purser address COIN NETWORK`: the deposit address.

local connection = require "purser.cli.connection"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"

local M = {}

function M.grammar()
  return {
    text = "Show the deposit address of a coin on a network. It is made where there is none. An answer of another coin "
      .. "or network, or of a form that the network cannot have, is refused.",
    arguments = { { "coin", "As USDT.", values = {} }, { "network", "By any of its names: TRX, TRC20, Tron(TRC20).",
      optional = true, values = {} } },
    { "Options", { "--json", "As JSON." } }, connection.service, connection.messages,
  }
end

--- Returns the address of a plan, new where none exists; or ends the command.
---@param takes (fun(row: table): boolean)|nil  tells whether an existing address is wanted
function M.made(client, coin, network, takes)
  local plan = report.must(client.wallet:plan_create_deposit_address { coin = coin, network = network,
    another = takes ~= nil })
  if not plan.ok then
    report.say("%s", plain_text.clean(table.concat(plan.problems, "; ")))
    report.stop(report.REJECTED)
  end
  for _, row in ipairs(takes and plan.addresses or {}) do
    if takes(row) then return row, plan end
  end
  local made, err = plan:execute()
  if not made then report.stop(report.failure({ effect = "create" }, {}, err)) end
  return made, plan
end

function M.start(options)
  local made, plan = M.made(connection.open(options), options.coin, options.network)
  local network, memo = plan.network, made.memo ~= nil and made.memo ~= "" and tostring(made.memo) or nil
  if options.json then
    return report.write(output.json { coin = plan.coin, address = made.address, memo = memo,
      network = network.network, netWork = network.netWork, confirmations = network.minConfirm }) and report.DONE
  end
  local function line(name, value) return ("%-14s %s\n"):format(name, plain_text.clean(tostring(value))) end
  report.write(line("address", made.address) .. (memo and line("memo", memo) or "") .. line("coin", plan.coin)
    .. line("network", ("%s (%s)"):format(tostring(network.netWork), tostring(network.network)))
    .. line("confirmations", network.minConfirm))
end

return M

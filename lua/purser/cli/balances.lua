-- SPDX-License-Identifier: MIT
-- `purser balances`: a table of the account's balances, with --all of the sub-accounts' as well.

local connection = require "purser.cli.connection"
local output = require "purser.cli.output"
local report = require "purser.cli.report"

local M = {}

local TITLES = { "account", "asset", "free", "locked" }

function M.grammar()
  return {
    text = "Show the balances of the account whose key signs.\nThe document's operations show of it what can be "
      .. "converted alone; --profile mexc has the whole account.",
    epilog = "Example: purser balances --account treasury",
    { "Options", { "--all", "The sub-accounts as well (a main account's key)." } },
    output.group(TITLES), connection.service, connection.messages,
  }
end

-- Returns a result; ends the command with the error of a read.
local function read(result, err) return result or report.stop(report.failure({ effect = "read" }, {}, err)) end

-- Adds the balances of an account to the records.
local function add(records, account, list)
  for _, record in ipairs(list) do
    records[#records + 1] = { account = account, asset = record.asset, free = record.free or record.balance,
      locked = record.locked }
  end
end

function M.say(_, options)
  local client, sources = connection.open(options)
  local records, is_whole = {}, client.profile.live_operations
  local own = is_whole and read(client:call "live.account").balances or read(client.wallet:convertible_balances())
  add(records, options.all and (sources.is_named and sources.account or "this account") or nil, own)
  local walk = options.all and client:each "sub_account.list_sub_accounts"
  while walk do
    local account, err = walk:next()
    if err then read(nil, err) end
    if not account then break end
    add(records, account.subAccount, read(client.sub_account:balances { subAccount = account.subAccount,
      accountType = "SPOT" }))
  end
  output.print(TITLES, records, options, "no balance is shown\n")
  if not is_whole then
    report.note("(of the account itself what can be converted: no MX, nothing that is locked; --profile mexc shows "
      .. "all)")
  end
end

return M

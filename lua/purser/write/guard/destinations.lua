-- SPDX-License-Identifier: MIT
-- Whom a call may pay. Where one rule of destinations is given, a destination without a rule of its own is rejected.

local lazy = require "purser.client.util.lazy"
local networks = lazy "purser.client.operations.network"
local options_ = require "purser.write.guard.options"

local M = {}

local format, upper = string.format, string.upper

-- Returns whether an entry of `addresses` allows a withdrawal. It does not bind what it does not name, but for the
-- memo and the contract: these change who is paid.
local function matches(entry, moves, params)
  local memo, network, contract = params[moves.memo], params[moves.network], params[moves.contract]
  return entry.address == params[moves.address]
    and (entry.any_memo or entry.memo == memo)
    and (entry.coin == nil or entry.coin == upper(params[moves.asset]))
    and (entry.network == nil or network ~= nil and networks.same(entry.network, network) == true)
    and entry.contractAddress == contract
end

-- The checks by the kind of destination. Each returns nil; or the rule that rejects, a message and what to do.
local check = {}

function check.address(rules, moves, params)
  if not rules.addresses then
    return "addresses", "other destinations have a rule, and addresses have none", "list those allowed"
  end
  for _, entry in ipairs(rules.addresses) do
    if matches(entry, moves, params) then return nil end
  end
  return "addresses", "no entry of the list allows this address with the memo, coin, network and contract of the call",
    "add one that does"
end

function check.user(rules, moves, params)
  if not rules.recipients then
    return "recipients", "other destinations have a rule, and recipients have none", "list those allowed"
  end
  local user = options_.user(params[moves.account_type], params[moves.account], params[moves.area_code])
  if not rules.recipients[user] then
    return "recipients", "the user is not on the list", "add the user to it"
  end
end

function check.sub_account(rules)
  if rules.sub_accounts then return nil end
  return "sub_accounts", "other destinations have a rule, and sub-accounts have none", "list those allowed"
end

-- The parameters of write calls that name a sub-account.
local function names_of_sub_accounts(row)
  if row.moves then return row.moves.sub_accounts or {} end
  return row.by_name.subAccount and { "subAccount" } or {}
end

--- Checks whom a call pays by a set of rules. Returns nil; or the rule that rejects, a message and what to do.
---@return string|nil rule, string|nil message, string|nil hint
function M.check(rules, row, params)
  if not (rules.addresses or rules.recipients or rules.sub_accounts) then return nil end
  local of_kind = row.moves and check[row.moves.to]
  if of_kind then
    local rule, message, hint = of_kind(rules, row.moves, params)
    if rule then return rule, message, hint end
  end
  for _, name in ipairs(rules.sub_accounts and names_of_sub_accounts(row) or {}) do
    if params[name] and not rules.sub_accounts[params[name]] then
      return "sub_accounts", format('%s "%s" is not on the list', name, params[name]), "add it to the list"
    end
  end
end

return M

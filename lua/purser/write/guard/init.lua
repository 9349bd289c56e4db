-- SPDX-License-Identifier: MIT
--- Guard rails: limits that no caller of a client exceeds; see docs/write/guard-rails.md.
--
-- options.lua reads purser.new's `guard`, this file checks sets of rules, spending.lua keeps spending limits in the
-- journal. client/build makes the guard; write/call asks before a sending, and the journal while it records the call.
-- Only the parameters that a row's `moves` names decide.

local decimal = require "purser.decimal"
local lazy = require "purser.client.util.lazy"
local addresses = lazy "purser.address"
local networks = lazy "purser.client.operations.network"
local options_ = require "purser.write.guard.options"
local policy = require "purser.write.policy"
local spending = require "purser.write.guard.spending"

---@class purser.Guard
local Guard = { __name = "purser.guard" }
Guard.__index = Guard

local M = {}

local format, upper, reject = string.format, string.upper, spending.reject

------------------------------------------------------------------------------------------------------ amounts

-- Returns the rejection of an asset that a call moves.
local function check_asset(self, row, params, asset)
  for _, rule in ipairs { "max_amount", "spending_limit" } do
    local limits = self[rule]
    local message, hint
    if limits then message, hint = spending.unreadable(row, params, asset, limits) end
    if limits and not message and not limits[asset] and not self.allow_unlisted_assets then
      message, hint = asset .. " has no limit, so none of it may move", "give it one, or set allow_unlisted_assets"
    end
    if message then return reject(row, rule, message, hint) end
  end
  local max, amount = self.max_amount and self.max_amount[asset], params[row.moves.amount]
  if max and decimal(amount):compare(max) > 0 then
    return reject(row, "max_amount", format("%s %s is more than %s in one call", amount, asset, tostring(max)))
  end
end

----------------------------------------------------------------------------------------------------- whom it pays

-- Where one rule of destinations is given, a destination without a rule of its own is rejected.

-- Returns whether an entry of `addresses` allows a withdrawal to an account. Memo and contract change who is paid: both
-- always bind.
local function matches(entry, moves, params, account, memo)
  local network, contract = params[moves.network], params[moves.contract]
  return entry.account == account and (entry.any_memo or entry.of_memo == memo)
    and (entry.coin == nil or entry.coin == upper(params[moves.asset]))
    and (entry.network == nil or network ~= nil and networks.same(entry.network, network) == true)
    and entry.contractAddress == contract
end

-- The checks of rules that are given. Each returns nil; or a message and what to do.
local check = {}

function check.addresses(rules, moves, params)
  local account, memo = addresses.place(params[moves.address], params[moves.memo])
  for _, entry in ipairs(rules.addresses) do
    if matches(entry, moves, params, account, memo) then return nil end
  end
  return "no entry of the list allows this address with the memo, coin, network and contract of the call",
    "add one that does"
end

function check.recipients(rules, moves, params)
  local user = options_.user(params[moves.account_type], params[moves.account], params[moves.area_code])
  if not rules.recipients[user] then return "the user is not on the list", "add the user to it" end
end

local rule_of = { address = "addresses", user = "recipients", sub_account = "sub_accounts" } -- kinds of destinations

-- The parameters of write calls that name a sub-account.
local function names_of_sub_accounts(row)
  if row.moves then return row.moves.sub_accounts or {} end
  return row.by_name.subAccount and { "subAccount" } or {}
end

-- Returns the rule of destinations that rejects a call, a message and what to do; nil where none does.
local function check_destination(rules, row, params)
  if not (rules.addresses or rules.recipients or rules.sub_accounts) then return nil end
  local rule, message, hint = row.moves and rule_of[row.moves.to], nil, nil
  if rule and not rules[rule] then
    message, hint = "other destinations have a rule, and those of this call have none", "list those allowed"
  elseif check[rule] then
    message, hint = check[rule](rules, row.moves, params)
  end
  if message then return rule, message, hint end
  for _, name in ipairs(rules.sub_accounts and names_of_sub_accounts(row) or {}) do
    if params[name] and not rules.sub_accounts[params[name]] then
      return "sub_accounts", format('%s "%s" is not on the list', name, params[name]), "add it to the list"
    end
  end
end

------------------------------------------------------------------------------------------------ what clients call

-- Looks at the values that travel, and not at the caller's `extra_params`, which may change when read.
local function check_extra(self, row, params)
  if self.allow_extra then return nil end
  for name in pairs(params) do
    if not row.by_name[name] then
      return reject(row, "allow_extra", format('what the parameter "%s" does cannot be judged', name),
        "leave `extra_params` out, or set allow_extra")
    end
  end
end

local function check_set(rules, row, params)
  if rules.read_only then
    return reject(row, "read_only", "this client only reads", "make write calls with a client without read_only")
  end
  local rejection = check_extra(rules, row, params)
  for _, asset in ipairs((rules.max_amount or rules.spending_limit) and spending.assets_of(row, params) or {}) do
    rejection = rejection or check_asset(rules, row, params, asset)
  end
  if rejection then return rejection end
  local rule, message, hint = check_destination(rules, row, params)
  return rule and reject(row, rule, message, hint)
end

--- Checks the rules that need no memory. Returns nil, or the rejection.
---@param row table     of a write call
---@param params table  what travels, by name: checked parameters, and those that the row does not know
function Guard:check(row, params)
  for _, rules in ipairs(self.sets) do
    local rejection = check_set(rules, row, params)
    if rejection then return rejection end
  end
end

--- Lets the policy read what the transaction of a call is too late for: it keeps other hosts waiting.
function Guard:before(client, row, params)
  if self.policy then self.policy:before(client, row, params) end
end

--- Ends the transaction that records a call where an equal call has no known end, and the guard forbids that.
---@param equal_call fun(): { id: string }|nil  returns an equal call without a known end
function Guard:admit(tx, row, equal_call)
  if not self.no_duplicates or row.effect ~= "transfer" then return end
  spending.lock(tx)
  local equal = equal_call()
  if equal then
    local refusal = reject(row, "no_duplicates", "an equal move has no known end (journal entry " .. equal.id .. ")",
      "reconcile it first")
    refusal.details = { call = equal.id }
    tx:reject(refusal)
  end
end

-- Returns what keeps rules from being remembered, or nil.
local function memory_error(client_options)
  if client_options.journal then return nil end
  return "have no journal, and a restart would reset them", "give the option journal"
end

-- Adds a set of rules: all sets hold.
local function add_set(self, rules)
  self.sets[#self.sets + 1] = rules
  self.no_duplicates = self.no_duplicates or rules.no_duplicates
  for asset, limit in pairs(rules.spending_limit or {}) do
    spending.restrict(self.limits, { asset = asset, period_ms = limit.period_ms, amount = limit.amount })
  end
end

--- Makes a guard of purser.new's option `guard`: a set of rules, or a list of sets, which all hold. Returns nil, a
--- message and what to do when it cannot be.
---@param options table
---@param client_options table  those of purser.new
---@param base_url string|nil   where the client's calls go; a policy needs it
---@return purser.Guard|nil, string|nil, string|nil
function M.new(options, client_options, base_url, host)
  local list, message, hint = options_.read(options)
  if not list then return nil, message, hint end
  local self = setmetatable({ sets = {}, limits = {} }, Guard)
  for _, rules in ipairs(list) do add_set(self, rules) end
  if next(self.limits) or self.no_duplicates then message, hint = memory_error(client_options) end
  if message then return nil, 'the guard rails "spending_limit" and "no_duplicates" ' .. message, hint end
  self.policy, message, hint = policy.open(client_options, base_url, host)
  if message then return nil, message, hint end
  return self
end

return M

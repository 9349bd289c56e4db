-- SPDX-License-Identifier: MIT
--- Guard rails: what a client must not do, whatever its caller asks. See docs/write/guard-rails.md.
--
-- The files in reading order: options (reads purser.new's `guard`), this one (amounts, and the sets of rules),
-- destinations (whom a call may pay), spending (what was spent, in the journal). client/build makes the guard;
-- write/call asks it before anything is sent, and write/journal within the transaction that records the call.
--
-- A row says what it moves (`moves`): which of its own parameters are the asset and the amount, and what kind of
-- destination it has. Nothing but these parameters decides: `extra_params` never does.

local decimal = require "purser.decimal"
local destinations = require "purser.write.guard.destinations"
local errors = require "purser.client.call.errors"
local gates = require "purser.write.gates"
local options_ = require "purser.write.guard.options"
local spending = require "purser.write.guard.spending"

---@class purser.Guard
local Guard = { __name = "purser.guard" }
Guard.__index = Guard

local M = {}

local find, format, gmatch, upper = string.find, string.format, string.gmatch, string.upper

local function reject(row, rule, message, hint)
  local err = errors.argument(nil, format("rejected by the guard rail %s: %s", rule, message), hint)
  err.operation, err.code = row.full_name, "guard." .. rule
  return err
end

-- The assets that a call moves, from the row's own parameter. Only the list of a conversion has commas.
local function assets_of(row, params)
  if not row.moves then return {} end
  local text = upper(params[row.moves.asset])
  if row.by_name[row.moves.asset][2] ~= "coins" then return { text } end
  local list = {}
  for asset in gmatch(text, "[^,]+") do list[#list + 1] = asset end
  return list
end

local function amount_of(row, params)
  return row.moves.amount and params[row.moves.amount]
end

------------------------------------------------------------------------------------------------------ amounts

-- A service may read "USDT " or "USDT," as USDT, which would have no limit here.
local function is_plain(asset)
  return not find(asset, "[^\33-\43\45-\126]")
end

local function check_asset(self, row, params, asset)
  local amount = amount_of(row, params)
  for _, rule in ipairs { "max_amount", "spending_limit" } do
    local limits = self[rule]
    if limits and not is_plain(asset) then
      return reject(row, rule, "the asset has a blank, a comma or a letter beyond ASCII",
        "write it as the service does")
    end
    if limits and not limits[asset] and not self.allow_unlisted_assets then
      return reject(row, rule, asset .. " has no limit, so none of it may move",
        "give it one, or set allow_unlisted_assets")
    end
    if limits and limits[asset] and not amount then
      return reject(row, rule, "the operation does not say how much " .. asset .. " it moves")
    end
  end
  local max = self.max_amount and self.max_amount[asset]
  if max and decimal(amount):compare(max) > 0 then
    return reject(row, "max_amount", format("%s %s is more than %s in one call", amount, asset, tostring(max)))
  end
end

local function check_amounts(self, row, params)
  if not self.max_amount and not self.spending_limit then return nil end
  for _, asset in ipairs(assets_of(row, params)) do
    local rejection = check_asset(self, row, params, asset)
    if rejection then return rejection end
  end
end

------------------------------------------------------------------------------------------------ what clients call

-- Looks at what travels, and not at the caller's `extra_params`: a table may answer differently each time it is read.
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
  local rejection = check_extra(rules, row, params) or check_amounts(rules, row, params)
  if rejection then return rejection end
  local rule, message, hint = destinations.check(rules, row, params)
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

--- Lets the gates read what the transaction of a call is too late for: it keeps other hosts waiting.
function Guard:before(client, row, params)
  for _, gate in pairs(self.gates) do gate:before(client, row, params) end
end

--- Checks the rules that live in the journal, within the transaction that records the intent, and charges the spending
--- limits. Returns what was charged, as text; or ends the transaction with the rejection.
---@param equal_call fun(): { id: string }|nil  returns an equal call without a known end
function Guard:admit(tx, intent, row, equal_call)
  if not self.spending_limit and not self.no_duplicates then return "" end
  spending.lock(tx)
  local equal = self.no_duplicates and row.effect == "transfer" and equal_call()
  if equal then
    tx:reject(reject(row, "no_duplicates", "an equal move has no known end (journal entry " .. equal.id .. ")",
      "reconcile it first"))
  end
  local charged = {}
  for _, asset in ipairs(assets_of(row, intent.params)) do
    local limit = self.spending_limit and self.spending_limit[asset]
    if limit then
      local amount = amount_of(row, intent.params)
      local charge, spent = spending.charge(tx, intent, asset, amount, limit)
      if not charge then
        tx:reject(reject(row, "spending_limit", format(
          "%s %s would exceed %s in this period, of which %s are spent", amount, asset, tostring(limit.amount), spent)))
      end
      charged[#charged + 1] = charge
    end
  end
  return table.concat(charged, "\n")
end

-- Returns what keeps rules from being remembered, or nil.
local function memory_error(client_options)
  local journal, account = client_options.journal, client_options.account
  if not journal then return "have no journal, and a restart would reset them", "give the option journal" end
  if not account or account == "" then
    return "have no account, and what is spent belongs to a name, not to a key", 'give the option "account"'
  end
end

-- Adds a set of rules: all sets hold. Returns nil, or a message and what to do.
local function add_set(self, rules)
  self.sets[#self.sets + 1] = rules
  self.no_duplicates = self.no_duplicates or rules.no_duplicates
  for asset, limit in pairs(rules.spending_limit or {}) do
    self.spending_limit = self.spending_limit or {}
    local other = self.spending_limit[asset] or limit
    if other.period_ms ~= limit.period_ms then
      return "spending_limit of " .. asset .. " is counted over two periods", "give one in each set of rules"
    end
    self.spending_limit[asset] = other.amount:compare(limit.amount) < 0 and other or limit
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
  local self = setmetatable({ sets = {}, gates = {} }, Guard)
  for _, rules in ipairs(list) do
    message, hint = add_set(self, rules)
    if message then return nil, "guard rail " .. message, hint end
  end
  if self.spending_limit or self.no_duplicates then message, hint = memory_error(client_options) end
  if message then return nil, 'the guard rails "spending_limit" and "no_duplicates" ' .. message, hint end
  self.gates, message, hint = gates.open(client_options, base_url, host)
  if message then return nil, message, hint end
  return self
end

return M

-- SPDX-License-Identifier: MIT
-- The options of guard rails, read into tables of their own: what becomes of the user's tables changes no rule.

local addresses = require "purser.address"
local columns = require "purser.client.operations.columns"
local option_schema = require "purser.client.util.option_schema"
local decimal = require "purser.decimal"
local parameters = require "purser.client.operations.parameters"

local M = {}

local find, format, gsub, upper = string.find, string.format, string.gsub, string.upper

local DAY = 86400000

---@class purser.GuardOptions
---@field read_only boolean|nil             read calls only
---@field max_amount table<string, string|purser.decimal>|nil  the largest amount of one call, by asset
---@field spending_limit table<string, string|purser.decimal|purser.SpendingLimit>|nil  of all calls in one period, by
--- asset; an amount alone counts by days
---@field addresses (string|purser.GuardAddress)[]|nil  where withdrawals may go
---@field sub_accounts string[]|nil         which may take part
---@field recipients (string|purser.GuardRecipient)[]|nil  other users; a text is an e-mail address
---@field no_duplicates boolean|nil         no second equal move while the first is open
---@field allow_unlisted_assets boolean|nil lets assets move that have no limit
---@field allow_extra boolean|nil           permits `extra_params` in write calls

---@class purser.SpendingLimit
---@field amount string|purser.decimal
---@field period_ms integer|nil  default: a day

---@class purser.GuardAddress
---@field address string
---@field memo string|nil         this memo. Default: a withdrawal without a memo
---@field any_memo boolean|nil    every memo, and none
---@field coin string|nil         only this coin
---@field network string|nil      only this network, by any name that everybody has for it
---@field contractAddress string|nil

---@class purser.GuardRecipient
---@field toAccountType purser.identifier_types
---@field toAccount string
---@field areaCode string|integer|nil  with "MOBILE", and only there

local rules = {
  read_only = "boolean", max_amount = "table", spending_limit = "table", addresses = "table", sub_accounts = "table",
  recipients = "table", no_duplicates = "boolean", allow_unlisted_assets = "boolean", allow_extra = "boolean",
}

-- A limit as a decimal from 0 on, or nil.
local function limit_of(value)
  local amount = type(value) ~= "number" and decimal(value) or nil
  return amount and amount:sign() >= 0 and amount or nil
end

local DECIMAL = "give a decimal as a string"

-- Reads limits by asset: `read_limit` returns one; or nil, a message and what to do. Of two spellings of an asset one
-- alone would count.
local function limits_of(rule, read_limit)
  return function(given)
    local limits = {}
    for asset, value in pairs(given) do
      local name, about = upper(tostring(asset)), format("%s of %s", rule, tostring(asset))
      local limit, message, hint = read_limit(value)
      if limits[name] then return nil, format("%s of %s is given twice", rule, name), "write each asset once" end
      if not limit then return nil, about .. message, hint end
      limits[name] = limit
    end
    return limits
  end
end

local function read_amount(value) return limit_of(value), " is no amount", DECIMAL end

local spending_rules = { amount = "any", period_ms = { 1000, option_schema.EXACT } }

local function read_spending(entry)
  if type(entry) ~= "table" then entry = { amount = entry } end
  local message, _, hint = option_schema.check(entry, spending_rules, ": entry")
  if message then return nil, message, hint end
  local amount = limit_of(entry.amount)
  return amount and { amount = amount, period_ms = entry.period_ms or DAY }, " has no amount", DECIMAL
end

-- Reads a list by `read_entry`, which returns an entry; or nil, a message and what to do.
local function list_of(name, read_entry)
  return function(list)
    if not option_schema.is_list(list) then
      return nil, format('"%s" is not a plain list', name), "give { first, second }"
    end
    local entries = {}
    for i, given in ipairs(list) do
      local entry, message, hint = read_entry(given)
      if not entry then return nil, format('"%s": entry %d %s', name, i, message), hint end
      entries[i] = entry
    end
    return entries
  end
end

local function set_of(read_list)
  return function(list)
    local entries, message, hint = read_list(list)
    if not entries then return nil, message, hint end
    local set = {}
    for _, entry in ipairs(entries) do set[entry] = true end
    return set
  end
end

local address_rules = {
  address = "string", memo = "string", any_memo = "boolean", coin = "string", network = "string",
  contractAddress = "string",
}

local ADDRESS = "give one, or { address =, memo =, any_memo =, coin =, network =, contractAddress = }"

local function read_address(given)
  if type(given) == "string" then given = { address = given } end
  if type(given) ~= "table" or not given.address then return nil, "is no address", ADDRESS end
  local message, _, hint = option_schema.check(given, address_rules, "member")
  if message then return nil, "is wrong: " .. message, hint end
  if given.any_memo and given.memo then return nil, "has both memo and any_memo", "give one of them" end
  local entry = {}
  for name, value in pairs(given) do
    if value == "" then return nil, format('has an empty "%s"', name), "leave it out" end
    entry[name] = value
  end
  entry.coin = entry.coin and upper(entry.coin)
  entry.account, entry.of_memo = addresses.place(entry.address, entry.memo)
  return entry
end

local function read_name(given)
  if type(given) ~= "string" or given == "" then return nil, "is no name", "give the names of sub-accounts" end
  return given
end

--- Returns what distinguishes one user from another: digits alone may be a UID, or a telephone number of any country.
---@param account_type string
---@param account string
---@param area_code string|nil
---@return string
function M.user(account_type, account, area_code)
  return format("%s %s %s", account_type, area_code and gsub(area_code, "^%+", "") or "-",
    columns.canonical(account_type, account))
end

local user_rules = { toAccountType = parameters.choices.identifier_types, toAccount = "string", areaCode = "string" }

local USER = 'give { toAccountType = "UID", toAccount = "..." }, "EMAIL", or "MOBILE" with '
  .. "areaCode; or an e-mail address as a text"

local NO_USER = "names no one person"

local function read_user(given)
  if type(given) == "string" and find(given, "@", 2, true) then
    given = { toAccountType = "EMAIL", toAccount = given }
  end
  if type(given) ~= "table" then return nil, NO_USER, USER end
  local message, _, hint = option_schema.check(given, user_rules, "member")
  if message then return nil, "is wrong: " .. message, hint end
  if not given.toAccountType or not given.toAccount or given.toAccount == "" then return nil, NO_USER, USER end
  if (given.toAccountType == "MOBILE") ~= (given.areaCode ~= nil) then
    return nil, "has an areaCode where none belongs, or lacks one",
      "give one, such as 86, where toAccountType is MOBILE, and only there"
  end
  local text, wrong = given.areaCode, nil
  if text then text, wrong, hint = parameters.kinds.area_code.check(text) end
  if wrong then return nil, "has an areaCode that " .. wrong, hint end
  return M.user(given.toAccountType, given.toAccount, text)
end

local readers = {
  max_amount = limits_of("max_amount", read_amount), spending_limit = limits_of("spending_limit", read_spending),
  addresses = list_of("addresses", read_address),
  sub_accounts = set_of(list_of("sub_accounts", read_name)), recipients = set_of(list_of("recipients", read_user)),
}

local MAX_DEPTH = 4 -- of a limit or an entry in its list, in a set, in the list of sets

-- Returns the name of what has a metatable: rules that it hides, or shows another time, would be no rules.
local function find_metatable(value, name, depth)
  if type(value) ~= "table" then return nil end
  if getmetatable(value) ~= nil then return name end
  if depth == MAX_DEPTH then return nil end
  for key, member in next, value do
    local found = find_metatable(member, tostring(key), depth + 1)
    if found then return found end
  end
end

local function read_set(options)
  local read, message, _, hint = {}, option_schema.check(options, rules, "guard rail")
  if message then return nil, message, hint end
  for name, value in pairs(options) do
    if readers[name] then value, message, hint = readers[name](value) end
    if value == nil then return nil, "guard rail " .. message, hint end
    read[name] = value
  end
  return read
end

--- Reads purser.new's option `guard`. Returns the sets of rules; or nil, a message and what to do.
---@return table[]|nil, string|nil, string|nil
function M.read(options)
  local hidden = find_metatable(options, "guard", 0)
  if hidden then
    return nil, format('guard rails: "%s" has a metatable, which may hide rules', hidden), "give plain tables"
  end
  if options[1] == nil then options = { options } end
  if not option_schema.is_list(options) then
    return nil, "guard rails: the sets are not a plain list", "give { first, second }"
  end
  local sets = {}
  for i, set in ipairs(options) do
    local read, message, hint = read_set(set)
    if not read then return nil, message, hint end
    sets[i] = read
  end
  return sets
end

return M

-- SPDX-License-Identifier: MIT
-- The options of guard rails, read into tables of their own: what becomes of the user's tables changes no rule.

local option_schema = require "purser.util.option_schema"
local decimal = require "purser.decimal"
local parameters = require "purser.api.parameters"

local M = {}

local DAY = 86400000

local rules = {
  read_only = "boolean", max_amount = "table", spending_limit = "table", addresses = "table", sub_accounts = "table",
  recipients = "table", no_duplicates = "boolean", allow_unlisted_assets = "boolean", allow_extra = "boolean",
}

-- A limit as a decimal from 0 on, or nil.
local function limit_of(value)
  local amount = type(value) ~= "number" and decimal(value) or nil
  return amount and amount:sign() >= 0 and amount or nil
end

local function read_amounts(amounts)
  local limits = {}
  for asset, value in pairs(amounts) do
    local limit = limit_of(value)
    limits[tostring(asset):upper()] = limit
    if not limit then return nil, ('max_amount of %s must be a decimal as a string'):format(tostring(asset)) end
  end
  return limits
end

local spending_rules = { amount = "any", period_ms = { 1000, option_schema.EXACT } }

local function read_spending_limit(spending_limit)
  local limits = {}
  for asset, entry in pairs(spending_limit) do
    if type(entry) ~= "table" then entry = { amount = entry } end
    local message = option_schema.check(entry, spending_rules, ("spending_limit of %s: entry"):format(tostring(asset)))
    if message then return nil, message end
    local amount, period = limit_of(entry.amount), entry.period_ms or DAY
    if not amount then
      return nil, ('spending_limit of %s needs an amount, a decimal as a string'):format(tostring(asset))
    end
    limits[tostring(asset):upper()] = { amount = amount, period_ms = period }
  end
  return limits
end

-- Whether a table is a list without holes: any other would be read in part, or as an empty one.
local function is_list(value)
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  return count == #value
end

-- Reads a list by `read_entry`, which returns an entry, or nil and a message.
local function list_of(name, read_entry)
  return function(list)
    if not is_list(list) then return nil, ('"%s" is not a plain list; give { first, second }'):format(name) end
    local entries = {}
    for i, given in ipairs(list) do
      local entry, message = read_entry(given)
      if not entry then return nil, ('"%s": entry %d %s'):format(name, i, message) end
      entries[i] = entry
    end
    return entries
  end
end

local function set_of(read_list)
  return function(list)
    local entries, message = read_list(list)
    if not entries then return nil, message end
    local set = {}
    for _, entry in ipairs(entries) do set[entry] = true end
    return set
  end
end

local address_rules = {
  address = "string", memo = "string", any_memo = "boolean", coin = "string", network = "string",
  contractAddress = "string",
}

local ADDRESS = "is neither an address nor { address =, memo =, any_memo =, coin =, network =, contractAddress = }"

local function read_address(given)
  if type(given) == "string" then given = { address = given } end
  if type(given) ~= "table" or not given.address then return nil, ADDRESS end
  local message = option_schema.check(given, address_rules, "member")
  if message then return nil, "is wrong: " .. message end
  if given.any_memo and given.memo then return nil, "has both memo and any_memo; give one of them" end
  local entry = {}
  for name, value in pairs(given) do
    if value == "" then return nil, ('has an empty "%s"; leave it out'):format(name) end
    entry[name] = value
  end
  entry.coin = entry.coin and entry.coin:upper()
  return entry
end

local function read_name(given)
  if type(given) ~= "string" or given == "" then return nil, "is no name; give the names of sub-accounts" end
  return given
end

--- What distinguishes one user from another: digits alone may be a UID, or a telephone number of any country.
---@param account_type string
---@param account string
---@param area_code string|nil
---@return string
function M.user(account_type, account, area_code)
  return ("%s %s %s"):format(account_type, area_code and area_code:gsub("^%+", "") or "-", account)
end

local user_rules = { toAccountType = parameters.choices.identifier_types, toAccount = "string", areaCode = "string" }

local USER = 'names no one person; give { toAccountType = "UID", toAccount = "..." }, "EMAIL", or "MOBILE" with '
  .. "areaCode; or an e-mail address as a text"

local function read_user(given)
  if type(given) == "string" and given:find("@", 2, true) then
    given = { toAccountType = "EMAIL", toAccount = given }
  end
  if type(given) ~= "table" then return nil, USER end
  local message = option_schema.check(given, user_rules, "member")
  if message then return nil, "is wrong: " .. message end
  if not given.toAccountType or not given.toAccount or given.toAccount == "" then return nil, USER end
  if (given.toAccountType == "MOBILE") ~= (given.areaCode ~= nil) then
    return nil, "has to have an areaCode, such as 86, where toAccountType is MOBILE, and only there"
  end
  local text, wrong = given.areaCode, nil
  if text then text, wrong = parameters.kinds.area_code.check(text) end
  if wrong then return nil, "has an areaCode that " .. wrong end
  return M.user(given.toAccountType, given.toAccount, text)
end

local readers = {
  max_amount = read_amounts, spending_limit = read_spending_limit, addresses = list_of("addresses", read_address),
  sub_accounts = set_of(list_of("sub_accounts", read_name)), recipients = set_of(list_of("recipients", read_user)),
}

--- Reads purser.new's option `guard`. Returns the rules; or nil and a message.
---@return table|nil, string|nil
function M.read(options)
  local read, message = {}, option_schema.check(options, rules, "guard rail")
  if message then return nil, message end
  for name, value in pairs(options) do
    if readers[name] then value, message = readers[name](value) end
    if value == nil then return nil, "guard rail " .. message end
    read[name] = value
  end
  return read
end

return M

--- Guard rails: what a client must not do, whatever it is told. Checked below every wrapper, before anything is sent.
--
--     purser.new { ..., journal = journal, guard = {
--       read_only = false,
--       max_amount = { USDT = "1000" },                    -- of one call
--       budget = { USDT = { amount = "5000", period_ms = 86400000 } },  -- of all calls in one period
--       addresses = { "TQr...", { address = "rEb...", memo = "77" } },   -- where withdrawals may go
--       sub_accounts = { "desk01" },                       -- which sub-accounts may take part
--       users = { "zed@mail.example" },                    -- who may be sent funds inside the platform
--       serial = true,                                     -- no second equal move while the first has no known end
--     } }
--
-- Where amounts are limited, an asset that is not listed cannot move at all, unless other_assets = true. Periods begin
-- at multiples of their length since 1970, UTC. Budgets and `serial` live in the journal, so a restart does not reset
-- them; what was certainly not carried out is given back.

local allowed = require "purser.allowed"
local decimal = require "purser.decimal"
local errors = require "purser.errors"

---@class purser.Guard
local Guard = { __name = "purser.guard" }
Guard.__index = Guard

local M = {}

local LOCK = 7078802
local DAY = 86400000

local rules = {
  read_only = "boolean", max_amount = "table", budget = "table", addresses = "table", sub_accounts = "table",
  users = "table", serial = "boolean", other_assets = "boolean",
}

local function refuse(row, rule, message)
  local err = errors.argument(nil, ("refused by the guard rail %s: %s"):format(rule, message))
  err.operation, err.code = row.full_name, "guard." .. rule
  return err
end

-- The assets that a call moves.
local function assets_of(row, values)
  if row.effect ~= "move" then return {} end
  local list = {}
  for asset in (values.coin or values.asset or ""):upper():gmatch("[^,%s]+") do list[#list + 1] = asset end
  return list
end

local function check_amounts(self, row, values)
  for _, asset in ipairs(assets_of(row, values)) do
    for _, rule in ipairs { "max_amount", "budget" } do
      local limits = self[rule]
      if limits and not limits[asset] and not self.other_assets then
        return refuse(row, rule, asset .. " has no limit, so none of it may move; give it one, or set other_assets")
      end
      if limits and limits[asset] and not values.amount then
        return refuse(row, rule, "the operation does not say how much " .. asset .. " it moves")
      end
    end
    local most = self.max_amount and self.max_amount[asset]
    if most and decimal(values.amount):compare(most) > 0 then
      return refuse(row, "max_amount", ("%s %s is more than %s in one call"):format(values.amount, asset,
        tostring(most)))
    end
  end
end

local function check_address(self, row, values)
  if not self.addresses or not values.address then return nil end
  for _, place in ipairs(self.addresses) do
    if place.address == values.address and (place.memo == nil or place.memo == values.memo) then return nil end
  end
  return refuse(row, "addresses", "the address is not on the list" .. (values.memo and " with that memo" or ""))
end

local function check_accounts(self, row, values)
  if values.toAccountType and row.by_name.areaCode then -- to another user, not to a sub-account
    if self.users and not self.users[values.toAccount] then
      return refuse(row, "users", "the user is not on the list")
    end
    return nil
  end
  if not self.sub_accounts then return nil end
  for _, name in ipairs { "subAccount", "fromAccount", "toAccount" } do
    if values[name] and not self.sub_accounts[values[name]] then
      return refuse(row, "sub_accounts", ('%s "%s" is not on the list'):format(name, values[name]))
    end
  end
end

--- Checks the rules that need no memory. Returns nil, or the refusal.
function Guard:check(row, values)
  if self.read_only then return refuse(row, "read_only", "this client only reads") end
  return check_amounts(self, row, values) or check_address(self, row, values) or check_accounts(self, row, values)
end

--- Checks a request that somebody else will send. Returns nil, or the refusal: what the journal has to know of cannot
--- be left to others.
function Guard:check_prepared(row, values)
  local refusal = self:check(row, values)
  local rule = row.effect == "move" and (self.budget and "budget" or self.serial and "serial")
  return refusal or rule and refuse(row, rule, "a prepared request is not recorded; make the call instead") or nil
end

-- The name of the period that a time falls into, for an account and an asset.
local function bucket_of(account, asset, period_ms, time)
  return ("%s %s %d %d"):format(account, asset, period_ms, math.floor(time / period_ms))
end

local function change(tx, bucket, by, limit)
  local row = tx:rows("SELECT amount FROM purser_spending WHERE bucket = $1", bucket)[1]
  local spent = decimal(row and row.amount or "0"):add(by)
  if limit and spent:compare(limit) > 0 then return nil, row and row.amount or "0" end
  if row then
    tx:rows("UPDATE purser_spending SET amount = $1 WHERE bucket = $2", tostring(spent), bucket)
  else
    tx:rows("INSERT INTO purser_spending (bucket, amount) VALUES ($1, $2)", bucket, tostring(spent))
  end
  return true
end

local function check_serial(tx, intent, row, digest)
  local others = tx:rows([[SELECT id FROM purser_intents WHERE digest = $1 AND account = $2
    AND state IN ('open', 'unknown', 'undecided')]], digest, intent.account or "")
  if #others > 0 then
    tx:refuse(refuse(row, "serial", "an equal move has no known end (journal entry " .. others[1].id
      .. "); settle it first"))
  end
end

--- Checks the rules that live in the journal, within the transaction that records the intent, and charges the budgets.
--- Returns what was charged, as text; or ends the transaction with the refusal.
function Guard:admit(tx, intent, row, digest)
  if not self.budget and not self.serial then return "" end
  tx:lock(LOCK)
  if self.serial and row.effect == "move" then check_serial(tx, intent, row, digest) end
  local charged = {}
  for _, asset in ipairs(assets_of(row, intent.params)) do
    local limit = self.budget and self.budget[asset]
    if limit then
      local amount = intent.params.amount
      local bucket = bucket_of(intent.account or "", asset, limit.period_ms, intent.sent_at)
      local ok, spent = change(tx, bucket, amount, limit.amount)
      if not ok then
        tx:refuse(refuse(row, "budget", ("%s %s would exceed %s in this period, of which %s are spent"):format(
          amount, asset, tostring(limit.amount), spent)))
      end
      charged[#charged + 1] = bucket .. " " .. amount
    end
  end
  return table.concat(charged, "\n")
end

--- Undoes what admit charged, within a transaction.
function M.give_back(tx, charges)
  tx:lock(LOCK)
  for line in charges:gmatch("[^\n]+") do
    local bucket, amount = line:match("^(.*) (%S+)$")
    change(tx, bucket, decimal(amount):negate())
  end
end

--------------------------------------------------------------------------------------------------------- options

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

local budget_rules = { amount = "any", period_ms = { 1000, allowed.EXACT } }

local function read_budget(budget)
  local limits = {}
  for asset, entry in pairs(budget) do
    if type(entry) ~= "table" then entry = { amount = entry } end
    local complaint = allowed.check(entry, budget_rules, ("budget of %s: entry"):format(tostring(asset)))
    if complaint then return nil, complaint end
    local amount, period = limit_of(entry.amount), entry.period_ms or DAY
    if not amount then return nil, ('budget of %s needs an amount, a decimal as a string'):format(tostring(asset)) end
    limits[tostring(asset):upper()] = { amount = amount, period_ms = period }
  end
  return limits
end

local function read_addresses(list)
  local addresses = {}
  for i, entry in ipairs(list) do
    if type(entry) == "string" then entry = { address = entry } end
    if type(entry) ~= "table" or type(entry.address) ~= "string" then
      return nil, "addresses is a list of addresses, or of { address =, memo = }"
    end
    addresses[i] = { address = entry.address, memo = entry.memo }
  end
  return addresses
end

local function read_names(list)
  local names = {}
  for _, name in ipairs(list) do names[name] = true end
  return names
end

local readers = {
  max_amount = read_amounts, budget = read_budget, addresses = read_addresses, sub_accounts = read_names,
  users = read_names,
}

--- Makes a guard of purser.new's option `guard`. Returns nil and a complaint when it cannot be.
---@return purser.Guard|nil, string|nil
function M.new(options, journal)
  local self, complaint = {}, allowed.check(options, rules, "guard rail")
  if complaint then return nil, complaint end
  for name, value in pairs(options) do
    if readers[name] then value, complaint = readers[name](value) end
    if value == nil then return nil, "guard rail " .. complaint end
    self[name] = value
  end
  if (self.budget or self.serial) and not journal then
    return nil, 'the guard rails "budget" and "serial" need a journal, so that a restart does not reset them'
  end
  return setmetatable(self, Guard)
end

return M

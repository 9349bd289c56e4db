-- SPDX-License-Identifier: MIT
-- Events without a request: accounts open, deposits arrive, rebates accrue, someone is frozen.

local accounts = require "purser.sim.accounts"
local addresses = require "purser.sim.addresses"
local option_schema = require "purser.util.option_schema"
local core = require "purser.core"
local decimal = require "purser.decimal"
local deposits = require "purser.sim.deposits"
local rebates = require "purser.sim.rebates"
local rules = require "purser.sim.rules"
local prng = require "purser.sim.prng"
local states = require "purser.api.states"
local transfers = require "purser.sim.transfers"
local withdrawals = require "purser.sim.withdrawals"

---@class purser.Sim
local World = {}

local reference = "string or table"
local time = { 0, option_schema.EXACT, says = "a time in epoch milliseconds" }

-- The options of each method. An amount that is a number is rejected where its digits would count.
---@class purser.SimAccountOptions
---@field name string|nil
---@field role "broker"|"main"|"user"|"sub"|nil  default "main"
---@field parent string|{ uid: string|nil, name: string|nil }|nil  of a sub-account
---@field balances table<string, string>|nil  by asset
---@field futures_balances table<string, string>|nil
---@field email string|nil
---@field mobile string|nil
---@field uid string|nil
---@field permissions string|string[]|nil  of its key. Default: all
---@field ip string|string[]|nil
---@field api_key string|nil
---@field secret_key string|nil
---@field note string|nil
---@field funds_password string|nil  MD5, hexadecimal
---@field saved_addresses_only boolean|nil  withdrawals to other addresses are rejected

---@class purser.SimAccount
---@field uid string
---@field api_key string
---@field secret_key string

---@class purser.SimDepositOptions  of an account, or to an address
---@field account string|table|nil
---@field address string|nil
---@field memo string|nil
---@field coin string
---@field network string|nil
---@field amount string|integer
---@field tx_id string|nil
---@field time integer|nil  epoch ms: one that arrived then

---@class purser.SimRebateOptions
---@field account string|table
---@field asset string
---@field amount string|integer
---@field type string|nil  "spot" or "futures"
---@field uid string|nil   the user who brought it
---@field time integer|nil  epoch ms. Default: now

---@class purser.SimTradeOptions
---@field account string|table
---@field changes table<string, string>  by asset: what comes, or with a minus what goes

---@class purser.SimAddressOptions
---@field account string|table
---@field coin string
---@field network string  long name or short id
---@field address string
---@field memo string|nil

local rules_of = {
  account = {
    name = "string", role = { "broker", "main", "user", "sub" }, parent = reference, balances = "table",
    futures_balances = "table", email = "string", mobile = "string", uid = "string",
    permissions = "string or table", ip = "string or table",
    api_key = "string", secret_key = "string", note = "string", funds_password = "string",
    saved_addresses_only = "boolean",
  },
  deposit = {
    account = reference, address = "string", coin = "string", network = "string", amount = "string or number",
    memo = "string", tx_id = "string", time = time,
  },
  rebate = {
    account = reference, asset = "string", amount = "string or number", type = "string", uid = "string", time = time,
  },
  trade = { account = reference, changes = "table" },
  save_address = { account = reference, coin = "string", network = "string", address = "string", memo = "string" },
  freeze = { account = reference, frozen = "boolean" },
}

local function check_words(what, fields)
  local message = option_schema.text(fields, rules_of[what], what .. " field")
  return not message, message
end

--- Finds an account by its uid, its name, or a table with one of them.
local function find(sim, requested)
  if type(requested) == "table" then requested = requested.uid or requested.name end
  if sim.accounts.by_id[requested] then return sim.accounts.by_id[requested] end
  for _, account in ipairs(sim.accounts.all) do
    if requested ~= nil and account.name == requested then return account end
  end
  return nil, ("there is no account %s"):format(tostring(requested))
end

-- Checks the fields of a method, and finds the account that they name. Returns it, or nil and what is wrong.
local function account_of(sim, what, fields)
  local ok, message = check_words(what, fields)
  if not ok then return nil, message end
  return find(sim, fields.account)
end

-- Reads a map of amounts as texts: from 0 on, unless they are changes. Returns nil and a message where it is none.
local function read_amounts(amounts, are_changes)
  local read = {}
  for asset, text in pairs(amounts or {}) do
    local amount = type(text) ~= "number" and type(asset) == "string" and decimal(text) or nil
    if not amount or amount:sign() < 0 and not are_changes then
      return nil, ("the %s of %s must be the text of a decimal%s, under the coin's name"):format(
        are_changes and "change" or "balance", tostring(asset), are_changes and "" or " from 0 on")
    end
    read[asset] = tostring(amount)
  end
  return read
end

-- Returns what is wrong with the names of a new account, or nil: two with one name of it would be mixed up.
local function check_identity(sim, fields)
  local uid, password = fields.uid, fields.funds_password
  if uid and not uid:find("^%w+$") then return "uid must be letters and digits" end
  if uid and sim.accounts.by_id[uid] then return "that uid is taken" end
  if fields.email and accounts.by_identifier(sim, "EMAIL", fields.email) then return "that email is taken" end
  if fields.mobile and accounts.by_identifier(sim, "MOBILE", fields.mobile, "") then return "that mobile is taken" end
  if password and (#password ~= 32 or password:find("%X")) then
    return "funds_password must be an MD5 of 32 hexadecimal digits"
  end
end

local function check_account(sim, fields)
  local ok, message = check_words("account", fields)
  if not ok then return nil, message end
  message = check_identity(sim, fields)
  if message then return nil, message end
  local role, parent = fields.role or "main", nil
  if role ~= "sub" and fields.parent then return nil, 'an account with a parent needs role = "sub"' end
  if role == "sub" then
    parent, message = find(sim, fields.parent)
    if not parent then return nil, "a sub-account needs its parent: " .. message end
    if not fields.name then return nil, "a sub-account needs a name" end
    if accounts.sub(sim, parent, fields.name) then return nil, "that name is taken" end
  end
  return role, parent
end

-- Returns what is wrong with a key that is given, or nil. A secret that is not given is drawn.
local function check_key(sim, api_key, secret_key)
  if api_key and not accounts.is_api_key(api_key) then return "api_key must be 8 to 64 letters and digits" end
  if api_key and sim.keys.by_id[api_key] then return "that api_key is taken" end
  if not secret_key then return nil end
  local signer, message = core.signer("hmac-sha256", secret_key)
  if not signer then return "secret_key cannot be used: " .. message end
  signer:close()
end

-- A text, or the texts of a list joined by commas; or nil and what is wrong.
local function joined(list, what)
  if type(list) ~= "table" then return list end
  for i, word in pairs(list) do
    if type(i) ~= "number" or type(word) ~= "string" then return nil, what .. " must be a list of texts" end
  end
  return table.concat(list, ",")
end

--- Opens an account with funds and a key of all permissions. Returns it; or nil and what is wrong.
---@param fields purser.SimAccountOptions
---@return purser.SimAccount|nil account, string|nil message
function World:account(fields)
  local role, parent = check_account(self, fields)
  if not role then return nil, parent end
  local spot, wrong = read_amounts(fields.balances)
  if not spot then return nil, wrong end
  wrong = check_key(self, fields.api_key, fields.secret_key)
  if wrong then return nil, wrong end
  local futures
  futures, wrong = read_amounts(fields.futures_balances)
  if not futures then return nil, wrong end
  local permissions, ip
  permissions, wrong = joined(fields.permissions, "permissions")
  if wrong then return nil, wrong end
  ip, wrong = joined(fields.ip, "ip")
  if wrong then return nil, wrong end
  self:run_due()
  local account = accounts.add(self, {
    role = role, parent = parent and parent.uid, name = fields.name, note = fields.note, email = fields.email,
    mobile = fields.mobile, uid = fields.uid,
    funds_password = fields.funds_password and fields.funds_password:lower(),
    saved_addresses_only = fields.saved_addresses_only,
  })
  self.grants:enter { uid = account.uid, business = "SPOT", amounts = spot }
  self.grants:enter { uid = account.uid, business = "FUTURES", amounts = futures }
  local key = accounts.add_key(self, account, {
    permissions = permissions or rules.all_permissions, ip = ip, note = "first key",
    api_key = fields.api_key, secret_key = fields.secret_key,
  })
  return { uid = account.uid, api_key = key.api_key, secret_key = key.secret_key }
end

--- A deposit arrives. Returns it as histories show it, with its `id`; or nil and what is wrong.
---@param fields purser.SimDepositOptions
---@return table|nil deposit, string|nil message
function World:deposit(fields)
  local ok, message = check_words("deposit", fields)
  if not ok then return nil, message end
  self:run_due()
  local account
  if fields.account and fields.address then return nil, "give the account or the address of a deposit, not both" end
  if fields.account then
    account, message = find(self, fields.account)
    if not account then return nil, message end
  end
  return deposits.arrive(self, account, fields)
end

--- A rebate accrues to a broker. It is a record for A15 and moves no funds.
---@param fields purser.SimRebateOptions
---@return table|nil rebate, string|nil message
function World:rebate(fields)
  local broker, message = account_of(self, "rebate", fields)
  if not broker then return nil, message end
  if broker.role ~= "broker" then return nil, "only a broker has rebates" end
  local amount = type(fields.amount) == "string" and decimal(fields.amount)
  if not fields.asset or not amount then return nil, "a rebate needs an asset and the text of an amount" end
  return rebates.public(rebates.add(self, broker, {
    asset = fields.asset, amount = tostring(amount), type = fields.type, time = fields.time,
    uid = fields.uid or self.dice:text(8, prng.DIGITS),
  }))
end

--- Changes free spot balances as a trade does: no operation shows a record of it. Returns the account's balances.
---@param fields purser.SimTradeOptions
---@return { asset: string, free: string, locked: string }[]|nil balances, string|nil message
function World:trade(fields)
  local account, message = account_of(self, "trade", fields)
  if not account then return nil, message end
  local changes
  changes, message = read_amounts(fields.changes, true)
  if not changes then return nil, message end
  self:run_due()
  local granted, asset = self.grants:enter { uid = account.uid, business = "SPOT", amounts = changes }
  if not granted then return nil, "the account has less " .. asset end
  return accounts.balances(self, account, "SPOT")
end

--- Saves a withdrawal address in an account's address book.
---@param fields purser.SimAddressOptions
---@return table|nil address, string|nil message
function World:save_address(fields)
  local account, message = account_of(self, "save_address", fields)
  if not account then return nil, message end
  if not fields.address then return nil, "a saved address needs an address" end
  return addresses.save(self, account, fields)
end

--- Freezes an account by name or uid, or thaws it: freeze("name"), freeze("name", false).
---@param name string|{ uid: string|nil, name: string|nil }
---@param frozen boolean|nil
---@return { uid: string, frozen: boolean }|nil account, string|nil message
function World:freeze(name, frozen)
  local account, message = account_of(self, "freeze", { account = name, frozen = frozen })
  if not account then return nil, message end
  account.frozen = frozen ~= false or nil
  return { uid = account.uid, frozen = account.frozen == true }
end

--- Puts a deposit into a state: its id, and the state's number (1 to 12) or name. It stays there until it is put into
--- another. Returns the deposit as histories show it; nil and why not.
---@param id string|integer
---@param status integer|string
---@return table|nil deposit, string|nil message
function World:set_deposit(id, status)
  self:run_due()
  local deposit, wrong = deposits.set(self, id, states.number("deposit", status) or tonumber(status))
  return deposit, wrong
end

--- Puts a withdrawal into a state: its id, and the state's number (1 to 10) or name. See set_deposit.
---@param id string|integer
---@param status integer|string
---@return table|nil withdrawal, string|nil message
function World:set_withdrawal(id, status)
  self:run_due()
  local withdrawal, wrong = withdrawals.set(self, id, states.number("withdrawal", status) or tonumber(status))
  return withdrawal, wrong
end

--- Ends a transfer that waits (option transfer_wait_ms) as failed; its funds come back.
---@param id string
---@return any ended, string|nil message
function World:fail_transfer(id)
  self:run_due()
  return transfers.finish(self, id, "FAILED")
end

--- Everyone with everything they have, for people to look at.
---@return { now: integer, accounts: table[] }
function World:state()
  self:run_due()
  local list = {}
  for i, account in ipairs(self.accounts.all) do
    list[i] = {
      uid = account.uid, role = account.role, name = account.name, email = account.email, parent = account.parent,
      frozen = account.frozen == true, spot = accounts.balances(self, account, "SPOT"),
      futures = accounts.balances(self, account, "FUTURES"),
    }
  end
  return { now = self:now(), accounts = list }
end

return World

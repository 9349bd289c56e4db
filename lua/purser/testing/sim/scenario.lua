-- SPDX-License-Identifier: MIT
-- Accounts open, trade and are frozen without a request.

local accounts = require "purser.testing.sim.accounts"
local core = require "purser.core"
local decimal = require "purser.decimal"
local option_schema = require "purser.client.util.option_schema"
local rules = require "purser.testing.sim.rules"

---@class purser.Sim
local methods = {}

-- An amount that is a number is rejected where its digits would count.
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

---@class purser.SimAccount
---@field uid string
---@field api_key string
---@field secret_key string

---@class purser.SimTradeOptions
---@field account string|table
---@field changes table<string, string>  by asset: what comes, or with a minus what goes

local account_rules = {
  name = "string", role = { "broker", "main", "user", "sub" }, parent = "string or table", balances = "table",
  futures_balances = "table", email = "string", mobile = "string", uid = "string", permissions = "string or table",
  ip = "string or table", api_key = "string", secret_key = "string", note = "string", funds_password = "string",
}
local trade_rules = { account = "string or table", changes = "table" }
local freeze_rules = { account = "string or table", frozen = "boolean" }

-- Each check returns what is wrong, or nil. Two accounts with one name would be mixed up.
local function identity_problem(sim, fields)
  local uid, password = fields.uid, fields.funds_password
  if uid and not uid:find("^%w+$") then return "uid must be letters and digits" end
  if uid and sim.accounts.by_id[uid] then return "that uid is taken" end
  if fields.email and accounts.by_identifier(sim, "EMAIL", fields.email) then return "that email is taken" end
  if fields.mobile and accounts.by_identifier(sim, "MOBILE", fields.mobile, "") then return "that mobile is taken" end
  if password and (#password ~= 32 or password:find("%X")) then
    return "funds_password must be an MD5 of 32 hexadecimal digits"
  end
end

local function parent_problem(sim, fields)
  if fields.role ~= "sub" then return fields.parent and 'an account with a parent needs role = "sub"' or nil end
  local parent, message = accounts.find(sim, fields.parent)
  if not parent then return "a sub-account needs its parent: " .. message end
  if not fields.name then return "a sub-account needs a name" end
  return accounts.sub_of(sim, parent, fields.name) and "that name is taken" or nil
end

local function amounts_problem(amounts, are_changes)
  for asset, text in pairs(amounts or {}) do
    local amount = type(text) ~= "number" and type(asset) == "string" and decimal(text) or nil
    if not amount or amount:sign() < 0 and not are_changes then
      return ("the %s of %s must be the text of a decimal%s, under the coin's name"):format(
        are_changes and "change" or "balance", tostring(asset), are_changes and "" or " from 0 on")
    end
  end
end

local function key_problem(sim, api_key, secret_key)
  if api_key and not accounts.is_api_key(api_key) then return "api_key must be 8 to 64 letters and digits" end
  if api_key and sim.keys.by_id[api_key] then return "that api_key is taken" end
  local signer, message = core.signer("hmac-sha256", secret_key or "drawn")
  if not signer then return "secret_key cannot be used: " .. message end
  signer:close()
end

local function list_problem(list, what)
  for i, word in pairs(type(list) == "table" and list or {}) do
    if type(i) ~= "number" or type(word) ~= "string" then return what .. " must be a list of texts" end
  end
end

local function joined(list) return type(list) == "table" and table.concat(list, ",") or list end

-- Adds amounts to an account; a minus takes. Returns nil and an asset with too small a balance.
local function grant(sim, account, business, amounts)
  local texts = {}
  for asset, amount in pairs(amounts or {}) do texts[asset] = tostring(decimal(amount)) end
  return sim.grants:enter { uid = account.uid, business = business, amounts = texts }
end

--- Opens an account with funds and a key of all permissions. Returns it; or nil and what is wrong.
---@param fields purser.SimAccountOptions
---@return purser.SimAccount|nil account, string|nil message
function methods:account(fields)
  local wrong = option_schema.text(fields, account_rules, "account field") or identity_problem(self, fields)
    or parent_problem(self, fields) or amounts_problem(fields.balances) or amounts_problem(fields.futures_balances)
    or key_problem(self, fields.api_key, fields.secret_key) or list_problem(fields.permissions, "permissions")
    or list_problem(fields.ip, "ip")
  if wrong then return nil, wrong end
  self:run_due()
  local account = accounts.add(self, {
    role = fields.role or "main", parent = fields.role == "sub" and accounts.find(self, fields.parent).uid or nil,
    name = fields.name, note = fields.note, email = fields.email, mobile = fields.mobile, uid = fields.uid,
    funds_password = fields.funds_password and fields.funds_password:lower(),
  })
  grant(self, account, "SPOT", fields.balances)
  grant(self, account, "FUTURES", fields.futures_balances)
  local key = accounts.add_key(self, account, {
    permissions = joined(fields.permissions) or rules.all_permissions, ip = joined(fields.ip), note = "first key",
    api_key = fields.api_key, secret_key = fields.secret_key,
  })
  return { uid = account.uid, api_key = key.api_key, secret_key = key.secret_key }
end

--- Changes free spot balances as a trade does: no operation shows a record of it. Returns the account's balances.
---@param fields purser.SimTradeOptions
---@return { asset: string, free: string, locked: string }[]|nil balances, string|nil message
function methods:trade(fields)
  local account, message = accounts.named(self, "trade", fields, trade_rules)
  message = message or amounts_problem(fields.changes, true)
  if message then return nil, message end
  self:run_due()
  local granted, asset = grant(self, account, "SPOT", fields.changes)
  if not granted then return nil, "the account has less " .. asset end
  return accounts.balances(self, account, "SPOT")
end

--- Freezes an account by name or uid, or thaws it: freeze("name"), freeze("name", false).
---@param name string|{ uid: string|nil, name: string|nil }
---@param frozen boolean|nil
---@return { uid: string, frozen: boolean }|nil account, string|nil message
function methods:freeze(name, frozen)
  local account, message = accounts.named(self, "freeze", { account = name, frozen = frozen }, freeze_rules)
  if not account then return nil, message end
  account.frozen = frozen ~= false or nil
  return { uid = account.uid, frozen = account.frozen == true }
end

--- Returns everyone with everything they have, for people to look at.
---@return { now: integer, accounts: table[] }
function methods:state()
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

return { methods = methods }

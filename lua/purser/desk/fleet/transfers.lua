-- SPDX-License-Identifier: MIT
-- Moves between a parent and its sub-accounts, as a list of payments for a queue of payouts. A key is made of the
-- list's name, the account and the asset, so each move is made once.

local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local option_schema = require "purser.client.util.option_schema"
local plain_text = require "purser.client.util.plain_text"

local M = {}

-- Returns an error of the options; `name` and the option `needed` must be given.
local function check(given, rules, needed, hint)
  rules.name = option_schema.NAME
  local err = errors.option(option_schema.check(given, rules, "option"))
  if err then return err end
  for _, each in ipairs { needed, "name" } do
    if not given[each] then
      return errors.option(('option "%s" is missing'):format(each), each, each == "name"
        and 'give the list a name, such as "sweep-2026-06": the keys of its payments begin with it' or hint)
    end
  end
end

local function add(list, fleet, name, direction, account, asset, amount)
  if amount:sign() <= 0 then return end
  list[#list + 1] = { key = ("%s-%s-%s"):format(name, account, asset:upper()), operation = fleet.group .. ".transfer",
    params = { [direction] = account, fromAccountType = "SPOT", toAccountType = "SPOT", asset = asset,
      amount = tostring(amount) } }
end

local function amount_of(what, text)
  local value = type(text) ~= "table" and decimal(text)
  if not value or value:sign() < 0 or (type(text) == "number" and text ~= math.floor(text)) then
    return nil, errors.option(('option "%s" holds what is no amount'):format(what), what,
      "give the text of a decimal from 0 on")
  end
  return value
end

-- Returns a function that says how much of an asset stays; or nil and an error.
local function kept_of(leave)
  local by_asset, rest = {}, type(leave) ~= "table" and leave or "0"
  for asset, text in pairs(type(leave) == "table" and leave or {}) do
    local kept, err = amount_of("leave", type(asset) == "string" and text)
    if not kept then return nil, err end
    by_asset[asset:upper()] = kept
  end
  local others, err = amount_of("leave", rest)
  return others and function(asset) return by_asset[asset:upper()] or others end, err
end

--- Does what purser.fleet says of sweep. Reads each account's balances (B8).
function M.sweep(fleet, options)
  local err = check(options, { to = { "parent" }, leave = "any", assets = option_schema.TEXTS }, "to",
    'give to = "parent"')
  if err then return nil, err end
  local only, kept = options.assets and {} -- luacheck: ignore 221
  for _, asset in ipairs(options.assets or {}) do only[asset:upper()] = true end
  kept, err = kept_of(options.leave)
  if not kept then return nil, err end
  local list = {}
  for _, account in ipairs(fleet.accounts) do
    local name = account.name
    local held, problem = fleet.client.sub_account:balances { subAccount = name, accountType = "SPOT" }
    if not held then return nil, problem end
    for _, balance in ipairs(held) do
      if not balance.asset then
        return nil, errors.undecodable("sub_account.balances", "the list has a balance without an asset")
      end
      if not only or only[balance.asset:upper()] then
        local free, why = decimal.shown(balance.free)
        if not free then
          return nil, errors.undecodable("sub_account.balances", ("the balance of %s of %s: %s"):format(
            plain_text.clean(balance.asset), plain_text.clean(name), why), "leave it out of `assets`")
        end
        add(list, fleet, options.name, "fromAccount", name, balance.asset, free - kept(balance.asset))
      end
    end
  end
  return list
end

function M.distribute(fleet, options)
  local wrong = check(options, { asset = "string", amounts = "table", each = "any" }, "asset",
    "give the asset to distribute")
  if wrong then return nil, wrong end
  if not options.amounts and options.each == nil then
    return nil, errors.option('option "amounts" is missing', "amounts", "give one by account name, or `each` for all")
  end
  local list, known = {}, {}
  for _, account in ipairs(fleet.accounts) do
    local name = account.name
    known[name] = true
    local option, text = "amounts", (options.amounts or {})[name]
    if text == nil then option, text = "each", options.each end
    local amount, err = amount_of(option, text == nil and "0" or text)
    if not amount then return nil, err end
    add(list, fleet, options.name, "toAccount", name, options.asset, amount)
  end
  for name in pairs(options.amounts or {}) do
    if not known[name] then
      return nil, errors.option(("%s is no account of this fleet"):format(tostring(name)), "amounts",
        "give the names of its accounts")
    end
  end
  return list
end

return M

-- SPDX-License-Identifier: MIT
-- Accounts, sub-accounts and API keys. Only the answer that makes a key shows the secret. role: "broker" (a main
-- account with group A), "main" and "user" (main accounts), "sub" (`parent` is a uid).

local clock = require "purser.testing.sim.clock"
local decimal = require "purser.decimal"
local history = require "purser.testing.sim.history"
local ledger = require "purser.testing.sim.ledger"
local option_schema = require "purser.client.util.option_schema"
local prng = require "purser.testing.sim.prng"
local rejection = require "purser.testing.sim.rejection"

local MAX_KEYS = 30 -- of an account

local function sub_key(parent_uid, name) return ("sub %s %s"):format(parent_uid, name) end

local M = { histories = {
  accounts = { id = "uid", keys = function(account)
    if account.parent then return "of " .. account.parent, sub_key(account.parent, account.name) end
    return "UID " .. account.uid, account.email and "EMAIL " .. account.email:lower(),
      account.mobile and "MOBILE " .. account.mobile
  end },
  keys = { id = "api_key", keys = function(key) return key.uid end },
  -- what came from the outside, or with a minus went there: funds at the start, and trades
  grants = { keys = function() end, moves = function(grant, move)
    for asset, amount in pairs(grant.amounts) do
      move(asset, decimal(amount), ledger.WORLD, ledger.place(grant.uid, grant.business))
    end
  end },
} }

--- Adds an account with these fields; its uid is given or the next free one.
function M.add(sim, fields)
  local number = 10000001 + #sim.accounts.all * 37
  while not fields.uid or sim.accounts.by_id[fields.uid] do
    fields.uid, number = ("%d"):format(number), number + 37
  end
  fields.time = sim:now()
  return sim.accounts:add(fields)
end

--- Returns the account of a uid, of a name, or of a table with one of them; or nil and what is wrong.
function M.find(sim, requested)
  if type(requested) == "table" then requested = requested.uid or requested.name end
  if sim.accounts.by_id[requested] then return sim.accounts.by_id[requested] end
  for _, account in ipairs(sim.accounts.all) do
    if requested ~= nil and account.name == requested then return account end
  end
  return nil, ("there is no account %s"):format(tostring(requested))
end

--- Checks the fields of a simulator's method. Returns the named account; or nil and the problem.
function M.named(sim, method, fields, rules)
  local message = option_schema.text(fields, rules, method .. " field")
  if message then return nil, message end
  return M.find(sim, fields.account)
end

--- Returns the sub-account of that name of a parent, or nil.
function M.sub_of(sim, parent, name) return sim.accounts:of(sub_key(parent.uid, name))[1] end

--- Returns the sub-account of that name of a parent; rejects a request that names none.
function M.sub(sim, parent, name)
  local sub = M.sub_of(sim, parent, name)
  return sub or rejection.raise("140001", ("The sub-account %s does not exist"):format(name))
end

--- Returns the main account that an identifier stands for. `kind` is EMAIL, UID or MOBILE.
function M.by_identifier(sim, kind, identifier, area_code)
  if kind == "EMAIL" then identifier = identifier:lower() end
  if kind == "MOBILE" then identifier = area_code .. identifier end
  return sim.accounts:of(kind .. " " .. identifier)[1]
end

--- Returns the name of a main account in the records of transfers.
function M.display_name(account)
  return account.parent and account.name or account.email or account.mobile or account.uid
end

--- Tells whether an account can hold futures funds. Only a broker's sub-accounts start disabled, as A14 enables them.
function M.has_futures(sim, account)
  if not account.parent or sim.accounts.by_id[account.parent].role ~= "broker" then return true end
  return account.futures == true
end

-- Returns a sub-account with the members of all answers.
local function public(sub)
  return {
    subAccount = sub.name, note = sub.note, timestamp = sub.time, createTime = sub.time, uid = sub.uid,
    isFreeze = sub.frozen == true,
  }
end

local function create_sub(sim, account, values)
  if M.sub_of(sim, account, values.subAccount) then rejection.raise "730101" end
  local max = sim.options.max_sub_accounts
  if max > 0 and #sim.accounts:of("of " .. account.uid) >= max then
    rejection.raise("730002", ("At most %d sub-accounts can be created (max_sub_accounts)"):format(max))
  end
  return public(M.add(sim, {
    role = "sub", parent = account.uid, name = values.subAccount, note = values.note, funds_password = values.password,
  }))
end

-- Returns the records of a list that are visible now and pass a filter, each as `show` shows it, oldest first.
local function visible_of(sim, list, show, passes)
  local found, seen = {}, sim:visible()
  for _, record in ipairs(list) do
    if (not seen or record.time <= seen) and (not passes or passes(record)) then found[#found + 1] = show(record) end
  end
  return found
end

local function list(sim, account, values)
  return history.cut(visible_of(sim, sim.accounts:of("of " .. account.uid), public, function(sub)
    return (not values.subAccount or sub.name == values.subAccount)
      and (not values.isFreeze or (values.isFreeze == "true") == (sub.frozen == true))
  end), values)
end

-- Returns the handler of an operation on the parameter `subAccount`: handle(sim, sub, values).
local function on_sub(handle)
  return function(sim, account, values)
    return handle(sim, M.sub(sim, account, values.subAccount), values)
  end
end

local status = on_sub(function(_, sub) return { status = sub.frozen and "2" or "1" } end)

local enable_futures = on_sub(function(sim, sub)
  if sub.frozen then rejection.raise "140002" end
  sub.futures = true
  return { subAccount = sub.name, isFuturesEnabled = true, timestamp = sim:now() }
end)

local balances = on_sub(function(sim, sub, values) return M.balances(sim, sub, values.accountType) end)

--- Returns the balances of an account that are not zero: { asset, free, locked } each.
function M.balances(sim, account, business)
  local free, locked = ledger.place(account.uid, business), ledger.place(account.uid, business, "locked")
  local found = {}
  for i, asset in ipairs(sim.ledger:assets(free, locked)) do
    found[i] = {
      asset = asset, free = tostring(sim.ledger:balance(free, asset)),
      locked = tostring(sim.ledger:balance(locked, asset)),
    }
  end
  return found
end

--- Tells whether a text has the form of a public key.
function M.is_api_key(text)
  return text:find("^%w+$") ~= nil and #text >= 8 and #text <= 64
end

--- Returns the remaining days of a key, rounded up; nil for a key with an IP list, which does not end; 0 after the end.
function M.days_left(sim, key)
  local days = sim.options.key_days
  if key.ip or days == 0 then return nil end
  return math.max(0, math.ceil((key.time + days * clock.DAY - sim:now()) / clock.DAY))
end

--- Makes a key for an account: { permissions, ip, note }. `api_key` and `secret_key` are drawn unless given.
function M.add_key(sim, account, fields)
  return sim.keys:add {
    uid = account.uid, permissions = fields.permissions, ip = fields.ip, note = fields.note, time = sim:now(),
    api_key = fields.api_key or "mx0" .. sim.dice:text(21, prng.LETTERS_AND_DIGITS),
    secret_key = fields.secret_key or sim.dice:text(32, prng.HEX),
  }
end

local function public_key(key)
  return {
    note = key.note, apiKey = key.api_key, permissions = key.permissions, ip = key.ip or "", createTime = key.time,
  }
end

local create_key = on_sub(function(sim, sub, values)
  if sub.frozen then rejection.raise "140002" end
  if #sim.keys:of(sub.uid) >= MAX_KEYS then rejection.raise "730705" end
  local key = M.add_key(sim, sub, values)
  local made = public_key(key)
  made.subAccount, made.secretKey = sub.name, key.secret_key
  return made
end)

local list_keys = on_sub(function(sim, sub) return visible_of(sim, sim.keys:of(sub.uid), public_key) end)

local delete_key = on_sub(function(sim, sub, values)
  local key = sim.keys.by_id[values.apiKey]
  if not key or key.uid ~= sub.uid then rejection.raise "730706" end
  sim.keys:remove(key)
  return { subAccount = sub.name }
end)

M.handlers = {
  A2 = create_sub, B1 = create_sub, A3 = list, B2 = list, A4 = status, A14 = enable_futures,
  B8 = balances, A5 = create_key, B3 = create_key, A6 = list_keys, B4 = list_keys, A7 = delete_key, B5 = delete_key,
}

return M

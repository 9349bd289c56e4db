-- SPDX-License-Identifier: MIT
-- Users and their sub-accounts: who exists, who belongs to whom, who is frozen, who has a futures business.
--
-- role: "broker" (a main account with group A), "main" and "user" (main accounts), "sub" (its `parent` is a uid).

local ledger = require "purser.sim.ledger"
local paging = require "purser.sim.paging"

local M = {}

function M.setup(sim)
  sim.accounts = { list = {}, by_uid = {}, by_name = {}, by_identifier = {}, subs = {} }
end

local function sub_key(parent_uid, name) return parent_uid .. "|" .. name end

local function index(sim, account)
  local book = sim.accounts
  book.list[#book.list + 1] = account
  book.by_uid[account.uid] = account
  if account.parent then
    book.by_name[sub_key(account.parent, account.name)] = account
    book.subs[account.parent] = book.subs[account.parent] or {}
    table.insert(book.subs[account.parent], account)
  else
    book.by_identifier["UID|" .. account.uid] = account
    if account.email then book.by_identifier["EMAIL|" .. account.email:lower()] = account end
    if account.mobile then book.by_identifier["MOBILE|" .. account.mobile] = account end
  end
end

--- Adds an account with these fields; its uid is given or the next free one.
function M.add(sim, fields)
  local number = 10000001 + #sim.accounts.list * 37
  while not fields.uid or sim.accounts.by_uid[fields.uid] do
    fields.uid, number = ("%d"):format(number), number + 37
  end
  fields.created = sim:now()
  index(sim, fields)
  return fields
end

--- The sub-account of that name of a parent, or nil, code.
function M.sub(sim, parent, name)
  local sub = sim.accounts.by_name[sub_key(parent.uid, name)]
  if not sub then return nil, "140001", ("The sub-account %s does not exist"):format(name) end
  return sub
end

--- The main account that an identifier stands for. `kind` is EMAIL, UID or MOBILE.
function M.by_identifier(sim, kind, identifier, area_code)
  if kind == "EMAIL" then identifier = identifier:lower() end
  if kind == "MOBILE" then identifier = area_code .. identifier end
  return sim.accounts.by_identifier[kind .. "|" .. identifier]
end

--- How a main account is named in the records of transfers.
function M.display_name(account)
  return account.parent and account.name or account.email or account.mobile or account.uid
end

--- Whether an account can hold futures funds. Only a broker's sub-accounts have to be enabled (A14): the interface
--- gives other main accounts no operation for it, so theirs are enabled from the start.
function M.has_futures(sim, account)
  if not account.parent or sim.accounts.by_uid[account.parent].role ~= "broker" then return true end
  return account.futures == true
end

local function create_sub(sim, account, values)
  if sim.accounts.by_name[sub_key(account.uid, values.subAccount)] then return nil, "730101" end
  local max = sim.switches.max_sub_accounts
  if max > 0 and #(sim.accounts.subs[account.uid] or {}) >= max then
    return nil, "730002", ("At most %d sub-accounts can be created (max_sub_accounts)"):format(max)
  end
  local sub = M.add(sim, {
    role = "sub", parent = account.uid, name = values.subAccount, note = values.note, funds_password = values.password,
  })
  return { subAccount = sub.name, note = sub.note, timestamp = sub.created }
end

-- The visible sub-accounts of a parent that pass a filter, oldest first.
local function subs_of(sim, account, passes)
  local found, seen = {}, sim:visible()
  for _, sub in ipairs(sim.accounts.subs[account.uid] or {}) do
    if (not seen or sub.created <= seen) and passes(sub) then found[#found + 1] = sub end
  end
  return found
end

-- A3
local function broker_list(sim, account, values)
  local subs = subs_of(sim, account, function(sub) return not values.subAccount or sub.name == values.subAccount end)
  local found = {}
  for i, sub in ipairs(paging.cut(subs, values.page, values.limit)) do
    found[i] = { subAccount = sub.name, note = sub.note, timestamp = sub.created }
  end
  return found
end

-- B2
local function family_list(sim, account, values)
  local subs = subs_of(sim, account, function(sub)
    return (not values.subAccount or sub.name == values.subAccount)
      and (not values.isFreeze or (values.isFreeze == "true") == (sub.frozen == true))
  end)
  local found = {}
  for i, sub in ipairs(paging.cut(subs, values.page, values.limit)) do
    found[i] = { subAccount = sub.name, isFreeze = sub.frozen == true, createTime = sub.created, uid = sub.uid }
  end
  return found
end

-- A4
local function status(sim, account, values)
  local sub, code, message = M.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  return { status = sub.frozen and "2" or "1" }
end

-- A14
local function enable_futures(sim, account, values)
  local sub, code, message = M.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  if sub.frozen then return nil, "140002" end
  sub.futures = true
  return { subAccount = sub.name, isFuturesEnabled = true, timestamp = ("%d"):format(sim:now()) }
end

-- B8
local function balances(sim, account, values)
  local sub, code, message = M.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  return M.balances(sim, sub, values.accountType)
end

--- The balances of an account that are not zero: { asset, free, locked } each.
function M.balances(sim, account, business)
  local free, locked = ledger.place(account.uid, business), ledger.place(account.uid, business, "locked")
  local names, found = {}, {}
  for _, place in ipairs { free, locked } do
    for _, asset in ipairs(sim.ledger:assets(place)) do
      if not names[asset] then
        names[asset] = true
        found[#found + 1] = {
          asset = asset, free = tostring(sim.ledger:balance(free, asset)),
          locked = tostring(sim.ledger:balance(locked, asset)),
        }
      end
    end
  end
  table.sort(found, function(a, b) return a.asset < b.asset end)
  return found
end

M.handlers = {
  A2 = create_sub, B1 = create_sub, A3 = broker_list, B2 = family_list, A4 = status, A14 = enable_futures,
  B8 = balances,
}

function M.snapshot(sim) return sim.accounts.list end

function M.restore(sim, state)
  for _, account in ipairs(state) do index(sim, account) end
end

return M

-- SPDX-License-Identifier: MIT
-- Transfers between a parent and its sub-accounts (A13, B6), and between the spot and futures accounts of one user
-- (C9).

local accounts = require "purser.sim.accounts"
local coins = require "purser.sim.coins"
local core = require "purser.core"
local decimal = require "purser.decimal"
local history = require "purser.sim.history"
local ledger = require "purser.sim.ledger"
local paging = require "purser.sim.paging"
local rules = require "purser.sim.rules"

local M = {}

-- The list that a transfer of a family belongs to: who to whom, and between which business accounts.
local function direction(parent, from, to, from_type, to_type)
  return table.concat({ parent, from, to, from_type, to_type }, "|")
end

function M.setup(sim)
  sim.family_transfers = history.new(function(record)
    return direction(record.parent, record.from, record.to, record.from_type, record.to_type)
  end)
  sim.wallet_transfers = history.new(function(record)
    return direction(record.uid, "", "", record.from_type, record.to_type)
  end)
  sim.client_ids = {}
  sim.transfer_number = 0
end

local function client_key(parent, id) return parent .. "|" .. id end

local function add_family(sim, record)
  sim.family_transfers:add(record)
  if record.client_id then sim.client_ids[client_key(record.parent, record.client_id)] = true end
end

--- The next transfer id: digits alone, and more of them than a floating-point number can hold; or 32 hexadecimal digits
--- where a switch asks for them. `is_number`: of an operation that has no such ids.
function M.next_id(sim, is_number)
  sim.transfer_number = sim.transfer_number + 1
  local digits = ("%d%06d"):format(sim:now(), sim.transfer_number % 1000000)
  if is_number or not sim.variant.hex_ids then return digits end
  return core.md5_hex(("%d %s"):format(sim.seed, digits))
end

-- One side of a family transfer: the parent when no name is given. Returns nil, code, message when it cannot take part.
local function side(sim, parent, name, business, row)
  local account = parent
  if name then
    local code, message
    account, code, message = accounts.sub(sim, parent, name)
    if not account then return nil, code, message end
    if account.frozen then return nil, "140002" end
  end
  if business == "FUTURES" and not accounts.has_futures(sim, account) then
    return nil, rules.bad_value(row), ("The futures business of %s is not enabled"):format(account.name)
  end
  return account
end

-- A13, B6
local function transfer(sim, parent, values, row)
  if not values.fromAccount and not values.toAccount then
    return nil, "700004", "fromAccount or toAccount must be sent, but both were empty/null"
  end
  local from, code, message = side(sim, parent, values.fromAccount, values.fromAccountType, row)
  if not from then return nil, code, message end
  local to
  to, code, message = side(sim, parent, values.toAccount, values.toAccountType, row)
  if not to then return nil, code, message end
  if from == to and values.fromAccountType == values.toAccountType then
    return nil, rules.bad_value(row), "The transfer has the same source and destination"
  end
  if not coins.by_name[values.asset] then return nil, "10232" end
  local client_id = values.clientTranId
  if client_id and sim.switches.repeated_ids == "reject" and sim.client_ids[client_key(parent.uid, client_id)] then
    return nil, rules.bad_value(row), "clientTranId was used before"
  end
  if not sim.ledger:move(values.asset, values.amount, ledger.place(from.uid, values.fromAccountType),
    ledger.place(to.uid, values.toAccountType)) then
    return nil, "10101"
  end
  local record = {
    parent = parent.uid, id = M.next_id(sim, row.id == "B6"), client_id = client_id, asset = values.asset,
    amount = tostring(values.amount), from = from.uid, to = to.uid, from_type = values.fromAccountType,
    to_type = values.toAccountType, status = "SUCCESS", time = sim:now(),
  }
  add_family(sim, record)
  return { tranId = record.id }
end

local function public_family(sim, record)
  local by_uid = sim.accounts.by_uid
  return {
    tranId = record.id, fromAccount = accounts.display_name(by_uid[record.from]),
    toAccount = accounts.display_name(by_uid[record.to]), clientTranId = record.client_id, asset = record.asset,
    amount = record.amount, fromAccountType = record.from_type, toAccountType = record.to_type, status = record.status,
    timestamp = record.time,
  }
end

-- A1, B7: an account that is not named is the parent.
local function family_history(sim, parent, values)
  local from, to, code, message = parent, parent, nil, nil
  if values.fromAccount then from, code, message = accounts.sub(sim, parent, values.fromAccount) end
  if not from then return nil, code, message end
  if values.toAccount then to, code, message = accounts.sub(sim, parent, values.toAccount) end
  if not to then return nil, code, message end
  local requested = values.clientTranId
  local key = direction(parent.uid, from.uid, to.uid, values.fromAccountType, values.toAccountType)
  local records = sim.family_transfers:page(key, values.startTime, sim:visible(values.endTime),
    (values.page - 1) * values.limit, values.limit,
    requested and function(record) return record.client_id == requested end)
  for i, record in ipairs(records) do records[i] = public_family(sim, record) end
  return records
end

local function wallet_places(record)
  return ledger.place(record.uid, record.from_type), ledger.place(record.uid, record.from_type, "locked"),
    ledger.place(record.uid, record.to_type)
end

--- Ends a waiting C9 transfer: "SUCCESS" pays it, "FAILED" gives it back. Nothing happens when it does not wait.
function M.finish(sim, id, status)
  local record = sim.wallet_transfers.by_id[id]
  if not record or record.status ~= "WAIT" then return nil, "there is no such waiting transfer" end
  local source, locked, target = wallet_places(record)
  record.status = status
  assert(sim.ledger:move(record.asset, decimal(record.amount), locked, status == "SUCCESS" and target or source))
  return true
end

--- The scheduled moment of a waiting transfer.
function M.due(sim, id)
  M.finish(sim, id, "SUCCESS")
end

-- C9
local function wallet_transfer(sim, account, values, row)
  if values.fromAccountType == values.toAccountType then
    return nil, "33333", "fromAccountType and toAccountType are the same"
  end
  if not coins.by_name[values.asset] then return nil, "10232" end
  if not accounts.has_futures(sim, account) then
    return nil, rules.bad_value(row), "The futures business of the account is not enabled"
  end
  local wait = sim.switches.transfer_wait_ms
  local record = {
    uid = account.uid, asset = values.asset, amount = tostring(values.amount), from_type = values.fromAccountType,
    to_type = values.toAccountType, status = wait > 0 and "WAIT" or "SUCCESS", time = sim:now(),
  }
  local source, locked, target = wallet_places(record)
  if wait > 0 then target = locked end
  if not sim.ledger:move(record.asset, values.amount, source, target) then return nil, "10101" end
  record.id = M.next_id(sim)
  sim.wallet_transfers:add(record)
  if wait > 0 then sim.schedule:add(record.time + wait, "transfer", record.id) end
  return { tranId = record.id }
end

local function public_wallet(record)
  return {
    tranId = record.id, asset = record.asset, amount = record.amount, fromAccountType = record.from_type,
    toAccountType = record.to_type, status = record.status, timestamp = record.time,
  }
end

-- C10
local function wallet_history(sim, account, values)
  local first, last, message = paging.six_months(sim:now(), values)
  if not first then return nil, last, message end
  local key = direction(account.uid, "", "", values.fromAccountType, values.toAccountType)
  local records, total = sim.wallet_transfers:page(key, first, sim:visible(last), (values.page - 1) * values.size,
    values.size)
  for i, record in ipairs(records) do records[i] = public_wallet(record) end
  return { rows = records, total = total }
end

-- C11
local function wallet_one(sim, account, values)
  local record = sim.wallet_transfers.by_id[values.tranId]
  local seen = sim:visible()
  if not record or record.hidden or record.uid ~= account.uid or record.time < paging.six_months_ago(sim:now())
    or (seen and record.time > seen) then
    return nil, "22222"
  end
  return public_wallet(record)
end

M.handlers = {
  A13 = transfer, B6 = transfer, A1 = family_history, B7 = family_history, C9 = wallet_transfer, C10 = wallet_history,
  C11 = wallet_one,
}

--- What is locked for waiting transfers: calls found(uid, business, asset, amount) for each.
function M.each_lock(sim, found)
  for _, record in ipairs(sim.wallet_transfers.all) do
    if record.status == "WAIT" then found(record.uid, record.from_type, record.asset, decimal(record.amount)) end
  end
end

function M.snapshot(sim)
  return {
    family = sim.family_transfers.all, wallet = sim.wallet_transfers.all, number = sim.transfer_number,
  }
end

function M.restore(sim, state)
  for _, record in ipairs(state.family) do add_family(sim, record) end
  sim.wallet_transfers:restore(state.wallet)
  sim.transfer_number = state.number
end

return M

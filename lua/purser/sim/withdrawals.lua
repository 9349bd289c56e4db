-- SPDX-License-Identifier: MIT
-- Withdrawals: checked, locked, audited, packaged, confirmed, done; cancelled while that is still possible.
--
-- The fee comes on top of the amount, or is taken out of it: the switch `fee` says which, and `includeFee` of a request
-- goes before it. All is locked when the withdrawal is applied for, and leaves together when it is packaged into a
-- transaction. States: 1 applied, 2 auditing, 3 waiting, 4 processing, 5 packaging, 6 confirming, 7 success, 8 failed,
-- 9 cancelled, 10 manual. A state that sim:set_withdrawal set stays: no timer moves such a withdrawal on.

local addresses = require "purser.sim.addresses"
local coins = require "purser.sim.coins"
local decimal = require "purser.decimal"
local deposits = require "purser.sim.deposits"
local history = require "purser.sim.history"
local ledger = require "purser.sim.ledger"
local rules = require "purser.sim.rules"
local prng = require "purser.sim.prng"

local M = { histories = { withdrawals = function(record) return record.uid end } }

local APPLIED, PACKAGING, CONFIRMING, SUCCESS, CANCELLED = 1, 5, 6, 7, 9

-- The way of a withdrawal: the state after this one, and how long after applying it begins (ms).
local next_state = {
  [1] = { 2, 1000 }, [2] = { 4, 20000 }, [4] = { PACKAGING, 30000 }, [PACKAGING] = { CONFIRMING, 60000 },
}

-- Where the funds of a withdrawal are in each state.
local place_of = {
  "locked", "locked", "locked", "locked", "locked", "sent", "sent", "back", "back", [10] = "locked",
}

-- The amount that the account pays, and the one that arrives at the address.
local function total_of(record)
  local amount = decimal(record.amount)
  return record.fee_inside and amount or amount:add(record.fee)
end

local function net_of(record)
  local amount = decimal(record.amount)
  return record.fee_inside and amount:sub(record.fee) or amount
end

-- The two places that a withdrawal's funds are at, of the account or of its record.
local function places(owner)
  return ledger.place(owner.uid, "SPOT"), ledger.place(owner.uid, "SPOT", "locked")
end

-- Where the funds of a withdrawal are, with their amounts: with who gets it and the world, or with the account.
local function funds_in(record, where)
  local free, locked = places(record)
  if where ~= "sent" then return { { where == "back" and free or locked, total_of(record) } } end
  local payee = record.to_uid and ledger.place(record.to_uid, "SPOT") or ledger.WORLD
  return { { payee, net_of(record) }, { ledger.WORLD, decimal(record.fee) } }
end

-- Puts a withdrawal into a state, and its funds where that state has them, by way of the lock. Returns nil where they
-- came back and were spent since.
local function enter(sim, record, status, at)
  local from, to, _, locked = place_of[record.status], place_of[status], places(record)
  for _, part in ipairs(from ~= to and from ~= "locked" and funds_in(record, from) or {}) do
    if not sim.ledger:move(record.coin, part[2], part[1], locked) then return nil end
  end
  for _, part in ipairs(from ~= to and to ~= "locked" and funds_in(record, to) or {}) do
    assert(sim.ledger:move(record.coin, part[2], locked, part[1]))
  end
  if from ~= to then record.tx_id = to == "sent" and sim.dice:text(64, prng.HEX) or nil end
  record.status, record.updated = status, at
  return true
end

-- The deposit of a withdrawal to an account of the platform.
local function arrive_inside(sim, record, at)
  local network = coins.network(record.coin, record.network)
  deposits.arrive_inside(sim, sim.accounts.by_uid[record.to_uid], network, { amount = tostring(net_of(record)),
    address = record.address, memo = record.memo, tx_id = record.tx_id, time = at })
end

local function confirmed_at(record) return record.updated + record.needed * record.block_ms end

--- The scheduled moment: on to the next state.
function M.due(sim, id, at)
  local record = sim.withdrawals.by_id[id]
  if record.held then return end
  local step = next_state[record.status]
  if record.status == CONFIRMING then
    enter(sim, record, SUCCESS, at)
    if record.to_uid then arrive_inside(sim, record, at) end
  elseif step then
    enter(sim, record, step[1], at)
    sim.schedule:add(record.status == CONFIRMING and confirmed_at(record) or record.time + next_state[record.status][2],
      "withdrawal", id)
  end -- cancelled or failed meanwhile: nothing more happens
end

-- Each check answers code and message when the withdrawal cannot be; the first that does ends it.
local function check_network(row, network, values)
  local bad = rules.bad_value(row)
  if not network.public.withdrawEnable then return bad, "Withdrawals of this coin on this network are suspended" end
  if values.contractAddress and values.contractAddress:lower() ~= network.public.contract:lower() then
    return bad, "contractAddress is not that of the coin on this network"
  end
end

local function check_destination(row, network, values)
  local bad = rules.bad_value(row)
  if not addresses.is_valid(network, values.address) then return bad, "The address does not fit the network" end
  if network.memo and not values.memo then return "700004", "Mandatory parameter 'memo' was not sent" end
  if values.memo and not addresses.is_valid_memo(network, values.memo) then
    return bad, "The memo does not fit the network"
  end
end

local function check_amount(row, network, values)
  local bad, limits, amount = rules.bad_value(row), network.public, values.amount
  local min, max = limits.withdrawMin, limits.withdrawMax
  if amount:compare(min) < 0 then return bad, "The amount is below the minimum of " .. min end
  if amount:compare(max) > 0 then return bad, "The amount is above the maximum of " .. max end
  local step = limits.withdrawIntegerMultiple
  if step and amount:round_down_to(step) ~= amount then return bad, "The amount is no multiple of " .. step end
end

-- A12 checks its own; C2 and C17 do where the account, or else the simulator, takes saved addresses only.
local function check_saved(sim, account, values, row, network)
  local only = account.saved_addresses_only
  if only == nil then only = sim.options.saved_addresses_only end
  if only and row.group == "wallet" and not addresses.is_saved(sim, account, network, values.address, values.memo) then
    return "10212"
  end
end

local function fee_is_inside(sim, values)
  if values.includeFee then return values.includeFee == "true" end
  return sim.options.fee == "inside"
end

-- Applies for a withdrawal from `account` over `network`.
local function apply(sim, account, values, row, network)
  local code, message = check_network(row, network, values)
  if not code then code, message = check_destination(row, network, values) end
  if not code then code, message = check_saved(sim, account, values, row, network) end
  if not code then code, message = check_amount(row, network, values) end
  if code then return nil, code, message end
  local order_id = values.withdrawOrderId
  local own_id = order_id and account.uid .. "|" .. order_id
  if own_id and sim.withdrawals.used[own_id] and sim.options.repeated_ids == "reject" then
    return nil, rules.bad_value(row), "withdrawOrderId was used before"
  end
  local amount, fee = tostring(values.amount), network.public.withdrawFee
  local inside = fee_is_inside(sim, values)
  if inside and values.amount:compare(fee) <= 0 then
    return nil, rules.bad_value(row), "The amount does not cover the fee of " .. fee
  end
  local free, locked = places(account)
  local total = inside and values.amount or values.amount:add(fee)
  if not sim.ledger:move(network.coin, total, free, locked) then return nil, "10101" end
  local destination = addresses.find(sim, network, values.address, values.memo)
  local record = sim.withdrawals:add {
    uid = account.uid, id = sim.dice:text(32, prng.HEX), order_id = order_id, own_id = own_id, coin = network.coin,
    network = network.long, address = values.address, memo = values.memo, amount = amount, fee = fee,
    fee_inside = inside or nil, remark = values.remark, status = APPLIED, time = sim:now(), updated = sim:now(),
    block_ms = network.block_ms, to_uid = destination and destination.uid, needed = network.public.minConfirm,
  }
  sim.schedule:add(record.time + next_state[APPLIED][2], "withdrawal", record.id)
  return { id = record.id }
end

-- C2 names the network by its short id, C17 by its long name. Without one the coin's first network is meant.
local function withdraw(sim, account, values, row)
  local coin, name = coins.by_name[values.coin], values.netWork or values.network
  local known = coin and (row.id == "C2" and coin.by_short or coin.by_long)
  local network = coin and (name and known[name] or not name and coin.networks[1])
  if not network then return nil, "10232" end
  return apply(sim, account, values, row, network)
end

-- A12 has no memo: an address that needs one carries it as a suffix. Without the funds password the address has to be
-- in the address book.
local function withdraw_sub(sim, account, values, row)
  local network, code, message = addresses.find_network(values.coin, values.network)
  if not network then return nil, code, message end
  if network.memo then
    local address, memo = values.address:match("^(.-):(.+)$")
    if address then values.address, values.memo = address, memo end
  end
  if values.password then
    local expected = account.funds_password or sim.accounts.by_uid[account.parent].funds_password
    if expected and expected ~= values.password then return nil, "730002", "The funds password is wrong" end
  elseif not addresses.is_saved(sim, account, network, values.address, values.memo) then
    return nil, "10212"
  end
  return apply(sim, account, values, row, network)
end

-- C3. An unknown id is answered like a known one, as the live service does. One that can
-- no longer be cancelled is rejected.
local function cancel(sim, account, values)
  local record = sim.withdrawals.by_id[values.id]
  if not record or record.uid ~= account.uid then return { id = values.id } end
  if record.status >= PACKAGING and record.status ~= CANCELLED then
    return nil, "730000", "The withdrawal can no longer be cancelled"
  end
  if record.status ~= CANCELLED then enter(sim, record, CANCELLED, sim:now()) end
  return { id = record.id }
end

local function confirmations(record, now)
  if record.status == SUCCESS then return record.needed end
  if record.status == CONFIRMING then return math.floor((now - record.updated) / record.block_ms) end
end

local function public(record, sim)
  local coin = coins.by_name[record.coin]
  return {
    id = record.id, withdrawOrderId = record.order_id, txId = record.tx_id, coin = record.coin,
    network = record.network, netWork = coins.short_id(record.coin, record.network),
    address = record.address, amount = record.amount,
    transferType = record.to_uid and 1 or 0, status = record.status,
    transactionFee = record.fee, confirmNo = confirmations(record, sim:now()), applyTime = record.time,
    updateTime = record.updated, remark = record.remark, memo = record.memo, transHash = record.tx_id,
    coinId = coin.id, vcoinId = coin.id,
  }
end

--- Tells whether a withdrawal can still fail: its funds have not left.
function M.can_fail(record) return place_of[record.status] == "locked" end

--- Puts a withdrawal into a state (1 to 10), and its funds where that state has them. It stays there: no timer moves it
--- on. Returns the withdrawal as histories show it, or nil and why not.
function M.set(sim, id, status)
  local record = sim.withdrawals.by_id[id]
  if not record then return nil, "there is no such withdrawal" end
  if not place_of[status] then return nil, "the states of withdrawals are 1 to 10" end
  local arrives = record.to_uid and status == SUCCESS and record.status ~= SUCCESS
  if record.to_uid and status ~= record.status and (record.status == SUCCESS
    or record.status == CONFIRMING and not arrives) then
    return nil, "the withdrawal was paid to an account of the platform"
  end
  if not enter(sim, record, status, sim:now()) then
    return nil, "the funds of the withdrawal came back and were spent since"
  end
  record.held = true
  if arrives then arrive_inside(sim, record, sim:now()) end
  return public(record, sim)
end

-- C5
local function list(sim, account, values)
  if values.coin and not coins.by_name[values.coin] then return nil, "10232" end
  local first, last, message = history.seven_days(sim:now(), values)
  if not first then return nil, last, message end
  return sim.withdrawals:list(sim, account.uid, first, last, values, public, deposits.filter(values))
end

M.handlers = { C2 = withdraw, C17 = withdraw, A12 = withdraw_sub, C3 = cancel, C5 = list }

--- Calls found(uid, "SPOT", asset, amount) for each withdrawal that has not been sent: its funds are locked.
function M.each_lock(sim, found)
  for _, record in ipairs(sim.withdrawals.all) do
    if M.can_fail(record) then found(record.uid, "SPOT", record.coin, total_of(record)) end
  end
end

--- Calls found(asset, amount) for each withdrawal that was sent: what the outside world got by it.
function M.each_outside(sim, found)
  for _, record in ipairs(sim.withdrawals.all) do
    if place_of[record.status] == "sent" then
      found(record.coin, record.to_uid and decimal(record.fee) or net_of(record):add(record.fee))
    end
  end
end

return M

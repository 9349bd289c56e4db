-- SPDX-License-Identifier: MIT
-- Withdrawals: checked, locked, audited, packaged, confirmed, done; cancelled while that is still possible.
--
-- The fee comes on top of the amount, or is taken out of it: the switch `fee` says which, and `includeFee` of a request
-- goes before it. All is locked when the withdrawal is applied for, and leaves together when it is packaged into a
-- transaction. States: 1 applied, 2 auditing, 3 waiting, 4 processing, 5 packaging, 6 confirming, 7 success, 8 failed,
-- 9 cancelled, 10 manual. A state that sim:set_withdrawal set stays: no timer moves such a withdrawal on.

local addresses = require "purser.testing.sim.addresses"
local coins = require "purser.testing.sim.coins"
local decimal = require "purser.decimal"
local deposits = require "purser.testing.sim.deposits"
local history = require "purser.testing.sim.history"
local ledger = require "purser.testing.sim.ledger"
local rejection = require "purser.testing.sim.rejection"
local rules = require "purser.testing.sim.rules"
local prng = require "purser.testing.sim.prng"
local states = require "purser.client.operations.states"

local APPLIED, PACKAGING, CONFIRMING, SUCCESS, CANCELLED = 1, 5, 6, 7, 9

-- State -> the next state, and the milliseconds from the application to the next state. The last step follows the
-- network's confirmations.
local next_state = {
  [APPLIED] = { 2, 1000 }, [2] = { 4, 20000 }, [4] = { PACKAGING, 30000 }, [PACKAGING] = { CONFIRMING, 60000 },
  [CONFIRMING] = { SUCCESS },
}

-- Where the funds of a withdrawal are in each state.
local place_of = {
  "locked", "locked", "locked", "locked", "locked", "sent", "sent", "back", "back", [10] = "locked",
}

-- Returns the amount that the account pays, and the one that arrives at the address.
local function total_of(record)
  local amount = decimal(record.amount)
  return record.fee_inside and amount or amount:add(record.fee)
end

local function net_of(record)
  local amount = decimal(record.amount)
  return record.fee_inside and amount:sub(record.fee) or amount
end

-- Puts a withdrawal and the funds into a state; a withdrawal to an account of the platform arrives as a deposit.
-- Returns nil where the funds came back and were spent.
local function enter(sim, record, status, at)
  local arrives, is_sent = record.to_uid and status == SUCCESS and record.status ~= SUCCESS, place_of[status] == "sent"
  if place_of[status] == place_of[record.status] then
    record.status, record.updated = status, at
  elseif not sim.withdrawals:change(record, { status = status, updated = at,
    tx_id = is_sent and sim.dice:text(64, prng.HEX) or nil }) then
    return nil
  end
  if arrives then
    deposits.arrive_inside(sim, sim.accounts.by_id[record.to_uid], coins.network(record.coin, record.network), {
      amount = tostring(net_of(record)), address = record.address, memo = record.memo, tx_id = record.tx_id, time = at,
    })
  end
  return true
end

local function plan_next(sim, record)
  local step = next_state[record.status]
  if not step then return end
  local at = step[2] and record.time + step[2] or record.updated + record.needed * record.block_ms
  sim.schedule:add(at, "withdrawals", record.id)
end

local M = { histories = { withdrawals = {
  is_released = true,
  keys = function(record) return record.uid end,
  moves = function(record, move)
    local where, free = place_of[record.status], ledger.place(record.uid, "SPOT")
    if where == "locked" then
      move(record.coin, total_of(record), free, ledger.place(record.uid, "SPOT", "locked"))
    elseif where == "sent" then
      move(record.coin, net_of(record), free, record.to_uid and ledger.place(record.to_uid, "SPOT") or ledger.WORLD)
      move(record.coin, decimal(record.fee), free, ledger.WORLD)
    end
  end,
  due = function(sim, id, at) -- on to the next state
    local record = sim.withdrawals.by_id[id]
    local step = next_state[record.status]
    if record.held or not step then return end -- cancelled or failed meanwhile: nothing more happens
    enter(sim, record, step[1], at)
    plan_next(sim, record)
  end,
} } }

local function check_network(row, network, values)
  local bad = rules.bad_value(row)
  if not network.public.withdrawEnable then
    rejection.raise(bad, "Withdrawals of this coin on this network are suspended")
  end
  if values.contractAddress and values.contractAddress:lower() ~= network.public.contract:lower() then
    rejection.raise(bad, "contractAddress is not that of the coin on this network")
  end
  if not addresses.is_valid(network, values.address) then
    rejection.raise(bad, "The address does not fit the network")
  end
  if network.memo and not values.memo then rejection.lacks "memo" end
  if values.memo and not addresses.is_valid_memo(network, values.memo) then
    rejection.raise(bad, "The memo does not fit the network")
  end
end

local function check_amount(row, network, values)
  local bad, limits, amount = rules.bad_value(row), network.public, values.amount
  local min, max, step = limits.withdrawMin, limits.withdrawMax, limits.withdrawIntegerMultiple
  if amount:compare(min) < 0 then rejection.raise(bad, "The amount is below the minimum of " .. min) end
  if amount:compare(max) > 0 then rejection.raise(bad, "The amount is above the maximum of " .. max) end
  if step and amount:round_down_to(step) ~= amount then
    rejection.raise(bad, "The amount is no multiple of " .. step)
  end
end

local function fee_is_inside(sim, values)
  if values.includeFee then return values.includeFee == "true" end
  return sim.options.fee == "inside"
end

-- Applies for a withdrawal from `account` over `network`.
local function apply(sim, account, values, row, network)
  check_network(row, network, values)
  if sim.options.saved_addresses_only and row.group == "wallet"
    and not addresses.is_saved(sim, account, network, values.address, values.memo) then
    rejection.raise "10212" -- A12 has a rule of its own
  end
  check_amount(row, network, values)
  local order_id, bad = values.withdrawOrderId, rules.bad_value(row)
  local own_id = order_id and account.uid .. "|" .. order_id
  if own_id and sim.withdrawals.used[own_id] and sim.options.repeated_ids == "reject" then
    rejection.raise(bad, "withdrawOrderId was used before")
  end
  local fee, inside = network.public.withdrawFee, fee_is_inside(sim, values)
  if inside and values.amount:compare(fee) <= 0 then
    rejection.raise(bad, "The amount does not cover the fee of " .. fee)
  end
  local destination = addresses.find(sim, network, values.address, values.memo)
  local record = sim.withdrawals:enter({
    uid = account.uid, order_id = order_id, own_id = own_id, coin = network.coin, network = network.long,
    address = values.address, memo = values.memo, amount = tostring(values.amount), fee = fee,
    fee_inside = inside or nil, remark = values.remark, status = APPLIED, time = sim:now(), updated = sim:now(),
    block_ms = network.block_ms, to_uid = destination and destination.uid, needed = network.public.minConfirm,
  }, function() return sim.dice:text(32, prng.HEX) end)
  if not record then rejection.raise "10101" end
  plan_next(sim, record)
  return { id = record.shown_id or record.id }
end

-- C2 names the network by its short id, C17 by its long name. Without one the coin's first network is meant.
local function withdraw(sim, account, values, row)
  coins.check(values.coin)
  local coin, name = coins.by_name[values.coin], values.netWork or values.network
  local network = coin[row.id == "C2" and "by_short" or "by_long"][name or ""]
  if not network and name then rejection.raise "10232" end
  return apply(sim, account, values, row, network or coin.networks[1])
end

-- A12 has no memo: the address carries a memo as a suffix, and is in the address book or comes with the funds password.
local function withdraw_sub(sim, account, values, row)
  local network = addresses.find_network(values.coin, values.network)
  if network.memo then
    local address, memo = values.address:match("^(.-):(.+)$")
    if address then values.address, values.memo = address, memo end
  end
  if values.password then
    local expected = account.funds_password or sim.accounts.by_id[account.parent].funds_password
    if expected and expected ~= values.password then rejection.raise("730002", "The funds password is wrong") end
  elseif not addresses.is_saved(sim, account, network, values.address, values.memo) then
    rejection.raise "10212"
  end
  return apply(sim, account, values, row, network)
end

-- C3. An unknown id is answered like a known id, as the live service does.
local function cancel(sim, account, values)
  local record = sim.withdrawals.by_id[values.id]
  if not record or record.uid ~= account.uid then return { id = values.id } end
  if record.status >= PACKAGING and record.status ~= CANCELLED then
    rejection.raise("730000", "The withdrawal can no longer be cancelled")
  end
  if record.status ~= CANCELLED then enter(sim, record, CANCELLED, sim:now()) end
  return { id = record.id }
end

local function confirmations(record, now)
  if record.status == SUCCESS then return record.needed end
  if record.status == CONFIRMING then return math.floor((now - record.updated) / record.block_ms) end
end

local function public(record, sim)
  local coin, tx_id = coins.by_name[record.coin], place_of[record.status] == "sent" and record.tx_id or nil
  return {
    id = record.id, withdrawOrderId = record.order_id, txId = tx_id, coin = record.coin,
    network = record.network, netWork = coins.short_id(record.coin, record.network),
    address = record.address, amount = record.amount,
    transferType = record.to_uid and 1 or 0, status = record.status,
    transactionFee = record.fee, confirmNo = confirmations(record, sim:now()), applyTime = record.time,
    updateTime = record.updated, remark = record.remark, memo = record.memo, transHash = tx_id,
    coinId = coin.id, vcoinId = coin.id,
  }
end

--- Tells whether a withdrawal can still fail: its funds have not left.
function M.can_fail(record) return place_of[record.status] == "locked" end

---@class purser.Sim
local methods = {}
M.methods = methods

--- Puts a withdrawal into a state: its id, and the state's number (1 to 10) or name. See set_deposit.
---@param id string|integer
---@param status integer|string
---@return table|nil withdrawal, string|nil message
function methods:set_withdrawal(id, status)
  self:run_due()
  local record = self.withdrawals.by_id[id]
  if not record then return nil, "there is no such withdrawal" end
  status = states.number("withdrawal", status) or tonumber(status)
  if not place_of[status] then return nil, "the states of withdrawals are 1 to 10" end
  if record.to_uid and status ~= record.status and (record.status == SUCCESS
    or record.status == CONFIRMING and status ~= SUCCESS) then
    return nil, "the withdrawal was paid to an account of the platform"
  end
  if not enter(self, record, status, self:now()) then
    return nil, "the funds of the withdrawal came back and were spent since"
  end
  record.held = true
  return public(record, self)
end

local function list(sim, account, values)
  if values.coin then coins.check(values.coin) end
  local first, last = history.seven_days(sim:now(), values)
  return (sim.withdrawals:list(sim, account.uid, first, last, values, public, deposits.filter(values)))
end

M.handlers = { C2 = withdraw, C17 = withdraw, A12 = withdraw_sub, C3 = cancel, C5 = list }

return M

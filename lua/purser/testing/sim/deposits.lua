-- SPDX-License-Identifier: MIT
-- Deposits: seen on a chain, confirmed block by block, credited once.
--
-- 4 pending -> 5 success after the network's confirmations. A deposit below a hundredth of the network's withdrawal
-- minimum is 1, small, and never credited. sim:set_deposit sets a state from 1 to 12, which stays. Funds are free in
-- state 5, locked in state 9 (credited early), and absent in other states.

local accounts = require "purser.testing.sim.accounts"
local addresses = require "purser.testing.sim.addresses"
local decimal = require "purser.decimal"
local history = require "purser.testing.sim.history"
local coins = require "purser.testing.sim.coins"
local ledger = require "purser.testing.sim.ledger"
local option_schema = require "purser.client.util.option_schema"
local plain = require "purser.testing.sim.plain"
local prng = require "purser.testing.sim.prng"
local states = require "purser.client.operations.states"

local SMALL, PENDING, SUCCESS, EARLY, LAST = 1, 4, 5, 9, 12

local M = { histories = { deposits = {
  keys = function(record) return record.uid, record.parent and "of " .. record.parent end,
  moves = function(record, move)
    local state = record.status == SUCCESS and "free" or record.status == EARLY and "locked"
    if record.inside or not state then return end
    move(record.coin, decimal(record.amount), ledger.WORLD, ledger.place(record.uid, "SPOT", state))
  end,
  due = function(sim, id, at) -- the last confirmation has come
    local record = sim.deposits.by_id[id]
    if not record.held then sim.deposits:change(record, { status = SUCCESS, updated = at }) end
  end,
} } }

local function is_small(network, amount)
  return amount:compare(decimal(network.public.withdrawMin):mul("0.01")) < 0
end

local function new_record(sim, account, network, fields)
  return {
    uid = account.uid, parent = account.parent, coin = network.coin, network = network.long, amount = fields.amount,
    id = sim.dice:text(24, prng.HEX), address = fields.address, memo = fields.memo,
    tx_id = fields.tx_id or sim.dice:text(64, prng.HEX), time = fields.time or sim:now(),
    needed = network.public.minConfirm, block_ms = network.block_ms, status = PENDING,
  }
end

---@class purser.Sim
local methods = {}
M.methods = methods

---@class purser.SimDepositOptions  of an account, or to an address
---@field account string|table|nil
---@field address string|nil
---@field memo string|nil
---@field coin string
---@field network string|nil
---@field amount string|integer
---@field tx_id string|nil
---@field time integer|nil  epoch ms: one that arrived then

local rules = {
  account = "string or table", address = "string", coin = "string", network = "string", amount = "string or number",
  memo = "string", tx_id = "string", time = { 0, option_schema.EXACT, says = "a time in epoch milliseconds" },
}

-- Returns the deposit address: the account's, or the named address.
local function address_of(sim, network, fields)
  if fields.account and fields.address then return nil, "give the account or the address of a deposit, not both" end
  if fields.account then
    local account, message = accounts.find(sim, fields.account)
    return account and addresses.of_account(sim, account, network), message
  end
  return addresses.find(sim, network, fields.address or "", fields.memo),
    "the address (with its memo) belongs to no account for this coin and network"
end

--- Adds a deposit. Returns the deposit as histories show it, with its `id`; or nil and the problem.
---@param fields purser.SimDepositOptions
---@return table|nil deposit, string|nil message
function methods:deposit(fields)
  local message = option_schema.text(fields, rules, "deposit field")
  if message then return nil, message end
  self:run_due()
  local network = coins.network(fields.coin, fields.network, true)
  if not network then return nil, "the coin or its network does not exist" end
  local amount = decimal(fields.amount)
  if type(fields.amount) ~= "string" or not amount or amount:sign() <= 0 then
    return nil, "the amount must be the text of a positive decimal"
  end
  if fields.time and fields.time > self:now() then return nil, "the time lies in the future" end
  local at
  at, message = address_of(self, network, fields)
  if not at then return nil, message end
  local record = self.deposits:add(new_record(self, self.accounts.by_id[at.uid], network, {
    amount = tostring(amount), address = at.address, memo = at.memo, tx_id = fields.tx_id, time = fields.time,
  }))
  if is_small(network, amount) then record.status = SMALL
  else self.schedule:add(record.time + record.needed * record.block_ms, "deposits", record.id) end
  self:run_due()
  local public = M.public(record, self)
  public.id = record.id
  return public
end

--- Adds a deposit from another account of the platform: the withdrawal moved its value.
function M.arrive_inside(sim, account, network, fields)
  local record = sim.deposits:add(new_record(sim, account, network, fields))
  record.status, record.inside = SUCCESS, true
  return record
end

local function confirmations(record, now)
  if record.status == SUCCESS then return record.needed end
  return math.min(record.needed, math.floor((now - record.time) / record.block_ms))
end

--- Returns a deposit as histories show it.
function M.public(record, sim)
  local hash = record.tx_id:gsub(":%d+$", "") -- the number of the output may stand behind it
  local public = {
    amount = record.amount, coin = record.coin, network = record.network,
    netWork = coins.short_id(record.coin, record.network), status = record.status,
    address = record.address, addressTag = record.memo, txId = record.tx_id,
    unlockConfirm = ("%d"):format(record.needed), confirmTimes = ("%d"):format(confirmations(record, sim:now())),
    insertTime = record.time, memo = record.memo, transHash = hash, updateTime = record.updated or record.time,
    spelled = record.spelled,
  }
  for name, text in pairs(record.spelled or {}) do public[name] = text end
  return public
end

--- Puts a deposit into a state (a number from 1 to 12, or a name) until the next such call, and the funds where the
--- state has them. Returns the deposit as histories show it; nil and why not.
---@param id string|integer
---@param status integer|string
---@return table|nil deposit, string|nil message
function methods:set_deposit(id, status)
  self:run_due()
  local record = self.deposits.by_id[id]
  if not record then return nil, "there is no such deposit" end
  status = states.number("deposit", status) or tonumber(status)
  if not status or status % 1 ~= 0 or status < SMALL or status > LAST then
    return nil, "the states of deposits are 1 to 12"
  end
  if record.inside then return nil, "the deposit came from an account of the platform" end
  if not self.deposits:change(record, { status = status, updated = self:now(), held = true }) then
    return nil, "the funds of the deposit were spent since"
  end
  return M.public(record, self)
end

local spellings = { amount = "string", coin = "string", network = "string", address = "string", addressTag = "string",
  memo = "string", txId = "string" }

--- Shows these members of a deposit from now on exactly as given; without members, the deposit as before. Returns the
--- deposit as histories show it.
---@param id string|integer
---@param members table<string, string>|nil  of amount, coin, network, address, addressTag, memo, txId
---@return table|nil deposit, string|nil message
function methods:respell(id, members)
  local record = self.deposits.by_id[id]
  if not record then return nil, "there is no such deposit" end
  local wrong = members ~= nil and option_schema.text(members, spellings, "spelling")
  if wrong then return nil, wrong end
  self:run_due()
  record.spelled = members and next(members) and plain.copy(members) or nil
  return M.public(record, self)
end

--- Returns the filter of a history by coin and status, or nil when neither is asked for.
function M.filter(values)
  local coin, network, status = values.coin, values.network, values.status
  if not coin and not status then return nil end
  return function(record)
    return (not coin or record.coin == coin) and (not network or record.network == network)
      and (not status or record.status == status)
  end
end

-- Returns the handler of a history: of an account's own deposits, or those `of` its sub-accounts.
local function list(window, of)
  return function(sim, account, values)
    local first, last = window(sim:now(), values)
    if values.coin then coins.check(values.coin) end
    return (sim.deposits:list(sim, (of or "") .. account.uid, first, last, values, M.public, M.filter(values)))
  end
end

M.handlers = { C4 = list(history.seven_days), A10 = list(history.ten_days), A11 = list(history.three_days, "of ") }

return M

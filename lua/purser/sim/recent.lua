-- SPDX-License-Identifier: MIT
-- The latest deposits, withdrawals, transfers and keys of all accounts, newest first, as the simulator's page lists
-- them. A key's secret is never among them, and of the key itself only its ends.

local accounts = require "purser.sim.accounts"
local deposits = require "purser.sim.deposits"
local keys = require "purser.sim.keys"
local states = require "purser.api.states"
local withdrawals = require "purser.sim.withdrawals"

local M = {}

-- The last `limit` records of a history, newest first, each as `shape` shows it.
local function latest(records, limit, shape)
  local list = {}
  for i = #records.all, math.max(1, #records.all - limit + 1), -1 do list[#list + 1] = shape(records.all[i]) end
  return list
end

local function name_of(sim, uid)
  local account = sim.accounts.by_uid[uid]
  return account.name or accounts.display_name(account)
end

local function state_of(kind, status) return ("%d %s"):format(status, states.name(kind, status)) end

local function list_deposits(sim, limit)
  return latest(sim.deposits, limit, function(record)
    local public = deposits.public(record, sim:now())
    return {
      id = record.id, time = record.time, account = name_of(sim, record.uid), coin = record.coin,
      network = record.network, amount = record.amount, status = state_of("deposit", record.status),
      confirmations = public.confirmTimes .. " of " .. public.unlockConfirm,
    }
  end)
end

local function list_withdrawals(sim, limit)
  return latest(sim.withdrawals, limit, function(record)
    return {
      id = record.id, time = record.time, account = name_of(sim, record.uid), coin = record.coin,
      network = record.network, amount = record.amount, fee = record.fee, order_id = record.order_id,
      status = state_of("withdrawal", record.status), can_fail = withdrawals.place_of[record.status] == "locked",
    }
  end)
end

local function transfer_of(sim, record)
  local from, to = name_of(sim, record.from or record.uid), name_of(sim, record.to or record.uid)
  return {
    id = record.id, time = record.time, from = from .. " " .. (record.from_type or "SPOT"),
    to = to .. " " .. (record.from_type and record.to_type or "SPOT"), asset = record.asset, amount = record.amount,
    client_id = record.client_id, status = record.status, can_fail = record.status == "WAIT",
  }
end

-- Three kinds of transfers, each in order of time.
local function list_transfers(sim, limit)
  local list, shape = {}, function(record) return transfer_of(sim, record) end
  for _, records in ipairs { sim.family_transfers, sim.wallet_transfers, sim.internal_transfers } do
    for _, transfer in ipairs(latest(records, limit, shape)) do list[#list + 1] = transfer end
  end
  table.sort(list, function(a, b) return a.time > b.time or a.time == b.time and a.id > b.id end)
  for i = #list, limit + 1, -1 do list[i] = nil end
  return list
end

local function list_keys(sim, limit)
  local list = {}
  for _, account in ipairs(sim.accounts.list) do
    for _, key in ipairs(sim.keys.by_uid[account.uid] or {}) do
      list[#list + 1] = {
        time = key.created, account = name_of(sim, key.uid), permissions = key.permissions, ip = key.ip,
        key = key.api_key:sub(1, 5) .. "…" .. key.api_key:sub(-2), note = key.note, order = #list,
        days_left = keys.days_left(sim, key),
      }
    end
  end
  table.sort(list, function(a, b) return a.time > b.time or a.time == b.time and a.order > b.order end)
  for i = #list, limit + 1, -1 do list[i] = nil end
  return list
end

--- The latest records of each kind, `limit` at most.
---@param sim table
---@param limit integer
---@return { deposits: table[], withdrawals: table[], transfers: table[], keys: table[] }
function M.list(sim, limit)
  return {
    deposits = list_deposits(sim, limit), withdrawals = list_withdrawals(sim, limit),
    transfers = list_transfers(sim, limit), keys = list_keys(sim, limit),
  }
end

return M

-- SPDX-License-Identifier: MIT
-- Transfers to another user of the platform (C15, C16). Payer and payee both find the record in their histories.

local accounts = require "purser.sim.accounts"
local coins = require "purser.sim.coins"
local history = require "purser.sim.history"
local ledger = require "purser.sim.ledger"
local paging = require "purser.sim.paging"
local transfers = require "purser.sim.transfers"

local M = {}

function M.setup(sim)
  sim.internal_transfers = history.new(function(record) return record.from, record.to end)
end

-- C15
local function transfer(sim, account, values)
  local payee = accounts.by_identifier(sim, values.toAccountType, values.toAccount, values.areaCode)
  if not payee then return nil, "22222", "The user does not exist" end
  if payee.frozen then return nil, "730100" end
  if payee.uid == account.uid then return nil, "33333", "The transfer has the same source and destination" end
  if not coins.by_name[values.asset] then return nil, "10232" end
  if not sim.ledger:move(values.asset, values.amount, ledger.place(account.uid, "SPOT"),
    ledger.place(payee.uid, "SPOT")) then
    return nil, "10101"
  end
  local record = sim.internal_transfers:add {
    id = transfers.next_id(sim), from = account.uid, to = payee.uid, asset = values.asset,
    amount = tostring(values.amount), to_type = values.toAccountType, to_account = values.toAccount,
    status = "SUCCESS", time = sim:now(),
  }
  return { tranId = record.id }
end

local function public(sim, record)
  return {
    tranId = record.id, asset = record.asset, amount = record.amount, toAccountType = record.to_type,
    toAccount = record.to_account, fromAccount = accounts.display_name(sim.accounts.by_uid[record.from]),
    status = record.status, timestamp = record.time,
  }
end

-- C16
local function list(sim, account, values)
  local first, last = paging.default_seven_days(sim:now(), values)
  last = sim:visible(last)
  local records, total
  if values.tranId then
    local record = sim.internal_transfers.by_id[values.tranId]
    local matches = record and not record.hidden and (record.from == account.uid or record.to == account.uid)
      and (not first or record.time >= first) and (not last or record.time <= last)
    total = matches and 1 or 0
    records = paging.cut({ matches and record or nil }, values.page, values.limit)
  else
    local skip = (values.page - 1) * values.limit
    records, total = sim.internal_transfers:page(account.uid, first, last, skip, values.limit)
  end
  for i, record in ipairs(records) do records[i] = public(sim, record) end
  return paging.result(records, values.page, values.limit, total)
end

M.handlers = { C15 = transfer, C16 = list }

function M.snapshot(sim) return sim.internal_transfers.all end

function M.restore(sim, state) sim.internal_transfers:restore(state) end

return M

-- SPDX-License-Identifier: MIT
-- What a broker earned by others' trades (A15). Records only: they are made by sim:rebate and move no funds.

local clock = require "purser.sim.clock"
local history = require "purser.sim.history"
local paging = require "purser.sim.paging"

local M = {}

function M.setup(sim)
  sim.rebates = history.new(function(record) return record.broker end)
end

--- Adds a rebate of a broker: { asset, amount (text), type, uid, time }.
function M.add(sim, broker, fields)
  return sim.rebates:add {
    broker = broker.uid, asset = fields.asset, amount = fields.amount, type = fields.type or "spot", uid = fields.uid,
    time = fields.time or sim:now(),
  }
end

--- A rebate as the history shows it.
function M.public(record)
  return {
    asset = record.asset, amount = record.amount, type = record.type, uid = record.uid,
    time = clock.day_text(record.time),
  }
end

-- A15
local function list(sim, account, values)
  local records, total = sim.rebates:page(account.uid, values.startTime, sim:visible(values.endTime),
    (values.page - 1) * values.pageSize, values.pageSize)
  for i, record in ipairs(records) do records[i] = M.public(record) end
  return paging.result(records, values.page, values.pageSize, total)
end

M.handlers = { A15 = list }

function M.snapshot(sim) return sim.rebates.all end

function M.restore(sim, state) sim.rebates:restore(state) end

return M

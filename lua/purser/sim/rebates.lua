-- SPDX-License-Identifier: MIT
-- A broker's income from others' trades (A15). Records only: they are made by sim:rebate and move no funds.

local clock = require "purser.sim.clock"
local history = require "purser.sim.history"

local M = { histories = { rebates = { keys = function(record) return record.broker end } } }

--- Adds a rebate of a broker: { asset, amount (text), type, uid, time }.
function M.add(sim, broker, fields)
  return sim.rebates:add {
    id = ("rebate%d"):format(#sim.rebates.all + 1), broker = broker.uid, asset = fields.asset, amount = fields.amount,
    type = fields.type or "spot", uid = fields.uid, time = fields.time or sim:now(),
  }
end

--- A rebate as the history shows it.
function M.public(record)
  return {
    id = record.id, asset = record.asset, amount = record.amount, type = record.type, uid = record.uid,
    time = clock.day_text(record.time),
  }
end

-- A15
local function list(sim, account, values)
  local records, total = sim.rebates:list(sim, account.uid, values.startTime, values.endTime, values, M.public)
  return history.page_result(records, total, values)
end

M.handlers = { A15 = list }

return M

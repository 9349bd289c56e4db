-- SPDX-License-Identifier: MIT
-- A broker's income from others' trades (A15). Records only: they are made by sim:rebate and move no funds.

local clock = require "purser.sim.clock"
local decimal = require "purser.decimal"
local history = require "purser.sim.history"

local M = { histories = { rebates = function(record) return record.broker end } }

-- The rebate of the same day, user, asset and type; nil where there is none.
local function same_of(sim, rebate)
  for _, other in ipairs(sim.rebates.all) do
    if other.broker == rebate.broker and other.uid == rebate.uid and other.asset == rebate.asset
      and other.type == rebate.type and clock.day_text(other.time) == clock.day_text(rebate.time) then
      return other
    end
  end
end

--- Adds a rebate of a broker: { asset, amount (text), type, uid, time }; with `grows`, its amount is added to the
--- rebate of the same day, user, asset and type.
function M.add(sim, broker, fields)
  local rebate = {
    id = ("rebate%d"):format(#sim.rebates.all + 1), broker = broker.uid, asset = fields.asset, amount = fields.amount,
    type = fields.type or "spot", uid = fields.uid, time = fields.time or sim:now(),
  }
  local grown = fields.grows and same_of(sim, rebate)
  if not grown then return sim.rebates:add(rebate) end
  grown.amount = tostring(decimal(grown.amount):add(rebate.amount))
  return grown
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

-- SPDX-License-Identifier: MIT
-- A broker's income from others' trades (A15). Records only: they are made by sim:rebate and move no funds.

local accounts = require "purser.testing.sim.accounts"
local clock = require "purser.testing.sim.clock"
local decimal = require "purser.decimal"
local history = require "purser.testing.sim.history"
local option_schema = require "purser.client.util.option_schema"
local prng = require "purser.testing.sim.prng"

local M = { histories = { rebates = { keys = function(record) return record.broker end } } }

---@class purser.Sim
local methods = {}
M.methods = methods

---@class purser.SimRebateOptions
---@field account string|table
---@field asset string
---@field amount string|integer
---@field type string|nil  "spot" or "futures"
---@field uid string|nil   the user who brought it
---@field time integer|nil  epoch ms. Default: now
---@field grows boolean|nil  adds to the rebate of the same day, user, asset and type, where there is one

local rules = {
  account = "string or table", asset = "string", amount = "string or number", type = "string", uid = "string",
  time = { 0, option_schema.EXACT, says = "a time in epoch milliseconds" }, grows = "boolean",
}

local function public(record)
  return {
    id = record.id, asset = record.asset, amount = record.amount, type = record.type, uid = record.uid,
    time = clock.day_text(record.time),
  }
end

-- Returns the members kept of a growing rebate.
local function identity_of(record)
  return table.concat({ record.broker, record.uid, record.asset, record.type, clock.day_text(record.time) }, "|")
end

--- A rebate accrues to a broker. It is a record for A15 and moves no funds.
---@param fields purser.SimRebateOptions
---@return table|nil rebate, string|nil message
function methods:rebate(fields)
  local broker, message = accounts.named(self, "rebate", fields, rules)
  if not broker then return nil, message end
  if broker.role ~= "broker" then return nil, "only a broker has rebates" end
  local amount = type(fields.amount) == "string" and decimal(fields.amount)
  if not fields.asset or not amount then return nil, "a rebate needs an asset and the text of an amount" end
  local rebate = {
    id = ("rebate%d"):format(#self.rebates.all + 1), broker = broker.uid, asset = fields.asset,
    amount = tostring(amount), type = fields.type or "spot", uid = fields.uid or self.dice:text(8, prng.DIGITS),
    time = fields.time or self:now(),
  }
  for _, record in ipairs(fields.grows and self.rebates.all or {}) do
    if identity_of(record) == identity_of(rebate) then
      record.amount = tostring(amount:add(record.amount))
      return public(record)
    end
  end
  return public(self.rebates:add(rebate))
end

local function list(sim, account, values)
  local records, total = sim.rebates:list(sim, account.uid, values.startTime, values.endTime, values, public)
  return history.page_result(records, total, values)
end

M.handlers = { A15 = list }

return M

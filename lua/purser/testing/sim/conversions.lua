-- SPDX-License-Identifier: MIT
-- Small balances into the platform token (C12, C13, C14). Values come from the catalogue's prices; the fee is 2 %.

local coins = require "purser.testing.sim.coins"
local decimal = require "purser.decimal"
local history = require "purser.testing.sim.history"
local ledger = require "purser.testing.sim.ledger"
local prng = require "purser.testing.sim.prng"

local M = { histories = { conversions = {
  keys = function(record) return record.uid end,
  moves = function(record, move)
    local place = ledger.place(record.uid, "SPOT")
    for _, detail in ipairs(record.details) do
      move(detail.asset, decimal(detail.amount), place, ledger.WORLD)
      move(coins.PLATFORM_TOKEN, decimal(detail.convert), ledger.WORLD, place)
    end
  end,
} } }

-- Platform tokens for one USDT: the inverse of the catalogue's price of 2.5, exact.
local TOKENS_PER_USDT, FEE_RATE, STEP, LARGEST = "0.4", "0.02", "0.00000001", "5"

-- Returns the offer of a priced coin, { usdt, convert (after fee), fee }; and a refusal's code and message.
local function quote(asset, balance)
  local coin = coins.by_name[asset]
  if not coin then return nil, "30024", "The coin does not exist" end
  if asset == coins.PLATFORM_TOKEN then return nil, "30023", "The platform token is not converted into itself" end
  if not coin.price then return nil, "30023", "The coin cannot be converted" end
  if balance:is_zero() then return nil, "30024", "There is no balance" end
  local usdt = balance:mul(coin.price)
  local gross = usdt:mul(TOKENS_PER_USDT):round_down_to(STEP)
  local fee = gross:mul(FEE_RATE):round_down_to(STEP)
  local offer = { usdt = usdt, convert = gross:sub(fee), fee = fee }
  if usdt:compare(LARGEST) > 0 then return offer, "30022", "The balance is worth more than 5 USDT" end
  if offer.convert:is_zero() then return offer, "30021", "The balance is too small" end
  return offer
end

local function list(sim, account)
  local place, found = ledger.place(account.uid, "SPOT"), {}
  for _, asset in ipairs(sim.ledger:assets(place)) do
    if asset ~= coins.PLATFORM_TOKEN then
      local balance = sim.ledger:balance(place, asset)
      local offer, code, message = quote(asset, balance)
      found[#found + 1] = {
        convertPlatformToken = offer and tostring(offer.convert) or "0",
        convertUsdt = offer and tostring(offer.usdt:round_down_to(STEP)) or "0", balance = tostring(balance),
        asset = asset, code = code, message = message,
      }
    end
  end
  return found
end

-- C13: each coin stands for itself; coins that cannot be converted are listed with the reason.
local function convert(sim, account, values)
  local place, total, fees, taken = ledger.place(account.uid, "SPOT"), decimal(0), decimal(0), {}
  local answer, details = { successList = {}, failedList = {} }, {}
  for _, asset in ipairs(values.asset) do
    local balance = taken[asset] and decimal(0) or sim.ledger:balance(place, asset)
    local offer, code, message = quote(asset, balance)
    if code then
      answer.failedList[#answer.failedList + 1] = { asset = asset, message = message, code = code }
    else
      taken[asset], total, fees = true, total:add(offer.convert), fees:add(offer.fee)
      answer.successList[#answer.successList + 1] = asset
      details[#details + 1] = {
        id = sim.dice:text(32, prng.HEX), convert = tostring(offer.convert),
        fee = tostring(offer.fee), amount = tostring(balance), time = sim:now(), asset = asset,
      }
    end
  end
  answer.totalConvert, answer.convertFee = tostring(total), tostring(fees)
  if details[1] then
    sim.conversions:enter {
      id = details[1].id, uid = account.uid, time = sim:now(), total = answer.totalConvert, fee = answer.convertFee,
      details = details,
    }
  end
  return answer
end

local function public(record)
  return {
    totalConvert = record.total, totalFee = record.fee, convertTime = record.time, convertDetails = record.details,
  }
end

local function batches(sim, account, values)
  local records, total = sim.conversions:list(sim, account.uid, values.startTime, values.endTime, values, public)
  return history.page_result(records, total, values)
end

M.handlers = { C12 = list, C13 = convert, C14 = batches }

return M

-- SPDX-License-Identifier: MIT
-- The full check of a simulator's books. The ledger proves that nothing appeared or vanished; here the records prove
-- that what it holds is what they say: funds are locked for a reason, and the outside world gave and took what is on
-- record.

local coins = require "purser.sim.coins"
local decimal = require "purser.decimal"
local deposits = require "purser.sim.deposits"
local ledger = require "purser.sim.ledger"
local transfers = require "purser.sim.transfers"
local withdrawals = require "purser.sim.withdrawals"

local M = {}

local function add(sums, key, amount)
  sums[key] = (sums[key] or decimal(0)):add(amount)
end

-- Compares two maps of decimals; a key that one lacks counts as zero there.
local function same(found, expected, what)
  for _, map in ipairs { found, expected } do
    for key in pairs(map) do
      local a, b = found[key] or decimal(0), expected[key] or decimal(0)
      if a:compare(b) ~= 0 then
        return nil, ("%s %s: the ledger has %s, the records say %s"):format(what, key, tostring(a), tostring(b))
      end
    end
  end
  return true
end

local function check_locks(sim)
  local expected, found = {}, {}
  local function lock(uid, business, asset, amount)
    add(expected, ledger.place(uid, business, "locked") .. " " .. asset, amount)
  end
  withdrawals.each_lock(sim, lock)
  transfers.each_lock(sim, lock)
  deposits.each_lock(sim, lock)
  for place, assets in pairs(sim.ledger.places) do
    if place:sub(-7) == "/locked" then
      for asset, amount in pairs(assets) do found[place .. " " .. asset] = amount end
    end
  end
  return same(found, expected, "locked")
end

-- What came in and went out by the records, as the world's balance of each asset.
local function check_world(sim)
  local expected = {}
  for asset, amount in pairs(sim.granted) do add(expected, asset, decimal(amount):negate()) end
  for _, record in ipairs(sim.deposits.all) do
    if deposits.place_of(record) and not record.inside then
      add(expected, record.coin, decimal(record.amount):negate())
    end
  end
  for _, record in ipairs(sim.withdrawals.all) do
    if withdrawals.place_of[record.status] == "sent" then
      add(expected, record.coin, decimal(record.fee))
      if not record.to_uid then add(expected, record.coin, withdrawals.net_of(record)) end
    end
  end
  for _, batch in ipairs(sim.conversions.all) do
    for _, detail in ipairs(batch.details) do
      add(expected, detail.asset, decimal(detail.amount))
      add(expected, coins.PLATFORM_TOKEN, decimal(detail.convert):negate())
    end
  end
  return same(sim.ledger.places[ledger.WORLD] or {}, expected, "outside world,")
end

--- Returns true, or nil and what is wrong.
function M.verify(sim)
  for _, check in ipairs { function() return sim.ledger:verify() end, check_locks, check_world } do
    local ok, wrong = check(sim)
    if not ok then return nil, wrong end
  end
  return true
end

return M

-- SPDX-License-Identifier: MIT
-- The ledger: exact balances of every (account, business account, asset) as free and locked, and the outside world on
-- the other side. Value only ever moves from one place to another, so each asset sums to zero over all places for
-- ever.
--
-- A place is "uid/SPOT/free", "uid/FUTURES/locked" and so on; the world is "world", the only place that may be
-- negative.

local decimal = require "purser.decimal"

local M = {}

local ZERO = decimal(0)

local Ledger = {}
Ledger.__index = Ledger

M.WORLD = "world"

--- The name of a place.
function M.place(uid, business, state)
  return uid .. "/" .. business .. "/" .. (state or "free")
end

function M.new()
  return setmetatable({ places = {} }, Ledger)
end

--- The balance at a place.
function Ledger:balance(place, asset)
  local assets = self.places[place]
  return assets and assets[asset] or ZERO
end

local function set(self, place, asset, value)
  self.places[place] = self.places[place] or {}
  self.places[place][asset] = value
end

--- Moves `amount` (a decimal, not negative) of an asset. Returns nil and changes nothing when the source holds less.
function Ledger:move(asset, amount, from, to)
  if amount:sign() < 0 then error("a negative amount cannot be moved", 2) end
  local left = self:balance(from, asset):sub(amount)
  if from ~= M.WORLD and left:sign() < 0 then return nil, "balance" end
  set(self, from, asset, left)
  set(self, to, asset, self:balance(to, asset):add(amount))
  return true
end

--- The assets with something at a place, in order of their names.
function Ledger:assets(place)
  local names = {}
  for asset, amount in pairs(self.places[place] or {}) do
    if not amount:is_zero() then names[#names + 1] = asset end
  end
  table.sort(names)
  return names
end

--- Checks every balance there is. Returns true, or nil and what is wrong.
function Ledger:verify()
  local sums = {}
  for place, assets in pairs(self.places) do
    for asset, amount in pairs(assets) do
      if place ~= M.WORLD and amount:sign() < 0 then
        return nil, ("%s of %s is negative: %s"):format(place, asset, tostring(amount))
      end
      sums[asset] = (sums[asset] or ZERO):add(amount)
    end
  end
  for asset, sum in pairs(sums) do
    if not sum:is_zero() then return nil, ("%s does not sum to zero: %s"):format(asset, tostring(sum)) end
  end
  return true
end

-- Compares two maps of decimals; a key that one lacks counts as zero there. Returns true, or nil and what is wrong.
local function same(found, expected, what)
  for _, map in ipairs { found, expected } do
    for key in pairs(map) do
      local a, b = found[key] or ZERO, expected[key] or ZERO
      if a:compare(b) ~= 0 then
        return nil, ("%s %s: the ledger has %s, the records say %s"):format(what, key, tostring(a), tostring(b))
      end
    end
  end
  return true
end

-- The sums of what `each(found)` finds, by key.
local function sums_of(each)
  local sums = {}
  each(function(key, amount) sums[key] = (sums[key] or ZERO):add(amount) end)
  return sums
end

--- The full check of a simulator's books: nothing appeared or vanished, and what the ledger holds is what the records
--- say: funds are locked for a reason, and the outside world gave and took what is on record. `concepts` have the
--- functions each_lock and each_outside. Returns true, or nil and what is wrong.
function M.audit(sim, concepts)
  local ok, wrong = sim.ledger:verify()
  if not ok then return nil, wrong end
  local locks = sums_of(function(found)
    for _, concept in pairs(concepts) do
      if concept.each_lock then
        concept.each_lock(sim, function(uid, business, asset, amount)
          found(M.place(uid, business, "locked") .. " " .. asset, amount)
        end)
      end
    end
  end)
  local locked = {}
  for place, assets in pairs(sim.ledger.places) do
    if place:sub(-7) == "/locked" then
      for asset, amount in pairs(assets) do locked[place .. " " .. asset] = amount end
    end
  end
  ok, wrong = same(locked, locks, "locked")
  if not ok then return nil, wrong end
  local outside = sums_of(function(found)
    for asset, amount in pairs(sim.granted) do found(asset, decimal(amount):negate()) end
    for _, concept in pairs(concepts) do
      if concept.each_outside then concept.each_outside(sim, found) end
    end
  end)
  return same(sim.ledger.places[M.WORLD] or {}, outside, "outside world,")
end

function Ledger:snapshot()
  local places = {}
  for place, assets in pairs(self.places) do
    places[place] = {}
    for asset, amount in pairs(assets) do places[place][asset] = tostring(amount) end
  end
  return places
end

function M.restore(places)
  local ledger = M.new()
  for place, assets in pairs(places) do
    ledger.places[place] = {}
    for asset, amount in pairs(assets) do ledger.places[place][asset] = assert(decimal(amount)) end
  end
  return ledger
end

return M

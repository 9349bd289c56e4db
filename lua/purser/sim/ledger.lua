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
  return setmetatable({ places = {}, touched = {} }, Ledger)
end

--- What lies at a place.
function Ledger:balance(place, asset)
  local assets = self.places[place]
  return assets and assets[asset] or ZERO
end

-- Sets a balance, and remembers what it was when this round of changes began.
local function set(self, place, asset, value)
  local assets = self.places[place]
  if not assets then
    assets = {}
    self.places[place] = assets
  end
  local key = asset .. " " .. place
  local touched = self.touched
  if touched[key] == nil then
    touched[key] = { asset = asset, place = place, before = assets[asset] or ZERO }
  end
  assets[asset] = value
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

--- Checks the changes since the last call: nothing negative, and for each asset what left equals what came.
--- Costs as much as the places that changed. Returns true, or nil and what is wrong.
function Ledger:check_changes()
  local touched = self.touched
  if next(touched) == nil then return true end
  self.touched = {}
  local sums = {}
  for _, change in pairs(touched) do
    local asset, now = change.asset, self:balance(change.place, change.asset)
    if change.place ~= M.WORLD and now:sign() < 0 then
      return nil, ("%s of %s is negative: %s"):format(change.place, asset, tostring(now))
    end
    sums[asset] = (sums[asset] or ZERO):add(now):sub(change.before)
  end
  for asset, sum in pairs(sums) do
    if not sum:is_zero() then return nil, ("%s %s appeared from nowhere"):format(tostring(sum), asset) end
  end
  return true
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

-- SPDX-License-Identifier: MIT
-- The ledger: exact balances of assets at places, such as "uid/SPOT/free" and "uid/FUTURES/locked", against "world",
-- the only place that may be negative. The function `moves` of a history gives each record's moves, so the ledger is
-- the sum over all records, and each asset sums to zero over all places.

local decimal = require "purser.decimal"
local names_of = require "purser.client.util.names_of"

local M = {}

local ZERO = decimal(0)

local Ledger = {}
Ledger.__index = Ledger

M.WORLD = "world"

--- Returns the name of a place.
function M.place(uid, business, state)
  return uid .. "/" .. business .. "/" .. (state or "free")
end

function M.new()
  return setmetatable({ places = {} }, Ledger)
end

--- Returns the balance at a place.
function Ledger:balance(place, asset)
  local assets = self.places[place]
  return assets and assets[asset] or ZERO
end

local function put(places, place, asset, amount)
  local assets = places[place] or {}
  places[place] = assets
  assets[asset] = (assets[asset] or ZERO):add(amount)
end

--- Adds a record's moves to `places`, or takes the moves `back`: `moves(record, move)` calls
--- move(asset, amount, from, to).
function M.book(places, moves, record, back)
  moves(record, function(asset, amount, from, to)
    put(places, back and to or from, asset, amount:negate())
    put(places, back and from or to, asset, amount)
  end)
end

--- Makes changes by place and asset; or returns nil and the asset of a place that would become negative.
function Ledger:apply(changes)
  for place, assets in pairs(changes) do
    for asset, amount in pairs(assets) do
      if place ~= M.WORLD and amount:sign() < 0 and self:balance(place, asset):add(amount):sign() < 0 then
        return nil, asset
      end
    end
  end
  for place, assets in pairs(changes) do
    for asset, amount in pairs(assets) do put(self.places, place, asset, amount) end
  end
  return true
end

--- Returns the assets with a balance at any of some places, in order of names.
function Ledger:assets(...)
  local found = {}
  for _, place in ipairs { ... } do
    for asset, amount in pairs(self.places[place] or {}) do
      found[asset] = found[asset] or not amount:is_zero() or nil
    end
  end
  return names_of(found)
end

--- Checks every balance there is against the records of `histories`. Returns true, or nil and what is wrong.
function Ledger:verify(histories)
  local expected = { places = {} }
  for _, history in pairs(histories) do
    for _, record in ipairs(history.moves and history.all or {}) do M.book(expected.places, history.moves, record) end
  end
  for _, places in ipairs { self.places, expected.places } do
    for place, assets in pairs(places) do
      for asset in pairs(assets) do
        local found, right = self:balance(place, asset), Ledger.balance(expected, place, asset)
        if found:compare(right) ~= 0 then
          return nil, ("%s of %s: the ledger has %s, the records say %s"):format(asset, place, tostring(found),
            tostring(right))
        end
      end
    end
  end
  return true
end

return M

-- SPDX-License-Identifier: MIT
-- Reads lists of the service that rules ask for: saved addresses, and coins with the names of networks. A list is read
-- before a withdrawal, once in ten minutes. Rules cannot be judged by a list that cannot be read.

local core = require "purser.core"
local history = require "purser.client.history"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"

local M = {}

local FRESH_MS = 600000

local readers = {}

function readers.coins(client)
  local list, coins = client:call "wallet.coins", {}
  for _, coin in ipairs(list or {}) do coins[coin.coin] = coin end
  return list and coins
end

function readers.book(client)
  local walk, book = history.walk(client, operations.by_name["wallet.withdrawal_addresses"]), {}
  while true do
    local saved, err = walk:next()
    if not saved then return not err and book or nil end
    local entry = networks.saved_address(saved)
    entry.coin, book[#book + 1] = tostring(saved.coin or ""), entry
  end
end

local function refresh(approved, client, name)
  if approved[name] and core.monotonic_ms() - approved.read_at[name] < FRESH_MS then return end
  approved[name], approved.read_at[name] = readers[name](client), core.monotonic_ms()
end

--- Reads what a payer's policy needs before a withdrawal. Coins are read where common names do not tell whether a rule
--- names the call's network.
function M.read(approved, client, row, params)
  local latest = approved.chain.latest
  if not row.moves or row.moves.to ~= "address" then return end
  local network, needs_coins = params[row.moves.network], latest.asks_book
  for name in pairs(network and latest.networks or {}) do
    needs_coins = needs_coins or networks.same(name, network) == nil
  end
  if needs_coins then refresh(approved, client, "coins") end
  if latest.asks_book then refresh(approved, client, "book") end
end

return M

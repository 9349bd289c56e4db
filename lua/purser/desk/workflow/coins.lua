-- SPDX-License-Identifier: MIT
-- The coin configuration (C1), remembered for a while, and the networks of a coin by whatever name people use for them.

local errors = require "purser.client.call.errors"
local networks = require "purser.client.operations.network"
local suggest = require "purser.client.util.suggest"

local M = {}

-- client -> { coins, read_at }. C1 is over a megabyte, and changes seldom.
local cache = setmetatable({}, { __mode = "k" })

--- Returns the configuration of every coin by its name, at most `max_age_ms` old, and when that was read.
---@param client purser.Client
---@param max_age_ms integer
---@return table<string, table>|nil coins, integer|purser.Error read_at_or_err
function M.read(client, max_age_ms)
  local known, now = cache[client], client:now()
  if known and now - known.read_at <= max_age_ms and now >= known.read_at then return known.coins, known.read_at end
  local list, err = client.wallet:coins()
  if not list then return nil, err end
  now = client:now() -- the call may have set the client's clock right
  local coins = {}
  for _, coin in ipairs(list) do
    if coin.coin then coins[coin.coin] = coin end
  end
  cache[client] = { coins = coins, read_at = now }
  return coins, now
end

-- coins -> name in capitals -> list of coins
local folded = setmetatable({}, { __mode = "k" })

local function fold(coins)
  local by_name = {}
  for name, coin in pairs(coins) do
    local upper = name:upper()
    by_name[upper] = by_name[upper] or {}
    table.insert(by_name[upper], coin)
  end
  return by_name
end

--- Returns the coin of a name, else the single coin whose name differs in capitals alone; or nil and a message.
function M.find(coins, name)
  if coins[name] then return coins[name] end
  if not folded[coins] then folded[coins] = fold(coins) end
  local found = type(name) == "string" and folded[coins][name:upper()] or {}
  if #found == 1 then return found[1] end
  if found[1] then return nil, ("the coin %s may be one of %d that differ in capitals"):format(name, #found) end
  return nil, ("the coin %s does not exist%s; see wallet.coins"):format(tostring(name), suggest.among(name, coins))
end

---@class purser.NetworkQuery
---@field coin string             in capitals or not
---@field network string|nil      by any name people use; nil where the coin has one alone
---@field max_age_ms integer|nil  how old the coin configuration may be. Default: 300000

--- Returns the network of a coin by any name of it ("TRX", "trc20", "Tron(TRC20)").
---@param client purser.Client
---@param given purser.NetworkQuery
---@return purser.record.network|nil network, purser.Error|nil err
function M.find_network(client, given)
  if type(given) ~= "table" then
    return nil, errors.argument(nil, "find_network has no coin", 'give { coin = "USDT", network = "TRX" }')
  end
  local all, problem = M.read(client, given.max_age_ms or 300000)
  if not all then return nil, problem end
  local coin, unknown = M.find(all, given.coin)
  if not coin then return nil, errors.argument("coin", unknown) end
  local network, message = networks.find(coin, given.network)
  if not network then return nil, errors.argument("network", message) end
  local found = {}
  for name, value in pairs(network) do found[name] = value end
  found.coin = coin.coin
  return found
end

return M

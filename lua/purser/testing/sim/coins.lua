-- SPDX-License-Identifier: MIT
-- The catalogue: coins, their networks with fees and limits, and the prices used for conversion. Data, and look-ups.
--
-- A network row reads: netWork (short id), fee, minimum, confirmations, and what differs from the ordinary: `max`,
-- `step` (withdrawIntegerMultiple), `contract`, `deposit = false`, `withdraw = false`, `tip`.

local rejection = require "purser.testing.sim.rejection"

local chains = {
  BTC = { name = "Bitcoin(BTC)", form = "bitcoin", block_ms = 600000 },
  ETH = { name = "Ethereum(ERC20)", form = "evm", block_ms = 12000 },
  BSC = { name = "BNB Smart Chain(BEP20)", form = "evm", block_ms = 3000 },
  MATIC = { name = "Polygon(MATIC)", form = "evm", block_ms = 2000 },
  ARB = { name = "Arbitrum One(ARB)", form = "evm", block_ms = 1000 },
  OP = { name = "Optimism(OP)", form = "evm", block_ms = 2000 },
  AVAX_CCHAIN = { name = "Avalanche C Chain(AVAX CCHAIN)", form = "evm", block_ms = 2000 },
  TRX = { name = "Tron(TRC20)", form = "tron", block_ms = 3000 },
  SOL = { name = "Solana(SOL)", form = "solana", block_ms = 500 },
  XRP = { name = "Ripple(XRP)", form = "ripple", block_ms = 4000, memo = "number" },
  XLM = { name = "Stellar(XLM)", form = "stellar", block_ms = 5000, memo = "text" },
  TONCOIN = { name = "Toncoin(TON)", form = "ton", block_ms = 5000, memo = "text" },
  EOS = { name = "EOS", form = "eos", block_ms = 500, memo = "text" },
  DOGE = { name = "Dogecoin(DOGE)", form = "dogecoin", block_ms = 60000 },
  LTC = { name = "Litecoin(LTC)", form = "litecoin", block_ms = 150000 },
  ADA = { name = "Cardano(ADA)", form = "cardano", block_ms = 20000 },
}

local function evm(digit) return "0x" .. (digit .. "c4f"):rep(10) end

-- coin, name, price in USDT, networks. Without a price a coin cannot be converted.
local rows = {
  { "USDT", "Tether", "1", {
    { "TRX", "1", "10", 20, step = "0.000001", contract = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
    { "ETH", "3.2", "20", 12, step = "0.000001", contract = "0xdac17f958d2ee523a2206206994597c13d831ec7" },
    { "BSC", "0.29", "10", 15, contract = evm "1" },
    { "SOL", "1", "10", 100, contract = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB" },
    { "MATIC", "0.1", "5", 128, contract = evm "2" },
    { "TONCOIN", "0.15", "5", 10, contract = "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs" },
    { "AVAX_CCHAIN", "1", "10", 30, contract = evm "3", withdraw = false, tip = "Withdrawals are suspended." },
  } },
  { "USDC", "USD Coin", "1", {
    { "ETH", "3", "20", 12, step = "0.000001", contract = evm "4" },
    { "SOL", "1", "10", 100, contract = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" },
    { "BSC", "0.3", "10", 15, contract = evm "5" },
  } },
  { "BTC", "Bitcoin", "42000", {
    { "BTC", "0.0003", "0.001", 2, step = "0.00000001" }, { "BSC", "0.00001", "0.0001", 15, contract = evm "6" },
  } },
  { "ETH", "Ethereum", "2200", {
    { "ETH", "0.002", "0.01", 12 }, { "ARB", "0.0002", "0.002", 120 }, { "OP", "0.0002", "0.002", 120 },
  } },
  { "BNB", "BNB", "310", { { "BSC", "0.0005", "0.01", 15 } } },
  { "MX", "MX Token", "2.5", { { "ETH", "1.5", "5", 12, contract = evm "7" } } },
  { "XRP", "XRP", "0.62", { { "XRP", "0.2", "20", 1, step = "0.000001" } } },
  { "XLM", "Stellar Lumens", "0.12", { { "XLM", "0.01", "10", 1 } } },
  { "TON", "Toncoin", "2.3", { { "TONCOIN", "0.02", "1", 10 } } },
  { "EOS", "EOS", "0.8", {
    { "EOS", "0.1", "1", 350, deposit = false, withdraw = false, tip = "Under maintenance." },
  } },
  { "TRX", "TRON", "0.105", { { "TRX", "1", "10", 20 } } },
  { "SOL", "Solana", "60", { { "SOL", "0.008", "0.1", 100 } } },
  { "DOGE", "Dogecoin", "0.08", { { "DOGE", "4", "20", 30, step = "1" } } },
  { "LTC", "Litecoin", "72", { { "LTC", "0.001", "0.002", 6 } } },
  { "ADA", "Cardano", "0.38", { { "ADA", "0.8", "5", 30 } } },
  { "MATIC", "Polygon", "0.9", { { "MATIC", "0.1", "1", 128 }, { "ETH", "4", "10", 12, contract = evm "8" } } },
  { "SHIB", "Shiba Inu", "0.0000082", {
    { "ETH", "300000", "600000", 12, contract = evm "9", max = "900000000000000000000000000000" },
  } },
  { "LINK", "Chainlink", "14.5", { { "ETH", "0.3", "1", 12, contract = evm "a" } } },
  { "UNI", "Uniswap", "5.1", { { "ETH", "0.5", "1", 12, contract = evm "b" } } },
  { "AAVE", "Aave", "95", { { "ETH", "0.04", "0.1", 12, contract = evm "c" } } },
  { "ARB", "Arbitrum", "1.05", { { "ARB", "0.5", "1", 120, contract = evm "d" } } },
  { "OP", "Optimism", "1.7", { { "OP", "0.3", "1", 120, contract = evm "e" } } },
  { "AVAX", "Avalanche", "21", { { "AVAX_CCHAIN", "0.01", "0.1", 30 } } },
  { "CAKE", "PancakeSwap", "2.2", { { "BSC", "0.05", "0.5", 15, contract = evm "f" } } },
  -- No price: a coin that is about to be removed cannot be converted.
  { "OLDC", "Old Coin", nil, { { "BSC", "5", "10", 15, contract = evm "0", deposit = false } } },
}

local M = { list = {}, by_name = {} }

--- The platform's own token: what small balances are converted into.
M.PLATFORM_TOKEN = "MX"

-- Returns a network in the coin configuration, in the interface's names.
local function public_network(coin, name, row, chain)
  return {
    coin = coin, name = name, network = chain.name, netWork = row[1], depositEnable = row.deposit ~= false,
    withdrawEnable = row.withdraw ~= false, withdrawFee = row[2], withdrawMin = row[3],
    withdrawMax = row.max or "10000000", withdrawIntegerMultiple = row.step, minConfirm = row[4],
    -- the address is shared by many users: a memo distinguishes them
    sameAddress = chain.memo ~= nil, contract = row.contract or "",
    depositTips = row.deposit == false and row.tip or nil,
    withdrawTips = row.withdraw == false and row.tip or nil,
  }
end

for i, row in ipairs(rows) do
  local coin = { name = row[1], price = row[3], networks = {}, by_short = {}, by_long = {}, id = ("%032x"):format(i) }
  local public = { coin = row[1], name = row[2], networkList = {} }
  for j, network_row in ipairs(row[4]) do
    local chain = chains[network_row[1]]
    local network = {
      coin = row[1], short = network_row[1], long = chain.name, chain = chain, memo = chain.memo,
      form = chain.form, block_ms = chain.block_ms, public = public_network(row[1], row[2], network_row, chain),
    }
    coin.networks[j] = network
    coin.by_short[network.short], coin.by_long[network.long] = network, network
    public.networkList[j] = network.public
  end
  M.list[i] = public
  M.by_name[row[1]] = coin
end

--- Returns the network of a coin by its long name (`network`), or by its short id (`netWork`) as well when `any`.
function M.network(coin, name, any)
  local entry = M.by_name[coin]
  return entry and (entry.by_long[name] or any and entry.by_short[name]) or nil
end

--- Rejects a request about a coin that is not in the catalogue.
function M.check(coin)
  if not M.by_name[coin] then rejection.raise("10232", ("The coin %s does not exist"):format(coin)) end
end

--- Returns the short id of a coin's network by the long name; nil for an unknown name.
function M.short_id(coin, long)
  local network = M.network(coin, long)
  return network and network.short
end

local MANY = 2000
local many

-- Returns the coins, and many more that can neither be deposited nor withdrawn.
local function list_many()
  if many then return many end
  many = {}
  for i, coin in ipairs(M.list) do many[i] = coin end
  for i = 1, MANY do
    local name = ("TOKEN%04d"):format(i)
    local chain = chains.ETH
    many[#many + 1] = { coin = name, name = "Token " .. i, networkList = { public_network(name, "Token " .. i,
      { "ETH", "1", "2", 12, contract = evm(("%x"):format(i % 16)), deposit = false, withdraw = false,
        tip = "Deposits and withdrawals of this token are suspended until further notice." }, chain) } }
  end
  return many
end

--- C1: every coin with its networks.
M.handlers = { C1 = function(sim) return sim.is_live and list_many() or M.list end }

return M

-- SPDX-License-Identifier: MIT
-- The live service beyond the interface document: L1 to L5, and the market data that other programs read first.

local accounts = require "purser.testing.sim.accounts"
local clock = require "purser.testing.sim.clock"
local coins = require "purser.testing.sim.coins"
local rejection = require "purser.testing.sim.rejection"

local M = {}

local function account_of(sim, account)
  return {
    canTrade = true, canWithdraw = not account.frozen, canDeposit = true, accountType = "SPOT",
    balances = accounts.balances(sim, account, "SPOT"), permissions = { "SPOT" },
  }
end

-- Returns a key of the account or of a sub-account by name; rejects other names.
local function find_key(sim, account, api_key)
  local key = sim.keys.by_id[api_key]
  local owner = key and sim.accounts.by_id[key.uid]
  if not owner or owner.uid ~= account.uid and owner.parent ~= account.uid then rejection.raise "730706" end
  return key
end

local FOR_EVER = -999

local function public(sim, key)
  local days = accounts.days_left(sim, key)
  return {
    note = key.note, accessKey = key.api_key, status = "VALID", permissions = key.permissions,
    ipWhiteList = key.ip or "", createTime = clock.iso_date(key.time), remainingValidity = days or FOR_EVER,
  }
end

local function key_of(sim, account, values)
  return public(sim, find_key(sim, account, values.accessKey))
end

local function change_key(sim, account, values)
  local key = find_key(sim, account, values.apiKey)
  key.ip, key.note = values.ipWhiteList, values.note or key.note
  return public(sim, key)
end

-- L4: everyone is identified as far as a person can be.
local function kyc_status() return { status = "3" } end

local function uid_of(_, account) return { uid = account.uid } end

M.handlers = { L1 = account_of, L2 = key_of, L3 = change_key, L4 = kyc_status, L5 = uid_of }

-- A pair, for other programs: there is nothing to trade.
local SYMBOL = '{"symbol":"%sUSDT","status":"1","baseAsset":"%s","baseAssetPrecision":8,"quoteAsset":"USDT",'
  .. '"quotePrecision":8,"quoteAssetPrecision":8,"baseCommissionPrecision":8,"quoteCommissionPrecision":8,'
  .. '"orderTypes":["LIMIT","MARKET","LIMIT_MAKER"],"isSpotTradingAllowed":true,"isMarginTradingAllowed":false,'
  .. '"quoteAmountPrecision":"1","baseSizePrecision":"0.00000001","permissions":["SPOT"],"filters":[],'
  .. '"maxQuoteAmount":"2000000","makerCommission":"0","takerCommission":"0.0005"}'

-- Path -> the JSON text that answers an unsigned GET.
local market = {
  ["/api/v3/exchangeInfo"] = function(sim)
    local symbols = {}
    for _, coin in ipairs(coins.list) do
      local name = coin.coin
      if name ~= "USDT" and coins.by_name[name].price then symbols[#symbols + 1] = SYMBOL:format(name, name) end
    end
    return ('{"timezone":"CST","serverTime":%d,"rateLimits":[],"exchangeFilters":[],"symbols":[%s]}'):format(sim:now(),
      table.concat(symbols, ","))
  end,
  ["/api/v1/contract/detail"] = function() return '{"success":true,"code":0,"data":[]}' end,
}

--- Returns the answer to a GET of market data, as JSON text; nil where there is none on that path.
function M.market(sim, path)
  return market[path] and market[path](sim)
end

return M

-- SPDX-License-Identifier: MIT
-- Conditions for alerts: each function reads one source, and returns a list of conditions; or nil and an error.
--
-- A condition is { name, state, is_bad, text }: another state of a name is a change; `text` is a sentence with the
-- figures of now.

local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local networks = require "purser.client.operations.network"
local plain_text = require "purser.client.util.plain_text"
local states = require "purser.client.operations.states"

local M = {}

local DAY_MS = 86400000

------------------------------------------------------------------------------------------------------------ the service

local function of_network(coin, network, shown)
  local list, place = {}, coin .. "/" .. network
  for _, way in ipairs { { "withdrawals of ", "withdrawEnable" }, { "deposits of ", "depositEnable" } } do
    local enabled = shown and shown[way[2]]
    local state = not shown and "not listed" or enabled and "open" or enabled == false and "closed" or "not shown"
    list[#list + 1] = { name = way[1] .. place, state = state, is_bad = state ~= "open",
      text = ("%s%s: %s"):format(way[1], place, state) }
  end
  return list
end

--- Returns whether networks are open: `names` are COIN/NETWORK.
function M.networks(client, names)
  local coins, err = client.wallet:coins()
  if not coins then return nil, err end
  local list, by_name = {}, {}
  for _, coin in ipairs(coins) do by_name[coin.coin or ""] = coin end
  for _, name in ipairs(names) do
    local coin, network = name:match "^([^/]+)/(.+)$"
    local shown = networks.find(by_name[coin] or { coin = coin }, network)
    for _, condition in ipairs(of_network(coin, network, shown)) do list[#list + 1] = condition end
  end
  return list
end

-- Returns the balances of the key's own account (""), or of a sub-account; or nil and an error.
local function balances_of(client, owner)
  if owner ~= "" then return client.sub_account:balances { subAccount = owner, accountType = "SPOT" } end
  local account, err = client.live:account()
  return account and account.balances, err
end

--- Returns bounds by the names of assets as the service spells them: in capitals.
---@param bounds table<string, string>|nil
---@return table<string, string>|nil
function M.by_asset(bounds)
  local list = bounds and {}
  for name, bound in pairs(bounds or {}) do list[name:gsub("[^/]+$", string.upper)] = bound end
  return list
end

--- Returns whether free balances are below bounds: { [ASSET or SUB_ACCOUNT/ASSET] = amount }.
function M.balances(client, bounds)
  local list, read = {}, {}
  for name, bound in pairs(bounds) do
    local owner, asset = name:match "^(.*)/([^/]+)$"
    owner, asset = owner or "", asset or name
    local err
    if not read[owner] then read[owner], err = balances_of(client, owner) end
    if not read[owner] then return nil, err end
    local free = "0" -- the service shows no balance that is zero
    for _, balance in ipairs(read[owner]) do
      if balance.asset == asset then free = balance.free end
    end
    local amount, problem = decimal.shown(free)
    local is_below = amount and amount < decimal(bound)
    list[#list + 1] = { name = "balance of " .. name, is_bad = is_below or not amount,
      state = not amount and "unreadable" or is_below and "below " .. bound or "enough",
      text = amount and ("%s has %s free; the bound is %s"):format(name, free, bound)
        or ("the balance of %s: %s"):format(name, problem) }
  end
  return list
end

local WEEK_MS = 7 * DAY_MS

--- Keeps a told deposit so long: longer than deposits are read.
M.KEPT_MS = 2 * WEEK_MS

local function bound_name(asset, bound) return ("deposits of %s above %s"):format(asset, bound) end

-- Returns the condition of a deposit of an asset with a bound; nil where the deposit is not above.
local function of_deposit(record, asset, bound, begun)
  local amount, problem = decimal.shown(record.amount)
  if amount and amount <= decimal(bound) then return nil end
  local address, tx = tostring(record.address or ""), tostring(record.txId or "")
  local state = states.name("deposit", record.status) or tostring(record.status)
  return { name = ("deposit of %s at %s to %s %s"):format(asset, tostring(record.insertTime), address, tx),
    state = state, is_bad = not amount, news_of = begun, time = tonumber(record.insertTime),
    text = amount and ("a deposit of %s %s to %s is in state %s; the bound is %s"):format(tostring(amount), asset,
      address, state, bound) or ("a deposit of %s to %s: %s"):format(asset, address, problem) }
end

--- Returns the deposits of a week that are above bounds, { [ASSET] = amount }, and then a condition of each bound.
--- Nothing that the first reading of a bound shows is news.
function M.deposits(client, bounds)
  local list, walk = {}, client:each("wallet.deposit_history", { from = client:now() - WEEK_MS })
  while true do
    local record, err = walk:next()
    if err then return nil, err end
    if not record then break end
    local coin = tostring(record.coin)
    local asset = bounds[coin] and coin or coin:match "^(.+)%-[^-]*$" or coin -- USDT-TRX of live histories
    local bound = bounds[asset]
    list[#list + 1] = bound and of_deposit(record, asset, bound, bound_name(asset, bound)) or nil
  end
  for _, asset in ipairs(names_of(bounds)) do
    list[#list + 1] = { name = bound_name(asset, bounds[asset]), state = "watched", is_bad = false,
      text = ("deposits above %s %s are watched"):format(bounds[asset], asset) }
  end
  return list
end

local ENDLESS_DAYS = -999 -- of a key that does not end

-- Returns the state of a key by the days that are left, and whether it is bad.
local function validity_of(key, days)
  if key.status and key.status ~= "VALID" then return key.status, true end
  local left = key.remainingValidity
  if left == ENDLESS_DAYS or type(left) == "number" and left > days then return "valid", false end
  return type(left) == "number" and "ends within " .. plain_text.counted(days, "day") or "its end is not shown", true
end

--- Returns the end and the permissions of the client's key. `options` = { key_days, permissions }.
function M.key(client, options)
  local request, err = client:prepare "wallet.convertible_balances"
  if not request then return nil, err end
  local key
  key, err = client.live:api_key { accessKey = request.headers[client.profile.key_header] }
  if not key then return nil, err end
  local list = {}
  if options.key_days then
    local state, is_bad = validity_of(key, options.key_days)
    list[1] = { name = "key", state = state, is_bad = is_bad,
      text = ("the key is %s; days left: %s"):format(state, tostring(key.remainingValidity)) }
  end
  if options.permissions then
    local words = {}
    for word in (key.permissions or ""):gmatch "[^,%s]+" do words[#words + 1] = word end
    table.sort(words)
    local state = ("%s; from %s"):format(table.concat(words, " "), key.ipWhiteList or "")
    list[#list + 1] = { name = "permissions", state = state, is_bad = false, text = "the key may do: " .. state }
  end
  return list
end

------------------------------------------------------------------------------------------------------------ the journal

--- The states of a call without a known end.
M.UNSETTLED = { "open", "unknown", "undecided" }

--- Returns the calls of the client's account that are undecided, or without a known end for `stuck_ms`.
function M.calls(client, journal, stuck_ms)
  local list, now, refusal = {}, client:now(), journal:refusal(client)
  if refusal then return nil, refusal end -- no row of another account is no good news
  for _, state in ipairs(M.UNSETTLED) do
    local entries, err = journal:entries { state = state }
    if not entries then return nil, err end
    for _, entry in ipairs(entries) do
      local intent = entry.intent
      if state == "undecided" or now - intent.sent_at >= stuck_ms then
        local shown = state == "undecided" and state or "stuck"
        local name = ("call %s attempt %d"):format(intent.id, intent.attempt or 1)
        list[#list + 1] = { name = name, state = shown, is_bad = true,
          text = ("%s%s is %s since %.1f hours"):format(intent.operation, entry.key and " " .. entry.key or "", shown,
            (now - intent.sent_at) / (DAY_MS / 24)) }
      end
    end
  end
  return list
end

--- Returns the error of a wrong option, or nil.
function M.check(client, options)
  for _, name in ipairs(options.networks or {}) do
    if type(name) ~= "string" or not name:find "^[^/]+/." then
      return errors.option(("the option `networks` holds %s, which is not COIN/NETWORK"):format(
        type(name) == "string" and ('"%s"'):format(name) or "a " .. type(name)), "networks", "write USDT/TRX")
    end
  end
  local needs_live = options.key_days or options.permissions
  for name, bound in pairs(options.below or {}) do
    if type(name) ~= "string" or type(bound) ~= "string" or not decimal(bound) then
      return errors.option("the option `below` is not { [ASSET] = amount } with amounts as texts", "below",
        'write { USDT = "500" }, or { ["desk1/USDT"] = "500" } for a sub-account')
    end
    needs_live = needs_live or not name:find "/"
  end
  for asset, bound in pairs(options.above or {}) do
    if type(asset) ~= "string" or type(bound) ~= "string" or not decimal(bound) or asset:find "/" then
      return errors.option("the option `above` is not { [ASSET] = amount } of the key's own deposits, with amounts as "
        .. "texts", "above", 'write { USDT = "1000" }; deposits of a sub-account are watched with its own key')
    end
  end
  if needs_live and not (client.profile.live_operations and client.live) then
    return errors.config("the client's profile cannot read its own balances and its key; only `profile = \"mexc\"` can")
  end
end

return M

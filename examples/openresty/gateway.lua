-- SPDX-License-Identifier: MIT
-- The handlers of the payout gateway (nginx.conf beside this file).
--
--   POST /payouts      { reference, coin, network, address, amount }   -> 202, or 200 when the reference is known
--   GET  /payouts/REF  what became of it: pending, sent, refused, unknown or absent
--   GET  /deposits     the latest deposits
--
-- A reference is paid at most once: it is taken in shared memory before anything is sent, and travels as
-- withdrawOrderId. When nobody knows whether a withdrawal was carried out, a timer looks for it in the history. The
-- memory ends with nginx; a gateway for real money takes and keeps its references in a database.

local core = require "purser.core"
local json = require "purser.json"
local purser = require "purser"

local M = {}

local payouts = ngx.shared.payouts
local COINS_FRESH_S, SETTLE_AFTER_S, SETTLE_ATTEMPTS = 60, 1, 30

local client -- of this worker
local networks, networks_until -- which coin may leave by which network, and how long that is believed
local fetching -- somebody asks for them now; the others make do with the old ones, or wait

--- Called in each worker when it starts: connections and secrets belong to one process.
function M.start()
  client = assert(purser.new {
    base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
    api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
    transport = assert(purser.transport.openresty()),
  })
end

local function answer(status, members)
  ngx.status = status
  ngx.header.content_type = "application/json"
  ngx.print(json.encode(json.object(members)), "\n")
  return ngx.exit(status)
end

local function fail(status, err)
  return answer(status, { { "error", tostring(err) } })
end

local function known_networks()
  while fetching and not networks do ngx.sleep(0.01) end -- two hundred must not ask at once
  if networks and (fetching or ngx.now() < networks_until) then return networks end
  fetching = true
  local coins, err = client.wallet:coins()
  fetching = false
  if not coins then return nil, err end
  local fresh = {}
  for _, coin in ipairs(coins) do
    for _, network in ipairs(coin.networkList or {}) do
      if network.withdrawEnable and network.netWork then fresh[coin.coin .. " " .. network.netWork] = true end
    end
  end
  networks, networks_until = fresh, ngx.now() + COINS_FRESH_S
  return networks
end

--- Access phase: who may ask. A client call here waits like anywhere else.
function M.admit()
  local token = os.getenv "GATEWAY_TOKEN"
  if not token or ngx.var.http_authorization ~= "Bearer " .. token then return fail(401, "the token is not known") end
  local ok, err = known_networks()
  if not ok then return fail(503, err) end
end

-- Looks for the withdrawal in the history until it is there. Only a person may decide to pay once more.
local function settle(premature, reference, coin, attempt)
  if premature then return end
  local list = client.wallet:withdrawal_history { coin = coin, limit = 1000 }
  for _, withdrawal in ipairs(list or {}) do
    if withdrawal.withdrawOrderId == reference then return payouts:set(reference, "sent " .. withdrawal.id) end
  end
  if attempt == SETTLE_ATTEMPTS then return payouts:set(reference, "absent") end
  ngx.timer.at(SETTLE_AFTER_S, settle, reference, coin, attempt + 1)
end

local function read_order()
  if ngx.req.get_method() ~= "POST" then return nil, "POST is expected" end
  ngx.req.read_body()
  local order = core.decode(ngx.req.get_body_data() or "")
  if type(order) ~= "table" then return nil, "the body is not JSON" end
  for _, name in ipairs { "reference", "coin", "network", "address", "amount" } do
    if type(order[name]) ~= "string" then return nil, name .. " must be a string" end
  end
  if not order.reference:find "^%w+$" or #order.reference > 32 then
    return nil, "reference must be 1 to 32 letters and digits"
  end
  if not networks[order.coin .. " " .. order.network] then return nil, "this coin cannot leave by this network now" end
  return order
end

local function tell(status, reference)
  local state, detail = (payouts:get(reference) or "none"):match "^(%a+) ?(.*)$"
  return answer(status, { { "reference", reference }, { "state", state }, { "detail", detail } })
end

--- POST /payouts
function M.pay()
  local order, complaint = read_order()
  if not order then return fail(400, complaint) end
  local reference = order.reference
  local taken, why = payouts:safe_add(reference, "pending")
  if not taken then return why == "exists" and tell(200, reference) or fail(503, why) end

  local result, err = client.wallet:withdraw {
    coin = order.coin, netWork = order.network, address = order.address, amount = order.amount,
    withdrawOrderId = reference,
  }
  if result then
    payouts:set(reference, "sent " .. result.id)
  elseif err.outcome == "unknown" then
    payouts:set(reference, "unknown")
    ngx.timer.at(SETTLE_AFTER_S, settle, reference, order.coin, 1)
  elseif err.outcome == "rejected" then
    payouts:set(reference, "refused " .. tostring(err.message))
  else -- not sent: the reference is free again
    payouts:delete(reference)
    return fail(503, err)
  end
  return tell(202, reference)
end

--- GET /payouts/REF
function M.state()
  local reference = ngx.var.uri:match "^/payouts/(%w+)$"
  if not reference or not payouts:get(reference) then return fail(404, "there is no such payout") end
  return tell(200, reference)
end

--- GET /deposits
function M.deposits()
  local list, err = client.wallet:deposit_history()
  if not list then return fail(503, err) end
  local rows = {}
  for i, deposit in ipairs(list) do
    rows[i] = json.object { { "coin", deposit.coin }, { "amount", deposit.amount }, { "txId", deposit.txId } }
  end
  return answer(200, { { "deposits", json.list(rows) } })
end

return M

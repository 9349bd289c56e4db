-- SPDX-License-Identifier: MIT
-- A fleet of two accounts over a simulator in this process.

local purser = require "purser"
local simulated = require "simulated"

local M = {}

local NOW = 1700000000000
local READ, TRADE = { "SPOT_ACCOUNT_READ" }, { "SPOT_DEAL_READ", "SPOT_DEAL_WRITE" }

--- Makes a simulator of a broker, a fleet there, its client, and the secrets that its vault has.
function M.world(options)
  options = options or {}
  local sim = purser.sim.new { start_time = NOW, record_requests = 50, visibility_delay_ms = options.lag }
  local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000", BTC = "2" } }
  local client = simulated.client(sim, owner, { profile = options.profile })
  local secrets = {}
  local vault = {
    store = function(secret) secrets[secret.apiKey] = secret end,
    holds = function(api_key) return secrets[api_key] ~= nil end,
  }
  local fleet = assert(purser.fleet.new { client = client, group = options.group, vault = options.vault or vault,
    accounts = options.accounts or {
      { name = "traders01", note = "first desk", keys = { { note = "trading", permissions = TRADE },
        { note = "reports", permissions = READ, ip = { "203.0.113.7" } } } },
      { name = "traders02", note = "second desk", keys = { { note = "trading", permissions = TRADE } } },
    } })
  return sim, fleet, client, secrets
end

--- Returns how many calls of an operation a simulator got.
function M.received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

--- Returns how many members a table has.
function M.size(map)
  local count = 0
  for _ in pairs(map) do count = count + 1 end
  return count
end

return M

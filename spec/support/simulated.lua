-- SPDX-License-Identifier: MIT
-- Clients of a simulator in this process, on its clock, so that no time passes:
--
--     local sim = purser.sim.new {}
--     local client = simulated.client(sim, sim:account { role = "main" }, { rate_limit = false })

local purser = require "purser"

local M = {}

--- A client with the keys of an account. The tables of options come before what is named here, a later one before an
--- earlier.
function M.client(sim, account, ...)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end }
  for i = 1, select("#", ...) do
    for name, value in pairs((select(i, ...)) or {}) do all[name] = value end
  end
  return assert(purser.new(all))
end

--- A transport to a simulator whose requests go through send(request, inner); `inner` sends them.
function M.transport(sim, send)
  local inner = sim:transport()
  return { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request) return send(request, inner) end }
end

--- A simulator, a client of its one account, and that account.
function M.world(options, fields, client_options)
  local sim = purser.sim.new(options)
  local account = assert(sim:account(fields))
  return sim, M.client(sim, account, client_options), account
end

--- A simulator, and the account of a broker there, who has 1000 USDT (or `fields`) and the sub-account "tradingdesk1".
function M.broker(options, fields)
  local sim = purser.sim.new(options or { seed = 5 })
  local all = { name = "Acme", role = "broker", balances = { USDT = "1000" } }
  for name, value in pairs(fields or {}) do all[name] = value end
  local account = assert(sim:account(all))
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  return sim, account
end

--- The parameters of a transfer to that sub-account, which carries an id.
function M.transfer(amount, fields)
  local params = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
  for name, value in pairs(fields or {}) do params[name] = value end
  return params
end

--- Returns how often a simulator got an operation (`word` "received"), or executed it ("applied").
function M.counted(sim, operation, word)
  local count = sim:counts()[operation]
  return count and count[word] or 0
end

return M

-- SPDX-License-Identifier: MIT
-- A read, a withdrawal and a lost call that is reconciled, against the simulator in this process. And libcurl is there.
local purser = require "purser"
local sim = purser.sim.new { seed = 11 }
local account = assert(sim:account { name = "Acme", role = "main", email = "acme@mail.example",
  balances = { USDT = "1000" } })
local service, lose = sim:transport(), false
local transport = { sleep = function(_, ms) return service:sleep(ms) end, send = function(_, request)
  local response, failure = service:send(request)
  if not lose or request.method == "GET" then return response, failure end
  return nil, { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "lost" }
end }
local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
  secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end })
assert(client.wallet:coins())
local payment = { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" }
assert(client.wallet:withdraw(payment))
lose = true
local _, err = client.wallet:withdraw(payment)
assert(assert(client:reconcile(err)).outcome == "done")
assert(#client.wallet:withdrawal_history {} == 2)
assert(purser.transport.multi()):close()
print(_VERSION, rawget(_G, "jit") and "LuaJIT" or "", "purser " .. purser._VERSION .. " works")

-- SPDX-License-Identifier: MIT
local copas = require "copas"
local purser = require "purser"

local transport = purser.transport.copas()
local client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
local left = 21

local function finish(result, err)
  if not result then print(err) end
  left = left - 1
end

for _ = 1, 20 do
  copas.addthread(function() finish(client.wallet:deposit_history()) end)
end
copas.addthread(function()
  finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end)

local running = true
while running do -- in place of copas.loop()
  copas.step(0.01)
  transport:step()
  running = left > 0
end

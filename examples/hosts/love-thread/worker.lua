-- SPDX-License-Identifier: MIT
local purser = require "purser"
local client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL", transport = assert(purser.transport.multi()),
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
local channel = love.thread.getChannel "purser"

local function send(result, err) channel:push(result and "done" or tostring(err)) end -- a channel takes text

local calls = {}
for i = 1, 20 do calls[i] = function() send(client.wallet:deposit_history()) end end
calls[21] = function()
  send(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end
purser.run(purser.all, calls) -- all at once; returns when the last has ended

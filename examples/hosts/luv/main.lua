-- SPDX-License-Identifier: MIT
local purser = require "purser"
local uv = require "luv"

local transport = assert(purser.transport.multi { outside_tasks = "reject" }) -- other calls would stop the loop
local client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
local turn = purser.transport.luv(uv, transport, print) -- `print` gets what a task raises
local left = 21

local function finish(result, err)
  if not result then print(err) end
  left = left - 1
end

for _ = 1, 20 do purser.spawn(function() finish(client.wallet:deposit_history()) end) end
purser.spawn(function()
  finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end)
turn() -- after tasks were spawned from outside of one
uv.run()

-- SPDX-License-Identifier: MIT
local purser = require "purser"
local transport = assert(purser.transport.multi { outside_tasks = "reject" })
local client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
local left = 21

local function show(problem)
  vim.schedule(function() vim.notify(tostring(problem), vim.log.levels.ERROR) end)
end
local turn = purser.transport.luv(vim.uv or vim.loop, transport, show)

local function finish(result, err)
  if not result then show(err) end
  left = left - 1
end

for _ = 1, 20 do purser.spawn(function() finish(client.wallet:deposit_history()) end) end
purser.spawn(function()
  finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end)
turn() -- after tasks were spawned from outside of one

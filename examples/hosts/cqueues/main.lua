-- SPDX-License-Identifier: MIT
local cqueues = require "cqueues"
local purser = require "purser"

local loop = cqueues.new()
local transport = purser.transport.cqueues(loop, { outside_tasks = "reject" })
local client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
local left = 21

local function finish(result, err)
  if not result then print(err) end
  left = left - 1
end

for _ = 1, 20 do
  loop:wrap(function() finish(client.wallet:deposit_history()) end)
end
loop:wrap(function()
  finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end)
assert(loop:loop())

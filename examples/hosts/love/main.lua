-- SPDX-License-Identifier: MIT
local purser = require "purser"
local schedule = require "purser.schedule"

local left, client = 21, nil

local function finish(result, err)
  if not result then print(err) end
  left = left - 1
end

function love.load()
  client = assert(purser.new { base_url = os.getenv "PURSER_BASE_URL",
    transport = assert(purser.transport.multi { outside_tasks = "reject" }), -- other calls would stop the game
    api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY" })
  for _ = 1, 20 do purser.spawn(function() finish(client.wallet:deposit_history()) end) end
  purser.spawn(function()
    finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
      amount = "12" })
  end)
end

function love.update()
  local ok, problem = pcall(schedule.step, 400) -- at most 400 microseconds of a frame
  if not ok then print(problem) end -- the error of a task
end

function love.draw() love.graphics.print(left .. " calls under way", 20, 20) end

-- SPDX-License-Identifier: MIT
local channel = love.thread.getChannel "purser"
local thread = love.thread.newThread "worker.lua"
local left = 21

function love.load() thread:start() end

function love.update()
  local result = channel:pop()
  if result then
    print(result)
    left = left - 1
  end
  assert(not thread:getError(), thread:getError())
end

-- SPDX-License-Identifier: MIT
-- Purser inside a loop that is not its own: libuv's, through luv. Nothing polls: libuv watches the descriptors that
-- libcurl waits for, and one timer.
--
--   lua examples/luv.lua [CALLS]
--
-- Reads the deposits CALLS times at once (20), while a timer of the same loop goes on ticking. The service is named by
-- PURSER_BASE_URL, the account by PURSER_API_KEY and PURSER_SECRET_KEY.

local purser = require "purser"
local uv = require "luv"

local calls = tonumber((...) or 20)
local transport = assert(purser.transport.multi { max_in_flight = 64 })
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local turn, turns = purser.transport.luv(uv, transport), 0
local schedule = require "purser.schedule"
local step = schedule.step
function schedule.step(...) -- only to count them
  turns = turns + 1
  return step(...)
end

local ticks, done = 0, 0
local ticker = assert(uv.new_timer())
ticker:start(10, 10, function() ticks = ticks + 1 end)

for _ = 1, calls do
  purser.spawn(function()
    assert(client.wallet:deposit_history())
    done = done + 1
    if done == calls then ticker:stop() end -- with it the loop has nothing left, and ends
  end)
end
turn()
uv.run()

print(("%d calls in %d turns of the loop; the ticker went on %d times meanwhile"):format(done, turns, ticks))
client:close()
transport:close()

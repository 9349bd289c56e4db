-- SPDX-License-Identifier: MIT
-- Purser inside a loop that is not its own: libuv's, through luv. Nothing polls: libuv watches the descriptors that
-- libcurl waits for, and one timer.
--
--   lua examples/luv.lua [CALLS]
--
-- Reads the deposits CALLS times at once (20), while a timer of the same loop goes on ticking. The service is named by
-- PURSER_BASE_URL, the account by PURSER_API_KEY and PURSER_SECRET_KEY.

local purser = require "purser"
local schedule = require "purser.schedule"
local uv = require "luv"

-- Puts the transport into libuv's loop. Returns the function that makes a turn (call it after spawning a task from
-- outside of one) and a table that counts the turns.
local function attach(transport)
  local timer, polls, seen = assert(uv.new_timer()), {}, nil
  local count = { turns = 0 }
  local turn

  -- A descriptor's number may come back as another socket, so after any change all are registered again.
  local function watch()
    local requested, version = transport:fds()
    if version == seen then return end
    seen = version
    for _, poll in pairs(polls) do poll:stop() end
    for _, one in ipairs(requested) do
      local events = (one.read and "r" or "") .. (one.write and "w" or "")
      if events ~= "" then
        polls[one.fd] = polls[one.fd] or assert(uv.new_poll(one.fd))
        polls[one.fd]:start(events, turn)
      end
    end
  end

  function turn()
    count.turns = count.turns + 1
    schedule.step()
    watch()
    timer:stop()
    local ms = schedule.timeout()
    if ms then timer:start(ms, 0, turn) end
  end
  return turn, count
end

local calls = tonumber((...) or 20)
local transport = assert(purser.transport.multi { max_in_flight = 64 })
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", transport = transport,
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local turn, count = attach(transport)

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

print(("%d calls in %d turns of the loop; the ticker went on %d times meanwhile"):format(done, count.turns, ticks))
client:close()
transport:close()

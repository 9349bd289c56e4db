-- SPDX-License-Identifier: MIT
-- The script of host.c: 64 operations in flight all the time, as 64 tasks that each read top to bottom.
--
--   host examples/host/game.lua KEYS
--
-- KEYS is a credentials file (docs/cli/command-line.md) with api_key, secret_key and base_url, which nobody else can
-- read: every process of a machine can see the arguments of the others. C reads the secret; no Lua string holds it.

local core = require "purser.core"
local purser = require "purser"
local schedule = require "purser.schedule"

local keys = assert(core.read_credentials((...)))
local TASKS = 64
local BUDGET_US = 400 -- of a frame, for waking tasks: when many answers come at once, some wait for the next frame
local COLLECT_US = 100 -- of a frame, for Lua's collector

local client = assert(purser.new {
  base_url = keys.base_url, api_key = keys.api_key, secret_key = keys.secret, rate_limit = false,
  transport = assert(purser.transport.multi { max_in_flight = TASKS }),
})

keys.secret:close()

local in_flight, done, failed = 0, 0, 0

for _ = 1, TASKS do
  purser.spawn(function()
    while true do
      in_flight = in_flight + 1
      local deposits, err = client.wallet:deposit_history()
      in_flight = in_flight - 1
      done = done + 1
      if not deposits then
        failed = failed + 1
        if failed == 1 then io.stderr:write("the first that failed: ", tostring(err), "\n") end
      end
    end
  end)
end

-- Left to itself, the collector does a whole round in the middle of one answer, half a millisecond at once. Here it
-- does a little in every frame, in portions of some 20 microseconds.
collectgarbage "stop"
collectgarbage("incremental", 0, 0, 6)

local function collect()
  local ends = core.monotonic_us() + COLLECT_US
  repeat until collectgarbage("step", 0) or core.monotonic_us() >= ends
end

-- Called once a frame. It never waits.
return function()
  schedule.step(BUDGET_US)
  collect()
  return in_flight, done, failed
end

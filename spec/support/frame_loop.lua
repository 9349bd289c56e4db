-- SPDX-License-Identifier: MIT
-- The program of examples/host, run against a simulated service:
--
--   local frame_loop = require "frame_loop"
--   setup(frame_loop.start) teardown(frame_loop.stop)
--   frame_loop.run("lua5.4", "-f 120")   -> the figures of each Lua state, and all that was printed
--   frame_loop.world()                   -> the simulator

local files = require "files"
local service = require "service"

local M = {}

local function output_of(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo exit $?"))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- The lines `name=number ...` that host.c prints, one a state.
local function figures(text)
  local states = {}
  for line in text:gmatch "[^\n]+" do
    local state = {}
    for name, value in line:gmatch "([%w_]+)=(%d+)" do state[name] = tonumber(value) end
    if state.frames then states[#states + 1] = state end
  end
  assert(text:find "exit 0", text)
  return states
end

local sim, keys

function M.start()
  sim = service.start()
  local account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
  keys = files.temporary(("api_key = %s\nsecret_key = %s\nbase_url = %s\n"):format(account.api_key, account.secret_key,
    sim.url))
  for _ = 1, 20 do
    assert(sim.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "1.5" })
  end
end

function M.stop()
  sim.stop()
  os.remove(keys)
end

function M.world() return sim.world end

-- ThreadSanitizer wants its own places in memory, which some systems' random layout takes; setarch -R stills it where
-- that is allowed.
local SANITIZED = "TSAN_OPTIONS='exitcode=66 ignore_noninstrumented_modules=1' $(setarch -R true && echo setarch -R)"

--- Runs the program of a build. Returns the figures of each Lua state, and what was printed.
function M.run(build, options)
  local words = "env LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='build/%s/?.so;;' %s build/%s/examples/host %s %s"
  local text = output_of(words:format(build, build == "tsan" and SANITIZED or "", build, options,
    "examples/host/game.lua " .. keys))
  return figures(text), text
end

return M

-- SPDX-License-Identifier: MIT
-- The program with a frame loop of examples/host, against a simulated service.

local files = require "files"
local service = require "service"

local function run(command)
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

local sim, account, keys

setup(function()
  sim = service.start()
  account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
  keys = files.temporary(("api_key = %s\nsecret_key = %s\nbase_url = %s\n"):format(account.api_key, account.secret_key,
    sim.url))
  for _ = 1, 20 do
    assert(sim.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "1.5" })
  end
end)

teardown(function()
  sim.stop()
  os.remove(keys)
end)

-- ThreadSanitizer wants its own places in memory, which some systems' random layout takes; setarch -R stills it where
-- that is allowed.
local SANITIZED = "TSAN_OPTIONS='exitcode=66 ignore_noninstrumented_modules=1' $(setarch -R true && echo setarch -R)"

local function host(build, options)
  return run(("env LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='build/%s/?.so;;' %s build/%s/examples/host %s %s")
    :format(build, build == "tsan" and SANITIZED or "", build, options,
      "examples/host/game.lua " .. keys))
end

describe("a program with a frame loop", function()
  it("keeps 64 operations in flight, and no frame waits for the network", function()
    local DELAY_MS, RATE = 300, 60
    assert(sim.world:fault { kind = "slow", delay_ms = DELAY_MS, probability = 1 })
    local state = figures(host("lua5.4", ("-f %d -r %d -n %d"):format(3 * RATE, RATE, 2 * 64)))[1]
    assert(sim.world:disarm())
    print(("# 64 in flight at 60 Hz, median and 99th percentile of a frame: processor time %d and %d us, "
      .. "wall time %d and %d us (%d of %d frames set aside: the system gave the processor to others), "
      .. "a loop of known length %d and %d us; %d sleeps; %d operations"):format(state.cpu_p50_us, state.cpu_p99_us,
      state.wall_p50_us, state.wall_p99_us, state.preempted, state.frames, state.control_p50_us, state.control_p99_us,
      state.waits, state.done))
    assert.equal(64, state.in_flight)
    assert.equal(0, state.failed)
    assert.is_true(state.done >= 64 * 2, state.done .. " operations")
    -- The control loop's 300 us are longer on a slower or busier machine, and so is a frame.
    assert.is_true(state.cpu_p50_us < 14 * state.control_p50_us, state.cpu_p50_us .. " us of processor time a frame")
    -- The system counts when a thread goes to sleep. A page read from the disk counts too, so a few are let pass.
    assert.is_true(state.waits <= state.frames / 20, state.waits .. " waits")
  end)

  it("runs two Lua states in two threads, which share nothing that ThreadSanitizer objects to", function()
    local text = host("tsan", "-f 120 -r 120 -t 2 -n 128")
    assert.is_nil(text:find("ThreadSanitizer", 1, true), text)
    local states = figures(text)
    assert.equal(2, #states)
    for _, state in ipairs(states) do
      assert.equal(0, state.failed)
      assert.is_true(state.done >= 128, state.done .. " operations")
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The program with a frame loop of examples/host, against a simulated service.

local frame_loop = require "frame_loop"

setup(frame_loop.start)
teardown(frame_loop.stop)

describe("a program with a frame loop", function()
  it("keeps 64 operations in flight, and no frame waits for the network", function()
    local DELAY_MS, RATE = 300, 60
    assert(frame_loop.world():fault { kind = "slow", delay_ms = DELAY_MS, probability = 1 })
    local state = frame_loop.run("lua5.4", ("-f %d -r %d -n %d"):format(3 * RATE, RATE, 2 * 64))[1]
    assert(frame_loop.world():disarm())
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
end)

-- SPDX-License-Identifier: MIT
-- The program of examples/host with two Lua states in two threads, built for ThreadSanitizer.
-- make test-all: 10 s

local frame_loop = require "frame_loop"

setup(frame_loop.start)
teardown(frame_loop.stop)

describe("a program with a frame loop", function()
  it("runs two Lua states in two threads, which share nothing that ThreadSanitizer objects to", function()
    local states, text = frame_loop.run("tsan", "-f 120 -r 120 -t 2 -n 128")
    assert.is_nil(text:find("ThreadSanitizer", 1, true), text)
    assert.equal(2, #states)
    for _, state in ipairs(states) do
      assert.equal(0, state.failed)
      assert.is_true(state.done >= 128, state.done .. " operations")
    end
  end)
end)

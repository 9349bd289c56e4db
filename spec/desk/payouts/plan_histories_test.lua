-- SPDX-License-Identifier: MIT
-- Random histories of runs; see spec/support/plan_histories.lua. PURSER_HISTORIES=2000 runs two thousand.
-- make test-all: 90 s, on luajit

local run = require "plan_histories"

describe("histories of runs", function()
  it("(1 to 400) send nothing that was not shown, and show all that is left", function() run(400) end)
end)

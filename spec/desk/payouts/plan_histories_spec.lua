-- SPDX-License-Identifier: MIT
-- Random histories of runs: what a run sends was on its screen, and each printed command is accepted; see
-- spec/support/plan_histories.lua.
-- make test: 20 s, waits, on lua5.4 and luajit

local run = require "plan_histories"

describe("histories of runs", function()
  it("(50) send nothing that was not shown, and show all that is left", function() run(50) end)
end)

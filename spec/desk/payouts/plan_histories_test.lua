-- SPDX-License-Identifier: MIT
-- Two thousand random histories of runs; see spec/support/plan_histories.lua.
-- make test-all: 600 s

local run = require "plan_histories"

describe("histories of runs", function()
  it("(2000) send nothing that was not shown, and show all that is left", function() run(2000) end)
end)

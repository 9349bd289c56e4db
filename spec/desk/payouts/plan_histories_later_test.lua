-- SPDX-License-Identifier: MIT
-- Random histories of runs beside those of plan_histories_test.lua: two processes use two cores.
-- make test-all: 90 s, on luajit

local run = require "plan_histories"

describe("histories of runs", function()
  it("(401 to 800) send nothing that was not shown, and show all that is left", function() run(400, 401) end)
end)

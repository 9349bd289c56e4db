-- SPDX-License-Identifier: MIT
-- Random lines: nothing raises, each answer is JSON with its id, and nothing moves. raw_lines_test.lua has 20,000.

local check = require "raw_lines_check"

describe("raw lines to an agent's server", function()
  it("are answered, and nothing moves", function()
    local answered, results = check(7, 400)
    assert.is_true(answered > 200 and results > 10, answered .. ", " .. results)
  end)
end)

-- SPDX-License-Identifier: MIT
-- 20,000 random lines.
-- make test-all: 60 s, on luajit

local check = require "raw_lines_check"

describe("raw lines to an agent's server, many of them", function()
  it("are answered, and nothing moves", function()
    for seed = 1, 4 do
      local answered, results = check(seed, 5000)
      assert.is_true(answered > 2500 and results > 250, answered .. ", " .. results)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- Random lives of payments under a policy and a limit; see spec/support/lives.lua. approvals_lives_test.lua runs more.
-- make test: 10 s, on lua5.4, a third

local draws = require "draws"
local lives = require "lives"
local ssh_keys = require "ssh_keys"

teardown(ssh_keys.remove)

describe("a hundred lives of payments", function()
  it("send nothing that no plan lets, pay nothing twice without a word, pass no limit, and come to an end", function()
    lives.run(draws.of(100))
    local met = draws.STEP > 1 and { "requests", "settled", "failures", "1 commands" }
      or { "requests", "settled", "failures", "paid again by a word", "1 commands", "limits by a word",
        "requests without their account's limit", "exceeds another's limit", "copies put back", "older journals" }
    for _, what in ipairs(met) do
      assert.is_true((lives.counts[what] or 0) > 0, what)
    end
  end)
end)

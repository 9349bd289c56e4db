-- SPDX-License-Identifier: MIT
-- POLICIES random policies (20,000), ten calls each, against a second evaluator, from SEED on.
-- make test-all: 120 s

local random_policies = require "random_policies"

describe("many random policies", function()
  it("decide as a second evaluator does, whatever the order, and never looser", function()
    random_policies.compare(tonumber(os.getenv "POLICIES") or 20000, tonumber(os.getenv "SEED") or 11)
  end)
end)

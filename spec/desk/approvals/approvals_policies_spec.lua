-- SPDX-License-Identifier: MIT
-- POLICIES random policies (4,000), ten calls each, against a second evaluator, from SEED on; and as many changes of
-- policies against what the check says of them.
-- make test-all: 30 s, on lua5.4

local random_policies = require "random_policies"

describe("many random policies", function()
  it("decide as a second evaluator does, whatever the order, and never looser", function()
    random_policies.compare(tonumber(os.getenv "POLICIES") or 4000, tonumber(os.getenv "SEED") or 11)
  end)

  it("get no looser without a word on it", function()
    local counts = random_policies.loosen(tonumber(os.getenv "POLICIES") or 4000, tonumber(os.getenv "SEED") or 13)
    print(("# %d changes proved, %d named; %d calls let through"):format(counts.proved, counts.named, counts.looser))
  end)
end)

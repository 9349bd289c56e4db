-- SPDX-License-Identifier: MIT
-- docs/desk/approvals.md says in twelve sentences what a policy stops and what it cannot: each has its test.

local read = require("files").read

-- Words of each sentence, and the name of its test in the file that the sentence names.
local TESTS = {
  { "no rule allows", "forbid what none of them allows" },
  { "by a maker", "is unknown: no allow is met, and each forbid and require applies" },
  { "with a memo behind a colon", "is one with the address alone: for a rule by address, and for a sum" },
  { "says nothing clear", "is refused with a wrong value of any, and never raises" },
  { "later than `plan_days`", "belongs to one account, queue, journal and service, under a policy of the chain" },
  { "could not be checked", "is no answer, whichever function of the core fails" },
  { "passed over", "is not taken for one that has no later version, nor is a version written over" },
  { "looks like a line", "lets no text of the maker's begin a line as the page's own lines begin" },
  { "at another service alone", "calls new what was paid at another host alone" },
  { "cannot prove who made", "are persons, each once, and not its maker" },
  { "cannot judge pruned", "counts a payment whose parameters were pruned as not judged" },
  { "two spellings", "is not made of a prefix where the operation has a memo of its own" },
}

describe("the page of approvals", function()
  it("names for each bound of a policy a test that exists", function()
    local bounds, count = read "docs/desk/approvals.md":match "\n## The bounds of a policy\n(.-)\n\n%u", 0
    for number, sentence, file in bounds:gmatch "\n(%d+)%. (.-)%(`([%w_]+%.lua)`" do
      count = count + 1
      local test = TESTS[count]
      assert.equal(tostring(count), number)
      assert(sentence:find(test[1], 1, true), number .. ": " .. sentence)
      assert(read("spec/desk/approvals/" .. file):find(('it("%s'):format(test[2]), 1, true), number .. ": no test in "
        .. file)
    end
    assert.equal(12, count)
  end)
end)

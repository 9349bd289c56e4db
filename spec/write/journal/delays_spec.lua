-- SPDX-License-Identifier: MIT
-- The latest that a record was seen to appear stays known to every process with the journal.

local own = require "own_journal"

after_each(own.finish)

describe("the delay of an operation's records", function()
  it("is the longest that was noted, and 0 before", function()
    local journal = own.begin()
    assert.equal(0, journal:delay "wallet.withdraw")
    for _, ms in ipairs { 5, 900, 30 } do journal:note_delay("wallet.withdraw", ms) end
    assert.same({ 900, 0 }, { journal:delay "wallet.withdraw", journal:delay "wallet.transfer" })
  end)
end)

-- SPDX-License-Identifier: MIT
-- The log of a journal.

local own_journal = require "own_journal"

describe("the log of a journal", function()
  local journal
  before_each(function() journal = own_journal.begin() end)
  after_each(own_journal.finish)

  it("is empty where nothing was logged, and keeps how each message ended", function()
    assert.same({}, (journal:logged()))
    local id = assert(journal:log { at = 5, who = "w", tool = "pay", reference = "r", outcome = "begun" })
    assert(journal:log { at = 6, who = "w", tool = "stop", reference = "", outcome = "begun" })
    assert(journal:end_log(id, "paid"))
    assert.same({ { at = 5, who = "w", tool = "pay", reference = "r", outcome = "paid" },
      { at = 6, who = "w", tool = "stop", reference = "", outcome = "begun" } }, (journal:logged()))
  end)

  it("says that a message must not be obeyed where the journal takes nothing", function()
    journal:close()
    local id, err = journal:log { at = 5, who = "w", tool = "pay", reference = "r", outcome = "begun" }
    assert.is_nil(id)
    assert.equal("not_sent", err.outcome)
    assert.is_nil((journal:logged()))
  end)
end)

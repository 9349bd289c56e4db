-- SPDX-License-Identifier: MIT
-- Errors for failed journal statements.

local intents = require "purser.write.intent"

describe("the error of a statement", function()
  it("has the outcome of the call, and the database's words", function()
    local err = intents.journal_error("not_sent", "disk I/O error", "look at the disk")
    assert.same({ "config", "journal", "not_sent", "journal: disk I/O error", "look at the disk" },
      { err.kind, err.phase, err.outcome, err.message, err.hint })
    assert.equal("unknown", intents.journal_error("unknown", "disk I/O error").outcome)
    assert.is_nil(intents.journal_error("unknown", "disk I/O error").hint)
  end)

  it("says to wait where another program holds the database, of SQLite and of PostgreSQL", function()
    for _, message in ipairs { "database is locked", "canceling statement due to lock timeout" } do
      local hint = intents.lock_hint(message)
      assert.matches("another program writes to it", hint)
      assert.equal(hint, intents.journal_error("not_sent", message, "look at the disk").hint)
    end
    assert.is_nil(intents.lock_hint "table is missing")
  end)
end)

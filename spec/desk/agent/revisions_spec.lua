-- SPDX-License-Identifier: MIT
-- The table of revisions, newest first.

local revisions = require "purser.desk.agent.revisions"

describe("the revisions of the protocol", function()
  it("are five, newest first, and the newest with a handshake is offered", function()
    assert.same({ "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" }, revisions.names)
    assert.equal("2025-11-25", revisions.offered.name)
    local batches = {}
    for i, revision in ipairs(revisions.list) do
      assert.equal(revision, revisions.by_name[revision.name])
      assert.equal(i == 1, not revision.handshake)
      assert.equal(i == 1, revision.marked == true)
      if revision.batches then batches[#batches + 1] = revision.name end
    end
    assert.same({ "2025-03-26" }, batches)
  end)
end)

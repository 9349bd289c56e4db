-- SPDX-License-Identifier: MIT
-- The word of a record's state; tools_pays_spec.lua looks at payments of the simulator.

local arrival = require "purser.desk.agent.arrival"

describe("a later look at an accepted call", function()
  it("has a word for each state, and accepted for all that is no end", function()
    for status, word in pairs { [7] = "sent", [8] = "failed", [9] = "cancelled", [1] = "accepted", [3] = "accepted",
      ["7"] = "sent", SUCCESS = "sent", FAILED = "failed", WAIT = "accepted", odd = "accepted" } do
      assert.equal(word, arrival.word { status = status })
    end
    assert.equal("accepted", arrival.word {})
  end)

  it("is none where no history shows the call", function()
    local intent = { operation = "wallet.withdraw", params = {}, sent_at = 1700000000000 }
    assert.equal("accepted", arrival.look({}, { intent = intent }))
    local client = { each = function() return { next = function() return nil, "err" end } end }
    assert.same({ nil, "err" }, { nil, (select(2, arrival.look(client, { intent = intent, record = { id = "1" } }))) })
  end)
end)

-- SPDX-License-Identifier: MIT
-- What an unknown name was meant to be.

local suggest = require "purser.util.suggest"

describe("an unknown name", function()
  it("gets the nearest one, and an exchange of neighbours is one change", function()
    assert.equal("USDT", suggest.find("USTD", { "USDC", "USDT" }))
    assert.equal("late_arrival_ms", suggest.find("late_arival_ms", { "late_arrival_ms", "parallel" }))
    assert.is_nil(suggest.find("something_else", { "late_arrival_ms", "parallel" }))
  end)
end)

-- SPDX-License-Identifier: MIT
-- The inner state of clients, apart from what users hold. (spec/client/client_private_spec.lua has clients.)

local private = require "purser.client.util.private"

describe("the inner state", function()
  it("is that of the table that stands for it, and nil for anything else", function()
    local held, state = {}, {}
    private.states[held] = state
    assert.equal(state, private.state_of(held))
    for _, other in ipairs { {}, "x", 5, true, print } do assert.is_nil(private.state_of(other)) end
    assert.is_nil(private.state_of(nil))
    assert.is_nil(private.state_of(false))
  end)

  it("is let go with the table that stands for it", function()
    local seen = setmetatable({}, { __mode = "v" })
    for i = 1, 50 do
      seen[i] = {}
      private.states[{}] = seen[i]
    end
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(next(seen, next(seen))) -- a conservative look at the stack may still see the last
  end)
end)

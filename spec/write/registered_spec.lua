-- SPDX-License-Identifier: MIT
-- The gates by name, which the module fills.

require "purser"
local registered = require "purser.write.registered"

describe("the registered gates", function()
  it("are those of the rooms on top, there before any journal is", function()
    assert.equal("policy", registered.approvals.option)
    for _, name in ipairs { "open", "refuse", "count", "prune", "tables" } do
      assert.is_not_nil(registered.approvals.gate[name])
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The public modules are members of `purser`, so that one `require` is enough.

local purser = require "purser"

describe("purser", function()
  local paths = { vault = "desk.fleet.vault", secrets = "client.util.secrets", csv = "client.util.csv",
    utc = "client.util.utc", states = "client.operations.states" }
  for _, name in ipairs { "codes", "csv", "decimal", "json", "secrets", "states", "utc", "vault" } do
    it("has the module purser." .. name .. " as a member", function()
      assert.equal(require("purser." .. (paths[name] or name)), purser[name])
    end)
  end
end)

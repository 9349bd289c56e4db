-- SPDX-License-Identifier: MIT
-- The rows of what only the live service has, and which profile allows them.

local new = require("recorder").new
local operations = require "purser.client.operations"

-- id -> method, path, weight and effect, written down by hand
local live = {
  L1 = { "GET", "/api/v3/account", 10, "read" }, L2 = { "GET", "/api/v3/apiKeyInfo", 1, "read" },
  L3 = { "POST", "/api/v3/apiKeyInfo", 1, "change" }, L4 = { "GET", "/api/v3/kyc/status", 1, "read" },
  L5 = { "GET", "/api/v3/uid", 1, "read" },
}

describe("the rows of the live service", function()
  it("are five, of which one changes something", function()
    local seen = {}
    for _, row in ipairs(operations.groups.live) do
      assert.is_true(row.live)
      seen[row.id] = { row.method, row.path, row.weight, row.effect }
    end
    assert.same(live, seen)
  end)

  it("are sent where the profile allows it, and rejected before anything is sent where it does not", function()
    for profile, count in pairs { mexc = 1, default = 0 } do
      local client, transport = new({ profile = profile }, function()
        return { status = 200, body = '{"uid":"7"}', headers = "" }
      end)
      local ok, result = pcall(client.call, client, "live.uid")
      assert.equal(count == 1, ok and result ~= nil)
      assert.equal(count, #transport.requests)
    end
  end)
end)

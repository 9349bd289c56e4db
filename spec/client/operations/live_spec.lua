-- SPDX-License-Identifier: MIT
-- The rows of what only the live service has, and which profile allows them.

local contract_rows = require "contract_rows"
local new = require("recorder").new
local operations = require "purser.client.operations"

describe("the rows of the live service", function()
  contract_rows.facts(it, "live")

  it("are marked as such, in the order of their ids", function()
    for i, row in ipairs(operations.groups.live) do assert.same({ true, "L" .. i }, { row.live, row.id }) end
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

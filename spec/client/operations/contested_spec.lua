-- SPDX-License-Identifier: MIT
-- The contested weights: each reading has a source and a date, readings differ, and the one in force is among them.

local contested = require "purser.client.operations.contested"
local operations = require "purser.client.operations"
local profiles = require "purser.client.operations.profiles"

describe("a contested weight", function()
  it("has readings that differ, each with a source and a date, and the live profile's among them", function()
    local seen = {}
    for name, readings in pairs(contested) do
      seen[#seen + 1] = operations.by_name[name].id
      local weights = {}
      for _, reading in ipairs(readings) do
        assert.is_true(#reading.source > 3 and reading.date:find "20%d%d" ~= nil, name)
        assert.is_nil(weights[reading.weight])
        weights[reading.weight] = true
      end
      assert.is_true(#readings > 1)
      assert.is_true(weights[profiles.mexc.weights[name]])
    end
    table.sort(seen)
    assert.same({ "A13", "B6" }, seen)
  end)
end)

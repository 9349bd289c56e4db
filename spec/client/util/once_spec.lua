-- SPDX-License-Identifier: MIT
-- Values that are made once for each table.

local once = require "purser.client.util.once"

describe("what is made once", function()
  it("is made at the first use of each table, and kept also where it is false", function()
    local asked = {}
    local of = once(function(row)
      asked[#asked + 1] = row.name
      return row.name == "second" and { row.name } or false
    end)
    local first, second = { name = "first" }, { name = "second" }
    assert.is_false(of(first))
    assert.is_false(of(first))
    assert.equal(of(second), of(second))
    assert.same({ "second" }, of(second))
    assert.same({ "first", "second" }, asked)
  end)

  it("is freed with its table", function()
    local of = once(function() return {} end)
    local kept = setmetatable({ of { name = "gone" } }, { __mode = "v" })
    collectgarbage()
    collectgarbage()
    assert.is_nil(kept[1])
  end)
end)

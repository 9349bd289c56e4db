-- SPDX-License-Identifier: MIT
-- The keys of tables in order.

local names_of = require "purser.client.util.names_of"

describe("the names of tables", function()
  it("come once each and in order, those of other kinds by their text", function()
    assert.same({ "a", "b", "c" }, names_of({ b = 1, a = 1 }, { c = 1, b = 2 }, {}))
    assert.same({ 1, 10, 2, "a", true }, names_of { a = 1, [2] = 1, [10] = 1, [1] = 1, [true] = 1 })
    assert.same({}, names_of {})
  end)
end)

-- SPDX-License-Identifier: MIT
-- The statements that write a map of columns: one text and one order of values for each set of names.

local statements = require "purser.client.util.database.statements"

local function shown(names, what) return what .. " " .. table.concat(names, ",") end

describe("a statement of columns", function()
  it("has the names in their order, and the values in that of the names, however the map was made", function()
    local names = { "d", "a", "c", "b", "e" }
    for first = 1, #names do
      local map = {}
      for i = 0, #names - 1 do
        local name = names[(first + i - 1) % #names + 1]
        map[name] = "value of " .. name
      end
      local sql, values, count = statements.of(map, "add", shown)
      assert.equal("add a,b,c,d,e", sql)
      assert.same({ "value of a", "value of b", "value of c", "value of d", "value of e" }, values)
      assert.equal(5, count)
    end
  end)

  it("is made once for the same names and the same text", function()
    local made = 0
    local function make(names, what)
      made = made + 1
      return shown(names, what)
    end
    for i = 1, 3 do
      assert.equal("x = ? one", (statements.of({ one = tostring(i) }, "x = ?", make)))
      assert.equal("y = ? one", (statements.of({ one = tostring(i) }, "y = ?", make)))
    end
    assert.equal(2, made)
    assert.equal("x = ? one,two", (statements.of({ one = "1", two = "2" }, "x = ?", make)))
    assert.equal("x = ? one", (statements.of({ one = "1" }, "x = ?", make)))
    assert.equal(3, made)
  end)
end)

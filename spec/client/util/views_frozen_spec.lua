-- SPDX-License-Identifier: MIT
-- Tables that can be read and not changed.

local frozen = require "purser.client.util.views".frozen

describe("a frozen table", function()
  local source = { name = "default", codes = { ["0"] = true, ["200"] = true }, list = { "a", "b" } }
  local view = frozen(source)

  it("reads as the table does, and so do the tables in it", function()
    assert.same({ "default", true, "b" }, { view.name, view.codes["200"], view.list[2] })
    assert.is_nil(view.codes["500"])
  end)

  it("cannot be changed, whether the member is there or not, at the line of whoever tries", function()
    for _, change in ipairs {
      function() view.name = "mine" end, function() view.other = 1 end, function() view.codes["500"] = true end,
      function() view.list[1] = nil end,
    } do
      assert.matches("^spec/client/util/views_frozen_spec%.lua:%d+: .* cannot be set: this table is read%-only",
        select(2, pcall(change)))
    end
    assert.equal("default", view.name)
    assert.error_matches(function() setmetatable(view, {}) end, "protected")
    assert.equal("read-only", getmetatable(view))
  end)

  it("stays as it was when the table it was made of changes", function()
    local mine = { codes = { a = true } }
    local held = frozen(mine)
    mine.codes.b, mine.more = true, 1
    assert.is_nil(held.codes.b)
    assert.is_nil(held.more)
  end)

  it("is walked by pairs and counted by # where Lua asks for that, and hands out no table to change", function()
    if not pcall(function() assert(#view.list == 2) end) then return assert.equal(0, #view.list) end
    local seen = {}
    for name, member in pairs(view) do seen[name] = member end
    assert.equal("default", seen.name)
    assert.has_error(function() seen.codes.x = 1 end)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The heap of what is due when, against a sorted list.

local heap = require "purser.client.util.heap"
local prng = require "purser.testing.sim.prng"

describe("a heap", function()
  it("gives the earliest first, and of equal times the one of the lower order", function()
    local random = prng.new(7, "heap")
    for size = 1, 60 do
      local entries, list = {}, {}
      for order = 1, size do
        local entry = { at = random:roll(5), order = order }
        list[order] = entry
        heap.push(entries, entry)
      end
      table.sort(list, function(a, b) return a.at < b.at or a.at == b.at and a.order < b.order end)
      for i = 1, size do assert.equal(list[i], heap.pop(entries)) end
      assert.same({}, entries)
    end
  end)

  it("gives nil when it is empty, and may be filled again", function()
    local entries = {}
    assert.is_nil(heap.pop(entries))
    heap.push(entries, { at = 1, order = 1 })
    assert.equal(1, heap.pop(entries).at)
    assert.is_nil(heap.pop(entries))
  end)
end)

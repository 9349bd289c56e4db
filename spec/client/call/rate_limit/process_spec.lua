-- SPDX-License-Identifier: MIT
-- The store of one process: its documents are kept as they are, by its clock.

local process = require "purser.client.call.rate_limit.process"
local property = require "store_property"

describe("the store of one process", function()
  property.of(it, function(world)
    local store = process.new(function() return world.now end)
    return { new = function() return store end, harms = {} }
  end, 30)

  it("gives what was put to whoever asks next, by its own clock", function()
    local store = process.new(function() return 7 end)
    assert.same({ 7, "-" }, { store:transact({}, function(kv, now, run)
      kv.put("a", { { 1 } }, 0)
      return now, run
    end) })
    assert.same({ { 1 } }, store:transact({}, function(kv) return kv.get "a" end))
    store:close()
  end)
end)

-- SPDX-License-Identifier: MIT
-- Readings that fail.

local files = require "files"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("A reading of deposits", function()
  after_each(files.remove_kept)

  it("credits no more after a reading that failed, and all after the next one", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "6"
    world.sim:advance(HOUR)
    world.sim:fault { operation = "wallet.deposit_history", kind = "server_error", status = 503, times = 2 }
    local problems = 0
    assert(world.receive:run { deadline_ms = 60000, problem = function() problems = problems + 1 end })
    assert.equal("credit alice 6", receive_world.events(world))
  end)
end)

-- SPDX-License-Identifier: MIT
-- States of a deposit: taken back once, and only when two readings say so.

local files = require "files"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("The state of a deposit", function()
  after_each(files.remove_kept)

  it("takes back once, after the credit, when two readings show a refund", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    local deposit = world.deposit "3"
    assert(world.receive:run { deadline_ms = HOUR })
    assert(world.sim:set_deposit(deposit.id, 4)) -- an answer that lags
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 5))
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 8))
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 3, reversed alice 3", receive_world.events(world))
    assert.equal("3", tostring(world.receive:check()[1].reversed))
  end)
end)

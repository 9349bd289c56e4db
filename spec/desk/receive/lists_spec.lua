-- SPDX-License-Identifier: MIT
-- The list for a person, and what ends its lines.

local files = require "files"
local made_address = require "made_address"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("The list of deposits for a person", function()
  after_each(files.remove_kept)

  it("asks a person about money of nobody, and does what that person says", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = "customer,address\nbob," .. made_address("evm", 1) .. "\n" })
    world.deposit "9"
    assert(world.receive:run { deadline_ms = HOUR })
    local lines = assert(world.receive:list())
    assert.equal("no customer has this address and memo", lines[1].why)
    assert.same({ "give CUSTOMER", "refuse" }, lines[1].verbs)
    assert.equal("9", tostring(world.receive:check()[1].person))
    local _, err = world.receive:settle(lines[1].deposit, "give", "bobb", "eve")
    assert.matches("no customer bobb", err.message)
    assert(world.receive:settle(lines[1].deposit, "give", "bob", "eve"))
    _, err = world.receive:settle(lines[1].deposit, "give", "bob", "eve")
    assert.matches("nobody is asked", err.message)
    assert(world.receive:run { deadline_ms = 0 })
    assert.equal("credit bob 9", receive_world.events(world))
  end)

  it("counts what was refused at first sight", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    local deposit = world.deposit "9"
    assert(world.sim:set_deposit(deposit.id, 8))
    assert(world.receive:run { deadline_ms = HOUR })
    local sum = world.receive:check()[1]
    assert.same({ true, "9", "9" }, { sum.adds_up, tostring(sum.received), tostring(sum.refused) })
  end)

  it("adds up while each credit is of the amount and coin that the service shows", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "9"
    assert(world.receive:run { deadline_ms = HOUR })
    local sum = world.receive:check()[1]
    assert.same({ true, nil, "9", "9" }, { sum.adds_up, sum.odd, tostring(sum.received), tostring(sum.credited) })
    assert(world.receive.store:rows "UPDATE purser_receive_deposit SET amount = '8'")
    sum = world.receive:check()[1]
    assert.is_false(sum.adds_up)
    assert.matches("^dp_", sum.odd)
  end)
end)

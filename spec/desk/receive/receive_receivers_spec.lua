-- SPDX-License-Identifier: MIT
-- Receivers of purser.receive: retries, lanes, replay, names.

local files = require "files"
local receive_world = require "receive_world"

local HOUR, DAY = 3600000, 86400000

describe("A receiver of deposits", function()
  after_each(files.remove_kept)

  it("hands an event over again until it is taken, with one id, and the others meanwhile", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "1"
    world.deposit "2"
    world.refuses = function(event) return event.amount == "1" and #world.got < 6 end
    assert(world.receive:run { deadline_ms = HOUR })
    local count, same = {}, {}
    for _, event in ipairs(world.got) do
      count[event.amount] = (count[event.amount] or 0) + 1
      assert.equal(event.id, same[event.amount] or event.id)
      same[event.amount] = event.id
    end
    assert.equal(1, count["2"])
    assert.is_true(count["1"] > 3)
    assert.same({ "0" }, { world.receive:deliveries()[1].waiting })
  end)

  it("lets a receiver get events again, have another name, and be forgotten", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "4"
    assert(world.receive:run { deadline_ms = HOUR })
    local id = world.got[1].id
    assert.equal(1, world.receive:replay("shop", id))
    assert.equal(1, world.receive:replay("shop", world.sim:now() - DAY))
    assert(world.receive:rename("shop", "store"))
    assert.same({ "store", "1" }, { world.receive:deliveries()[1].receiver, world.receive:deliveries()[1].waiting })
    local later = world.open { receivers = { store = { deliver = world.take } } }
    assert(later:run { deadline_ms = 0 })
    assert.equal(id, world.got[2].id)
    assert(later:test "store")
    assert.equal("dp_test/credit", world.got[3].id)
    assert(later:rename "store")
    assert.same({}, later:deliveries())
  end)
end)

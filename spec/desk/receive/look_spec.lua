-- SPDX-License-Identifier: MIT
-- One process reads into a database.

local files = require "files"
local identity = require "purser.desk.receive.identity"
local looks = require "purser.desk.receive.look"
local readers = require "purser.desk.receive.reader"
local receive_world = require "receive_world"

describe("A run", function()
  after_each(files.remove_kept)

  it("says before the first look that no place is kept, and of whom one is kept", function()
    local world = receive_world.new()
    local _, err = world.receive:run { deadline_ms = 0 }
    assert.matches("run `purser receive begin` first", err.message, 1, true)
    _, err = world.receive:preview {}
    assert.matches("run `purser receive begin` first", err.message, 1, true)
    world.deposit "5"
    world.sim:advance(3600000)
    world.deposit "7"
    assert.same({ old = 1, pending = 1, asked = 0 }, world.receive:begin {})
    assert.same({}, world.receive:preview {})
    _, err = world.receive:begin {}
    assert.matches("kept already", err.message)
    _, err = world.open({ coin = "BTC" }):run { deadline_ms = 0 }
    assert.matches('of the filter "", and this is "BTC"', err.message, 1, true)
  end)
end)

describe("A look", function()
  after_each(files.remove_kept)

  it("reads three times at most where each reading asks for a deeper one", function()
    local world, depth, reads = receive_world.new(), 0, 0
    assert(world.receive:begin {})
    local take, read = identity.take, world.receive.reader.read
    finally(function() identity.take = take end)
    function identity.take() -- luacheck: ignore 122
      depth = depth - 1
      return depth
    end
    function world.receive.reader.read(...)
      reads = reads + 1
      return read(...)
    end
    assert(world.receive:run { deadline_ms = 0 })
    assert.equal(3, reads)
  end)
end)

describe("A run with events to hand over", function()
  after_each(files.remove_kept)

  it("says before each of them that it still reads: a slow receiver ends no lease", function()
    local world, leases = receive_world.new(), 0
    assert(world.receive:begin { customers = world.customers })
    local lease = world.receive.store.lease
    function world.receive.store.lease(...)
      leases = leases + 1
      return lease(...)
    end
    for count = 0, 2, 2 do
      for i = 1, count do world.deposit(tostring(5 + i)) end
      world.sim:advance(3600000)
      local handed = 0
      leases = 0
      assert(world.receive:run { deadline_ms = 0, delivered = function() handed = handed + 1 end })
      assert.equal(count, handed)
      assert.equal(3 + count, leases) -- the first, one a look, one an event, and the release
    end
  end)
end)

describe("A gap between two readings", function()
  after_each(files.remove_kept)

  it("is told, and ends no run", function()
    local world, told, gap = receive_world.new(), {}, readers.gap
    assert(world.receive:begin {})
    finally(function() readers.gap = gap end)
    function readers.gap() return "a gap" end -- luacheck: ignore 122
    assert.is_true(world.receive:run { deadline_ms = 0, problem = function(err) told[#told + 1] = err end })
    assert.same({ "a gap" }, told)
    readers.gap = function() end -- luacheck: ignore 122
    assert.is_true(world.receive:run { deadline_ms = 0, problem = function(err) told[#told + 1] = err end })
    assert.equal(1, #told)
  end)
end)

describe("A run without a receiver", function()
  after_each(files.remove_kept)

  it("credits nobody: an event that nobody waits for would reach nobody", function()
    local world = receive_world.new()
    local receive = world.open { receivers = {} }
    assert(receive:begin { customers = world.customers })
    world.deposit "6"
    world.sim:advance(3600000)
    local ok, err = receive:run { deadline_ms = 0 }
    assert.is_nil(ok)
    assert.matches("no receiver has a name yet", err.message)
    assert(world.receive:run { deadline_ms = 0 })
    assert.equal("credit alice 6", receive_world.events(world))
    assert(receive:run { deadline_ms = 0 }) -- the name is kept: what is credited waits for it
  end)
end)

describe("The lease of a database of deposits", function()
  after_each(files.remove_kept)

  it("keeps a second process out, and lets it in when the first is gone", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    assert(looks.take_lease(world.receive))
    local second = world.open()
    local _, err = second:run { deadline_ms = 0 }
    assert.equal("held", err.code)
    world.sim:advance(60000)
    assert(second:run { deadline_ms = 0 })
    assert(looks.take_lease(second))
    _, err = looks.look(world.receive)
    assert.matches("another process reads", err.message)
  end)
end)

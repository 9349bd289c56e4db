-- SPDX-License-Identifier: MIT
-- purser.receive over the simulator: the place.

local files = require "files"
local purser = require "purser"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("purser.receive", function()
  after_each(files.remove_kept)

  it("credits what succeeds after the begin, and nothing that had succeeded before", function()
    local world = receive_world.new()
    world.deposit "5"
    world.sim:advance(HOUR)
    world.deposit "7"
    assert.same({ old = 1, pending = 1, asked = 0 }, world.receive:begin { customers = world.customers })
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 7", receive_world.events(world))
    local event = world.got[1]
    assert.equal(event.deposit .. "/credit", event.id)
    assert.same({ "USDT", "TRX", world.address, "" }, { event.coin, event.network, event.address, event.memo })
    assert.same({}, world.receive:list())
    assert.is_true(world.receive:check()[1].adds_up)
  end)
end)

describe("A database of deposits", function()
  it("is named once", function()
    for _, options in ipairs { {}, { sqlite = "a", postgresql = {} } } do
      local _, err = purser.receive.open(options)
      assert.same({ "give sqlite = FILE or postgresql = {...}, one of them", "sqlite" }, { err.message, err.option
        or err.parameter })
    end
  end)

  it("is looked at each hour at least, and never without a pause", function()
    for poll_ms, is_right in pairs { [0] = false, [1] = true, [3600000] = true, [3600001] = false } do
      local options = { sqlite = files.new_path(), poll_ms = poll_ms }
      local receive, err = purser.receive.open(options)
      assert.same({ poll_ms, is_right }, { poll_ms, receive ~= nil })
      assert.equal(not is_right and "poll_ms" or nil, err and err.option)
      if receive then receive:close() end
    end
    files.remove_kept()
  end)
end)

describe("A test of a receiver", function()
  after_each(files.remove_kept)

  it("is an event of nothing, with every member of a credit", function()
    local world = receive_world.new()
    assert(world.receive:test "shop")
    assert.same({ id = "dp_test/credit", kind = "credit", deposit = "dp_test", customer = "test", coin = "TEST",
      network = "TEST", amount = "0", address = "", memo = "", tx = "", time = 0 }, world.got[1])
  end)
end)

describe("A preview of what a look would credit", function()
  after_each(files.remove_kept)

  it("shows the events, and keeps none of them", function()
    local world = receive_world.new()
    local _, err = world.receive:preview {}
    assert.matches("begin` first", err.message)
    assert(world.receive:begin {})
    world.deposit "5"
    world.sim:advance(HOUR)
    local none, asked = world.receive:preview()
    assert.same({ {}, 1, "5", "USDT", "no customer has this address and memo" }, { none, #asked, asked[1].amount,
      asked[1].coin, asked[1].why })
    local events = assert(world.receive:preview { customers = world.customers })
    assert.same({ 1, "credit", "alice" }, { #events, events[1].kind, events[1].row.customer })
    _, err = world.receive:preview { customers = "customer\nalice\n" }
    assert.matches("line 1: there is no column address", err.message)
    assert.same({ {}, {} }, { world.got, world.receive:check() })
    assert(world.receive:run { customers = world.customers, deadline_ms = 0 })
    assert.equal(events[1].id, world.got[1].id)
  end)
end)

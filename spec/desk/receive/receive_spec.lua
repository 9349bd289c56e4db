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

  it("is of sub-accounts or not, and of nothing between", function()
    for value, is_right in pairs { [true] = true, [false] = true, yes = false } do
      local receive, err = purser.receive.open { sqlite = files.new_path(), sub_accounts = value }
      assert.same({ is_right, not is_right and "sub_accounts" or nil }, { receive ~= nil, err and err.option })
      if receive then receive:close() end
    end
    files.remove_kept()
  end)

  it("takes an address as a customer's from one call on", function()
    local world = receive_world.new()
    assert.same({ old = 0, pending = 0, asked = 0 }, world.receive:begin { customers = "customer,address\n" })
    assert.is_true(world.receive:note_address("bob", world.address))
    world.deposit "5"
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit bob 5", receive_world.events(world))
    local ok, err = world.receive:note_address("bob", "")
    assert.same({ nil, "argument" }, { ok, err.kind })
    files.remove_kept()
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

describe("What a person should look at in customers' addresses", function()
  after_each(files.remove_kept)

  local TRON, ETHEREUM = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "0xdac17f958d2ee523a2206206994597c13d831ec7"
  local CONTRACT = "the address is the contract of USDT, not a person; compare it with the service's page"
  local UNKNOWN = "the address is an address of no network that is known; compare it with the service's page"

  local function texts_of(world, text)
    local found = {}
    for i, one in ipairs(assert(world.receive:warnings(text))) do
      found[i] = { one.line or 0, one.customer, table.concat(one.warnings, " | ") }
    end
    return found
  end

  it("is a contract of a coin that the file names, and an address of no known network", function()
    local world = receive_world.new()
    local text = ("customer,address,coins\na,%s,usdc usdt\nb,0x%s,USDT\nc,%s,BTC\nd,%s,\ne,No-Network,\n"):format(TRON,
      ETHEREUM:sub(3):upper(), TRON, TRON) .. ("f,%s,USDT\n"):format(world.address)
    assert.same({ { 2, "a", CONTRACT }, { 3, "b", CONTRACT }, { 6, "e", UNKNOWN } }, texts_of(world, text))
    assert.same({}, texts_of(world, world.customers))
    assert.matches("line 1: there is no column address", select(2, world.receive:warnings "customer\n").message)
  end)

  it("is a contract of the coin that the deposits are of", function()
    local world = receive_world.new { coin = "USDT" }
    assert.same({ { 2, "a", CONTRACT } }, texts_of(world, "customer,address\na," .. TRON .. "\n"))
  end)

  it("is said of the customers that are kept as well, by what is known without a client", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = "customer,address,coins\ne,No-Network,\na," .. TRON .. ",USDT\n" })
    assert.same({ { 0, "a", CONTRACT }, { 0, "e", UNKNOWN } }, texts_of(world))
    world.receive:close()
    world.receive = assert(purser.receive.open { sqlite = world.path })
    assert.same({ { 0, "e", UNKNOWN } }, texts_of(world))
  end)

  it("is as well that the coins cannot be read, where one is named", function()
    local world = receive_world.new()
    assert(world.sim:fault { operation = "wallet.coins", kind = "reject", code = 700007, message = "no permission" })
    local found = texts_of(world, "customer,address,coins\na," .. TRON .. ",USDT\nb," .. ETHEREUM .. ",\n")
    assert.same({ 1, 2 }, { #found, found[1][1] })
    assert.matches("the address was not compared with the coin's contracts: ", found[1][3], 1, true)
  end)
end)

-- SPDX-License-Identifier: MIT
-- purser.receive over the simulator: the place, the events, the receivers, the list and its words.

local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local HOUR, DAY = 3600000, 86400000

-- A simulator with one account, and a database with its customer alice; what receivers got is in `got`.
local function new_world(more)
  local sim, client, account = simulated.world({ seed = 3 }, { role = "main", balances = { USDT = "1000" } },
    { rate_limit = false })
  local world = { sim = sim, client = client, account = account, got = {}, path = files.new_path() }
  world.address = assert(client.wallet:create_deposit_address { coin = "USDT",
    network = "Tron(TRC20)" }).address
  world.customers = ("customer,address,coins\nalice,%s,USDT\n"):format(world.address)
  function world.take(_, text)
    local event = core.decode(text)
    world.got[#world.got + 1] = event
    return (not world.refuses or not world.refuses(event)) or nil, "refused"
  end
  function world.open(options)
    local all = { sqlite = world.path, client = client, receivers = { shop = { deliver = world.take } } }
    for name, value in pairs(options or {}) do all[name] = value end
    return assert(purser.receive.open(all))
  end
  function world.deposit(amount, fields)
    local all = { account = account.uid, coin = "USDT", network = "TRX", amount = amount }
    for name, value in pairs(fields or {}) do all[name] = value end
    return assert(sim:deposit(all))
  end
  world.receive = world.open(more)
  return world
end

local function ids(world)
  local list = {}
  for i, event in ipairs(world.got) do list[i] = event.kind .. " " .. event.customer .. " " .. event.amount end
  return table.concat(list, ", ")
end

describe("purser.receive", function()
  after_each(files.remove_kept)

  it("credits what succeeds after the begin, and nothing that had succeeded before", function()
    local world = new_world()
    world.deposit "5"
    world.sim:advance(HOUR)
    world.deposit "7"
    assert.same({ old = 1, pending = 1 }, world.receive:begin { customers = world.customers })
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 7", ids(world))
    local event = world.got[1]
    assert.equal(event.deposit .. "/credit", event.id)
    assert.same({ "USDT", "TRX", world.address, "" }, { event.coin, event.network, event.address, event.memo })
    assert.same({}, world.receive:list())
    assert.is_true(world.receive:check()[1].adds_up)
  end)

  it("says before the first look that no place is kept, and of whom one is kept", function()
    local world = new_world()
    local _, err = world.receive:run { deadline_ms = 0 }
    assert.matches("run `purser receive begin` first", err.message, 1, true)
    assert(world.receive:begin {})
    _, err = world.receive:begin {}
    assert.matches("kept already", err.message)
    _, err = world.open({ coin = "BTC" }):run { deadline_ms = 0 }
    assert.matches('of the filter "", and this is "BTC"', err.message, 1, true)
  end)

  it("hands an event over again until it is taken, with one id, and the others meanwhile", function()
    local world = new_world()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "1"
    world.deposit "2"
    world.refuses = function(event) return event.amount == "1" and #world.got < 6 end
    assert(world.receive:run { deadline_ms = HOUR })
    local count, same = {}, {}
    for _, event in ipairs(world.got) do
      count[event.amount] = (count[event.amount] or 0) + 1
      same[event.id] = true
    end
    assert.equal(1, count["2"])
    assert.is_true(count["1"] > 3)
    assert.same({ "0" }, { world.receive:deliveries()[1].waiting })
  end)

  it("takes back once, after the credit, when two readings show a refund", function()
    local world = new_world()
    assert(world.receive:begin { customers = world.customers })
    local deposit = world.deposit "3"
    assert(world.receive:run { deadline_ms = HOUR })
    assert(world.sim:set_deposit(deposit.id, 4)) -- an answer that lags
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 5))
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 8))
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 3, reversed alice 3", ids(world))
    assert.equal("3", tostring(world.receive:check()[1].reversed))
  end)

  it("asks a person about money of nobody, and does what that person says", function()
    local world = new_world()
    assert(world.receive:begin { customers = "customer,address\nbob,0x0000000000000000000000000000000000000001\n" })
    world.deposit "9"
    assert(world.receive:run { deadline_ms = HOUR })
    local lines = assert(world.receive:list())
    assert.equal("no customer has this address and memo", lines[1].why)
    assert.equal("9", tostring(world.receive:check()[1].person))
    local _, err = world.receive:settle(lines[1].deposit, "give", "bobb", "eve")
    assert.matches("no customer bobb", err.message)
    assert(world.receive:settle(lines[1].deposit, "give", "bob", "eve"))
    _, err = world.receive:settle(lines[1].deposit, "give", "bob", "eve")
    assert.matches("nobody is asked", err.message)
    assert(world.receive:run { deadline_ms = 0 })
    assert.equal("credit bob 9", ids(world))
  end)

  it("keeps a second process out, and lets it in when the first is gone", function()
    local world = new_world()
    assert(world.receive:begin { customers = world.customers })
    assert(world.receive:take_lease())
    local second = world.open()
    local _, err = second:run { deadline_ms = 0 }
    assert.equal("held", err.code)
    world.sim:advance(60000)
    assert(second:run { deadline_ms = 0 })
    assert(second:take_lease())
    _, err = world.receive:look()
    assert.matches("another process reads", err.message)
  end)

  it("lets a receiver get events again, have another name, and be forgotten", function()
    local world = new_world()
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

  it("credits no more after a reading that failed, and all after the next one", function()
    local world = new_world()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "6"
    world.sim:advance(HOUR)
    world.sim:fault { operation = "wallet.deposit_history", kind = "server_error", status = 503, times = 2 }
    local problems = 0
    assert(world.receive:run { deadline_ms = 60000, problem = function() problems = problems + 1 end })
    assert.equal("credit alice 6", ids(world))
  end)
end)

describe("Customers of purser.receive", function()
  local HEAD = "customer,address,memo,coins,least,from,until\n"
  for text, message in pairs {
    ["alice,0xA,1,,,,\nbob,0xa,1,,,,\n"] = "line 3: the address and memo belong to alice at the same time",
    ["alice,rA,,,,,\nbob,rA,7,,,,\n"] = "line 3: the address stands both with and without a memo",
    ["alice,0x0000000000000000000000000000000000000001,7,,,,\n"] = "line 2: an address like",
    ["alice,rA,7,,x,,\n"] = 'line 2: least "x" is no amount',
    ["alice,rA,7,,,2026-02-01,2026-01-01\n"] = "line 2: until is not later than from",
    [",rA,7,,,,\n"] = "line 2: customer and address must not be empty",
  } do
    it("are refused as a whole: " .. message, function()
      local rows, problem = require("purser.desk.receive.customers").parse(HEAD .. text)
      assert.is_nil(rows)
      assert.equal(message, problem:sub(1, #message))
    end)
  end

  it("may have one address after another, and memos that look alike", function()
    local rows = assert(require("purser.desk.receive.customers").parse(HEAD
      .. "a,rA,007,,,,2026-01-01\nb,rA,007,,,2026-01-01,\nc,rA,7,usdt;usdc,1,,\n"))
    assert.equal(3, #rows)
    assert.equal("USDT USDC", rows[3].coins)
  end)
end)

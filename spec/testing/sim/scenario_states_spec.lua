-- SPDX-License-Identifier: MIT
-- Deposits and withdrawals in every documented state: the state shows, the funds are where it has them, it stays, and
-- no wait of the client concludes more from it than is known.

local purser = require "purser"
local service = require "service"
local signed = require "signed"
local simulated = require "simulated"

local get = signed.get
local HOUR = 3600000
local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

local function world()
  local sim = purser.sim.new {}
  local house = assert(sim:account { role = "main", name = "House", balances = { USDT = "100" } })
  local client = simulated.client(sim, house)
  return sim, house, client
end

-- Returns what is free and what is locked of House.
local function funds(sim)
  local spot = sim:state().accounts[1].spot[1]
  return spot.free .. " " .. spot.locked
end

local function arrive(sim)
  return assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = "7" }).id
end

local function withdraw(sim, house, address)
  return get(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = address or PAYEE, amount = "20" }).id
end

-- The account's balances in each state, with 7 of a deposit and, of 100, 20 of a withdrawal with a fee of 1.
local of_deposit = { [5] = "107 0", [9] = "100 7" }
local of_withdrawal = { "79 21", "79 21", "79 21", "79 21", "79 21", "79 0", "79 0", "100 0", "100 0", "79 21" }

describe("a deposit", function()
  for status = 1, 12 do
    it(("can be put into state %d from every other, and stays there"):format(status), function()
      local sim, house = world()
      for before = 1, 12 do
        local id = arrive(sim)
        assert.equal(before, assert(sim:set_deposit(id, before)).status)
        assert.equal(status, assert(sim:set_deposit(id, status)).status)
        assert.equal(of_deposit[status] or "100 0", funds(sim))
        sim:advance(HOUR)
        assert.equal(status, get(sim, house, "C4")[1].status)
        assert.equal(of_deposit[status] or "100 0", funds(sim))
        assert(sim:verify())
        assert(sim:set_deposit(id, 7))
      end
    end)
  end

  it("is not taken back when its funds were spent", function()
    local sim, house = world()
    local id = arrive(sim)
    assert(sim:set_deposit(id, "SUCCESS"))
    for _ = 1, 4 do withdraw(sim, house) end
    get(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = PAYEE, amount = "20" })
    local deposit, wrong = sim:set_deposit(id, "REJECTED")
    assert.is_nil(deposit)
    assert.matches("spent", wrong)
    assert(sim:verify())
  end)

  it("that has no such state or id is said to have none", function()
    local sim = world()
    for _, status in ipairs { 0, 13, 1.5, "DONE", false } do
      assert.same({ nil, "the states of deposits are 1 to 12" }, { sim:set_deposit(arrive(sim), status) })
    end
    assert.same({ nil, "there is no such deposit" }, { sim:set_deposit("none", 5) })
  end)
end)

describe("a withdrawal", function()
  for status = 1, 10 do
    it(("can be put into state %d from every other, and stays there"):format(status), function()
      for before = 1, 10 do
        local sim, house = world()
        local id = withdraw(sim, house)
        assert.equal(before, assert(sim:set_withdrawal(id, before)).status)
        assert.equal(status, assert(sim:set_withdrawal(id, status)).status)
        assert.equal(of_withdrawal[status], funds(sim))
        sim:advance(HOUR)
        local record = get(sim, house, "C5")[1]
        assert.equal(status, record.status)
        assert.equal(status == 6 or status == 7, type(record.txId) == "string")
        assert.equal(of_withdrawal[status], funds(sim))
        assert(sim:verify())
      end
    end)
  end

  it("to an account of the platform arrives once, and cannot be taken back", function()
    local sim, house = world()
    local friend = assert(sim:account { name = "Friend" })
    local id = withdraw(sim, house, get(sim, friend, "C6", { coin = "USDT", network = "Tron(TRC20)" }).address)
    assert(sim:set_withdrawal(id, 6))
    assert(sim:set_withdrawal(id, 7))
    assert(sim:set_withdrawal(id, 7))
    assert.equal(1, #get(sim, friend, "C4"))
    for status = 1, 10 do
      if status ~= 7 then assert.is_nil((sim:set_withdrawal(id, status))) end
    end
    assert(sim:verify())
  end)

  it("goes on from its state after a snapshot as before it", function()
    local sim, house = world()
    local id = withdraw(sim, house)
    assert(sim:set_withdrawal(id, "MANUAL"))
    sim = purser.sim.restore(sim:snapshot())
    sim:advance(HOUR)
    assert.equal(10, get(sim, house, "C5")[1].status)
    assert(sim:verify())
  end)
end)

describe("a wait", function()
  it("for a withdrawal ends as rejected in states 8 and 9 alone", function()
    for status = 1, 10 do
      local sim, house, client = world()
      local id = withdraw(sim, house)
      assert(sim:set_withdrawal(id, status))
      local withdrawal, err = client.wallet:wait_withdrawal(id, { deadline_ms = 100000 })
      if status == 7 then
        assert.equal(7, withdrawal.status)
      else
        assert.equal((status == 8 or status == 9) and "rejected" or "unknown", err.outcome)
      end
    end
  end)
end)

describe("a simulator that runs", function()
  local running
  after_each(function()
    if running then running.stop() end
    running = nil
  end)

  it("puts them into states over HTTP", function()
    running = service.start { "--clock", "virtual" }
    local sim = running.world
    assert(sim:account { name = "House", balances = { USDT = "100" } })
    local id = arrive(sim)
    assert.equal(7, assert(sim:set_deposit(id, 7)).status)
    local none, wrong = sim:set_withdrawal("none", 7)
    assert.is_nil(none)
    assert.matches("no such withdrawal", wrong)
    assert.equal(8, assert(sim:set_deposit(id, "REFUND")).status)
    assert(sim:verify())
  end)
end)

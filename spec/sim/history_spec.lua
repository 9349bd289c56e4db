-- SPDX-License-Identifier: MIT
-- Histories: their windows, pages and edges, at any size; records that become visible late.

local clock = require "purser.sim.clock"
local history = require "purser.sim.history"
local purser = require "purser"
local signed = require "signed"

local ask, get = signed.ask, signed.get
local HOUR, DAY = 3600000, 86400000

describe("the simulator's histories", function()
  local sim, house, desk
  before_each(function()
    sim = purser.sim.new { start_time = 1700000000000 }
    house = assert(sim:account { role = "broker", balances = { USDT = "1000000" } })
    desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001" })
  end)

  local function deposit(owner, time)
    return assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "1", time = time })
  end

  it("include both ends of a window (C4)", function()
    local now = sim:now()
    for _, age in ipairs { 0, 1, 2 } do deposit(house, now - DAY - age) end
    local function count(first, last) return #get(sim, house, "C4", { startTime = first, endTime = last }) end
    assert.equal(3, count(now - DAY - 2, now - DAY))
    assert.equal(1, count(now - DAY - 1, now - DAY - 1))
    assert.equal(2, count(now - DAY - 1, now))
    assert.equal(0, count(now - DAY + 1, now))
  end)

  it("cover the last 7 days where C4 has no bound, and 7 days from the bound it has", function()
    local now = sim:now()
    for _, age in ipairs { 1, 6, 8, 20 } do deposit(house, now - age * DAY) end
    assert.equal(2, #get(sim, house, "C4"))
    assert.equal(1, #get(sim, house, "C4", { startTime = now - 21 * DAY }))
    assert.equal(2, #get(sim, house, "C4", { endTime = now - 5 * DAY }))
  end)

  it("cover the last 10 days in A10, twenty at a time, without a greatest limit", function()
    local now = sim:now()
    for i = 1, 25 do deposit(desk, now - i * HOUR) end
    deposit(desk, now - 11 * DAY)
    assert.equal(20, #get(sim, desk, "A10"))
    assert.equal(5, #get(sim, desk, "A10", { page = 2 }))
    assert.equal(25, #get(sim, desk, "A10", { limit = 100000 }))
    assert.equal(26, #get(sim, desk, "A10", { limit = 100, startTime = now - 12 * DAY }))
  end)

  it("cover three days from 00:00 in A11, whatever it is asked, and all sub-accounts", function()
    local midnight = 1699920000000 -- 2023-11-14 00:00 UTC
    local other = sim:account { role = "sub", parent = house.uid, name = "desk0002" }
    deposit(desk, midnight - 3 * DAY)
    deposit(other, midnight)
    deposit(desk, midnight - 3 * DAY - 1)
    deposit(house, midnight)
    assert.equal(2, #get(sim, house, "A11"))
    assert.equal(2, #get(sim, house, "A11", { startTime = midnight - 30 * DAY }))
    assert.equal(1, #get(sim, house, "A11", { startTime = midnight - DAY }))
    assert.is_nil(get(sim, house, "A11")[1].addressTag)
  end)

  it("filter by coin and status, newest first", function()
    local now = sim:now()
    deposit(house, now - 2 * HOUR)
    deposit(house, now - HOUR)
    sim:deposit { account = house.uid, coin = "XRP", network = "XRP", amount = "5" }
    local list = get(sim, house, "C4")
    assert.is_true(list[1].insertTime > list[2].insertTime and list[2].insertTime > list[3].insertTime)
    assert.equal(1, #get(sim, house, "C4", { status = 4 }))
    assert.equal("XRP", get(sim, house, "C4", { coin = "XRP" })[1].coin)
    assert.equal(1, #get(sim, house, "C4", { coin = "USDT", limit = 1 }))
    assert.same({}, get(sim, house, "C4", { coin = "USDT", status = 4 }))
  end)

  it("page C10 in tens and reach 6 months back; C11 does too", function()
    local ids = {}
    for i = 1, 12 do
      ids[i] = get(sim, house, "C9",
        { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })[1].tranId
      sim:advance(1)
    end
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    local first = get(sim, house, "C10", params)[1]
    assert.same({ 10, 12, ids[12] }, { #first.rows, first.total, first.rows[1].tranId })
    params.page = 2
    assert.equal(ids[1], get(sim, house, "C10", params)[1].rows[2].tranId)
    params.page = nil
    sim:advance(8 * DAY)
    assert.equal(0, get(sim, house, "C10", params)[1].total)
    params.startTime = 1700000000000
    assert.equal(12, get(sim, house, "C10", params)[1].total)
    assert.equal("1", get(sim, house, "C11", { tranId = ids[1] }).amount)
    sim:advance(180 * DAY)
    assert.equal("10072", signed.rejection(sim, house, "C11", { tranId = ids[1] }))
    sim.switches.key_days = 0
    assert.equal("22222", signed.rejection(sim, house, "C11", { tranId = ids[1] }))
  end)

  it("give every record of one millisecond once, over pages", function()
    local time = sim:now() - HOUR
    for _ = 1, 50 do deposit(desk, time) end
    local seen, count = {}, 0
    for page = 1, 8 do
      for _, record in ipairs(get(sim, desk, "A10", { limit = 7, page = page, startTime = time, endTime = time })) do
        assert.is_nil(seen[record.txId])
        seen[record.txId], count = true, count + 1
      end
    end
    assert.equal(50, count)
  end)

  it("show records late where the option says so, though they are executed", function()
    sim = purser.sim.new { visibility_delay_ms = 3000 }
    house = assert(sim:account { role = "broker", balances = { USDT = "100" } })
    sim:advance(10000)
    get(sim, house, "B1", { subAccount = "desk0001", note = "n" })
    get(sim, house, "B6", { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "40" })
    get(sim, house, "C2", { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      amount = "20" })
    local made = get(sim, house, "C9",
      { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })[1]
    local way = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT" }
    local function seen()
      return { #get(sim, house, "A3"), #get(sim, house, "B2").subAccounts, #get(sim, house, "A1", way),
        #get(sim, house, "C5"), select(2, ask(sim, house, "C11", { tranId = made.tranId })).status }
    end
    assert.equal("40", get(sim, house, "B8", { subAccount = "desk0001", accountType = "SPOT" }).balances[1].free)
    assert.same({ 0, 0, 0, 0, 400 }, seen())
    sim:advance(2999)
    assert.same({ 0, 0, 0, 0, 400 }, seen())
    sim:advance(1)
    assert.same({ 1, 1, 1, 1, 200 }, seen())
  end)

  it("find their page among 200,000 records without walking them", function()
    local long = history.new(function(record) return record.key end)
    for i = 1, 200000 do long:add { id = i, key = "a", time = 1000000 + math.floor(i / 4) } end
    local reads = 0
    local list = long.lists.a
    long.lists.a = setmetatable({}, {
      __index = function(_, index)
        reads = reads + 1
        return list[index]
      end,
      __len = function() return #list end,
    })
    if #long.lists.a == 0 then return end -- Lua 5.1 has no __len for tables; the others prove it
    local page, total = long:page("a", 1000100, 1040000, 5000, 10)
    assert.equal(39901 * 4, total)
    assert.equal(10, #page)
    assert.equal(page[1].id - 9, page[10].id)
    assert.is_true(reads < 60, ("%d reads"):format(reads))
  end)

  it("put a record that comes late where its time belongs", function()
    local mixed = history.new(function(record) return record.key end)
    for _, time in ipairs { 5, 1, 3, 3, 9, 2 } do mixed:add { key = "a", time = time } end
    local times = {}
    for i, record in ipairs((mixed:page("a", nil, nil, 0, 100))) do times[i] = record.time end
    assert.same({ 9, 5, 3, 3, 2, 1 }, times)
  end)

  it("count months by the calendar", function()
    local function before(text_ms, months) return clock.months_before(text_ms, months) end
    assert.equal(1677542400000, before(1693440000000, 6)) -- 2023-08-31 -> 2023-02-28
    assert.equal(1709164800000, before(1725062400000, 6)) -- 2024-08-31 -> 2024-02-29
    assert.equal(1685404799123, before(1701302399123, 6)) -- 2023-11-29 23:59:59.123 -> 2023-05-29
    assert.equal(1702425600000, before(1705104000000, 1)) -- 2024-01-13 -> 2023-12-13
  end)
end)

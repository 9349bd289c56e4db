-- SPDX-License-Identifier: MIT
-- Histories: records in order of time, whatever order they come in, and pages of them, at any size.
-- make test: 2 s, on lua5.4 and luajit

local history = require "purser.testing.sim.history"
local signed = require "signed"

local get = signed.get
local HOUR = 3600000

describe("the simulator's histories", function()
  local sim, house, desk
  before_each(function()
    sim, house, desk = signed.family { start_time = 1700000000000 }
  end)

  local function deposit(owner, time) return signed.deposit(sim, owner, time) end

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

  it("hide one record and show the others, and show all again", function()
    local ids = { signed.deposit(sim, house, sim:now() - HOUR).id, signed.deposit(sim, house, sim:now()).id }
    assert(sim:hide(ids[2]))
    assert.equal(1, #get(sim, house, "C4"))
    assert(sim:hide(ids[2], false))
    assert.equal(2, #get(sim, house, "C4"))
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

  it("find their page among 200,000 records without walking them", function()
    local long = history.new { keys = function(record) return record.key end }
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
    local mixed = history.new { keys = function(record) return record.key end }
    for _, time in ipairs { 5, 1, 3, 3, 9, 2 } do mixed:add { key = "a", time = time } end
    local times = {}
    for i, record in ipairs((mixed:page("a", nil, nil, 0, 100))) do times[i] = record.time end
    assert.same({ 9, 5, 3, 3, 2, 1 }, times)
  end)
end)

describe("records that come in any order of time", function()
  it("are shown in order", function()
    local count = 20000
    local list = history.new { keys = function(record) return record.key end }
    local time = 1
    for i = 1, count do
      time = (time * 48271) % 2147483647
      list:add { key = "a", time = time, id = i }
    end
    local page = list:page("a", nil, nil, 0, count)
    assert.equal(count, #page)
    for i = 2, count do assert.is_true(page[i - 1].time >= page[i].time) end
  end)

  it("keep the order in which they came where the time is equal", function()
    local list = history.new { keys = function(record) return record.key end }
    for i, time in ipairs { 5, 3, 3, 5, 1, 3 } do list:add { key = "a", time = time, id = i } end
    local page, ids = list:page("a", nil, nil, 0, 3), {}
    assert.same({ 4, 1, 6 }, { page[1].id, page[2].id, page[3].id })
    list:add { key = "a", time = 3, id = 7 }
    for i, record in ipairs((list:page("a", nil, nil, 0, 9))) do ids[i] = record.id end
    assert.same({ 4, 1, 7, 6, 3, 2, 5 }, ids)
  end)
end)

describe("a page of a history", function()
  local list

  before_each(function()
    list = history.new { keys = function(record) return record.key, record.other end }
    for i = 1, 10 do list:add { id = i, key = "a", other = i % 2 == 0 and "even" or nil, time = i * 10 } end
  end)

  local function ids(...)
    local found, page, total = {}, list:page(...)
    for i, record in ipairs(page) do found[i] = record.id end
    return table.concat(found, " "), total
  end

  it("holds both ends of its window, newest first, after those that are skipped", function()
    assert.same({ "5 4 3", 3 }, { ids("a", 30, 50, 0, 10) })
    assert.same({ "4", 3 }, { ids("a", 30, 50, 1, 1) })
    assert.same({ "10 9", 10 }, { ids("a", nil, nil, 0, 2) })
    assert.same({ "", 10 }, { ids("a", nil, nil, 10, 2) })
    assert.same({ "", 0 }, { ids("a", 51, 59, 0, 10) })
    assert.same({ "", 0 }, { ids("a", 60, 50, 0, 10) })
    assert.same({ "", 0 }, { ids("nobody", nil, nil, 0, 10) })
  end)

  it("skips and counts what passes its filter, and knows no total then", function()
    local function odd(record) return record.id % 2 == 1 end
    assert.same({ "9 7" }, { ids("a", nil, nil, 0, 2, odd) })
    assert.same({ "3 1" }, { ids("a", nil, 50, 1, 2, odd) })
    assert.same({ "" }, { ids("even", nil, nil, 0, 2, odd) })
  end)

  it("shows a record under each of its keys, and its id finds it", function()
    assert.same({ "10 8 6 4 2", 5 }, { ids("even", nil, nil, 0, 99) })
    assert.equal(70, list.by_id[7].time)
    local both = history.new { keys = function() return "x", "x" end }
    both:add { time = 1 }
    assert.equal(1, #both:page("x", nil, nil, 0, 9))
  end)

  it("is the same of a history that was restored from its records", function()
    local copy = history.new { keys = function(record) return record.key, record.other end }
    for _, record in ipairs(list.all) do copy:add(record) end
    assert.same((list:page("even", 25, 95, 1, 2)), (copy:page("even", 25, 95, 1, 2)))
  end)
end)

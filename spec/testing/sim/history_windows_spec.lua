-- SPDX-License-Identifier: MIT
-- The windows of time that histories cover, and their pages.

local history = require "purser.testing.sim.history"
local signed = require "signed"

local get = signed.get
local HOUR, DAY = 3600000, 86400000

describe("the windows of histories", function()
  local sim, house, desk

  before_each(function()
    sim, house, desk = signed.family { start_time = 1700000000000 }
  end)

  local function deposit(owner, time) return signed.deposit(sim, owner, time) end

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
    sim.options.key_days = 0
    assert.equal("22222", signed.rejection(sim, house, "C11", { tranId = ids[1] }))
  end)

  it("are what each operation's window says of any two bounds", function()
    local now = 1700000000000 -- 2023-11-14 22:13:20
    local midnight, half_year = 1699920000000, 1684102400000 -- 2023-11-14 00:00, 2023-05-14 22:13:20
    for _, case in ipairs {
      { "seven_days", nil, nil, now - 7 * DAY, now }, { "seven_days", now - DAY, nil, now - DAY, now },
      { "seven_days", now - 30 * DAY, nil, now - 30 * DAY, now - 23 * DAY },
      { "seven_days", nil, now - 30 * DAY, now - 37 * DAY, now - 30 * DAY },
      { "seven_days", now - 7 * DAY, now, now - 7 * DAY, now }, { "seven_days", now - 7 * DAY - 1, now, nil, "33333" },
      { "seven_days", now - 90 * DAY, nil, now - 90 * DAY, now - 83 * DAY },
      { "seven_days", now - 90 * DAY - 1, nil, nil, "400" },
      { "seven_days", now + DAY, nil, now + DAY, now },
      { "ten_days", nil, nil, now - 10 * DAY, now }, { "ten_days", 5, nil, 5, now },
      { "ten_days", nil, now - DAY, now - 11 * DAY, now - DAY },
      { "three_days", nil, nil, midnight - 3 * DAY, now }, { "three_days", 5, 7, midnight - 3 * DAY, 7 },
      { "three_days", midnight, now, midnight, now },
      { "six_months", nil, nil, now - 7 * DAY, now }, { "six_months", nil, now - DAY, half_year, now - DAY },
      { "six_months", half_year, nil, half_year, now }, { "six_months", half_year - 1, nil, nil, "33333" },
      { "default_seven_days", nil, nil, now - 7 * DAY, now }, { "default_seven_days", 5, nil, 5, nil },
      { "default_seven_days", nil, 5, nil, 5 },
    } do
      local ok, first, last = pcall(history[case[1]], now, { startTime = case[2], endTime = case[3] })
      if not ok then first, last = nil, first.code end
      assert.same({ case[4], case[5] }, { first, last },
        ("%s %s %s"):format(case[1], tostring(case[2]), tostring(case[3])))
    end
  end)

  it("are cut into pages, the last one short, those after it empty", function()
    local list = { "a", "b", "c", "d", "e" }
    for page, expected in ipairs { { "a", "b" }, { "c", "d" }, { "e" }, {} } do
      local values = { page = page, limit = 2 }
      assert.same(expected, history.cut(list, values))
      assert.same({ data = expected, page = page, totalRecords = 5, totalPageNum = 3 },
        history.page_result(expected, 5, values))
    end
    assert.same({ data = {}, page = 1, totalRecords = 0, totalPageNum = 0 },
      history.page_result({}, 0, { page = 1, pageSize = 2 }))
    assert.equal(2, history.page_result({}, 4, { page = 1, limit = 2 }).totalPageNum)
  end)
end)

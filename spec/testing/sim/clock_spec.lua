-- SPDX-License-Identifier: MIT
-- The simulator's clock and calendar.

local clock = require "purser.testing.sim.clock"
local core = require "purser.core"
local plain = require "purser.testing.sim.plain"

describe("the simulator's clock", function()
  it("counts months by the calendar", function()
    local function before(text_ms, months) return clock.months_before(text_ms, months) end
    assert.equal(1677542400000, before(1693440000000, 6)) -- 2023-08-31 -> 2023-02-28
    assert.equal(1709164800000, before(1725062400000, 6)) -- 2024-08-31 -> 2024-02-29
    assert.equal(1685404799123, before(1701302399123, 6)) -- 2023-11-29 23:59:59.123 -> 2023-05-29
    assert.equal(1702425600000, before(1705104000000, 1)) -- 2024-01-13 -> 2023-12-13
  end)

  it("writes days and times in UTC", function()
    assert.equal("Tue, 14 Nov 2023 22:13:20 GMT", clock.http_date(1700000000000))
    assert.equal("Thu, 29 Feb 2024 23:59:59 GMT", clock.http_date(1709251199999))
    assert.equal("2024-02-29T23:59:59.009+00:00", clock.iso_date(1709251199009))
    assert.equal("20240229", clock.day_text(1709251199999))
    assert.equal("20240301", clock.day_text(1709251200000))
    assert.equal(1709164800000, clock.midnight(1709251199999))
    assert.equal(1709251200000, clock.midnight(1709251200000))
  end)

  it("stands still when it is virtual, until it is advanced", function()
    local time = clock.new("virtual")
    assert.equal(1700000000000, time:now())
    time:advance(5)
    assert.equal(1700000000005, time:now())
    assert.equal(1700000000005, clock.new("virtual", nil, plain.copy(time)):now())
  end)

  it("shows integers also after it was moved by a whole float", function()
    local time = clock.new("virtual", 1000)
    time:advance(5.0)
    assert.equal("1005", tostring(time:now()))
  end)

  it("follows the wall clock when it is real, from its start and with every advance", function()
    for _, start in ipairs { 4000000000000, 1000000000000 } do
      local time, before = clock.new("real", start), core.now_ms()
      time:advance(7000)
      local now = time:now()
      assert.is_true(now >= start + 7000 and now <= start + 7000 + core.now_ms() - before + 1, now)
    end
  end)

  it("never goes back, though the wall clock did", function()
    local time = clock.new("real")
    time:advance(100000)
    local now = time:now()
    time.offset = time.offset - 50000 -- as the wall clock of this machine would be seen to go back
    assert.equal(now, time:now())
  end)

  it("went on while nothing ran when it is real", function()
    local time = clock.new("real")
    time:advance(60000)
    local state = plain.copy(time)
    state.latest = state.latest - 3600000 -- as if the snapshot had been taken an hour ago
    assert.is_true(clock.new("real", nil, state):now() >= core.now_ms() + 60000 - 1)
  end)
end)

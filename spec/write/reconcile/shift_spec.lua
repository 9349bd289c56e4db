-- SPDX-License-Identifier: MIT
-- By how much a history may count time in another way, and what shows that it does not.

local shift = require "purser.write.reconcile.shift"

local NOW = 1700000000000
local HOUR = 3600000
local QUARTER = HOUR / 4

describe("a shift", function()
  it("is a whole number of quarters of an hour, 14 hours at most", function()
    local first, last = NOW - 6000, NOW + 14000
    assert.equal(0, shift.of(NOW, first, last))
    assert.equal(0, shift.of(nil, first, last))
    assert.equal(8 * HOUR, shift.of(NOW + 8 * HOUR, first, last))
    assert.equal(-8 * HOUR, shift.of(NOW - 8 * HOUR - 5000, first, last))
    assert.equal(20700000, shift.of(NOW + 20700000, first, last))
    assert.is_nil(shift.of(NOW + 8 * HOUR + 100000, first, last))
    assert.is_nil(shift.of(NOW + 15 * HOUR, first, last))
    assert.same({ 0, 0 }, { shift.of(first, first, last), shift.of(last, first, last) })
    assert.equal(QUARTER, shift.of(first + QUARTER, first, last))
    assert.equal(-QUARTER, shift.of(last - QUARTER, first, last))
    assert.equal(0, shift.of(NOW + 2 * QUARTER, NOW, NOW + 2 * QUARTER))
    assert.equal(14 * HOUR, shift.of(last + 14 * HOUR, first, last))
    assert.equal(-14 * HOUR, shift.of(first - 14 * HOUR, first, last))
    assert.is_nil(shift.of(last + 14 * HOUR + 1, first, last))
    assert.is_nil(shift.of(first - 14 * HOUR - 1, first, last))
    assert.is_nil(shift.of(NOW - 14 * HOUR - QUARTER, first, last))
  end)

  it("is asked for with a day more, since a filter may count its bounds in whole days", function()
    assert.equal(38 * HOUR, shift.ASKED_MS)
  end)
end)

describe("the clock of a history", function()
  -- What two records show, one of which a call made that was sent at `sent_at`.
  local function clock(sent_at, newest)
    local records = { { at = NOW, is_known = true }, { at = newest }, { at = "none" }, {} }
    return shift.clock_of(records, "at", function(record) return record.is_known and sent_at or nil end)
  end

  it("agrees where a record is shown within half a quarter of an hour of its call", function()
    for off, agrees in pairs { [0] = true, [QUARTER / 2 - 1] = true, [1 - QUARTER / 2] = true, [QUARTER / 2] = false,
      [-QUARTER / 2] = false, [QUARTER] = false } do
      assert.equal(agrees, clock(NOW + off).agrees, off)
    end
    assert.is_false(clock(nil).agrees)
    local both = shift.clock_of({ { at = NOW }, { at = NOW + 1 } }, "at", function(record)
      return record.at == NOW and NOW or nil
    end)
    assert.is_true(both.agrees) -- one record is enough
  end)

  it("may be shifted unless it agrees, or would show a record of the future", function()
    local ahead = { newest = NOW + HOUR, agrees = false }
    assert.is_true(shift.is_possible(ahead, HOUR, NOW))
    assert.is_false(shift.is_possible(ahead, HOUR - QUARTER, NOW))
    assert.is_false(shift.is_possible(ahead, -HOUR, NOW))
    assert.is_true(shift.is_possible({ newest = -math.huge, agrees = false }, HOUR, NOW))
    assert.is_false(shift.is_possible({ newest = NOW, agrees = true }, HOUR, NOW))
    assert.is_true(shift.is_possible({ newest = NOW + HOUR, agrees = true }, 0, NOW))
    assert.equal(NOW + 5, clock(nil, NOW + 5).newest)
    assert.equal(NOW, clock(nil, NOW - 5).newest)
  end)
end)

describe("what shows that a history is not shifted", function()
  local function proven(records, first, last, known)
    return shift.covered(records, "timestamp", first, last, function(record) return known[record.tranId] end, 6000,
      11000)
  end

  it("is what lies between two records in their place", function()
    local one, two = { tranId = "1", timestamp = NOW }, { tranId = "2", timestamp = NOW + 50000 }
    local known = { ["1"] = NOW - 400, ["2"] = NOW + 50400 }
    assert.same({ earliest = NOW, latest = NOW + 50000 }, proven({ two, one }, NOW - 60000, NOW + 60000, known))
    assert.same({ earliest = NOW, latest = NOW - 400 }, proven({ two, one }, NOW - 60000, NOW + 60000,
      { ["1"] = NOW - 400 }))
    local nothing = { earliest = math.huge, latest = -math.huge }
    assert.same(nothing, proven({ two, one }, NOW - 60000, NOW + 60000, {}))
    assert.same(nothing, proven({}, NOW - 60000, NOW + 60000, known))
  end)

  it("is not there when one record has another place or another window", function()
    local good, other = { tranId = "k", timestamp = NOW }, { tranId = "o", timestamp = NOW + 1000 }
    local function with_other(sent_at)
      local found = proven({ good, other }, NOW - 6000, NOW + 14000, { k = NOW, o = sent_at or NOW })
      return found.earliest <= NOW, found.misplaced
    end
    assert.same({ true }, { with_other() })
    other.timestamp = NOW - 6000
    assert.same({ true }, { with_other(NOW - 6000) })
    other.timestamp = NOW + 14000
    assert.same({ true }, { with_other(NOW + 14000) })
    other.timestamp = NOW + 1000
    assert.same({ true }, { with_other(NOW + 7000) })
    assert.same({ true }, { with_other(NOW - 10000) })
    assert.same({ false, other }, { with_other(NOW + 7001) })
    assert.same({ false, other }, { with_other(NOW - 10001) })
    other.timestamp = NOW + 15000
    assert.same({ false }, { with_other(NOW + 15000) })
    other.timestamp = nil
    assert.same({ false }, { with_other() })
  end)
end)

-- SPDX-License-Identifier: MIT
-- Dates in UTC, each day of 800 years and its borders.

local utc = require "purser.client.util.utc"

local DAY_MS = 86400000

describe("the calendar", function()
  it("knows days that are known", function()
    for _, case in ipairs { { 1970, 1, 1, 0 }, { 1969, 12, 31, -1 }, { 2000, 2, 29, 11016 }, { 2000, 3, 1, 11017 },
      { 1900, 3, 1, -25508 }, { 2026, 11, 22, 20779 }, { 2100, 2, 28, 47540 }, { 2100, 3, 1, 47541 },
      { 9999, 12, 31, 2932896 } } do
      assert.equal(case[4], utc.days(case[1], case[2], case[3]))
    end
  end)

  it("counts every day of 1600 to 2400 once, and gives back its date and its day of the week", function()
    local expected = utc.days(1600, 1, 1)
    local wday = 7 -- a Saturday
    for year = 1600, 2400 do
      for month = 1, 12 do
        for day = 1, utc.days_in(year, month) do
          if utc.days(year, month, day) ~= expected then error(("%d-%d-%d"):format(year, month, day)) end
          local civil = utc.civil(expected * DAY_MS)
          if civil.year ~= year or civil.month ~= month or civil.day ~= day or civil.wday ~= wday then
            error(("%d-%d-%d is given as %d-%d-%d"):format(year, month, day, civil.year, civil.month, civil.day))
          end
          expected, wday = expected + 1, wday % 7 + 1
        end
      end
    end
    assert.equal(utc.days(2401, 1, 1), expected)
  end)

  it("has 29 days in a February of a leap year alone", function()
    for year, days in pairs { [1900] = 28, [2000] = 29, [2023] = 28, [2024] = 29, [2100] = 28 } do
      assert.equal(days, utc.days_in(year, 2))
    end
  end)

  it("gives the time of day to the last millisecond, before 1970 too", function()
    for _, case in ipairs { { 0, 0, 0, 0 }, { DAY_MS - 1, 23, 59, 59 }, { -1, 23, 59, 59 }, { -DAY_MS, 0, 0, 0 },
      { 1700000000000, 22, 13, 20 } } do
      local civil = utc.civil(case[1])
      assert.same({ case[2], case[3], case[4] }, { civil.hour, civil.min, civil.sec })
    end
    assert.equal(31, utc.civil(-1).day)
  end)
end)

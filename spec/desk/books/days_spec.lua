-- SPDX-License-Identifier: MIT
-- The days of the books: date, minute and number of a time in a zone.

local days = require "purser.desk.books.days"
local zones = require "purser.client.util.zone"

describe("a day of the books", function()
  it("begins at midnight of its zone", function()
    local midnight = 1700006400000
    local utc, east = days.of(assert(zones.open "UTC")), days.of(assert(zones.open "+02:00"))
    assert.same({ "2023-11-14", "2023-11-15", "2023-11-15", "1970-01-01" }, { utc:date(("%013d"):format(midnight - 1)),
      utc:date(("%013d"):format(midnight)), utc:date(midnight + 86399999), utc:date "0000000000000" })
    assert.same({ "2023-11-14", "2023-11-15" }, { east:date(midnight - 7200001), east:date(midnight - 7200000) })
    assert.equal(utc:number(midnight), utc:number(midnight - 1) + 1)
    assert.equal("2023-11-15", utc:date_of(utc:number(midnight)))
  end)

  it("has a word for no time, and minutes for a reading", function()
    local utc, west = days.of(assert(zones.open "UTC")), days.of(assert(zones.open "-03:30"))
    assert.equal("no date", utc:date "")
    assert.equal("2023-11-14 23:59", utc:minute "1700006399999")
    assert.equal("2023-11-14 20:29", west:minute "1700006399999")
    assert.equal(1, select("#", utc:minute "1700006399999"))
  end)
end)

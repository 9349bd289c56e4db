-- SPDX-License-Identifier: MIT
-- The days of the books: a date and a minute of UTC for a time as the tables keep it.

local days = require "purser.desk.books.days"

describe("a day of the books", function()
  it("begins at midnight of UTC", function()
    local midnight = 1700006400000
    assert.same({ "2023-11-14", "2023-11-15", "2023-11-15", "1970-01-01" }, { days.date(("%013d"):format(midnight - 1)),
      days.date(("%013d"):format(midnight)), days.date(midnight + 86399999), days.date "0000000000000" })
  end)

  it("has a word for no time, and minutes for a reading", function()
    assert.equal("no date", days.date "")
    assert.equal("2023-11-14 23:59", days.minute "1700006399999")
    assert.equal(1, select("#", days.minute "1700006399999"))
  end)
end)

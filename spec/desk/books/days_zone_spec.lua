-- SPDX-License-Identifier: MIT
-- Books by the days of a named zone, over both changes of its clock.

local books_world = require "books_world"
local files = require "files"
local purser = require "purser"
local utc = require "purser.client.util.utc"

local HOUR = 3600000

after_each(files.remove_kept)

-- Returns the statement's deposits as "date amount".
local function deposits(made)
  local list = {}
  for _, entry in ipairs(made.entries) do
    if entry.text == "deposit" then list[#list + 1] = made.days:date(entry.time) .. " " .. entry.row.amount end
  end
  return list
end

-- Returns a world at a time, and its books of a zone.
local function opened(at, zone)
  local world = books_world.new { subs = 0, sim = { seed = 5, key_days = 0, start_time = utc.ms(at) } }
  return world, books_world.open(world, { zone = zone })
end

describe("books of Europe/Berlin", function()
  it("have the hours of each day, no hour twice and none left out", function()
    for day, case in pairs { ["2026-03-29"] = { "2026-03-28T20:00", 23 }, ["2026-10-25"] = { "2026-10-24T20:00", 25 },
      ["2026-06-10"] = { "2026-06-09T20:00", 24 } } do
      local world, books = opened(case[1], "Europe/Berlin")
      assert(books:sync())
      for i = 1, 34 do
        world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) }
        world.sim:advance(HOUR)
      end
      assert(books:sync())
      local zone = books.days.zone
      local next_day = zone:date(zone:begin(zone:day(zone:ms(day)) + 1))
      local before, of_day, after = {}, {}, {}
      for list, span in pairs { [before] = { "2026-01-01", day }, [of_day] = { day, next_day },
        [after] = { next_day, "2027-01-01" } } do
        local _, made = books:statement { from = span[1], to = span[2] }
        for _, line in ipairs(deposits(made)) do list[#list + 1] = line end
      end
      assert.equal(34, #before + #of_day + #after)
      assert.equal(case[2], #of_day, day)
      for _, line in ipairs(of_day) do assert.equal(day, line:sub(1, 10)) end
      assert.is_true(#before > 0 and #after > 0)
      local text = books:statement { from = day, to = next_day }
      assert.truthy(text:find(("from %s to %s (not included), revision"):format(day, next_day), 1, true))
      assert.truthy(text:find(", days of Europe/Berlin\n", 1, true))
      assert.truthy(text:find(("\n%s * closing balances\n"):format(day), 1, true))
      books:close()
    end
  end)

  it("close a day of the place, and draw a column a day over the change of the clock", function()
    local world, books = opened("2026-03-27T22:30", "Europe/Berlin")
    assert(books:sync())
    for _ = 1, 5 do
      world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" }
      world.sim:advance(24 * HOUR)
      assert(books:sync())
    end
    assert.is_true(books:close_before "2026-03-30")
    assert.equal(utc.ms "2026-03-29T22:00", tonumber(books.store:rows "SELECT ends FROM purser_books_period"[1].ends))
    local page = books:statement { from = "2026-03-27", to = "2026-04-02", format = "html" }
    local columns = select(2, page:match("<svg.-</svg>"):gsub(">03%-%d%d<", "")) + select(2,
      page:match("<svg.-</svg>"):gsub(">04%-%d%d<", ""))
    assert.is_true(columns >= 3, columns)
    local text = books:statement { from = "2026-03-29", to = "2026-03-30", format = "beancount" }
    assert.truthy(text:find("\n2026-03-30 balance Assets:Account:Main:Spot ", 1, true))
    books:close()
  end)

  it("need a zone that exists", function()
    local books, err = purser.books.open { sqlite = files.new_path(), zone = "Europe/Berln" }
    assert.is_nil(books)
    assert.equal("config", err.kind)
    assert.matches('^there is no zone "Europe/Berln" %(did you mean "Europe/Berlin"%?%)', err.message)
  end)
end)

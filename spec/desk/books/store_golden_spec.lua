-- SPDX-License-Identifier: MIT
-- Each later Purser opens the books of spec/golden, and knows all that they know.

local digest = require "purser.client.util.digest"
local files = require "files"
local golden_databases = require "golden_databases"

local DUMPS = { ["books-4.sql"] =
  "99d9d5976c63b365bb376b31e9e5445e33057e25a54ab2c174a3f586d0890ff5" }

local MINUTE = 60000

after_each(files.remove_kept)

for name, text in pairs(DUMPS) do
  describe("The books of spec/golden/" .. name, function()
    local path, dump, world, books

    before_each(function()
      world = golden_databases.worlds.books(files.new_path())
      path, world.taken = files.new_path(), 0
      dump = golden_databases.load(name, path, "purser_books_meta", "rev")
      books = golden_databases.open_books(world, path)
    end)
    after_each(function() books:close() end)

    -- Returns what the main account holds at the month's end.
    local function closing()
      local _, made = assert(books:statement { from = "2023-11-01", to = "2027-01-01" })
      local lines = {}
      for _, leg in ipairs(made.closing) do
        local place = leg[1]:match "^Assets:Account:Main:(.*)"
        lines[#lines + 1] = place and ("%s %s %s"):format(place, leg[3], leg[2])
      end
      return table.concat(lines, ", ")
    end

    it("are the text that they were, with rows in every table", function()
      assert.equal(text, digest.of(dump.text))
      for table_name, count in pairs(dump.rows) do assert.is_true(count > 0, table_name) end
    end)

    it("have the tables of new ones, text by text", function()
      local new = files.new_path()
      golden_databases.worlds.books(new)
      assert.same(golden_databases.shape(new), golden_databases.shape(path))
    end)

    it("keep their figures, their words and their closed days", function()
      assert.equal("Futures 8 USDT, Leaving 21 USDT, Spot 1 BTC, Spot 0.12348 MX, Spot 0 TRX, Spot 891 USDT", closing())
      local written, made = assert(books:statement { from = "2023-11-01", to = "2027-01-01" })
      local _, paired = written:gsub("pair: ", "")
      local open = {}
      for i, one in ipairs(made.open) do open[i] = ("%s %s"):format(one.row.entity, one.row.amount) end
      assert.equal("withdrawal 21, deposit 8, deposit 9, withdrawal 25, call 1, deposit , withdrawal 20, deposit 3",
        table.concat(open, ", "))
      assert.same({ 3, 0 }, { paired, made.assumed }) -- two lines of the match; the outside word leaves none assumed
      assert.matches("closed up to 2023-11-15", select(2, books:close_before "2023-11-15").message, 1, true)
      local gaps = assert(books:gaps())
      assert.same({ 1, "Sub-desk2", "key" }, { #gaps, gaps[1].owner, gaps[1].list })
      local waiting = assert(books:events())
      assert.same({ "down", 38, "log", 0 }, { waiting[1].receiver, tonumber(waiting[1].waiting), waiting[2].receiver,
        tonumber(waiting[2].waiting) })
    end)

    it("take no record for another one, and tell no event again", function()
      local rev = tonumber(books.store:rev())
      local before = closing()
      local report = assert(books:sync())
      assert.same({ 0, rev }, { report.changes, tonumber(books.store:rev()) })
      books:deliver()
      assert.equal(before, closing())
      assert.equal(0, world.taken)
      world.sim:advance(10 * MINUTE) -- the last deposit succeeds
      assert(books:sync())
      books:deliver()
      assert.equal(1, world.taken)
    end)
  end)
end

-- SPDX-License-Identifier: MIT
-- Each later Purser opens the deposits of spec/golden, and knows all that they know.

local digest = require "purser.client.util.digest"
local files = require "files"
local golden_databases = require "golden_databases"
local receive_world = require "receive_world"

local DUMPS = { ["receive-3.sql"] =
  "f5bb16785d2306510eccbc57c26f9b4249d7103840438514c6b0cad93034491d" }

local HOUR = 3600000

after_each(files.remove_kept)

for name, text in pairs(DUMPS) do
  describe("The deposits of spec/golden/" .. name, function()
    local path, dump, world, receive

    before_each(function()
      world = golden_databases.worlds.receive(files.new_path())
      path, world.got = files.new_path(), {}
      dump = golden_databases.load(name, path, "purser_receive_meta", "seq")
      receive = golden_databases.open_receive(world, path)
    end)
    after_each(function() receive:close() end)

    it("are the text that they were, with rows in every table", function()
      assert.equal(text, digest.of(dump.text))
      for table_name, count in pairs(dump.rows) do assert.is_true(count > 0, table_name) end
    end)

    it("have the tables of new ones, text by text", function()
      local new = files.new_path()
      golden_databases.worlds.receive(new)
      assert.same(golden_databases.shape(new), golden_databases.shape(path))
    end)

    it("keep their figures, and what persons are asked", function()
      local sums, asked, waiting = {}, {}, {}
      for i, sum in ipairs(assert(receive:check())) do
        sums[i] = ("%s %s: %s %s %s %s %s %s"):format(sum.coin, sum.received, sum.credited, sum.reversed, sum.person,
          sum.refused, sum.pending, tostring(sum.adds_up))
      end
      assert.same({ "BTC 12: 0 0 5 7 0 true", "USDT 18: 7 2 0 0 9 true" }, sums)
      for i, line in ipairs(assert(receive:list())) do asked[i] = line.amount .. " " .. line.coin end
      assert.equal("5 BTC, 1 USDT", table.concat(asked, ", "))
      for i, row in ipairs(assert(receive:deliveries())) do waiting[i] = row.receiver .. " " .. row.waiting end
      assert.equal("down 4, shop 0", table.concat(waiting, ", "))
    end)

    it("credit no credited deposit again, and tell no event again", function()
      assert(receive:run { deadline_ms = 0 })
      assert.equal("reversed alice 3", receive_world.events(world)) -- shown as refused twice now
      assert(world.sim:hide(world.hidden, false))
      world.sim:advance(3 * HOUR)
      assert(receive:run { deadline_ms = 0 })
      assert.equal("reversed alice 3, credit alice 8", receive_world.events(world))
      local asked = assert(receive:list())[1].deposit
      assert(receive:settle(asked, "give", "alice"))
      assert(receive:run { deadline_ms = 0 })
      assert.equal("reversed alice 3, credit alice 8, credit alice 5", receive_world.events(world))
    end)
  end)
end

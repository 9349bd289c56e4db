-- SPDX-License-Identifier: MIT
-- Each later Purser opens the journals of spec/golden, as releases left them, and knows all that they know. A release
-- adds its own dump, and never changes an older one.

local database = require "purser.client.util.database"
local digest = require "purser.client.util.digest"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local DUMPS = { ["journal-8.sql"] =
  "e75f5b6f1fa45754f43b13b2a707d59ea4fad2a31c70d88ad936925ec5d4e2eb" }

-- Makes a database of a dump.
local function load(name, path)
  local db = assert(database.open { sqlite = path })
  for statement in files.read("spec/golden/" .. name):gmatch "(.-);\n" do
    if statement:find "^CREATE" or statement:find "^INSERT" then assert(db:rows(statement)) end
  end
  db:close()
end

for name, text in pairs(DUMPS) do
  describe("the journal of spec/golden/" .. name, function()
    local path, journal, sim, client

    before_each(function()
      path = files.path_in_memory()
      load(name, path)
      sim = purser.sim.new { seed = 8, profile = "mexc" }
      local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" },
        futures_balances = { USDT = "50" } })
      assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
      journal = assert(purser.journal.open { sqlite = path })
      client = simulated.client(sim, account, { profile = "mexc", journal = journal, account = "treasury",
        rate_limit = false, retry = false })
    end)
    after_each(function()
      journal:close()
      files.remove_database(path)
    end)

    local function move(amount, key) return client.sub_account:transfer(simulated.transfer(amount), { key = key }) end

    it("is the text that it was", function()
      assert.equal(text, digest.of(files.read("spec/golden/" .. name)))
    end)

    it("has its used keys, with their results and contents, and sends none of them again", function()
      for key, amount in pairs { ["Inv-1"] = "5.0", again = "7" } do
        local info = {}
        local result = assert(client.sub_account:transfer(simulated.transfer(amount), { key = key, info = info }))
        assert.same({ true, true }, { info.repeated, result.tranId ~= nil })
        assert.equal("journal.other_content", select(2, move("99", key)).code)
      end
      assert.matches("in other letters", select(2, move("5", "INV-1")).message)
      local pruned = client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "6" }, { key = "sweep-1" })
      assert.truthy(pruned.tranId)
      assert.equal(0, simulated.counted(sim, "sub_account.transfer", "received"))
      assert.equal(0, simulated.counted(sim, "wallet.transfer", "received"))
    end)

    it("has its states, words, attempts, limit and list", function()
      local states = {}
      for entry in journal:each_entry() do states[entry.key or entry.intent.params.amount] = entry.state end
      assert.same({ ["Inv-1"] = "done", ["sweep-1"] = "done", again = "done", open = "unknown", word = "not_done",
        ["1"] = "done", ["2"] = "done", ["3"] = "done" }, states)
      assert.equal("alice", assert(journal:entries { key = "word" })[1].message:match "^%a+")
      assert.equal("rejected", assert(journal:entries { key = "again" })[1].earlier[1].state)
      local queue = assert(purser.payouts.new { client = client, journal = journal, worker = "w" })
      local report = assert(queue:report())
      assert.same({ 7, 3, 1, 1, 1, 1 }, { report.total, report.done, report.dropped, report.failed, report.undecided,
        report.waiting })
      local list = {}
      for i = 1, 7 do
        list[i] = { key = "p" .. i, operation = "sub_account.transfer", params = simulated.transfer(tostring(i)) }
      end
      assert.same({ added = 0, repeated = 7 }, assert(queue:add_all(list)))
      assert.same({ "bot", "alice" }, { journal:logged()[1].who, journal:logged()[2].who })
      local _, err = move("399", "more")
      assert.equal("guard.spending_limit", err and err.code)
    end)

    it("has the tables of a new one, text by text", function()
      local new = assert(purser.journal.open { sqlite = path .. "-new" })
      local function tables(db)
        local found = {}
        for _, row in ipairs(assert(db:rows "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")) do
          found[row.name] = row.sql
        end
        return found
      end
      local own = tables(journal.db)
      for table_name, sql in pairs(tables(new.db)) do assert.equal(sql, own[table_name]) end
      new:close()
      files.remove_database(path .. "-new")
    end)
  end)
end

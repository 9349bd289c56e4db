-- SPDX-License-Identifier: MIT
-- The journals of spec/golden, as releases left them, opened by the present Purser:
--
--     golden_journals.check({ describe = describe, it = it, before_each = before_each, after_each = after_each },
--       function() return { postgresql = ... } end)   -- the options of a new, empty database
--
-- A release adds its own dump, and never changes an older one.

local assert = require "luassert"
local database = require "purser.client.util.database"
local digest = require "purser.client.util.digest"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local DUMPS = { ["journal-8.sql"] =
  "1b71a300bf89f43fa6a83608c42f10e2f487f1b4780fbf12766032f746307025" }

-- Makes the database of a dump.
local function load(name, options)
  local db = assert(database.open(options))
  for statement in files.read("spec/golden/" .. name):gmatch "(.-);\n" do
    if statement:find "^CREATE" or statement:find "^INSERT" then assert(db:rows(statement)) end
  end
  db:close()
end

-- Queries of a database for its own tables and indexes, as texts.
local SHAPE = {
  sqlite = "SELECT sql AS text FROM sqlite_master WHERE sql IS NOT NULL",
  postgresql = [[SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS text
    FROM information_schema.columns WHERE table_name LIKE 'purser_%'
    UNION SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'purser_%']],
}

local M = {}

function M.check(busted, new_options)
  local describe, it, before_each, after_each = busted.describe, busted.it, busted.before_each, busted.after_each
  for name, text in pairs(DUMPS) do
    describe("the journal of spec/golden/" .. name, function()
      local options, journal, sim, client

      before_each(function()
        options = new_options()
        load(name, options)
        sim = purser.sim.new { seed = 8, profile = "mexc" }
        local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" },
          futures_balances = { USDT = "50" } })
        assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
        journal = assert(purser.journal.open(options))
        client = simulated.client(sim, account, { profile = "mexc", journal = journal, account = "treasury",
          rate_limit = false, retry = false })
      end)
      after_each(function() journal:close() end)

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
        local list, payees = {}, {}
        for i = 1, 7 do
          list[i] = { key = "p" .. i, operation = "sub_account.transfer", params = simulated.transfer(tostring(i)) }
        end
        assert.same({ added = 0, repeated = 7 }, assert(queue:add_all(list)))
        for _, payment in ipairs(assert(queue:list())) do payees[payment.key] = payment.payee end
        assert.same({ p4 = "Bolt Inc", p7 = "Acme Ltd" }, payees)
        assert.same({ "bot", "alice" }, { journal:logged()[1].who, journal:logged()[2].who })
        local _, err = move("399", "more")
        assert.equal("guard.spending_limit", err and err.code)
      end)

      it("has the tables of a new one, text by text", function()
        local function shape(db)
          local found = {}
          for _, row in ipairs(assert(db:rows(SHAPE[db.name]))) do found[row.text] = true end
          return found
        end
        local new = assert(purser.journal.open(new_options()))
        local known = shape(journal.db)
        local count = 0
        for line in pairs(shape(new.db)) do
          count = count + 1
          assert.is_true(known[line], line)
        end
        assert.is_true(count > 20)
        new:close()
      end)
    end)
  end
end

return M

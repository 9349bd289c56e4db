-- SPDX-License-Identifier: MIT
-- Entries are read in pages, by an index.

local own = require "own_journal"
local purser = require "purser"

local journal

local within, write, ids = own.within, own.write, own.ids

before_each(function() journal = own.begin() end)
after_each(own.finish)

describe("reading entries in pages", function()
  it("gives each once, in the order of their times, though many share one", function()
    within(function(tx)
      for i = 1, 1203 do write(tx, ("i%05d"):format(i), 1700000000000 + math.floor(i / 700)) end
    end)
    local asked, rows = 0, journal.db.rows
    journal.db.rows = function(self, ...)
      asked = asked + 1
      return rows(self, ...)
    end
    local list = {}
    for entry in journal:each_entry() do list[#list + 1] = entry end
    journal.db.rows = nil
    assert.equal(3, asked)
    assert.same(ids(assert(journal:entries())), ids(list))
    assert.equal(1203, #list)
  end)

  it("goes by state, from any entry on, with any limit", function()
    within(function(tx)
      for i = 1, 40 do
        write(tx, ("i%05d"):format(i), 1700000000000 + i,
          { state = i % 4 == 2 and "open" or "done" })
      end
    end)
    local first = assert(journal:entries { state = "open", limit = 3 })
    assert.same({ "i00002", "i00006", "i00010" }, ids(first))
    assert.same({ "i00014" }, ids(assert(journal:entries { state = "open", limit = 1,
      after = first[3] })))
    local count = 0
    for _ in journal:each_entry { state = "open" } do count = count + 1 end
    assert.equal(10, count)
    assert.same({ "i00007" }, ids(assert(journal:entries { id = "i00007" })))
    assert.same({}, assert(journal:entries { id = "i00007", state = "open" }))
    local none = journal:each_entry { key = "c" }
    assert.is_nil(none())
    assert.is_nil(none())
  end)

  it("rejects filters that do not exist", function()
    for _, filter in ipairs { { sate = "done" }, { state = "don" }, { limit = 0 }, { after = {} }, { id = 7 } } do
      local entries, err = journal:entries(filter)
      assert.is_nil(entries)
      assert.equal("argument", err.kind)
    end
  end)

  it("raises what keeps it from being read", function()
    journal:close()
    local ok, err = pcall(function() for _ in journal:each_entry() do error "none" end end)
    assert.is_false(ok)
    assert.equal("config", err.kind)
  end)
end)

describe("every look into a journal", function()
  -- SQLite's plan names an index for whatever does not read a whole table.
  local function searched(sql, ...)
    local plan = {}
    local statement = assert(journal.db.handle:prepare("EXPLAIN QUERY PLAN " .. sql))
    assert(statement:execute(...))
    for row in statement:rows(true) do plan[#plan + 1] = row.detail end
    statement:close()
    return table.concat(plan, "\n")
  end

  it("uses an index, so that it is as fast in a large one", function()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "treasury", retry = false, guard = { no_duplicates = true,
        spending_limit = { USDT = "1000" } } })
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local queue = require "purser.desk.payouts.queue"
    local seen, rows = {}, journal.db.rows
    journal.db.rows = function(self, sql, ...)
      if sql:find "^%s*SELECT.*FROM purser_" or sql:find "^%s*UPDATE" or sql:find "^%s*DELETE" then
        seen[sql] = searched(sql, ...)
      end
      return rows(self, sql, ...)
    end
    local params = { coin = "USDT", netWork = "TRX", address = "T", amount = "5", withdrawOrderId = "own" }
    within(function(tx) -- a large journal has many that are done
      for i = 1, 500 do write(tx, ("i%05d"):format(i), 1700000000000 + i) end
      tx:rows "ANALYZE"
    end)
    assert(payouts:add("key", "wallet.withdraw", params))
    params.withdrawOrderId = nil
    assert(payouts:add("other", "wallet.withdraw", params))
    client.wallet:withdraw(params)
    within(function(tx)
      queue.reclaim(tx, payouts)
      queue.renew(tx, payouts)
      queue.take_abandoned(tx, payouts, 5)
      local taken = queue.take_waiting(tx, payouts, 5)
      queue.move(tx, payouts, taken[1], { stage = "done" })
    end)
    assert(journal:recover(client))
    assert(journal:entries { id = "x" })
    assert(journal:entries { state = "open", limit = 10 })
    assert(journal:entries { limit = 10 })
    local names = { ["wallet.withdraw"] = true }
    assert(journal:owners("record_id", "treasury", { "1", "2" }, names))
    assert(journal:open_calls("treasury", names, 1700000000000, 1700000020000))
    assert(journal:made_calls("treasury", names, 1700000000000, 1700000020000))
    assert(journal:open_count())
    journal.db.rows = nil
    local count, by_undecided = 0, 0
    for sql, plan in pairs(seen) do
      local is_bound = plan:find "purser_calls_undecided" or plan:find "purser_calls_state %(state="
      by_undecided = by_undecided + (is_bound and 1 or 0)
      count = count + 1
      -- some ten facts of the journal, and its limits: no number of calls makes them more
      plan = plan:gsub("SCAN purser_meta", ""):gsub("SCAN purser_limits%f[^%w_][^\n]*", "")
      assert.is_nil(plan:find "SCAN purser_%a+$" or plan:find "SCAN purser_%a+\n", sql .. "\n" .. plan)
      assert.is_nil(sql:find " LIMIT " and plan:find "TEMP B%-TREE", sql .. "\n" .. plan)
    end
    assert.is_true(count > 15, count .. " statements")
    assert.is_true(by_undecided >= 1) -- recover, whatever statistics there are
  end)

  it("for payments of one state reads no others, so that a queue with many that are done costs nothing", function()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "treasury" })
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local plans, rows = {}, journal.db.rows
    journal.db.rows = function(self, sql, ...)
      if sql:find "^SELECT.* stage = " then plans[#plans + 1] = searched(sql, ...) end
      return rows(self, sql, ...)
    end
    assert(payouts:report())
    assert(payouts:list "failed")
    journal.db.rows = nil
    assert.equal(5, #plans) -- the counts, the undecided, the blocked, the next that is due, the failed
    for _, plan in ipairs(plans) do assert.truthy(plan:find("purser_calls_stage", 1, true), plan) end
  end)
end)

-- SPDX-License-Identifier: MIT
-- Keys of payments that look equal and are not: both would be paid.

local own = require "own_journal"
local purser = require "purser"

local PARAMS = { coin = "USDT", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "5", netWork = "TRX" }

describe("the key of a payment", function()
  local payouts

  setup(function()
    local journal = own.begin()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "treasury" })
    payouts = assert(purser.payouts.new { client = client, journal = journal })
  end)
  teardown(own.finish)

  local hidden = {
    ["a blank at the end"] = "order 7 ",
    ["a blank at the beginning"] = " order 7",
    ["a blank that does not break"] = "order\194\1607",
    ["a thin blank"] = "order\226\128\1377",
    ["a wide blank"] = "order\227\128\1287",
    ["a character without width"] = "order\226\128\139 7",
    ["a mark of the direction of writing"] = "order 7\226\128\174",
    ["bytes that are not UTF-8"] = "order \255",
  }
  for what, key in pairs(hidden) do
    it("is rejected with " .. what, function()
      local added, err = payouts:add(key, "wallet.withdraw", PARAMS)
      assert.is_nil(added)
      assert.equal("argument", err.kind)
      assert.matches("cannot be seen", err.message)
      assert.matches("without them", err.hint)
      assert.same({}, assert(payouts:list()))
    end)
  end

  it("may hold blanks inside, and letters of any language", function()
    for _, key in ipairs { "order 7", "Stra\195\159e 7", "\230\179\168\230\150\135-7" } do
      assert.is_true(assert(payouts:add(key, "wallet.withdraw", PARAMS)))
    end
  end)

  it("stands for one content, however its amount and coin are written", function()
    local function with(fields)
      local params = {}
      for name, value in pairs(PARAMS) do params[name] = value end
      for name, value in pairs(fields) do params[name] = value end
      return payouts:add("order 8", "wallet.withdraw", params)
    end
    assert.is_true(with {})
    assert.is_false(with { amount = "5.00", coin = "usdt" })
    assert.equal("payouts.other_content", select(2, with { amount = "5.01" }).code)
    assert.equal("payouts.other_content", select(2, with { memo = "7" }).code)
  end)
end)

describe("a long list", function()
  local add = require "purser.desk.payouts.add"
  local at = require "payouts_setting"
  local BATCH = add.BATCH
  local counts -- of each transaction that wrote: its statements

  before_each(function()
    at.begin()
    add.BATCH, counts = 10, {}
  end)
  after_each(function()
    add.BATCH = BATCH
    at.finish()
  end)

  -- Counts the statements of each transaction from now on; `before(tx, sql)` sees each.
  local function count(before)
    local db, transaction = at.journal.db, at.journal.db.transaction
    function db.transaction(self, fn, reads)
      return transaction(self, function(tx)
        local rows, statements = tx.rows, 0
        function tx.rows(of, sql, ...)
          statements = statements + 1
          if before then before(of, sql) end
          return rows(of, sql, ...)
        end
        local result, second = fn(tx)
        counts[#counts + 1] = not reads and statements or nil
        return result, second
      end, reads)
    end
  end

  local function rows_of(number, amount)
    local list = {}
    for i = 1, number do
      list[i] = { key = "k" .. i, operation = at.TRANSFER, params = at.move(amount or tostring(i)) }
    end
    return list
  end

  local function highest()
    local most = 0
    for _, number in ipairs(counts) do most = math.max(most, number) end
    return most
  end

  it("is added by transactions none of which grows with the list, and is there whole or not at all", function()
    local payouts = at.payouts_with()
    local other = assert(purser.journal.open { sqlite = at.path })
    local reader, seen = at.payouts_with { client = at.client_with { journal = other }, journal = other }, {}
    count(function(_, sql)
      if sql:find "^INSERT INTO purser_adding" then seen[#assert(reader:list())] = true end
    end)
    assert.same({ added = 45, repeated = 0 }, assert(payouts:add_all(rows_of(45))))
    assert.is_true(#counts == 7 and highest() <= 15, #counts .. " " .. highest())
    assert.same({ [0] = true }, seen)
    assert.equal(45, #assert(reader:list "waiting"))
    assert.same({ added = 3, repeated = 45 }, assert(payouts:add_all(rows_of(48))))
    assert.equal("0", at.journal.db:rows("SELECT CAST(count(*) AS TEXT) AS n FROM purser_adding")[1].n)
    other:close()
  end)

  it("is run by a plan in the same way, and its rows alone", function()
    local payouts = at.payouts_with()
    local shown = assert(payouts:plan { payments = rows_of(45) })
    assert(payouts:add("k7", at.TRANSFER, at.move "70"))
    assert.is_true(payouts:drop "k7") -- held by now, so left out
    count()
    assert(require("purser.desk.payouts.runs").begin(payouts, shown))
    assert.is_true(#counts == 7, #counts)
    local marks = at.journal.db:rows "SELECT of_payment, run FROM purser_run_rows WHERE run = '1'"
    assert.equal(44, #marks)
    at.journal.db.transaction = nil
    assert.equal(44, assert(payouts:run(assert(payouts:plan { payments = rows_of(45) }))).done)
    assert.equal(44, at.counted(at.TRANSFER, "applied"))
  end)

  -- Returns the statements of each transaction that begins the run of a list of which the queue holds all keys.
  local function statements_of(name, number, amount)
    local payouts = at.payouts_with { queue = name }
    assert(payouts:add_all(rows_of(number)))
    local plan = assert(payouts:plan { payments = rows_of(number, amount) })
    counts = {}
    count()
    assert(require("purser.desk.payouts.runs").begin(payouts, plan))
    at.journal.db.transaction = nil
    return table.concat(counts, " ")
  end

  it("that the queue holds is begun by as many statements as a short one: 100,000 took longer than a lock", function()
    assert.equal(statements_of("a", 5), statements_of("b", 45))
  end)

  it("is not added where no random id can be made", function()
    local payouts, core, left = at.payouts_with(), require "purser.core", 12
    local token = core.random_token
    finally(function() core.random_token = token end)
    function core.random_token(...) -- luacheck: ignore 122
      left = left - 1
      if left < 0 then return nil, "no entropy" end
      return token(...)
    end
    local added, err = payouts:add_all(rows_of(15))
    assert.is_nil(added)
    assert.matches("no random id could be made: no entropy", err.message)
    assert.same({}, assert(payouts:list()))
  end)

  it("leaves nothing in the queue where the process is killed before all of it is written", function()
    local payouts, written = at.payouts_with(), 0
    count(function(_, sql)
      written = written + (sql:find "^INSERT INTO purser_adding" and 1 or 0)
      if written == 25 then error("killed", 0) end
    end)
    assert.is_false((pcall(payouts.add_all, payouts, rows_of(45))))
    at.journal.db.transaction = nil
    assert.same({}, assert(payouts:list()))
    assert(at.journal.db:rows "UPDATE purser_adding SET list = '1' || list") -- long ago
    assert(payouts:add_all(rows_of(45)))
    assert.equal("0", at.journal.db:rows("SELECT CAST(count(*) AS TEXT) AS n FROM purser_adding")[1].n)
  end)

  it("has the errors of a short one: other content, a key twice, the id of another, the key of a call", function()
    local payouts = at.payouts_with()
    assert(payouts:add("k30", at.TRANSFER, at.move "999"))
    local _, err = payouts:add_all(rows_of(45))
    assert.same({ "payouts.other_content", "k30" }, { err.code, err.details.key })
    assert.equal(1, #assert(payouts:list()))
    local list = rows_of(29)
    list[30], list[31] = list[3], { key = "k4", operation = at.TRANSFER, params = at.move "5" }
    _, err = payouts:add_all(list)
    assert.same({ "payouts.other_content", "k4" }, { err.code, err.details.key })
    list[31] = nil
    assert.same({ added = 29, repeated = 1 }, assert(payouts:add_all(list)))
    list = rows_of(29)
    for i, row in ipairs(list) do row.key = "other" .. i end
    list[20].params.clientTranId = assert(payouts:find "k8").client_id
    assert.matches('is that of payment "k8"', select(2, payouts:add_all(list)).message)
    assert(at.client:call(at.TRANSFER, at.move "3", { key = "other5" }))
    list[20].params.clientTranId = nil
    _, err = payouts:add_all(list)
    assert.same({ "journal.used", "other5" }, { err.code, err.details.key })
    assert.equal(30, #assert(payouts:list()))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Rows that are compared with what a list shows: equal ones counted, changes kept, and nothing that an order decides.

local files = require "files"
local record = require "purser.desk.books.record"
local stores = require "purser.desk.books.store"

local unpack = table.unpack or unpack -- luacheck: ignore

local context = { account = "A", owner = "Main", source = "A|Main|deposit", asset = function(coin) return coin end }

local function rows(...)
  local list = {}
  for _, state in ipairs { ... } do
    record.add(list, "deposit", { coin = "USDT", network = "TRX", address = "T1", amount = "5",
      insertTime = 1700000000000, status = state, txId = "ab", memo = "" }, context)
  end
  return list
end

describe("The store of the books", function()
  local store, at

  before_each(function()
    store, at = assert(stores.open { sqlite = files.new_path(), client = true }), 1700000000000
  end)
  after_each(function()
    store:close()
    files.remove_kept()
  end)

  -- Shows a list of twins in these states. Returns the states that the books have then.
  local function show(hours, ...)
    at = at + hours * 3600000
    local batch = { rows = rows(...), source = context.source, asked_at = ("%d"):format(at), from = "1600000000000",
      to = "1800000000000" }
    store:write(function(tx, rev) store:apply(tx, batch, rev) end)
    local states = {}
    for i, row in ipairs(store:rows "SELECT state, class, missing_since FROM purser_books_record ORDER BY rid") do
      states[i] = row.class == "lost_sight" and "lost" or row.state .. (row.missing_since ~= "" and " missing" or "")
    end
    table.sort(states)
    return table.concat(states, ", "), batch.changes
  end

  it("counts equal records, and takes a change as that of one of them", function()
    assert.same({ "4, 4, 4", 3 }, { show(0, 4, 4, 4) })
    assert.same({ "4, 4, 4", 0 }, { show(1, 4, 4, 4) })
    assert.same({ "4, 4, 5", 1 }, { show(1, 4, 5, 4) })
    assert.same({ "4, 4, 5", 0 }, { show(1, 5, 4, 4) })
    assert.same({ "4, 4, 5, 5", 1 }, { show(1, 4, 5, 4, 5) })
    assert.equal("1", store:rows "SELECT count(*) || '' AS n FROM purser_books_change"[1].n)
  end)

  it("keeps what vanishes, and says of an open one that it is out of sight after an hour", function()
    show(0, 4, 5)
    assert.equal("4 missing, 5 missing", (show(1)))
    assert.equal("4 missing, 5 missing", (show(0.5)))
    assert.equal("5 missing, lost", (show(1)))
    assert.equal("4, 5", (show(1, 4, 5)))
  end)

  it("raises its revision once in a transaction that changes something, and in no other", function()
    assert.equal("000000000000", store:rev())
    show(0, 4, 5)
    assert.equal("000000000001", store:rev())
    show(1, 4, 5)
    assert.equal("000000000001", store:rev())
  end)

  it("undoes all of a transaction that fails", function()
    local ok = pcall(store.write, store, function(tx, rev)
      store:apply(tx, { rows = rows(4), source = "s", asked_at = "1700000000000" }, rev)
      tx:reject "no"
    end)
    assert.is_false(ok)
    assert.equal("000000000000", store:rev())
    assert.same({}, store:rows "SELECT rid FROM purser_books_record")
  end)

  it("keeps one record where an id of the service, or all but spelling, is the same", function()
    local own = { account = "A", owner = "Main", source = "A|Main|x", from = "Main", to = "Sub-a",
      asset = function(coin) return coin end, is_own = function() return "" end }
    local shown = {
      deposit = { { coin = "USDT", network = "TRX", address = "Tq", memo = "", amount = "5", status = 5, txId = "ab",
        insertTime = 1700000000123 }, { network = "Tron(TRC20)" }, { txId = "0xAB:0" }, { address = "tQ" } },
      withdrawal = { { id = "w", coin = "USDT", amount = "20", applyTime = 1700000000123, address = "T1", status = 7 },
        { amount = "19" }, { applyTime = 1700000000000 }, { address = "T1:77" } },
      transfer = { { tranId = "t", asset = "USDT", amount = "5", timestamp = 1700000000123, status = "SUCCESS",
        fromAccountType = "SPOT", toAccountType = "SPOT" }, { amount = "5.1" }, { timestamp = 1700000000000 } },
      internal_transfer = { { tranId = "i", asset = "USDT", amount = "5", timestamp = 1700000000123,
        status = "SUCCESS", fromAccount = "1", toAccount = "2" }, { amount = "5.1" }, { fromAccount = "a***@b" } },
    }
    for entity, list in pairs(shown) do
      local fields = {}
      for step, changed in ipairs(list) do
        for name, value in pairs(changed) do fields[name] = value end
        local made = {}
        record.add(made, entity, fields, own)
        -- a span that the first record lies in, and one that it does not
        for _, from in ipairs { "1600000000000", "1700000000500" } do
          local batch = { rows = made, source = own.source .. entity, asked_at = ("%d"):format(at + step * 1000),
            from = from, to = "1800000000000" }
          store:write(function(tx, rev) store:apply(tx, batch, rev) end)
        end
      end
      assert.equal("1", store:rows("SELECT count(*) || '' AS n FROM purser_books_" .. entity)[1].n, entity)
    end
  end)

  it("keeps one record of a deposit whose time, amount or transaction moves, where it is the only one",
  function()
    local shown = { coin = "USDT", network = "TRX", address = "T1", amount = "5", insertTime = 1700000000000,
      status = 5, txId = "", memo = "" }
    local function take(hours, ...)
      local list = {}
      for _, changed in ipairs { ... } do
        for name, value in pairs(changed) do shown[name] = value end
        record.add(list, "deposit", shown, context)
      end
      local batch = { rows = list, source = context.source, asked_at = ("%d"):format(at + hours * 3600000),
        from = "1600000000000", to = "1800000000000" }
      store:write(function(tx, rev) store:apply(tx, batch, rev) end)
      return store:rows "SELECT count(*) || '' AS n FROM purser_books_record"[1].n
    end
    assert.equal("1", take(1, {}))
    assert.equal("1", take(2, { txId = "ab" }))
    assert.equal("1", take(3, { insertTime = 1700000001000 }))
    assert.equal("1", take(4, { amount = "4.9" }))
    assert.equal("2", take(5, { txId = "cd" })) -- another transaction is another deposit
    assert.equal("4", take(6, { txId = "ef" }, { txId = "gh" }))
    assert.equal("6", take(7, { txId = "gh", amount = "1" }, { amount = "2" })) -- none of two is the only one
  end)

  it("asks for what a list shows in statements of a hundred ids each, and goes through all by an index", function()
    local function shown(count)
      local list = {}
      for i = 1, count do
        record.add(list, "deposit", { coin = "USDT", network = "TRX", address = "T1", amount = ("%d"):format(i),
          insertTime = 1600000000000 + i, status = 5, txId = ("ab%d"):format(i), memo = "" }, context)
      end
      return { rows = list, source = context.source, asked_at = "1800000000000", from = "1600000000000",
        to = "1600000100000" }
    end
    local function statements(count) -- of a second look at so many deposits, which have no id of the service
      store:write(function(tx, rev) store:apply(tx, shown(count), rev) end)
      local batch, asked = shown(count), 0
      store:write(function(tx, rev)
        store:apply(setmetatable({ rows = function(_, ...)
          asked = asked + 1
          return tx:rows(...)
        end }, { __index = tx }), batch, rev)
      end)
      assert.equal(0, batch.changes)
      return asked
    end
    assert.is_true(statements(200) <= 3)
    assert.is_true(statements(800) <= 9)
    local count, last, sqls = 0, "", {}
    local inner = store.rows
    store.rows = function(self, sql, ...)
      sqls[sql] = { ... }
      return inner(self, sql, ...)
    end
    for row in store:each("A", "") do
      assert.is_true(row.time > last)
      count, last = count + 1, row.time
    end
    assert.equal(800, count)
    for sql, values in pairs(sqls) do
      for _, step in ipairs(inner(store, "EXPLAIN QUERY PLAN " .. sql, unpack(values))) do
        assert.is_nil(step.detail:find "TEMP B%-TREE")
        assert.truthy(step.detail:find("purser_books_record_time", 1, true), step.detail)
      end
    end
  end)
end)

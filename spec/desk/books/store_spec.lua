-- SPDX-License-Identifier: MIT
-- Rows that are compared with what a list shows: equal ones counted, changes kept, and nothing that an order decides.

local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"
local record = require "purser.desk.books.record"
local schema = require "purser.desk.books.schema"
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

  it("books a record by when it was updated, once its state is more than pending", function()
    for status, booked in pairs { [5] = "1700000090000", [4] = "1700000000000" } do
      local list = {}
      record.add(list, "deposit", { coin = "USDT", network = "TRX", address = "T" .. status, amount = "5",
        insertTime = 1700000000000, updateTime = 1700000090000, status = status, txId = "ab", memo = "" }, context)
      store:write(function(tx, rev) store:apply(tx, { rows = list, source = "s" .. status, asked_at = "1700000099000" },
        rev) end)
      assert.equal(booked, store:rows("SELECT booked FROM purser_books_record WHERE source = $1",
        context.source)[1].booked)
      store:rows "DELETE FROM purser_books_record"
    end
  end)

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

  it("waits for another run's batch for ten seconds", function() assert.equal(10000, store.db.lock_timeout_ms) end)

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
      deposit = { { coin = "USDT", network = "TRX", address = "0x52908400098527886E0F7030069857D2E4169EE7", memo = "",
        amount = "5", status = 5, txId = "ab", insertTime = 1700000000123 }, { network = "Tron(TRC20)" },
        { txId = "0xAB:0" }, { address = "0x52908400098527886e0f7030069857d2e4169ee7" } },
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

  it("takes whatever moves money in a record with an id of the service: its coin, its memo, what a conversion brought",
  function()
    local function shows(entity, column, fields, changed)
      local values = {}
      for step, more in ipairs { {}, changed, {} } do
        for name, value in pairs(more) do fields[name] = value end
        local made = {}
        record.add(made, entity, fields, context)
        local batch = { rows = made, source = entity, asked_at = ("%d"):format(at + step) }
        store:write(function(tx, rev) store:apply(tx, batch, rev) end)
        values[step] = store:rows(("SELECT %s AS value FROM purser_books_%s"):format(column, entity))[1].value
          .. " " .. batch.changes
      end
      return values
    end
    local sent = { id = "w", coin = "USDT", amount = "20", applyTime = 1700000000123, address = "T1", status = 7 }
    assert.same({ "USDT 1", "USDC 1", "USDC 0" }, shows("withdrawal", "asset", sent, { coin = "USDC" }))
    assert.same({ " 0", "7 1", "7 0" }, shows("withdrawal", "memo", sent, { memo = "7" }))
    assert.same({ "1 1", "0.9 1", "0.9 0" }, shows("conversion", "got", { convertTime = 1700000000123,
      totalConvert = "1", convertDetails = { { id = "c", asset = "X", amount = "5", convert = "1", fee = "0.1" } } },
      { totalConvert = "0.9" }))
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

  it("tells each change as an event with what was before, one id for what became of a payment", function()
    local events = {}
    store.outbox.emit = function(_, _, event) events[#events + 1] = event end
    store.has_receivers = true
    show(0, 4)
    show(1, 5)
    local first, second = core.decode(events[1].body), core.decode(events[2].body)
    local rid = first.record.rid
    assert.same({ "ev_" .. rid .. "_pending", "deposit.new", nil, "4" }, { first.id, first.type, first.before,
      first.raw.status == 4 and first.record.state })
    assert.same({ "ev_" .. rid .. "_done", "deposit.changed", { state = "4", class = "pending", amount = "5" } },
      { second.id, second.type, second.before })
    assert.same({ rid .. "_2", "deposit.changed", rid, second.record.seen, "000000000002000002" }, { events[2].id,
      events[2].kind, events[2].subject, events[2].at, events[2].seq })
    assert.same({ "2", "1700000000000", "5", "Main", "000000000002", "000000000001" }, { second.record.n,
      second.record.time, second.record.amount, second.record.to_owner, second.record.rev, second.record.first_rev })
    assert.is_nil(second.record.raw)
    local list = {}
    record.add(list, "status", { status = "1" }, { account = "A", owner = "Main", source = "s", to = "Sub-a" })
    store:write(function(tx, rev) store:apply(tx, { rows = list, source = "s", asked_at = "1700000000000" }, rev) end)
    assert.matches("^ev_%x+_1$", core.decode(events[3].body).id)
  end)

  it("keeps of a change what was other before, and dates it", function()
    show(0, 4)
    show(1, 5)
    local kept = core.decode(store:rows "SELECT body FROM purser_books_change"[1].body)
    assert.same({ state = "4", class = "pending", n = "1", rev = "000000000001", seen = "1700000000000",
      booked = "1700000000000" }, kept)
    local row = store:rows "SELECT booked, seen, first_rev, rev FROM purser_books_record"[1]
    assert.same({ "1700003600000", "1700003600000", "000000000001", "000000000002" }, { row.booked, row.seen,
      row.first_rev, row.rev })
    assert.equal("5", (show(-0.5, 4))) -- an older answer changes nothing
  end)

  it("joins what two lists know of one movement", function()
    local function take(source, is_own, at_ms)
      local list = {}
      record.add(list, "internal_transfer", { tranId = "i", asset = "USDT", amount = "5", timestamp = 1700000000000,
        status = "SUCCESS", fromAccount = "1", toAccount = "2" }, { account = "A", owner = "Main", source = source,
        asset = tostring, is_own = function(text) return is_own[text] or "" end })
      store:write(function(tx, rev)
        store:apply(tx, { rows = list, source = source, asked_at = ("%d"):format(at_ms) }, rev)
      end)
      local row = store:rows "SELECT owner, from_owner, to_owner, source FROM purser_books_record"[1]
      return ("%s %s>%s %s"):format(row.owner, row.from_owner, row.to_owner, row.source)
    end
    assert.equal("Main >Sub-b b", take("b", { ["2"] = "Sub-b" }, 1700000000001))
    assert.equal("Sub-b >Sub-b b", take("b", { ["2"] = "Sub-b" }, 1700000000001))
    assert.equal("Sub-a Sub-a>Sub-b b", take("a", { ["1"] = "Sub-a" }, 1700000000002))
    assert.equal("1", store:rows "SELECT count(*) || '' AS n FROM purser_books_record"[1].n)
  end)

  it("lets a broker's list name what no better list has", function()
    local function take(source, owner, at_ms)
      local list = {}
      record.add(list, "deposit", { coin = "USDT", address = "T1", amount = "5", insertTime = 1700000000000, status = 5,
        txId = "ab" }, { account = "A", owner = owner, source = source, asset = tostring })
      store:write(function(tx, rev)
        store:apply(tx, { rows = list, source = source, asked_at = ("%d"):format(at_ms) }, rev)
      end)
      local row = store:rows "SELECT to_owner, source FROM purser_books_record"[1]
      return row.to_owner .. " " .. row.source
    end
    assert.equal(" A|Main|broker_deposits", take("A|Main|broker_deposits", "", 1700000000001))
    assert.equal("Sub-a A|Sub-a|deposit", take("A|Sub-a|deposit", "Sub-a", 1700000000002))
    assert.equal("Sub-a A|Sub-a|deposit", take("A|Main|broker_deposits", "", 1700000000003))
  end)

  it("is none where no file has the name; a name that cannot be looked up is an error of its own", function()
    local path = files.new_path()
    assert.same({ nil, schema.NONE }, { stores.open { sqlite = path } })
    os.execute(("ln -s %s.gone %s"):format(path, path)) -- a volume that is not mounted
    local made, message = stores.open { sqlite = path }
    os.remove(path)
    assert.is_nil(made)
    assert.is_string(message)
    assert.not_equal(schema.NONE, message)
  end)

  it("says of a batch whether a record may still change, also where none did, and opens no other version", function()
    local function is_open(state)
      at = at + 1
      local batch = { rows = rows(state), source = context.source, asked_at = ("%d"):format(at) }
      store:write(function(tx, rev) store:apply(tx, batch, rev) end)
      return batch.is_open or false, batch.changes
    end
    assert.same({ true, 1 }, { is_open(4) })
    assert.same({ true, 0 }, { is_open(4) })
    assert.same({ false, 1 }, { is_open(5) })
    assert.same({ false, 0 }, { is_open(5) })
    local path = files.new_path()
    local other = assert(stores.open { sqlite = path, client = true })
    other:rows "UPDATE purser_books_meta SET value = '2' WHERE name = 'version'"
    other:close()
    local open, closed = database.open, 0
    finally(function() database.open = open end)
    function database.open(...)
      local db = assert(open(...))
      local close = db.close
      function db.close(...)
        closed = closed + 1
        return close(...)
      end
      return db
    end
    assert.same({ nil, "the books are of another version of Purser" }, { stores.open { sqlite = path } })
    assert.equal(1, closed)
  end)
end)

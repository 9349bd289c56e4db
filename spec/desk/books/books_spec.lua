-- SPDX-License-Identifier: MIT
-- The options that `purser.books` takes, and what it says of others.

local books_world = require "books_world"
local model = require "purser.desk.books.model"
local files = require "files"
local purser = require "purser"
local record = require "purser.desk.books.record"
local steps_of = require "steps".of

describe("purser.desk.books", function()
  after_each(files.remove_kept)

  it("rejects options that make no sense, with what is wrong", function()
    for expected, options in pairs { ["give sqlite = FILE or postgresql"] = {},
      ['did you mean "sqlite"'] = { sqlit = "x" },
      ["begins with a capital"] = { sqlite = "x", account = "my account" },
      ["cannot be opened"] = { sqlite = "/nonexistent/books.db" } } do
      local books, err = purser.books.open(options)
      assert.is_nil(books)
      assert.truthy(err.message:find(expected, 1, true), err.message)
      assert.equal("config", err.kind)
    end
  end)

  it("reads transfers between the sub-accounts of each pair that is named, in their order", function()
    local pairs_of = { { "desk1", "desk2" }, { "desk2", "desk1" }, { "desk1", "desk3" } }
    local books = books_world.open(books_world.new(), { pairs = pairs_of })
    assert.same({ ["desk1 desk2"] = pairs_of[1], ["desk2 desk1"] = pairs_of[2], ["desk1 desk3"] = pairs_of[3] },
      books.pairs)
    books:close()
  end)

  -- Books that were made, and are open without a client.
  local function without_client()
    local path = files.new_path()
    books_world.open(books_world.new(), { sqlite = path }):close()
    return assert(purser.books.open { sqlite = path })
  end

  it("needs a client to read and to make books, and none for the rest", function()
    local path = files.new_path()
    local none, why = purser.books.open { sqlite = path }
    assert.is_nil(none)
    assert.truthy(why.message:find("there are none yet", 1, true))
    assert.is_nil((io.open(path)))
    local books = without_client()
    local report, err = books:sync()
    assert.is_nil(report)
    assert.truthy(err.message:find("without a client", 1, true))
    assert.truthy((books:statement { from = "2023-01-01", to = "2023-02-01" }))
    books:close()
  end)

  it("goes through its records in order, those of one kind where it is named", function()
    local world = books_world.new()
    local books = books_world.open(world)
    for i = 1, 3 do
      assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) })
      world.sim:advance(1000)
    end
    assert(books:sync())
    local amounts, all = {}, 0
    for row in books:each "deposit" do amounts[#amounts + 1] = row.amount end
    for _ in books:each() do all = all + 1 end
    assert.same({ "1", "2", "3" }, amounts)
    assert.equal(5, all) -- with the sub-account and its key
    books:close()
  end)

  it("says which times, formats and ids it does not take", function()
    local books = without_client()
    local span = { from = "2023-01-01", to = "2023-02-01" }
    for expected, make in pairs {
      ['"from" is no time'] = function() return books:statement { from = "soon", to = "2023-02-01" } end,
      ["not later than"] = function() return books:statement { from = "2023-02-01", to = "2023-02-01" } end,
      ["format is none of"] = function() return books:statement { from = span.from, to = span.to, format = "pdf" } end,
      ["no records begin"] = function() return books:settle("abcdef", "success") end,
      ["neither success nor failed"] = function() return books:settle("abcdef", "maybe") end,
    } do
      local text, err = make()
      assert.is_nil(text)
      assert.truthy(err.message:find(expected, 1, true), err.message)
    end
    books:close()
  end)

  it("knows a webhook's sender by the signature", function()
    assert.is_false(purser.books.verify("secret", "t=1,v1=00", "{}", 1))
  end)

  it("raises a fault of its own, which is no refusal", function()
    local books = books_world.open(books_world.new { subs = 0 })
    assert(books:sync())
    local inner = model.statement
    finally(function() model.statement = inner end)
    model.statement = function() return nil + 1 end
    assert.has_error(function() books:statement { from = "2023-01-01", to = "2023-02-01" } end)
    books:close()
  end)

  it("takes numbers within their bounds, words of a list, and what is left out as it says", function()
    local world = books_world.new { subs = 0 }
    for message, options in pairs { ["since_ms"] = { since_ms = -1 }, ["every_ms"] = { every_ms = 999 },
      [" every_ms"] = { every_ms = 86400001 }, fee = { fee = "somewhere" }, pairs = { pairs = "a" },
      ["pairs "] = { pairs = { "a b" } }, ["pairs  "] = { pairs = { { "a" } } },
      ["pairs   "] = { pairs = { { "a", 1 } } },
      address_coins = { address_coins = "USDT" }, receiver = { receivers = { x = {} } } } do
      options.sqlite, options.client = files.new_path(), world.client
      local books, err = purser.books.open(options)
      assert.is_nil(books)
      assert.same({ "config", true }, { err.kind, err.message:find(message:match "%S+", 1, true) ~= nil }, err.message)
    end
    local plain = books_world.open(world)
    assert.same({ 180 * 86400000, 60000, nil, "Account", {}, {} }, { plain.since, plain.every, plain.fee, plain.account,
      plain.address_coins, plain.pairs })
    assert.equal(world.sim:now(), plain.clock())
    plain:close()
    local books = books_world.open(world, { since_ms = 0, every_ms = 1000, fee = "inside", account = "My-1",
      address_coins = { "USDT" }, addresses = { ["T1:7"] = "desk1", T2 = "Main" } })
    assert.same({ 0, 1000, "inside", "My-1", { "USDT" } }, { books.since, books.every, books.fee, books.account,
      books.address_coins })
    assert.same({ "Sub-desk1", "Main", "" }, { books.by_address { address = "T1", memo = "7" },
      books.by_address { address = "T2", memo = "9" }, books.by_address { address = "T3" } })
    books:close()
  end)

  -- Books with two deposits and a withdrawal, and their ids.
  local function with_records()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    for i = 1, 2 do
      assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) })
    end
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
    assert(books:sync())
    local ids = {}
    for row in books:each() do ids[row.entity] = row.rid end
    return books, ids, world
  end

  it("keeps a person's word about the record whose id begins so, and about no other", function()
    local books, ids = with_records()
    for expected, make in pairs {
      ["no records begin with the id abc"] = function() return books:outside "abc" end,
      ["no records begin with the id nil"] = function() return books:outside() end,
      ["no records begin with the id ABCDEF"] = function() return books:outside "ABCDEF" end,
      [ids.deposit:sub(1, 12) .. " is a deposit, no withdrawal"] = function()
        return books:match(ids.deposit:sub(1, 12), ids.deposit)
      end,
      [ids.withdrawal .. " is a withdrawal, no deposit"] = function()
        return books:match(ids.withdrawal, ids.withdrawal)
      end,
    } do
      local done, err = make()
      assert.is_nil(done)
      assert.same({ expected, "argument" }, { err.message, err.kind })
    end
    books.store:rows("UPDATE purser_books_record SET rid = $1 WHERE rid = $2", ids.withdrawal:sub(1, 6)
      .. ("0"):rep(58), ids.deposit)
    local _, err = books:outside(ids.withdrawal:sub(1, 6))
    assert.equal("several records begin with the id " .. ids.withdrawal:sub(1, 6), err.message)
    assert.is_true(books:outside(ids.withdrawal:sub(1, 12)))
    assert.is_true(books:settle(ids.withdrawal, "success"))
    books.store:rows("UPDATE purser_books_record SET class = 'done'")
    _, err = books:settle(ids.withdrawal, "failed")
    assert.equal("the record is final by itself", err.message)
    local words = {}
    for i, row in ipairs(books.store:rows "SELECT account, verb, rid, value, at FROM purser_books_word ORDER BY rev") do
      words[i] = ("%s %s %s %s"):format(row.account, row.verb, row.rid == ids.withdrawal and "w" or "?", row.value)
      assert.matches("^%d+$", row.at)
      assert.equal(13, #row.at)
    end
    assert.same({ "Account outside w ", "Account settle w success" }, words)
    books:close()
  end)

  it("closes a day once, and forward", function()
    local books, _, world = with_records()
    local empty = books_world.open(world)
    assert.matches("^not read: Main, every list, from 1970%-01%-01 to 2023%-11%-14: nobody read this span$",
      select(2, empty:close_before "2023-11-14").message)
    empty:close()
    assert.is_true(books:close_before "2023-11-14") -- what lies before the first reading is of no books
    world.sim:advance(20 * 86400000)
    local _, err = books:close_before "2023-11-16"
    assert.same({ "not read yet: what is later than 2023-11-14 22:13 (Main, sub_accounts)",
      "sync first, or close the days unread" },
      { err.message, err.hint })
    assert.is_true(books:close_before("2023-11-16", { unread = true }))
    for day, message in pairs { ["2023-11-16"] = "it is closed up to 2023-11-16", ["2023-11-15"] =
      "it is closed up to 2023-11-16", ["2030-01-01"] = "what lies before that day is not over" } do
      assert.equal(message, select(2, books:close_before(day)).message)
    end
    world.sim:fault { kind = "reject", operation = "wallet.withdrawal_history" }
    books:sync()
    assert.matches("^not read: Main, withdrawal, from 2023%-11%-14 to now: ", select(2,
      books:close_before "2023-11-17").message)
    assert(books:sync())
    assert.is_true(books:close_before "2023-11-17")
    books:close()
  end)

  it("reads those that are due, tells how far it is, and when it is due again", function()
    local books, _, world = with_records()
    local seen = {}
    local function progress(owner, at, of) seen[#seen + 1] = ("%s %d/%d"):format(owner, at, of) end
    local report = assert(books:sync { due = true, progress = progress })
    assert.same({ 0, {} }, { report.owners, seen })
    assert.equal(world.sim:now() + 60000, report.next_due)
    world.sim:advance(60000)
    report = assert(books:sync { due = true, progress = progress })
    assert.same({ 1, { "Main 1/1" } }, { report.owners, seen })
    assert.equal(1, assert(books:sync()).owners)
    books:close()
  end)

  it("takes times as days, times and milliseconds, and no others", function()
    local books = with_records()
    for _, time in ipairs { "2023-11-01", 1698796800000, 1698796800000.0 } do
      assert.equal("1698796800000", select(2, assert(books:statement { from = time, to = "2023-12-01" })).from)
    end
    for _, time in ipairs { 999999999999, 1e13, "x", true } do
      local text, err = books:statement { from = time, to = "2023-12-01" }
      assert.is_nil(text)
      assert.matches('" is no time: ', err.message)
      assert.equal("from", err.parameter)
    end
    books:close()
  end)

  it("makes a statement of four times the records in at most five times the steps, in pages of statements", function()
    local function cost(n)
      local books, rows, start = books_world.open(books_world.new { subs = 0 }), {}, 1700000000000
      local context = { account = "Account", owner = "Main", source = "s", asset = tostring }
      for i = 1, n do -- each withdrawal goes to the one address at which all deposits come
        record.add(rows, "withdrawal", { id = "w" .. i, coin = "USDT", amount = ("%d"):format(i % 7 + 1),
          transactionFee = "1", address = "T1", applyTime = start + i * 1000, status = 7 }, context)
        record.add(rows, "deposit", { coin = "USDT", amount = ("%d"):format(i % 7 + 1), address = "T1", status = 5,
          insertTime = start + i * 1000 + 500, txId = "d" .. i }, context)
      end
      books.store:write(function(tx, rev)
        books.store:apply(tx, { rows = rows, source = "s", asked_at = ("%d"):format(start + n * 1000) }, rev)
      end)
      local asked, inner = 0, books.store.db.rows
      books.store.db.rows = function(...)
        asked = asked + 1
        return inner(...)
      end
      local steps = steps_of(function()
        assert(books:statement { from = "2023-11-01", to = "2023-12-01", write = function() end })
      end)
      books:close()
      return steps, asked
    end
    cost(10)
    local steps, asked = cost(250)
    local steps4, asked4 = cost(1000)
    assert.is_true(steps4 <= 5 * steps)
    assert.is_true(asked4 <= asked + 4) -- a page of 1,000 records and their changes are two
  end)
end)

describe("A receiver of books", function()
  after_each(files.remove_kept)

  it("is forgotten once; another name is refused, and forgets nothing", function()
    local world, got = books_world.new { subs = 0 }, 0
    local books = books_world.open(world, { receivers = { shop = { deliver = function()
      got = got + 1
      return nil, "not now"
    end } } })
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    world.sim:advance(60000)
    assert(books:sync())
    assert(books:deliver())
    assert.is_true(got > 0)
    local waiting = assert(books:events())
    assert.same({ "shop", true }, { waiting[1].receiver, tonumber(waiting[1].waiting) > 0 })
    local list, err = books:events { forget = "shopp" }
    assert.same({ nil, "argument", "there is no receiver shopp" }, { list, err.kind, err.message })
    assert.same(waiting, assert(books:events()))
    assert.same({}, assert(books:events { forget = "shop" }))
    list, err = books:events { forget = "shop" }
    assert.same({ nil, "there is no receiver shop" }, { list, err.message })
    books:close()
  end)

  it("that cannot be kept is a wrong option, and the database's words are its reason", function()
    local path = files.new_path()
    local world = books_world.new { subs = 0 }
    books_world.open(world, { sqlite = path }):close()
    assert(os.execute(("sqlite3 %s 'DROP TABLE purser_books_receiver'"):format(path)))
    local books, err = purser.books.open { sqlite = path, client = world.client,
      receivers = { shop = { deliver = function() return true end } } }
    assert.same({ nil, "config", "receivers" }, { books, err.kind, err.option })
    assert.matches("purser_books_receiver", err.message, 1, true)
  end)
end)

-- SPDX-License-Identifier: MIT
-- make test: 4 s
-- The books at a revision: both sides matched, and fees where they are measured, taken from others, or assumed.

local books_world = require "books_world"
local files = require "files"
local ledger = require "purser.desk.books.ledger"
local records = require "purser.desk.books.record"

local MINUTE, NOW = 60000, 1700000000000
local OUTSIDE = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

-- Returns the facts about each withdrawal of a world whose fee is where it says: "on top", "inside", and how it is
-- known.
local function facts_of(fee, to_own, sync_between, book_options)
  local world = books_world.new { sim = { seed = 5, key_days = 0, fee = fee } }
  local books = books_world.open(world, book_options)
  local function sync()
    world.sim:advance(1)
    assert(books:sync())
    world.sim:advance(1)
  end
  if sync_between then sync() end
  local address = to_own and assert(world.clients.desk1.wallet:create_deposit_address { coin = "USDT",
    network = "Tron(TRC20)" }).address or OUTSIDE
  assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = address })
  world.sim:advance(30 * MINUTE)
  sync()
  local found = ledger.at(books, books.store:rev())
  local words
  for _, record in ipairs(found.records) do
    local fact = record.fact
    if record.row.entity == "withdrawal" then
      words = ("%s, %s%s"):format(fact.inside and "inside" or "on top", fact.is_measured and "measured"
        or fact.is_assumed and "assumed" or "as others", fact.pair and ", paired" or "")
    end
  end
  books:close()
  return words
end

describe("The fee of a withdrawal", function()
  after_each(files.remove_kept)

  it("is measured by its deposit, or by the balances", function()
    assert.equal("on top, measured, paired", facts_of("on_top", true, false))
    assert.equal("inside, measured, paired", facts_of("inside", true, false))
    assert.equal("on top, measured", facts_of("on_top", false, true))
    assert.equal("inside, measured", facts_of("inside", false, true))
  end)

  it("of nothing is not assumed to stand anywhere", function()
    for _, fee in ipairs { "0", "" } do
      local world = books_world.new { sim = { seed = 5, key_days = 0, fee = "on_top" } }
      local books = books_world.open(world)
      assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = OUTSIDE })
      world.sim:advance(30 * MINUTE)
      assert(books:sync())
      assert(books.store.db:rows(("UPDATE purser_books_record SET fee = '%s' WHERE entity = 'withdrawal'"):format(fee)))
      for _, record in ipairs(ledger.at(books, books.store:rev()).records) do
        if record.row.entity == "withdrawal" then
          assert.same({ false, false }, { record.fact.inside, record.fact.is_unknown })
        end
      end
      books:close()
    end
  end)

  it("is as that of the others where it is not measured itself", function()
    local world = books_world.new { sim = { seed = 5, key_days = 0, fee = "inside" } }
    local books = books_world.open(world)
    local function withdraw(address)
      assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = address })
      world.sim:advance(30 * MINUTE)
    end
    withdraw(OUTSIDE) -- before any balance was read
    assert(books:sync())
    withdraw(assert(world.clients.desk1.wallet:create_deposit_address { coin = "USDT",
      network = "Tron(TRC20)" }).address)
    assert(books:sync())
    local measured = {}
    for _, record in ipairs(ledger.at(books, books.store:rev()).records) do
      if record.row.entity == "withdrawal" then
        assert.is_true(record.fact.inside)
        assert.falsy(record.fact.is_assumed)
        measured[tostring(record.fact.is_measured)] = true
      end
    end
    assert.same({ ["true"] = true, ["nil"] = true }, measured)
    books:close()
  end)

  it("is assumed on top where nothing shows it, or where the user says", function()
    assert.equal("on top, assumed", facts_of("inside", false, false))
    assert.equal("inside, assumed", facts_of("inside", false, false, { fee = "inside" }))
  end)
end)

describe("The versions of a record", function()
  after_each(files.remove_kept)

  -- Books with a withdrawal that the service showed in so many states, one after the other.
  local function changed(count)
    local books = books_world.open(books_world.new { subs = 0 })
    for step = 1, count do
      local rows = {}
      records.add(rows, "withdrawal", { id = "w", coin = "USDT", amount = "20", transactionFee = "0", applyTime = NOW,
        address = OUTSIDE, status = step % 2 == 1 and 2 or 3, transHash = ("%d"):format(step) },
        { account = "Account", owner = "Main", source = "s", asset = tostring, is_own = tostring })
      books.store:write(function(tx, rev)
        books.store:apply(tx, { rows = rows, source = "s", asked_at = ("%d"):format(NOW + step) }, rev)
      end)
    end
    return books
  end

  local function versions_at(books, rev)
    local versions = ledger.at(books, ("%012d"):format(rev)).records[1].versions
    local list = {}
    for i, version in ipairs(versions) do
      list[i] = ("%s %s %d"):format(version.state, version.tx, version.seen - NOW)
    end
    return table.concat(list, ", ")
  end

  it("are what it was at each revision, with a person's word behind them", function()
    local books = changed(3)
    assert.equal("2 1 1", versions_at(books, 1))
    assert.equal("2 1 1, 3 2 2", versions_at(books, 2))
    assert.equal("2 1 1, 3 2 2, 2 3 3", versions_at(books, 3))
    assert.equal("2 1 1, 3 2 2, 2 3 3", versions_at(books, 9))
    local rid = books.store:rows "SELECT rid FROM purser_books_record"[1].rid
    for how, said in pairs { success = "sent", failed = "void" } do
      assert(books:settle(rid, how))
      local last = ledger.at(books, books.store:rev()).records[1].row
      local word = books.store:rows "SELECT at, rev FROM purser_books_word ORDER BY rev DESC LIMIT 1"[1]
      assert.same({ said, word.at, word.at, word.rev, "20" }, { last.said, last.booked, last.seen, last.rev,
        last.amount })
    end
    books:close()
  end)

  it("end as the service says, whatever a person said before", function()
    local books = changed(1)
    assert(books:settle(books.store:rows "SELECT rid FROM purser_books_record"[1].rid, "failed"))
    local rows, word = {}, books.store:rev()
    records.add(rows, "withdrawal", { id = "w", coin = "USDT", amount = "20", transactionFee = "0", applyTime = NOW,
      address = OUTSIDE, status = 7 }, { account = "Account", owner = "Main", source = "s", asset = tostring })
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = ("%d"):format(NOW + MINUTE) }, rev)
    end)
    assert.equal("void", ledger.at(books, word).records[1].row.said)
    local last = ledger.at(books, books.store:rev()).records[1].row
    assert.same({ "done" }, { last.class, last.said })
    books:close()
  end)

  it("may be more than the tables that Lua follows one behind another", function()
    local books = changed(2100)
    assert.equal(2100, #ledger.at(books, books.store:rev()).records[1].versions)
    assert.truthy((books:statement { from = "2023-11-01", to = "2023-12-01" }))
    books:close()
  end)

  it("are in order of their ids, page by page, and hold what was learned up to a revision", function()
    local books = books_world.open(books_world.new { subs = 0 })
    local rows = {}
    for i = 1, 1001 do
      records.add(rows, "deposit", { coin = "USDT", amount = ("%d"):format(i), insertTime = NOW + i, address = "T1",
        status = 5, txId = ("%d"):format(i) }, { account = "Account", owner = "Main", source = "s", asset = tostring })
    end
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = ("%d"):format(NOW) }, rev)
    end)
    local found = ledger.at(books, books.store:rev())
    assert.equal(1001, #found.records)
    for i = 2, 1001 do assert.is_true(found.records[i - 1].row.rid < found.records[i].row.rid) end
    assert.equal("Assets:Account:Transit", found.chart.transit)
    assert.equal(0, #ledger.at(books, "000000000000").records)
    books:close()
  end)
end)

describe("People's words about a withdrawal", function()
  after_each(files.remove_kept)

  it("are the newest one that names the withdrawal or the deposit, and measure no fee that they do not show", function()
    local books, rows, ids = books_world.open(books_world.new { subs = 0 }), {}, {}
    local context = { account = "Account", owner = "Main", source = "s", asset = tostring }
    for i, amount in ipairs { "20", "30" } do
      records.add(rows, "withdrawal", { id = "w" .. i, coin = "USDT", amount = amount, transactionFee = "1",
        applyTime = NOW, address = "T" .. i, status = 7 }, context)
    end
    for i, amount in ipairs { "19", "20", "5" } do
      records.add(rows, "deposit", { coin = i == 3 and "BTC" or "USDT", amount = amount, insertTime = NOW, status = 5,
        address = "D" .. i, txId = "d" .. i }, context)
    end
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = ("%d"):format(NOW) }, rev)
    end)
    for i, name in ipairs { "w1", "w2", "d1", "d2", "btc" } do ids[name] = rows[i].rid end
    local function shown()
      local facts = {}
      for _, record in ipairs(ledger.at(books, books.store:rev()).records) do
        for name, rid in pairs(ids) do
          local fact = record.fact
          if rid == record.row.rid and fact.transit then
            facts[#facts + 1] = name .. (fact.is_measured and (fact.inside and " inside" or " on top") or "")
          end
        end
      end
      table.sort(facts)
      return table.concat(facts, ", ")
    end
    assert.equal("", shown())
    for _, case in ipairs { { "w1", "d1", "d1, w1 inside" }, { "w1", "d2", "d2, w1 on top" }, { "w2", "d2", "d2, w2" },
      { "w1", "d1", "d1, d2, w1 inside, w2" }, { "w1", nil, "d2, w2" }, { "w1", "d1", "d1, d2, w1 inside, w2" },
      { "w2", "d1", "d1, w2" }, { "w1", "d1", "d1, w1 inside" } } do
      if case[2] then assert(books:match(ids[case[1]], ids[case[2]])) else assert(books:outside(ids[case[1]])) end
      assert.equal(case[3], shown(), case[1] .. (case[2] or ""))
    end
    local _, err = books:match(ids.w1, ids.btc)
    assert.equal("the withdrawal is of USDT, and the deposit is of BTC", err.message)
    books:close()
  end)
end)

describe("Money to an own address", function()
  after_each(files.remove_kept)

  -- Returns the account in which a withdrawal to OUTSIDE stands, which the books know as their own or not.
  local function stands(prepare, options)
    local world = books_world.new { sim = { seed = 5, key_days = 0, fee = "on_top" } }
    local books = books_world.open(world, options)
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = OUTSIDE })
    world.sim:advance(30 * MINUTE)
    if prepare then prepare(world, books) end
    assert(books:sync())
    local account
    for _, one in ipairs(ledger.at(books, books.store:rev()).records) do
      for _, leg in ipairs(one.row.entity == "withdrawal" and one.entries[#one.entries].legs or {}) do
        if leg[3] == "20" then account = leg[1] end
      end
    end
    books:close()
    return account
  end

  it("is in Transit: where a deposit came to it, where it is an owner's, or where a person names it", function()
    assert.equal("Equity:Account:Outside", stands())
    assert.equal("Assets:Account:Transit", stands(nil, { addresses = { [OUTSIDE] = "Main" } }))
    assert.equal("Assets:Account:Transit", stands(nil, { addresses = { [OUTSIDE .. ":"] = "Main" } }))
    assert.equal("Equity:Account:Outside", stands(nil, { addresses = { [OUTSIDE .. ":7"] = "Main" } }))
    local function with_address(to, from)
      return stands(function(_, books)
        local rows = {}
        records.add(rows, "address", { coin = "USDT", network = "TRX", address = OUTSIDE }, { account = "Account",
          owner = "Main", source = "a", asset = tostring, to = to, from = from })
        books.store:write(function(tx, rev)
          books.store:apply(tx, { rows = rows, source = "a", asked_at = ("%d"):format(NOW) }, rev)
        end)
      end)
    end
    assert.equal("Assets:Account:Transit", with_address("Sub-desk1", ""))
    assert.equal("Equity:Account:Outside", with_address("", "Main")) -- saved, and nobody's of the account
    assert.equal("Assets:Account:Transit", stands(function(_, books)
      local rows = {}
      records.add(rows, "deposit", { coin = "USDT", network = "TRX", address = OUTSIDE, amount = "1", status = 5,
        insertTime = NOW, txId = "x" }, { account = "Account", owner = "Main", source = "d", asset = tostring })
      books.store:write(function(tx, rev)
        books.store:apply(tx, { rows = rows, source = "d", asked_at = ("%d"):format(NOW) }, rev)
      end)
    end))
  end)
end)

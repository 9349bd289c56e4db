-- SPDX-License-Identifier: MIT
-- make test: 9 s, on lua5.4 and luajit, a third
-- `books:sync`: every record once and every change of one, whatever happens to the program that reads.

local books_world = require "books_world"
local draws = require "draws"
local files = require "files"
local simulated = require "simulated"

local MINUTE, HOUR, DAY = 60000, 3600000, 86400000

local function deposit(world, amount, account, more)
  local fields = { account = account or world.main.uid, coin = "USDT", network = "TRX", amount = amount }
  for name, value in pairs(more or {}) do fields[name] = value end
  return assert(world.sim:deposit(fields))
end

-- Some of everything: a world that has moved, and still moves.
local function busy(options)
  local world = books_world.new(options)
  local client, desk = world.client, world.clients.desk1
  deposit(world, "5", nil, { tx_id = ("ab"):rep(32) })
  deposit(world, "5", nil, { tx_id = ("ab"):rep(32) })
  deposit(world, "7", world.subs.desk1.uid)
  assert(client.sub_account:transfer { toAccount = "desk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "40" })
  assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "9" })
  assert(desk.wallet:internal_transfer { toAccountType = "UID", toAccount = world.main.uid, asset = "USDT",
    amount = "2" })
  assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
    address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
  return world
end

local function sync(books)
  local report = assert(books:sync())
  assert.same({}, report.problems)
  return report
end

local function requests(world)
  local count = world.sim:counts()["wallet.deposit_history"]
  return count and count.received or 0
end

local function states(books, entity)
  return books_world.column(books, "SELECT owner || ' ' || amount || ' ' || class AS value FROM purser_books_" .. entity
    .. " ORDER BY owner, amount, twin")
end

describe("books:sync", function()
  after_each(files.remove_kept)

  it("keeps each record of each owner once, equal twins counted, and each change", function()
    local world = busy()
    local books = books_world.open(world)
    sync(books)
    assert.same({ "Main 5 pending", "Main 5 pending", "Sub-desk1 7 pending" }, states(books, "deposit"))
    assert.same({ "Main 40 done", "Main 9 done" }, states(books, "transfer"))
    assert.same({ "Sub-desk1 2 done" }, states(books, "internal_transfer"))
    assert.same({ "Main 20 pending" }, states(books, "withdrawal"))
    world.sim:advance(10 * MINUTE)
    assert.equal(4, sync(books).changes)
    assert.same({ "Main 5 done", "Main 5 done", "Sub-desk1 7 done" }, states(books, "deposit"))
    assert.same({ "Main 20 done" }, states(books, "withdrawal"))
    assert.equal(0, sync(books).changes)
    assert.equal("4", books.store:rows "SELECT count(*) || '' AS n FROM purser_books_change"[1].n)
    local kept = books.store:rows "SELECT raw FROM purser_books_withdrawal"[1].raw
    assert.truthy(kept:find('"transactionFee"', 1, true))
    books:close()
  end)

  it("gives the same rows whatever the order of a list, and whichever key reads first", function()
    local world = busy()
    local first, second = books_world.open(world), books_world.open(world)
    sync(first)
    world.sim:advance(10 * MINUTE)
    sync(first)
    -- the same rows backwards, by a reader that comes later
    local apply = second.store.apply
    second.store.apply = function(self, tx, batch, rev)
      local backwards = {}
      for i = #batch.rows, 1, -1 do backwards[#backwards + 1] = batch.rows[i] end
      batch.rows = backwards
      return apply(self, tx, batch, rev)
    end
    sync(second)
    assert.equal(books_world.dump(first), books_world.dump(second))
    first:close()
    second:close()
  end)

  it("is continued after it was killed at any statement, and two at once give the same rows", function()
    local world = busy()
    local whole = books_world.open(world)
    sync(whole)
    local expected = books_world.dump(whole)
    whole:close()
    local killed = 0
    for at = 1, math.huge, draws.STEP do
      local path, count = files.new_path(), 0
      local books = books_world.open(world, { sqlite = path })
      local rows = books.store.db.rows
      books.store.db.rows = function(db, ...)
        count = count + 1
        if count >= at then return nil, "killed" end
        return rows(db, ...)
      end
      local report = books:sync()
      pcall(books.close, books)
      if report then break end
      killed = killed + 1
      books = books_world.open(world, { sqlite = path })
      local other = books_world.open(world, { sqlite = path })
      sync(other)
      sync(books)
      assert.equal(expected, books_world.dump(books))
      other:close()
      books:close()
    end
    assert.is_true(killed > 100 / draws.STEP)
  end)

  it("sees what became, in weeks without a reading, of a record that was young at the last", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    local made = deposit(world, "5", nil, { time = world.sim:now() - 5 * DAY })
    world.sim:advance(10 * MINUTE)
    sync(books)
    assert.same({ "Main 5 done" }, states(books, "deposit"))
    world.sim:set_deposit(made.id, 7)
    deposit(world, "6", nil, { time = world.sim:now() - 5 * DAY })
    world.sim:advance(30 * DAY)
    sync(books)
    assert.same({ "Main 5 void", "Main 6 done" }, states(books, "deposit"))
    books:close()
  end)

  it("goes on where its last transaction ended, and asks for nothing twice that it had", function()
    local world = books_world.new { subs = 0 }
    for day = 1, 85, 4 do deposit(world, "5", nil, { time = world.sim:now() - day * DAY }) end
    local function asked(books)
      local before = requests(world)
      local went, report = pcall(books.sync, books)
      return requests(world) - before, went and report or nil
    end
    local books = books_world.open(world)
    local whole, kills = asked(books), 0
    local expected = books_world.dump(books)
    books:close()
    assert.is_true(whole >= 13)
    repeat
      local path = files.new_path()
      kills = kills + 1
      books = books_world.open(world, { sqlite = path })
      local writes = 0
      books.store.write = function(store, fn)
        if writes >= kills then error("killed", 0) end
        getmetatable(store).write(store, fn)
        writes = writes + 1
        if writes == kills then error("killed", 0) end
      end
      local before, report = asked(books)
      books:close()
      books = books_world.open(world, { sqlite = path })
      local after = asked(books)
      assert.equal(expected, books_world.dump(books))
      books:close()
      -- the window that was read last is asked for again, as is the last week where the list was whole
      assert.is_true(report ~= nil or before + after <= whole + 2, ("%d: %d, then %d"):format(kills, before, after))
    until report
    assert.is_true(kills > 15)
  end)

  it("keeps a gap and goes on from what was read, where a list fails in the middle", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    sync(books)
    world.sim:advance(200 * DAY)
    for day = 1, 85, 7 do deposit(world, "5", nil, { time = world.sim:now() - day * DAY }) end
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.deposit_history", skip = 5, times = 1 }
    assert.equal(1, #assert(books:sync()).problems)
    local function gaps()
      return books_world.column(books, "SELECT why || ' ' || ends AS value FROM purser_books_gap WHERE "
        .. "list = 'deposit' AND closed_rev = '' ORDER BY starts")
    end
    assert.equal(2, #gaps())
    assert.truthy(gaps()[1]:find("^older than the service shows %d+$"))
    assert.falsy(gaps()[2]:find "%d$")
    local before = requests(world)
    sync(books)
    assert.is_true(requests(world) - before <= 11)
    assert.equal(1, #gaps())
    books:close()
  end)

  it("does not put an older answer in the place of a newer one", function()
    local world = busy()
    local path = files.new_path()
    local slow, fast = books_world.open(world, { sqlite = path }), books_world.open(world, { sqlite = path })
    sync(slow)
    -- the other run reads and writes after this one has its answer
    local writes = 0
    slow.store.write = function(store, fn)
      writes = writes + 1
      if writes == 2 then -- after the list of sub-accounts: the own deposits
        world.sim:advance(10 * MINUTE)
        sync(fast)
      end
      return getmetatable(store).write(store, fn)
    end
    sync(slow)
    assert.is_true(writes > 2)
    assert.same({ "Main 5 done", "Main 5 done", "Sub-desk1 7 done" }, states(slow, "deposit"))
    world.sim:advance(1000)
    sync(slow)
    assert.same({ "Main 5 done", "Main 5 done", "Sub-desk1 7 done" }, states(slow, "deposit"))
    assert.equal("4", slow.store:rows "SELECT count(*) || '' AS n FROM purser_books_change"[1].n)
    slow:close()
    fast:close()
  end)

  it("reads once more what is not final, also weeks later, and says when it is out of sight", function()
    local world = books_world.new()
    local books = books_world.open(world)
    local held = deposit(world, "8")
    world.sim:set_deposit(held.id, 6)
    sync(books)
    world.sim:advance(40 * DAY)
    sync(books)
    world.sim:set_deposit(held.id, 5)
    world.sim:advance(4 * HOUR)
    sync(books)
    assert.same({ "Main 8 done" }, states(books, "deposit"))
    held = deposit(world, "9")
    world.sim:set_deposit(held.id, 6)
    sync(books)
    world.sim:advance(89 * DAY + 12 * HOUR)
    sync(books)
    assert.same({ "Main 8 done", "Main 9 lost_sight" }, states(books, "deposit"))
    assert.equal("6", books.store:rows "SELECT state FROM purser_books_deposit WHERE amount = '9'"[1].state)
    books:close()
  end)

  it("keeps as a gap what it could not read, until it is read", function()
    local world = books_world.new { subs = 2 }
    local books = books_world.open(world, { keys = { desk1 = world.clients.desk1 } })
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    local report = assert(books:sync())
    assert.equal(2, #report.problems)
    local open = "SELECT owner || ' ' || list AS value FROM purser_books_gap WHERE closed_rev = '' "
      .. "AND list <> 'every list' ORDER BY owner"
    assert.same({ "Main withdrawal", "Sub-desk2 key" }, books_world.column(books, open))
    books.keys.desk2 = world.clients.desk2
    sync(books)
    assert.same({}, books_world.column(books, open))
    world.sim:advance(100 * DAY) -- beyond what deposits and withdrawals show
    sync(books)
    local gaps = books_world.column(books, open)
    assert.equal(6, #gaps)
    books:close()
  end)

  it("asks no more where no connection can be made, and keeps all it did not ask for as gaps", function()
    local world, asked, keys = books_world.new { subs = 8 }, 0, {}
    local transport = world.sim:transport()
    local counting = setmetatable({ send = function(_, ...)
      asked = asked + 1
      return transport:send(...)
    end }, { __index = transport })
    local function client(account)
      return simulated.client(world.sim, account, world.client_options, { transport = counting })
    end
    for name, sub in pairs(world.subs) do keys[name] = client(sub) end
    local books = books_world.open(world, { client = client(world.main), keys = keys })
    sync(books)
    world.sim:advance(DAY)
    asked = 0
    world.sim:fault { kind = "reset", times = 10000 }
    local report = assert(books:sync())
    assert.equal(9 * 6 + 8 * 9 + 1, #report.problems) -- own lists; keys and transfers of subs; the subs
    assert.equal(#report.problems, #books:gaps())
    assert.is_true(asked > 0 and asked <= 30, asked)
    world.sim:disarm()
    sync(books)
    assert.same({}, books:gaps())
    books:close()
  end)

  it("has no gap left of a list whose first reading failed", function()
    local world = books_world.new()
    local books = books_world.open(world)
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    assert.equal(1, #assert(books:sync()).problems)
    assert.equal(1, #books:gaps())
    world.sim:advance(10 * MINUTE) -- and the edge of what the service shows
    sync(books)
    assert.same({}, books:gaps())
    books:close()
  end)

  it("keeps a quiet balance, and none that moved while the lists were read", function()
    local world = books_world.new()
    local books = books_world.open(world)
    sync(books)
    local readings = "SELECT owner || ' ' || body AS value FROM purser_books_reading ORDER BY owner, at"
    assert.same({ 'Main {"BTC":["1","0"],"USDT":["1000","0"]}', 'Sub-desk1 {"MX":["3","0"],"USDT":["50","0"]}' },
      books_world.column(books, readings))
    local moves, each = 0, world.client.each
    books.main.client = setmetatable({ each = function(_, name, params)
      if name == "wallet.conversion_history" and moves < 2 then
        moves = moves + 1
        assert(world.client.sub_account:transfer { toAccount = "desk1", fromAccountType = "SPOT",
          toAccountType = "SPOT", asset = "USDT", amount = "1" })
      end
      return each(world.client, name, params)
    end, call = function(_, ...) return world.client:call(...) end, now = function() return world.sim:now() end },
      { __index = world.client })
    sync(books)
    assert.equal(2, moves)
    assert.truthy(books_world.column(books, readings)[2]:find('"998"', 1, true))
    books:close()
  end)

  it("reads at the given pace: what nothing happens to less and less often", function()
    local world = books_world.new { subs = 3 }
    local books = books_world.open(world)
    sync(books)
    local counts = {}
    for hour = 1, 30 do
      world.sim:advance(HOUR)
      counts[hour] = assert(books:sync { due = true }).owners
    end
    assert.is_true(counts[1] == 4 and counts[30] == 0)
    assert.same(0, assert(books:sync { due = true }).owners)
    deposit(world, "5", world.subs.desk2.uid)
    world.sim:advance(6 * HOUR)
    assert.is_true(assert(books:sync { due = true }).owners >= 1)
    world.sim:advance(MINUTE)
    assert.equal(1, assert(books:sync { due = true }).owners)
    books:close()
  end)

  it("takes live forms for what they are", function()
    local world = books_world.new { sim = { seed = 5, variant = "live", key_days = 0 } }
    local books = books_world.open(world)
    deposit(world, "5")
    sync(books)
    world.sim:advance(10 * MINUTE)
    sync(books)
    assert.same({ "Main 5 done" }, states(books, "deposit"))
    assert.equal("USDT", books.store:rows "SELECT asset FROM purser_books_deposit"[1].asset)
    books:close()
  end)

  it("takes a broker's deposits of sub-accounts without a key, and the owner's own list goes before it", function()
    local world = books_world.new { role = "broker" }
    local without = books_world.open(world, { keys = {} })
    local shown = deposit(world, "5", world.subs.desk1.uid)
    assert(without:sync())
    assert.same({ " 5 pending" }, states(without, "deposit"))
    without.keys.desk1 = world.clients.desk1
    sync(without)
    assert.same({ "Sub-desk1 5 pending" }, states(without, "deposit"))
    without:close()
    local named = books_world.open(world, { keys = {}, addresses = { [shown.address] = "desk1" } })
    assert(named:sync())
    assert.same({ "Sub-desk1 5 pending" }, states(named, "deposit"))
    named:close()
  end)
end)

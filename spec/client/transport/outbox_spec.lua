-- SPDX-License-Identifier: MIT
-- The outbox: every event reaches every receiver, in the order of its subject, through failures and restarts.

local books_world = require "books_world"
local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"
local outbox = require "purser.client.transport.outbox"
local purser = require "purser"
local record = require "purser.desk.books.record"

local DAY = 86400000

local function move(world, number)
  for i = 1, number do
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) })
  end
end

-- Returns the states of each record in the order in which they came first.
local function received(path)
  local of, seen = {}, {}
  local count = 0
  for line in io.lines(path) do
    local event = core.decode(line)
    count = count + 1
    if not seen[event.record.rid .. event.record.n] then
      seen[event.record.rid .. event.record.n] = true
      of[event.record.rid] = (of[event.record.rid] or "") .. event.record.n
    end
  end
  return of, count
end

-- Keeps sending until nothing waits.
local function drain(books, world)
  for _ = 1, 200 do
    assert(books:deliver())
    if books:events()[1].waiting == "0" then return end
    world.sim:advance(2000)
  end
  error "events are left"
end

describe("What is sent again", function()
  it("is what has an id or a subject, or what was made since a time", function()
    local asked = {}
    local tx = { rows = function(_, sql, first)
      if sql:find "_receiver" then return first == "known" and { { name = "known" } } or {} end
      asked[#asked + 1] = (sql:match "created >" and "created " or "named ") .. tostring(first)
      return sql:find "^SELECT" and { { id = "e1", subject = "s", seq = "1" } } or {}
    end }
    local box = outbox.new "t"
    assert.equal(1, box:replay(tx, "known", "s", 5))
    assert.equal(1, box:replay(tx, "known", 7, 5))
    assert.equal("named s", asked[1])
    assert.equal("created 0000000000007", asked[3])
    assert.same({ nil, "there is no receiver other" }, { box:replay(tx, "other", "s", 5) })
  end)
end)

describe("A receiver", function()
  it("is renamed or forgotten with its deliveries, and must be there", function()
    local asked = {}
    local tx = { rows = function(_, sql, first, second)
      asked[#asked + 1] = ("%s %s %s"):format(sql:match "^%u+", tostring(first), tostring(second))
      return {}, first == "other" and 0 or 1
    end }
    local box = outbox.new "t"
    assert.same({ nil, "there is no receiver other" }, { box:rename(tx, "other", "new") })
    assert.same({ "DELETE other nil" }, asked)
    asked = {}
    assert.is_true(box:rename(tx, "old", "new"))
    assert.equal("DELETE old nil", asked[1])
    assert.equal("UPDATE new old", asked[#asked])
    asked = {}
    assert.is_true(box:rename(tx, "old"))
    assert.same({ "DELETE old nil", "DELETE old nil" }, asked)
  end)
end)

describe("The outbox of a database", function()
  after_each(files.remove_kept)

  -- A deposit credited by such a clock came to its receiver a year later.
  it("hands over what a clock that was far ahead made, or put off", function()
    local world, now, is_up, taken = books_world.new(), nil, false, 0
    local books = books_world.open(world, { receivers = { log = { deliver = function()
      taken = taken + (is_up and 1 or 0)
      return is_up
    end } } })
    move(world, 1)
    assert(books:sync())
    local box = books.store.outbox
    local function deliver(at)
      now = at
      return box:deliver(books.store, books.senders, function() return now end, {})
    end
    local at = world.sim:now()
    assert.equal(0, deliver(at + 400 * DAY))
    is_up = true
    assert.is_true(deliver(at) > 0)
    assert.equal("0", books:events()[1].waiting)
  end)

  it("brings every change to a command that fails half the time, in order of each record", function()
    local world, log, coin = books_world.new(), files.new_path "", files.new_path "0"
    -- fails every second time, after it took the event
    local command = ([[cat >>%s; n=$(cat %s); echo $((n+1)) >%s; exit $((n %% 2))]]):format(log, coin, coin)
    local books = books_world.open(world, { receivers = { log = { command = command } } })
    move(world, 4)
    assert(books:sync())
    world.sim:advance(600000)
    assert(books:sync())
    drain(books, world)
    local of, count = received(log)
    local orders = {}
    for _, order in pairs(of) do orders[order] = (orders[order] or 0) + 1 end
    assert.same({ ["12"] = 4, ["1"] = 2 }, orders) -- records of the sub-account and its key as well
    assert.is_true(count > 9)
    books:close()
  end)

  it("brings every change, signed, to a webhook that fails half the time, in order of each record", function()
    local log = files.new_path ""
    local pipe = assert(io.popen(("echo $$; exec %s spec/support/webhook.lua %s %s"):format(
      os.getenv "LUA" or "lua5.4", log, ("500 204 "):rep(40))))
    local process = pipe:read "*l"
    finally(function()
      os.execute("kill " .. process)
      pipe:close()
    end)
    local url = ("http://127.0.0.1:%s/books"):format(pipe:read "*l")
    local world = books_world.new()
    local books = books_world.open(world, { receivers = { log = { webhook = url, secret = "between us" } } })
    move(world, 6)
    assert(books:sync())
    world.sim:advance(600000)
    assert(books:sync())
    drain(books, world)
    local bodies, all = {}, 0
    for line in io.lines(log) do
      local request = core.decode(line)
      assert.is_true(purser.books.verify("between us", request.headers["purser-signature"], request.body))
      all = all + 1
      if all % 2 == 0 then bodies[#bodies + 1] = request.body end -- those that it took
    end
    files.write(log, table.concat(bodies, "\n"))
    local of, taken = received(log)
    local orders = {}
    for _, order in pairs(of) do orders[order] = (orders[order] or 0) + 1 end
    assert.same({ ["12"] = 6, ["1"] = 2 }, orders)
    assert.equal(14, taken)
    assert.equal(28, all)
    books:close()
  end)

  it("goes on after a sender that was killed, at any point", function()
    local world = books_world.new()
    local path, log = files.new_path(), files.new_path ""
    local options = { sqlite = path, receivers = { log = { command = "cat >>" .. log } } }
    local books = books_world.open(world, options)
    move(world, 3)
    assert(books:sync())
    world.sim:advance(600000)
    assert(books:sync())
    for at = 1, 12 do
      local count, rows = 0, books.store.db.rows
      books.store.db.rows = function(db, ...)
        count = count + 1
        if count >= at then error("killed", 0) end
        return rows(db, ...)
      end
      pcall(books.deliver, books)
      books:close()
      books = books_world.open(world, options)
    end
    world.sim:advance(120000) -- what the killed one had taken
    drain(books, world)
    for _, order in pairs((received(log))) do assert.truthy(order == "12" or order == "1") end
    books:close()
  end)

  it("leaves alone what another sender is sending, however long its earlier events took", function()
    local world = books_world.new()
    local options = { sqlite = files.new_path(), receivers = { log = { command = "true" } } }
    local books, other = books_world.open(world, options), books_world.open(world, options)
    move(world, 3)
    assert(books:sync())
    local sending, sent = nil, 0
    books.senders.log = { deliver = function(_, body)
      sending, sent = body, sent + 1
      world.sim:advance(50000)
      assert(other:deliver())
      return true
    end }
    local is_free = false -- the other takes nothing but what is in the air
    other.senders.log = { deliver = function(_, body)
      assert.are_not.equal(sending, body)
      return is_free, "later"
    end }
    for _ = 1, 10 do
      assert(books:deliver())
      world.sim:advance(5000) -- what the other could not take waits for a while
    end
    assert.is_true(sent >= 3)
    books:close()
    other:close()
  end)

  it("lets events that are refused hold up no other, and one that hangs no longer than twenty seconds", function()
    local world = books_world.new()
    local books = books_world.open(world, { receivers = { log = { command = "true" } } })
    move(world, 15)
    assert(books:sync())
    local took, seconds = {}, 0
    books.senders.log = { deliver = function(_, _, event)
      world.sim:advance(seconds * 1000)
      if event.record.entity == "deposit" and event.record.amount ~= "15" then return nil, "refused" end
      took[event.record.entity .. event.record.amount] = true
      return true
    end }
    assert.same({ 3, 14 }, { books:deliver() })
    assert.is_true(took.deposit15)
    seconds = 10
    world.sim:advance(2 * DAY)
    assert.same({ 0, 3 }, { books:deliver() })
    assert.equal("14", books:events()[1].waiting)
    books:close()
  end)

  it("has an id for each thing that became of a payment, whatever the service is odd in", function()
    local odd = { ["goes back"] = { { status = 4 }, { status = 5 } },
      ["is spelled otherwise"] = { { network = "Tron(TRC20)", coin = "USDT-TRX" } },
      ["is cut"] = { { amount = "1.12345678" } }, ["has a transaction later"] = { { txId = "ab" } },
      ["moves"] = { { insertTime = 1700000001000 } } }
    for name, changes in pairs(odd) do
      local world, log = books_world.new(), files.new_path ""
      local books = books_world.open(world, { receivers = { log = { command = "cat >>" .. log } } })
      local shown = { coin = "USDT", network = "TRX", address = "TSample", amount = "1.123456781234",
        txId = changes[1].txId and "" or "ab", status = 5,
        insertTime = 1700000000000 }
      local function look()
        world.sim:advance(60000)
        local rows = {}
        record.add(rows, "deposit", shown, { account = "A", owner = "Main", source = "s", asset = function(coin)
          return (coin:gsub("%-.*", ""))
        end })
        books.store:write(function(tx, rev)
          books.store:apply(tx, { rows = rows, source = "s", asked_at = record.time_text(world.client:now()),
            from = "1600000000000", to = "1800000000000" }, rev)
        end)
        assert(books:deliver())
      end
      look()
      for _, change in ipairs(changes) do
        for member, value in pairs(change) do shown[member] = value end
        look()
      end
      local done, count = {}, 0
      for line in io.lines(log) do
        local event = core.decode(line)
        if event.record.class == "done" and not done[event.id] then done[event.id], count = true, count + 1 end
      end
      assert.equal(1, count, name)
      books:close()
    end
  end)

  it("takes no receiver that it cannot serve", function()
    local books, err = purser.books.open { sqlite = files.new_path(), client = books_world.new().client,
      receivers = { log = { webhook = "http://example.org/" } } }
    assert.is_nil(books)
    assert.truthy(err.message:find("no https", 1, true))
  end)
end)

describe("A receiver's lane", function()
  after_each(files.remove_kept)

  local BUDGET_MS, HANG_MS = 20000, 10000

  -- Returns an outbox for receivers, its database, and a function that adds an event of a subject of its own.
  local function boxed(names)
    local db, box, seq = assert(database.open { sqlite = files.new_path(), relaxed = true }), outbox.new "purser_t", 0
    assert(db:transaction(function(tx)
      for _, one in ipairs(outbox.tables) do
        local columns = {}
        for name in one[2]:gmatch "%S+" do columns[#columns + 1] = name .. " TEXT NOT NULL" end
        local keys = one[2]:match(("%S+ ?"):rep(one[3])):gsub(" $", ""):gsub(" ", ", ")
        tx:rows(("CREATE TABLE purser_t_%s (%s, PRIMARY KEY (%s))"):format(one[1], table.concat(columns, ", "), keys))
      end
      box:add(tx, names)
      return true
    end))
    return box, db, function(now)
      seq = seq + 1
      assert(db:transaction(function(tx)
        box:emit(tx, { id = "e" .. seq, kind = "k", subject = "s" .. seq, seq = ("%012d"):format(seq),
          at = ("%013d"):format(now), body = "{}", raw = "" })
        return true
      end))
    end
  end

  -- Returns the worst delay of a receiver that takes all, in rounds with a new event each; `hanging` ones fail slowly.
  local function worst_delay(count, hanging, rounds)
    local now, names, senders, worst, made, taken = 1700000000000, {}, {}, 0, {}, 0
    for i = 1, count do
      local name = ("r%04d"):format(i)
      names[i] = name
      senders[name] = { deliver = function()
        if hanging[i] then
          now = now + HANG_MS
          return nil, "hangs"
        end
        taken = taken + 1
        return true
      end }
    end
    local box, db, add = boxed(names)
    for round = 1, rounds do
      add(now)
      made[round] = now
      box:deliver(db, senders, function() return now end, { budget_ms = BUDGET_MS, delivered = function(_, event, ok)
        if ok then worst = math.max(worst, now - made[tonumber(event.id:match "%d+")]) end
      end })
      now = now + 10000
    end
    db:close()
    return worst, taken
  end

  it("keeps no other waiting for more than a round, wherever in the alphabet the one that hangs is", function()
    for _, place in ipairs { 1, 2, 3 } do
      local worst, taken = worst_delay(3, { [place] = true }, 40)
      assert.equal(80, taken)
      assert.is_true(worst <= BUDGET_MS + HANG_MS, worst)
    end
  end)

  it("is one of a thousand, of which one hangs", function()
    local worst, taken = worst_delay(1000, { true }, 3)
    assert.equal(3 * 999, taken)
    assert.is_true(worst <= HANG_MS, worst)
  end)

  it("is first in the next round where the budget ended before it", function()
    local worst, taken = worst_delay(6, { true, true, true, [5] = true }, 60)
    assert.is_true(taken >= 118, taken) -- the last round may end before them
    assert.is_true(worst <= 2 * (BUDGET_MS + 2 * HANG_MS), worst)
  end)
end)

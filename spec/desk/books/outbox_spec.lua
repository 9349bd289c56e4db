-- SPDX-License-Identifier: MIT
-- The outbox: every change of every record reaches a receiver, in order a record, through failures and restarts.

local books_world = require "books_world"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"

local DAY = 86400000

local function move(world, number)
  for i = 1, number do
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) })
  end
end

-- Returns the states of each record in the order in which they came first.
local function received(path)
  local of, ids = {}, {}
  local count = 0
  for line in io.lines(path) do
    local id = line:match '"id":"(ev_%x+_%d+)"'
    count = count + 1
    if id and not ids[id] then
      ids[id] = true
      local rid, n = id:match "ev_(%x+)_(%d+)"
      of[rid] = (of[rid] or "") .. n
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

describe("The outbox of the books", function()
  after_each(files.remove_kept)

  it("brings every change to a command that fails half the time, in order of each record", function()
    local world, log, coin = books_world.new(), files.new_path "", files.new_path "0"
    -- fails every second time, after it took the event
    local command = ([[cat >>%s; n=$(cat %s); echo $((n+1)) >%s; exit $((n %% 2))]]):format(log, coin, coin)
    local books = books_world.open(world, { sinks = { { command = command } } })
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
    local books = books_world.open(world, { sinks = { { webhook = url, secret = "between us" } } })
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
    local options = { sqlite = path, sinks = { { command = "cat >>" .. log } } }
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
    local options = { sqlite = files.new_path(), sinks = { { command = "true" } } }
    local books, other = books_world.open(world, options), books_world.open(world, options)
    move(world, 3)
    assert(books:sync())
    local sending, sent = nil, 0
    books.senders[1].sender = { deliver = function(_, body)
      sending, sent = body, sent + 1
      world.sim:advance(50000)
      assert(other:deliver())
      return true
    end }
    local is_free = false -- the other takes nothing but what is in the air
    other.senders[1].sender = { deliver = function(_, body)
      assert.are_not.equal(sending, body)
      return is_free, "later"
    end }
    assert(books:deliver())
    assert.is_true(sent >= 3)
    books:close()
    other:close()
  end)

  it("asks a receiver that is down no more than ten times a round", function()
    local world = books_world.new()
    local books = books_world.open(world, { sinks = { { command = "exit 1" } } })
    for _ = 1, 15 do
      move(world, 1)
      world.sim:advance(1000)
    end
    assert(books:sync())
    local delivered, failed = books:deliver()
    assert.same({ 0, 10 }, { delivered, failed })
    books:close()
  end)

  it("parks what fails for three days, keeps what comes behind it, and sends it when it is told to", function()
    local world, log = books_world.new(), files.new_path ""
    local flag = files.new_path()
    local command = ("test -e %s && cat >>%s"):format(flag, log)
    local books = books_world.open(world, { sinks = { { command = command } } })
    move(world, 1)
    assert(books:sync())
    for _ = 1, 90 do
      world.sim:advance(DAY / 24)
      assert(books:deliver())
    end
    local state = books:events()[1]
    assert.equal("3", state.parked)
    assert.truthy(state.error:find("status", 1, true))
    assert(books:sync())
    world.sim:advance(DAY)
    local delivered = assert(books:deliver())
    assert.equal(0, delivered)
    files.write(flag, "")
    books:events { retry = true }
    assert.equal(4, (books:deliver()))
    for _, order in pairs((received(log))) do assert.truthy(order == "12" or order == "1") end
    assert.same({}, books:events { forget = command })
    assert.matches("there is no receiver", select(2, books:events { forget = command }).message, 1, true)
    os.remove(flag)
    books:close()
  end)

  it("takes no sink that it cannot serve", function()
    local books, err = purser.books.open { sqlite = files.new_path(), client = books_world.new().client,
      sinks = { { webhook = "http://example.org/" } } }
    assert.is_nil(books)
    assert.truthy(err.message:find("no https", 1, true))
  end)
end)

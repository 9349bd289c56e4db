-- SPDX-License-Identifier: MIT
-- make test-all: 30 s, waits
-- The books in PostgreSQL: the same rows and bytes as in SQLite, also by two at once and after being killed at any
-- statement; amounts as numbers; and NOTIFY at each revision. `tools/setup torture` installs the server.

local books_world = require "books_world"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local connection = require "purser.client.util.database.connection"
local database = require "purser.client.util.database"

local postgresql = dofile "spec/torture/postgresql.lua"

describe("The books in PostgreSQL", function()
  local folder, server, number

  setup(function()
    folder, number = os.tmpname(), 0
    os.remove(folder)
    assert(os.execute("mkdir -m 755 " .. folder))
    server = postgresql.start(folder)
  end)

  teardown(function()
    server.stop "immediate"
    os.execute("rm -rf " .. folder)
  end)

  after_each(files.remove_kept)

  -- The options of a new database.
  local function new_database()
    number = number + 1
    local options = {}
    for name, value in pairs(server.options) do options[name] = value end
    local db = assert(database.open { postgresql = options })
    assert(connection.rows(db, ("CREATE DATABASE books%d"):format(number))) -- in no transaction
    db:close()
    options.database = "books" .. number
    return options
  end

  local function busy()
    local world = books_world.new()
    for _ = 1, 2 do
      assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5.5",
        tx_id = ("ab"):rep(32) })
    end
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
    assert(world.client.sub_account:transfer { toAccount = "desk1", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "4" })
    return world
  end

  it("are the rows and the bytes of SQLite", function()
    local world = busy()
    local here, there = books_world.open(world), books_world.open(world, { postgresql = new_database() })
    for _ = 1, 3 do
      assert(here:sync())
      assert(there:sync())
      world.sim:advance(300000)
    end
    assert.equal(books_world.dump(here), books_world.dump(there))
    local span = { from = "2023-11-01", to = "2023-12-01" }
    for _, format in ipairs { "hledger", "beancount", "csv", "html" } do
      span.format = format
      assert.equal((here:statement(span)), (there:statement(span)))
    end
    local sums = there.store:rows "SELECT sum(amount_numeric)::text AS sum FROM purser_books_deposit"
    assert.equal("11.0", sums[1].sum)
    here:close()
    there:close()
  end)

  it("are whole after a kill at any statement, beside another run", function()
    local world = busy()
    local whole = books_world.open(world)
    assert(whole:sync())
    local expected = books_world.dump(whole)
    whole:close()
    local both = 0
    for at = 3, 150, 10 do
      local options, count = new_database(), 0
      local books, other = books_world.open(world, { postgresql = options }),
        books_world.open(world, { postgresql = options })
      local rows, is_synced = books.store.db.rows, false
      books.store.db.rows = function(db, ...)
        count = count + 1
        if count >= at then return nil, "killed" end
        if count >= at / 2 and not is_synced and not db.busy then -- in a transaction, it would wait for a lock
          is_synced = true
          assert(other:sync())
        end
        return rows(db, ...)
      end
      pcall(books.sync, books)
      both = both + (is_synced and 1 or 0)
      pcall(books.close, books)
      books = books_world.open(world, { postgresql = options })
      assert(books:sync())
      assert.equal(expected, books_world.dump(books))
      books:close()
      other:close()
    end
    assert.is_true(both >= 12, both)
  end)

  it("tell of each revision by NOTIFY", function()
    local options = new_database()
    local world = busy()
    local books = books_world.open(world, { postgresql = options })
    local listener = ("psql -h 127.0.0.1 -p %d -U purser -d %s"):format(options.port, options.database)
    local ready, synced = files.new_path(), files.new_path()
    local script = files.new_path(([[
LISTEN purser_books;
\! touch %s
\! while ! test -e %s; do sleep 0.05; done
SELECT 1;
]]):format(ready, synced))
    local pipe = assert(io.popen(("%s <%s 2>&1"):format(listener, script)))
    eventually(function() return core.file_mode(ready) end)
    assert(books:sync())
    files.write(synced, "")
    local shown = pipe:read "*a"
    pipe:close()
    assert.matches('Asynchronous notification "purser_books" with payload "0000000000', shown, 1, true)
    os.remove(ready)
    os.remove(synced)
    books:close()
  end)
end)

-- SPDX-License-Identifier: MIT
-- Books that were put back from a copy: nothing is written until a person begins again, no revision is given twice, and
-- statements say what was lost.

local books_world = require "books_world"
local files = require "files"

local NOVEMBER = { from = "2023-11-01", to = "2023-12-01" }

after_each(files.remove_kept)

-- Returns a world with books whose last revisions are lost: an older copy is there, with or without its witness.
local function put_back(with_witness)
  local path = files.new_path()
  local world = books_world.new { subs = 0 }
  local function pay(amount)
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = amount })
    world.sim:advance(60000)
  end
  pay "5"
  local books = books_world.open(world, { sqlite = path })
  assert(books:sync())
  books:close()
  local names = with_witness and "'' -witness" or "''"
  assert(os.execute(("for s in %s; do cp %s$s %s.copy$s; done"):format(names, path, path)))
  books = books_world.open(world, { sqlite = path })
  local copied = tonumber(books.store:rev())
  pay "7"
  assert(books:sync())
  local lost = tonumber(books.store:rev())
  assert.is_true(lost > copied)
  books:close()
  assert(os.execute(("for s in %s; do mv -f %s.copy$s %s$s; done"):format(names, path, path)))
  return world, books_world.open(world, { sqlite = path }), pay, copied, lost
end

describe("Books that were put back from a copy", function()
  it("are written by nothing until they are begun again, and give no revision twice", function()
    for _, with_witness in ipairs { false, true } do
      local world, books, pay, copied, lost = put_back(with_witness)
      pay "9"
      for _ = 1, 2 do
        local report, err = books:sync()
        assert.is_nil(report)
        assert.matches(with_witness and "its witness is missing, or was copied with it" or "older than it was",
          err.message)
        assert.matches("run `purser sync --again`", err.message, 1, true)
      end
      local closed, why = books:close_before("2023-11-02", { unread = true })
      assert.is_nil(closed)
      assert.matches("purser sync --again", why.message, 1, true)
      assert.equal(copied, tonumber(books.store:rev()))
      local before = assert(books:statement(NOVEMBER)) -- a look is free
      assert(books:sync { again = true })
      local next_rev = tonumber(books.store:rev())
      assert.is_true(next_rev > 1000000 and next_rev > lost)
      local old = { from = NOVEMBER.from, to = NOVEMBER.to, rev = copied }
      assert.equal(before, (assert(books:statement(old))))
      old.rev = lost
      local text, lost_error = books:statement(old)
      assert.is_nil(text)
      assert.matches("^revision %d+ was lost when an older copy of the books was put back on 2023%-11%-14",
        lost_error.message)
      text = assert(books:statement(NOVEMBER))
      assert.truthy(text:find(("; put back: an older copy on 2023-11-14; revisions from %d on and what persons said in "
        .. "them were lost\n"):format(copied + 1), 1, true))
      for _, amount in ipairs { "5", "7", "9" } do
        assert.equal(1, select(2, text:gsub("Main:Spot  " .. amount .. ' "USDT"', "")), amount)
      end
      local page = assert(books:statement { from = NOVEMBER.from, to = NOVEMBER.to, format = "html" })
      assert.truthy(page:find("Put back", 1, true))
      pay "11"
      books:close()
      books = books_world.open(world, { sqlite = books.store.db.files[1].path }) -- and are the newest from then on
      assert(books:sync())
      assert.is_true(tonumber(books.store:rev()) > next_rev)
      books:close()
    end
  end)

  it("are the newest in each process that writes them, and where a run ended before its witness was written", function()
    local world = books_world.new { subs = 0 }
    local path = files.new_path()
    local first = books_world.open(world, { sqlite = path })
    assert(first:sync())
    local second = books_world.open(world, { sqlite = path })
    for i = 1, 4 do
      assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(i) })
      world.sim:advance(60000)
      local books = i % 2 == 0 and first or second
      if i == 3 then books.store.note = function() end end -- as where the process is killed
      assert(books:sync())
    end
    first:close()
    second:close()
    second = books_world.open(world, { sqlite = path })
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    assert(second:sync())
    second:close()
  end)

  -- Returns a world, its open books, a function that makes a deposit and reads it, and one that writes the rows of the
  -- database as it is now over those that come later.
  local function with_copy()
    local world, path = books_world.new { subs = 0 }, files.new_path()
    local books = books_world.open(world, { sqlite = path })
    local function pay(amount, other)
      assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = amount })
      world.sim:advance(60000)
      return (other or books):sync()
    end
    assert(pay "5")
    local copy = files.keep(path .. ".copy")
    files.write(copy, "")
    assert(books.store.db:rows(("VACUUM INTO '%s'"):format(copy)))
    local function restore()
      local db = books.store.db
      assert(db:rows(("ATTACH '%s' AS copy"):format(copy)))
      for _, table in ipairs(assert(db:rows "SELECT name FROM sqlite_master WHERE type = 'table'")) do
        assert(db:rows("DELETE FROM main." .. table.name))
        assert(db:rows(("INSERT INTO main.%s SELECT * FROM copy.%s"):format(table.name, table.name)))
      end
      assert(db:rows "DETACH copy")
    end
    return world, books, pay, restore
  end

  local function is_refused(done, err)
    assert.is_nil(done)
    assert.matches("the database is older than it was, as where a copy was put back", err.message)
  end

  it("are written by no process that has them open, not even with a list that shows nothing new", function()
    local world, books, pay, restore = with_copy()
    assert(pay "7")
    local write, writes = books.store.write, 0
    function books.store.write(...)
      writes = writes + 1
      if writes == 3 then restore() end -- in the middle of a reading
      return write(...)
    end
    world.sim:advance(60000)
    is_refused(books:sync())
    is_refused(books:sync())
    is_refused(books:deliver())
    books:close()
  end)

  it("were told up to the revision of each statement, also where a run was killed before it noted so", function()
    local world, books, pay, restore = with_copy()
    books.store.note = function() error("killed", 0) end
    assert.is_false(pcall(pay, "7"))
    books.store.note = nil
    local other = books_world.open(world, { sqlite = books.store.db.files[1].path })
    assert(other:statement(NOVEMBER))
    other:close()
    restore()
    is_refused(pay "9")
    books:close()
  end)

  it("give no revision twice where an old copy is put back again", function()
    local _, books, pay, restore = with_copy()
    local last = 0
    for i = 1, 3 do
      assert(pay(("%d"):format(i)))
      assert.is_true(tonumber(books.store:rev()) > last)
      last = tonumber(books.store:rev())
      restore()
      is_refused(books:sync())
      assert(books:sync { again = true })
      assert.is_true(tonumber(books.store:rev()) > last)
    end
    local done, err = books:sync { again = true } -- at the same moment
    assert.is_nil(done)
    assert.matches("the clock shows no later time than when they were begun again before; wait", err.message)
    books:close()
  end)

  it("that cannot write their witness say so, and hand over no event", function()
    local world = books_world.new { subs = 0 }
    local path = files.new_path()
    local books = books_world.open(world, { sqlite = path })
    assert(books:sync())
    assert(os.remove(path .. "-witness"))
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    local report, err = books:sync()
    assert.is_nil(report)
    assert.matches("its witness is missing, or was copied with it", err.message)
    local delivered, refused = books:deliver()
    assert.is_nil(delivered)
    assert.matches("purser sync --again", refused.message, 1, true)
    books:close()
  end)
end)

describe("Books whose witness cannot be read", function()
  it("are written by nothing, and a look says so in no other way than before", function()
    local path = files.new_path()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world, { sqlite = path })
    assert(books:sync())
    local before, rev = assert(books:statement(NOVEMBER)), books.store:rev()
    books:close()
    assert(os.execute(("mv %s-witness %s-kept && mkdir %s-witness"):format(path, path, path)))
    books = books_world.open(world, { sqlite = path })
    local report, err = books:sync()
    assert.is_nil(report)
    assert.matches("the database's witness cannot be read: ", err.message, 1, true)
    assert.not_matches("sync --again", err.message, 1, true) -- that would not help
    assert.equal(before, assert(books:statement(NOVEMBER)))
    assert.equal(rev, books.store:rev())
    assert(os.execute(("rmdir %s-witness && mv %s-kept %s-witness"):format(path, path, path)))
    assert(books:sync())
    books:close()
  end)
end)

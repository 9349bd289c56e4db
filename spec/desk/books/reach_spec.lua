-- SPDX-License-Identifier: MIT
-- The reach of the books belongs to each list of each owner: what one of them lacks is named, whatever others have.

local books_world = require "books_world"
local files = require "files"

local HOUR, DAY = 3600000, 86400000

after_each(files.remove_kept)

local function lines_of(books, from, to)
  local text, made = books:statement { from = from, to = to }
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    if line:find "^; not read" then lines[#lines + 1] = line:sub(3) end
  end
  return lines, made
end

-- Returns a world whose books were read once, the time of the reading's next day, and the books.
local function read_once(options)
  local world = books_world.new(options)
  local books = books_world.open(world)
  assert(books:sync())
  return world, books, (math.floor(world.sim:now() / DAY) + 1) * DAY
end

-- Moves the time on, in steps with a deposit of the account itself and a reading of those that are due.
local function busy(world, books, until_ms)
  while world.sim:now() < until_ms do
    world.sim:advance(math.min(HOUR, until_ms - world.sim:now()))
    world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "1" }
    assert(books:sync { due = true })
  end
end

describe("the reach of the books", function()
  it("is that of the owner who was read the least far, for statements, closing and an older revision", function()
    local world, books, day = read_once { subs = 1 }
    busy(world, books, day + 6 * HOUR)
    books.store:rows("UPDATE purser_books_owner SET due = $1 WHERE owner = 'Sub-desk1'",
      ("%013d"):format(day + 4 * DAY))
    local read_to = tonumber(books.store:rows("SELECT min(read_to) AS at FROM purser_books_source WHERE "
      .. "owner = 'Sub-desk1' AND read_from <> ''")[1].at)
    world.sim:deposit { account = world.subs.desk1.uid, coin = "USDT", network = "TRX", amount = "777.125" }
    busy(world, books, day + DAY + HOUR) -- the account itself is read to the end
    local lines, made = lines_of(books, day, day + DAY)
    assert.equal("Sub-desk1", made.ahead.owner)
    assert.is_true(tonumber(made.ahead.read_to) <= read_to and tonumber(made.ahead.read_to) > read_to - HOUR)
    assert.matches("^not read yet: what is later than 2023%-11%-15 %d%d:%d%d %(Sub%-desk1, ", lines[1])
    local closed, err = books:close_before(day + DAY)
    assert.same({ nil, lines[1] }, { closed, err.message })
    local rev = tonumber(books.store:rev())
    local old = books:statement { from = day, to = day + DAY, rev = rev }
    assert(books:sync())
    assert.same({}, (lines_of(books, day, day + DAY)))
    assert.equal(old, (books:statement { from = day, to = day + DAY, rev = rev }))
    assert.is_true(books:close_before(day + DAY))
    books:close()
  end)

  it("does not move where a run was ended between two owners", function()
    local world = books_world.new { subs = 1 }
    local books = books_world.open(world)
    local went = pcall(books.sync, books, { progress = function(owner) if owner ~= "Main" then error "killed" end end })
    assert.is_false(went)
    local lines = lines_of(books, "2023-11-01", "2023-11-14")
    assert.matches("^not read: Main, every list, .*: nobody read this span$", lines[1])
    assert.is_nil((books:close_before "2023-11-14"))
    assert(books:sync())
    assert.same({}, (lines_of(books, "2023-11-01", "2023-11-14")))
    books:close()
  end)

  it("is also bounded by the list of the sub-accounts: one that was made later has lists that nobody knows", function()
    local world, books, day = read_once { subs = 0 }
    busy(world, books, day + 30 * 60000)
    books.owners_at = math.huge -- this program asks for the list no more
    busy(world, books, day + DAY + HOUR)
    local _, made = lines_of(books, day, day + DAY)
    assert.same({ "sub_accounts", "nobody read this span" }, { made.gaps[1].list, made.gaps[1].why })
    books:close()
  end)

  it("begins for each list where the service showed its first record", function()
    local _, books = read_once { subs = 0 }
    assert.same({ "not read: Main, deposit, withdrawal, from 2023-08-01 to 2023-08-16: nobody read this span" },
      (lines_of(books, "2023-08-01", "2023-08-20")))
    assert.same({}, (lines_of(books, "2023-08-17", "2023-08-20")))
    books:close()
  end)

  it("has a gap for a sub-account without a key, which closing names", function()
    local world = books_world.new { subs = 1 }
    local books = books_world.open(world, { keys = {} })
    assert(books:sync())
    world.sim:advance(2 * DAY)
    assert(books:sync())
    local _, err = books:close_before "2023-11-16"
    assert.matches("not read: Sub-desk1, key, from 2023-05-18 to now: its own key is not at hand", err.message, 1, true)
    assert.is_true(books:close_before("2023-11-16", { unread = true }))
    books:close()
  end)

  it("leaves out an owner that is gone by a gap that ends, and takes an owner back who is shown again", function()
    local world, books, day = read_once { subs = 2 }
    busy(world, books, day)
    assert(books:sync())
    books.keys = { desk2 = world.clients.desk2 }
    local function show(is_shown)
      books.store:rows("UPDATE purser_books_record SET missing_since = $1 WHERE entity = 'sub_account' AND "
        .. "sid = 'desk1'", is_shown and "" or "1")
    end
    local owners = require "purser.desk.books.owners"
    local sync = require "purser.desk.books.sync"
    local read_list = sync.read_list
    sync.read_list = function(of, owner, list, result) -- the list of the sub-accounts as the records have it
      return list.list == "sub_accounts" or read_list(of, owner, list, result)
    end
    show(false)
    world.sim:advance(DAY)
    books.owners = owners.list(books)
    local gone_at = world.sim:now()
    world.sim:advance(3 * DAY)
    assert.equal(2, #owners.list(books))
    local gaps = books:gaps()
    assert.same({ 1, "Sub-desk1", "every list", "the list of sub-accounts shows it no more", tostring(gone_at) },
      { #gaps, gaps[1].owner, gaps[1].list, gaps[1].why, ("%d"):format(gaps[1].ends) })
    show(true)
    assert.equal(3, #owners.list(books))
    assert.same({}, books:gaps())
    sync.read_list = read_list
    books:close()
  end)
end)

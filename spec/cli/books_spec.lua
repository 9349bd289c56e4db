-- SPDX-License-Identifier: MIT
-- `purser books`: a person's words, closing, gaps and events.
-- make test: 6 s

local books_world = require "books_world"
local command = require "command"
local files = require "files"

local DAY = 86400000

describe("purser books", function()
  after_each(files.remove_kept)

  it("names the account as hledger does, and needs a database", function()
    local world, path = books_world.new(), files.new_path()
    books_world.open(world, { sqlite = path, keys = {} }):close()
    local open = require("purser.cli.books").open
    for given, name in pairs { treasury_2 = "Treasury-2", ["2nd desk"] = "Account-2nd-desk", _x = "X" } do
      local books = open("sqlite:" .. path, given, {})
      assert.equal(name, books.account)
      books:close()
    end
    assert.equal(open("sqlite:" .. path, "default", {}).account, open("sqlite:" .. path, nil, {}).account)
    for text, message in pairs { ["redis://h:1"] = '"redis:..." names no books', [""] = '"" names no books' } do
      local code, _, err = command.run({ "books", "gaps", "--books", text }, {})
      assert.equal(2, code)
      assert.matches(message .. "; give --books sqlite:FILE or postgresql:DATABASE, or set PURSER_BOOKS", err, 1, true)
    end
    assert.matches("no books are named", select(3, command.run({ "books", "gaps" }, {})), 1, true)
  end)

  it("shows an account that nobody read as a gap of every list, and of another how far it was read", function()
    local world, path = books_world.new { subs = 0 }, files.new_path()
    local books = books_world.open(world, { sqlite = path })
    local function gaps(...) return command.run({ "books", "gaps", "--books", "sqlite:" .. path, ... }, {}) end
    local whole = "owner,list,from,to,why\r?\nMain,every list,,now,nobody read this span\r?\n$"
    assert.matches(whole, (select(2, gaps "--csv")))
    local row = { owner = "Main", list = "every list", starts = "", ends = "", why = "nobody read this span" }
    assert.same({ row }, (books:gaps()))
    local deliver = world.client.call
    function world.client.call(self, operation, ...) -- the first run is ended between two lists
      if operation == "live.account" then error("killed", 0) end
      return deliver(self, operation, ...)
    end
    assert.is_false(pcall(books.sync, books))
    world.client.call = nil
    assert.same({ row }, (books:gaps()))
    assert(books:sync())
    local open, least = books:gaps()
    assert.same({ {}, "sub_accounts" }, { open, least.list })
    assert.same({ 0, "all was read up to 2023-11-14 22:13 (Main, sub_accounts)\n", "" }, { gaps() })
    assert.matches(whole, (select(2, gaps("--csv", "--account", "other"))))
    books:close()
  end)

  it("settles, matches, sends outside, closes, and shows gaps", function()
    local world, path = books_world.new(), files.new_path()
    local books = books_world.open(world, { sqlite = path, keys = {} })
    local held = assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    world.sim:set_deposit(held.id, 6)
    local sent = assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
    assert(sent.id)
    assert(books:sync())
    world.sim:advance(89 * DAY + 43200000)
    assert(books:sync())
    local deposit = books.store:rows "SELECT rid FROM purser_books_deposit"[1].rid
    local withdrawal = books.store:rows "SELECT rid FROM purser_books_withdrawal"[1].rid
    books:close()
    local environment = { PURSER_BOOKS = "sqlite:" .. path }
    local function run(...) return command.run({ "books", ... }, environment) end
    assert.same({ 0, "", "" }, { run("settle", deposit:sub(1, 12), "success") })
    assert.equal(0, (run("outside", withdrawal)))
    assert.equal(0, (run("match", withdrawal, deposit)))
    for _, words in ipairs { { "settle", deposit }, { "close" }, { "gaps", "x" }, { "outside", deposit, deposit } } do
      local code, _, err = run(words[1], words[2], words[3])
      assert.equal(2, code)
      assert.matches("`purser books " .. words[1] .. " --help` shows what can be given", err, 1, true)
    end
    assert.equal(2, (run("match", deposit, withdrawal)))
    assert.equal(2, (run("settle", withdrawal, "success"))) -- it is final by itself
    local code, out = run "gaps"
    assert.equal(0, code)
    assert.matches("\nSub%-desk1  key   2023%-05%-18  now  its own key is not at hand", out)
    local refused, _, why = run("close", "2023-12-01") -- nobody reads the sub-account
    assert.equal(2, refused)
    assert.matches("not read: Sub-desk1, key, from 2023-05-18 to now: its own key is not at hand", why, 1, true)
    assert.same({ 0, "", "" }, { run("close", "2023-12-01", "--unread") })
    assert.equal(2, (run("close", "2023-12-01")))
    code, out = run "deliveries"
    assert.same({ 0, "there is no receiver\n" }, { code, out })
  end)
end)

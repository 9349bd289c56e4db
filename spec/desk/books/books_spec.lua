-- SPDX-License-Identifier: MIT
-- The options that `purser.books` takes, and what it says of others.

local books_world = require "books_world"
local model = require "purser.desk.books.model"
local files = require "files"
local purser = require "purser"

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
    assert.same({}, books:gaps())
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
end)

-- SPDX-License-Identifier: MIT
-- Whose books they are, and what a coin's name stands for.

local books_world = require "books_world"
local files = require "files"
local owners = require "purser.books.owners"

describe("The owners of the books", function()
  after_each(files.remove_kept)

  it("are the parent and its sub-accounts, by whichever operation the key may use", function()
    for role, group in pairs { main = "sub_account", broker = "broker" } do
      local books = books_world.open(books_world.new { role = role, subs = 2 })
      local names = {}
      for i, owner in ipairs(owners.list(books)) do names[i] = owner.name end
      assert.same({ "Main", "Sub-desk1", "Sub-desk2" }, names)
      assert.equal(group, books.group)
      books:close()
    end
  end)

  it("call a coin with its network by its asset, unless the service lists it so", function()
    local asked, books = 0, {}
    books.main = { client = { call = function()
      asked = asked + 1
      return { { coin = "USDT" }, { coin = "BTC-2" } }
    end } }
    assert.same({ "USDT", "USDT", "BTC-2", "A-B" }, { owners.asset_of(books, "USDT"), owners.asset_of(books,
      "USDT-TRX"), owners.asset_of(books, "BTC-2"), owners.asset_of(books, "A-B-C") })
    assert.equal(1, asked)
  end)

  it("guess no name: where the coins cannot be listed, the list is a gap, and the rest is read", function()
    local world = books_world.new { sim = { seed = 5, key_days = 0, variant = "live" } }
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.coins", times = 1 }
    local books = books_world.open(world)
    local report = assert(books:sync())
    assert.equal("deposit", report.problems[1].list)
    assert.equal(3, report.owners + #report.problems)
    report = assert(books:sync())
    assert.same({}, report.problems)
    assert.equal(0, #books:gaps())
    books:close()
  end)
end)

-- SPDX-License-Identifier: MIT
-- make test: 4 s
-- The books at a revision: both sides matched, and fees where they are measured, taken from others, or assumed.

local books_world = require "books_world"
local files = require "files"
local ledger = require "purser.desk.books.ledger"

local MINUTE = 60000
local OUTSIDE = "TXbuy5rFPKWTMsHX6XgYoTTyEBRKoPf7aJ"

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

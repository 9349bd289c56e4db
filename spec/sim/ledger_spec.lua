-- SPDX-License-Identifier: MIT
-- The ledger: value moves between places, exactly, and never out of nothing.

local decimal = require "purser.decimal"
local ledger = require "purser.sim.ledger"

describe("the ledger's books", function()
  it("move value only between places, and never more than there is", function()
    local books = ledger.new()
    local a, b = ledger.place("1", "SPOT"), ledger.place("2", "SPOT")
    assert(books:move("X", decimal("10"), ledger.WORLD, a))
    assert(books:move("X", decimal("9.999999999999999999999999999999"), a, b))
    assert.equal("0.000000000000000000000000000001", tostring(books:balance(a, "X")))
    assert.is_nil((books:move("X", decimal("0.1"), a, b)))
    assert.has_error(function() books:move("X", decimal("-1"), b, a) end)
    assert.is_true(books:verify())
  end)

  it("list the assets of a place that are not zero, by name", function()
    local books = ledger.new()
    local a = ledger.place("1", "SPOT", "locked")
    assert.equal("1/SPOT/locked", a)
    for _, asset in ipairs { "Z", "A", "M" } do assert(books:move(asset, decimal("1"), ledger.WORLD, a)) end
    assert(books:move("M", decimal("1"), a, ledger.WORLD))
    assert.same({ "A", "Z" }, books:assets(a))
    assert.same({}, books:assets "nowhere")
  end)

  it("leave everything as it was when the source holds too little", function()
    local books = ledger.new()
    assert(books:move("X", decimal("2"), ledger.WORLD, "a"))
    local before = books:snapshot()
    assert.same({ nil, "balance" }, { books:move("X", decimal("2.000000000000000001"), "a", "b") })
    assert.same(before, books:snapshot())
    assert(books:move("X", decimal("2"), "a", "a"))
    assert.equal("2", tostring(books:balance("a", "X")))
  end)

  it("see a balance that no move made", function()
    local books = ledger.new()
    assert(books:move("X", decimal("5"), ledger.WORLD, "a"))
    books.places.a.X = decimal("6")
    assert.same({ nil, "X does not sum to zero: 1" }, { books:verify() })
    books.places.a.X, books.places.b = decimal("-1"), { X = decimal("6") }
    assert.same({ nil, "a of X is negative: -1" }, { books:verify() })
  end)

  it("are the same after a snapshot, to the last decimal", function()
    local books = ledger.new()
    assert(books:move("X", decimal("0.000000000000000000000000000001"), ledger.WORLD, "a"))
    assert(books:move("Y", decimal("900000000000000000000000000000"), ledger.WORLD, "a"))
    local copy = ledger.restore(books:snapshot())
    assert.same(books:snapshot(), copy:snapshot())
    assert.is_true(copy:verify())
    assert(copy:move("Y", decimal("900000000000000000000000000000"), "a", ledger.WORLD))
    assert.equal("0", tostring(copy:balance("a", "Y")))
    assert.are_not.same(books:snapshot(), copy:snapshot())
  end)
end)

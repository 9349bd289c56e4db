-- SPDX-License-Identifier: MIT
-- The ledger: value moves between places, exactly, and never out of nothing.

local decimal = require "purser.decimal"
local ledger = require "purser.testing.sim.ledger"

-- Returns the history of records that are lists of moves.
local function history_of(list)
  return { all = list, moves = function(record, move)
    for _, one in ipairs(record) do move(one[1], decimal(one[2]), one[3], one[4]) end
  end }
end

local function apply(books, ...)
  local changes, history = {}, history_of { { ... } }
  ledger.book(changes, history.moves, history.all[1])
  return books:apply(changes)
end

describe("the ledger's books", function()
  it("move value only between places, and never more than there is", function()
    local books = ledger.new()
    local a, b = ledger.place("1", "SPOT"), ledger.place("2", "SPOT")
    assert(apply(books, { "X", "10", ledger.WORLD, a }))
    assert(apply(books, { "X", "9.999999999999999999999999999999", a, b }))
    assert.equal("0.000000000000000000000000000001", tostring(books:balance(a, "X")))
    assert.same({ nil, "X" }, { apply(books, { "X", "0.1", a, b }) })
    assert.equal("-10", tostring(books:balance(ledger.WORLD, "X")))
  end)

  it("list the assets of a place that are not zero, by name", function()
    local books = ledger.new()
    local a = ledger.place("1", "SPOT", "locked")
    assert.equal("1/SPOT/locked", a)
    for _, asset in ipairs { "Z", "A", "M" } do assert(apply(books, { asset, "1", ledger.WORLD, a })) end
    assert(apply(books, { "M", "1", a, ledger.WORLD }))
    assert.same({ "A", "Z" }, books:assets(a))
    assert.same({}, books:assets "nowhere")
  end)

  it("leave everything as it was when one of several places holds too little", function()
    local books = ledger.new()
    assert(apply(books, { "X", "2", ledger.WORLD, "a" }))
    assert.is_nil((apply(books, { "X", "1", "a", "b" }, { "X", "1.000000000000000001", "a", "c" })))
    assert.same({ "2", "0", "0" }, { tostring(books:balance("a", "X")), tostring(books:balance("b", "X")),
      tostring(books:balance("c", "X")) })
    assert(apply(books, { "X", "2", "a", "b" }, { "X", "2", "b", "a" }))
    assert.equal("2", tostring(books:balance("a", "X")))
  end)

  it("take back what moved for a record, also where it went back to where it came from", function()
    local places, history = {}, history_of { { { "X", "5", "a", "a" }, { "X", "3", "a", "b" } } }
    ledger.book(places, history.moves, history.all[1])
    assert.same({ "-3", "3" }, { tostring(places.a.X), tostring(places.b.X) })
    ledger.book(places, history.moves, history.all[1], true)
    assert.is_true(places.a.X:is_zero() and places.b.X:is_zero())
  end)

  it("see a balance that no record made, and a record that no balance has", function()
    local books, history = ledger.new(), history_of { { { "X", "5", ledger.WORLD, "a" } } }
    local sound, wrong = books:verify { history }
    assert.is_nil(sound)
    assert.matches("X of .*: the ledger has 0, the records say %-?5", wrong)
    assert(apply(books, { "X", "5", ledger.WORLD, "a" }))
    assert.is_true(books:verify { history, { all = { {} } } })
    books.places.b = { X = decimal("1") }
    assert.same({ nil, "X of b: the ledger has 1, the records say 0" }, { books:verify { history } })
  end)
end)

-- SPDX-License-Identifier: MIT
-- Plain tables on their way to JSON.

local decimal = require "purser.decimal"
local json = require "purser.json"
local plain = require "purser.testing.sim.plain"

describe("a plain value on its way to JSON", function()
  it("has marked empty tables, decimals and fractions as texts, and whole floats as integers", function()
    for _, case in ipairs {
      { {}, "{}" }, { { a = {}, b = { {} } }, '{"a":{},"b":[{}]}' }, { { 1, "2", true }, '[1,"2",true]' },
      { decimal("0.10"), '"0.1"' }, { { amount = decimal("7") }, '{"amount":"7"}' },
      { 0.25, '"0.250000"' }, { 1 / 3, '"0.333333"' }, { 0.9999999, '"1.000000"' }, { { p = 1.5 }, '{"p":"1.500000"}' },
      { "0.5", '"0.5"' }, { 2 ^ 53 - 1, "9007199254740991" }, { { ms = 5e3 }, '{"ms":5000}' },
    } do
      assert.equal(case[2], json.encode(plain.writable(case[1])))
    end
  end)

  it("keeps what was marked already, and is a copy", function()
    local value = { list = json.list {}, raw = json.raw "1.50", inner = { 1 } }
    local copy = plain.writable(value)
    assert.equal('{"inner":[1],"list":[],"raw":1.50}', json.encode(copy))
    copy.inner[1] = 2
    assert.equal(1, value.inner[1])
  end)

  it("is a list also when it is empty", function()
    assert.equal("[]", json.encode(plain.list {}))
    assert.equal('[{},{"a":"0.500000"}]', json.encode(plain.list { {}, { a = 0.5 } }))
  end)
end)

describe("a copy of plain data", function()
  it("shares nothing, and holds integers for whole numbers, as JSON wants them", function()
    local data = { at = 5.0, deep = { 7.0, "x", true }, part = 0.5 }
    local copy = plain.copy(data)
    assert.same(data, copy)
    assert.are_not.equal(data.deep, copy.deep)
    assert.equal("5 7 0.5", ("%s %s %s"):format(tostring(copy.at), tostring(copy.deep[1]), tostring(copy.part)))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Notes on rows: equal texts are one line, whatever the rows are.

local notes = require "purser.cli.notes"

local unpack = table.unpack or unpack -- luacheck: ignore

local function lines_of(rows, more)
  local given = { rows = rows, texts = "warnings", name = "warning", noun = "customer", key = "customer",
    path = "c.csv" }
  for name, value in pairs(more or {}) do given[name] = value end
  return notes.lines(given)
end

describe("the notes on rows", function()
  it("name file, line and row, or the number of rows with an equal text", function()
    local rows = {
      { customer = "ann", line = 2, warnings = { "look at it" } },
      { customer = "bob", line = 3, warnings = { "look at it", "the address 12345 is odd" } },
      { customer = "eve", line = 7, warnings = { "look at it", "the address 67890 is odd" } },
      { customer = "joe", line = 9, warnings = {} },
    }
    assert.same({ "c.csv:2: warning: 3 customers (lines 2-3, 7): look at it",
      "c.csv:3: warning: 2 customers (lines 3, 7), such as that of line 3: the address 12345 is odd" }, lines_of(rows))
    assert.same({ 'c.csv:3: warning: customer "bob": the address 12345 is odd',
      'c.csv:7: warning: customer "eve": the address 67890 is odd' },
      { unpack(lines_of(rows, { is_exact = true }), 2) })
    for _, row in ipairs(rows) do row.line = nil end
    assert.same({ 'warning: 3 customers, such as customer "ann": look at it',
      'warning: 2 customers, such as customer "bob": the address 12345 is odd' }, lines_of(rows))
    assert.same({}, lines_of {})
  end)

  it("are a summary: what is left out is counted", function()
    local rows = {}
    for i = 1, 12 do rows[i] = { customer = "c" .. i, warnings = { ("x"):rep(i) } } end
    local lines = lines_of(rows)
    assert.same({ 11, "and 2 other warnings; --csv lists all" }, { #lines, lines[11] })
    lines = lines_of(rows, { most = 11 })
    assert.same({ 12, "and 1 other warning; --csv lists all" }, { #lines, lines[12] })
    assert.equal(12, #lines_of(rows, { most = 12 }))
  end)
end)

-- SPDX-License-Identifier: MIT
-- The rows of one group against the interface document, transcribed by hand in contract.lua; the spec of a group calls
-- it.

local assert = require "luassert"
local contract = require "contract"
local facts = require "operation_facts"
local operations = require "purser.client.operations"
local row_facts = require "row_facts"

local M = {}

local function add_row(it, row, entry)
  local id, method, path, permission, weight = entry[1], entry[2], entry[3], entry[4], entry[5]
  local placement, parameters, limits, form = entry[6], entry[7], entry[8], entry[9]

  it(id .. " " .. row.full_name .. " has the document's method, path, permission and weight", function()
    assert.same({ id, method, path }, { row.id, row.method, row.path })
    assert.equal(permission, row.permission)
    assert.equal(weight, row.weight)
    assert.equal(placement, row.body or "query")
    assert.is_not_nil(row.result[form])
  end)

  it(id .. " " .. row.full_name .. " has the document's parameters, in its order", function()
    local requested, found = {}, {}
    for word in parameters:gmatch("%S+") do requested[#requested + 1] = word end
    for i, param in ipairs(row.params) do
      found[i] = param[1] .. (param.required and "!" or "")
      local limit = limits[param[1]] or {}
      assert.equal(limit[1], param.default, row.full_name .. "." .. param[1] .. " default")
      assert.equal(limit[2], param.max, row.full_name .. "." .. param[1] .. " maximum")
    end
    assert.same(requested, found)
  end)
end

--- Adds that the rows of a group are those of the second transcription, and no others.
function M.facts(it, group)
  it("are what was written down of them a second time", function()
    local expected, found = {}, {}
    for name, text in pairs(facts) do
      if name:match "^[%a_]+" == group then expected[name] = row_facts.read(text) end
    end
    for _, row in ipairs(operations.groups[group]) do found[row.full_name] = row_facts.of(row) end
    assert.same(expected, found)
  end)
end

--- Adds the examples of a group. `writes` says by name what each write call does: its effect, and where to it moves
--- funds; all others are read calls.
---@param writes table<string, string>  such as { withdraw = "transfer address" }
function M.of(it, group, writes)
  local rows = operations.groups[group]
  M.facts(it, group)

  it("are those of the document, and no others", function()
    local names, expected = {}, {}
    for i, row in ipairs(rows) do names[i] = row.full_name end
    for name in pairs(contract) do
      if name:match "^[%a_]+" == group then expected[#expected + 1] = name end
    end
    table.sort(names)
    table.sort(expected)
    assert.same(expected, names)
  end)

  it("are write calls where they move funds, create or change something: those are never sent twice", function()
    for _, row in ipairs(rows) do
      local does = row.effect .. (row.moves and " " .. row.moves.to or "")
      assert.equal(writes[row.name] or "read", does, row.full_name)
      assert.equal(row.effect == "read", row.method == "GET", row.full_name)
    end
  end)

  for _, row in ipairs(rows) do
    if contract[row.full_name] then add_row(it, row, contract[row.full_name]) end
  end
end

return M

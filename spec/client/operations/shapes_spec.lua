-- SPDX-License-Identifier: MIT
-- The shapes of results against the results that are written down by hand in spec/support/answers.lua.

local answers = require "answers"
local operations = require "purser.client.operations"
local shapes = require "purser.client.operations.shapes"

local lua_types = { string = "string", address = "string", integer = "number", boolean = "boolean" }

local check_record

local function check_value(where, value, type_)
  if type(type_) == "string" then return assert.equal(lua_types[type_], type(value), where) end
  if type_.record then return check_record(where, value, type_.record) end
  for _, one in ipairs(value) do check_value(where, one, type_.list) end
end

function check_record(where, record, name)
  local fields = {}
  for _, field in ipairs(shapes[name]) do fields[field[1]] = field[2] end
  for member, value in pairs(record) do
    assert.is_not_nil(fields[member], where .. "." .. member)
    check_value(where .. "." .. member, value, fields[member])
  end
end

describe("the shape of a result", function()
  for _, row in ipairs(operations.list) do
    it(("has every member of the document's answer, with its type: %s %s"):format(row.id, row.full_name), function()
      local result, form = answers[row.id].result, row.result
      if form.record then return check_record(row.id, result, form.record) end
      local list = form.list and result or form.page and result.data or result.rows
      for _, record in ipairs(list) do check_record(row.id, record, form.list or form.page or form.rows) end
    end)
  end

  it("reads the words of a member: other spellings, what they begin with, types and lists", function()
    local function field_of(shape, name)
      for _, field in ipairs(shapes[shape]) do
        if field[1] == name then return { field[2], field.aliases or false, field.prefix or false } end
      end
    end
    assert.same({ "integer", { "creatTime" }, false }, field_of("api_key", "createTime"))
    assert.same({ "string", { "fromsymbol" }, false }, field_of("wallet_transfer", "fromSymbol"))
    assert.same({ "string", false, "convert" }, field_of("convertible_balance", "convertPlatformToken"))
    assert.same({ { list = { record = "network" } }, false, false }, field_of("coin", "networkList"))
    assert.same({ { list = "string" }, false, false }, field_of("conversion", "successList"))
    assert.is_nil(shapes.nothing)
  end)

  it("has each name once, whether its own or another spelling that arrives", function()
    for name, shape in pairs(shapes.every()) do
      local seen = {}
      for _, field in ipairs(shape) do
        for _, spelling in ipairs { field[1], (table.unpack or unpack)(field.aliases or {}) } do -- luacheck: ignore
          assert.is_nil(seen[spelling], name .. "." .. spelling)
          seen[spelling] = true
        end
      end
    end
  end)

  it("is that of an answer, or of a member of one", function()
    local used = {}
    for _, row in ipairs(operations.every) do
      used[row.result.list or row.result.record or row.result.page or row.result.rows] = true
    end
    for _, shape in pairs(shapes.every()) do
      for _, field in ipairs(shape) do
        local inner = type(field[2]) == "table" and field[2].list
        if type(inner) == "table" then used[inner.record] = true end
      end
    end
    for name in pairs(shapes.every()) do assert.is_true(used[name], name) end
  end)
end)

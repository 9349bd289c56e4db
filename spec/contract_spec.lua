-- The rows against the interface document, transcribed by hand in spec/support/contract.lua.

local contract = require "contract"
local operations = require "purser.operations"

describe("the rows", function()
  it("are the 40 operations of the document, and no others", function()
    local count = 0
    for name in pairs(contract) do
      count = count + 1
      assert.is_not_nil(operations.by_name[name], name)
    end
    assert.equal(40, count)
    assert.equal(40, #operations.list)
  end)

  for name, entry in pairs(contract) do
    local id, method, path, permission, weight = entry[1], entry[2], entry[3], entry[4], entry[5]
    local placement, parameters, limits, form = entry[6], entry[7], entry[8], entry[9]
    local row = operations.by_name[name]

    it(id .. " " .. name .. " has the document's method, path, permission and weight", function()
      assert.same({ id, method, path }, { row.id, row.method, row.path })
      assert.equal(permission, row.permission)
      assert.equal(weight, row.weight)
      assert.equal(placement, row.body or "query")
      assert.is_not_nil(row.result[form])
    end)

    it(id .. " " .. name .. " has the document's parameters, in its order", function()
      local wanted, found = {}, {}
      for word in parameters:gmatch("%S+") do wanted[#wanted + 1] = word end
      for i, param in ipairs(row.params) do
        found[i] = param[1] .. (param.required and "!" or "")
        local limit = limits[param[1]] or {}
        assert.equal(limit[1], param.default, name .. "." .. param[1] .. " default")
        assert.equal(limit[2], param.max, name .. "." .. param[1] .. " maximum")
      end
      assert.same(wanted, found)
    end)
  end

  it("cannot be changed through what users see", function()
    local public = require("purser").operations
    public["wallet.withdraw"].params[1].required = false
    assert.is_true(operations.by_name["wallet.withdraw"].params[1].required)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The rows against the interface document, transcribed by hand in spec/support/contract.lua.

local contract = require "contract"
local operations = require "purser.api.operations"

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
      local requested, found = {}, {}
      for word in parameters:gmatch("%S+") do requested[#requested + 1] = word end
      for i, param in ipairs(row.params) do
        found[i] = param[1] .. (param.required and "!" or "")
        local limit = limits[param[1]] or {}
        assert.equal(limit[1], param.default, name .. "." .. param[1] .. " default")
        assert.equal(limit[2], param.max, name .. "." .. param[1] .. " maximum")
      end
      assert.same(requested, found)
    end)
  end

  it("hold nothing that the vocabulary lacks", function()
    local check = require("purser.api.row_schema").check
    local wrong = {
      { "colour is not a word", function(row) row.colour = "red" end },
      { "weight is not a number", function(row) row.weight = "1" end },
      { "unknown effect", function(row) row.effect = "moves" end },
      { "unknown kind of parameter: lot", function(row) row.params[1][2] = "lot" end },
      { "parameter twice: coin", function(row) row.params[2][1] = "coin" end },
      { "unknown choices", function(row) row.params[1].choices = "colours" end },
      { "unknown shape", function(row) row.result = { list = "lot" } end },
      { "unknown strategy", function(row) row.reconcile.strategy = "chance" end },
      { "memory is not a word", function(row) row.moves.memory = "memo" end },
      { "unknown kind of destination", function(row) row.moves.to = "anyone" end },
      { "says not which asset it moves", function(row) row.moves.asset = nil end },
      { "moves names an unknown parameter", function(row) row.moves.memo = "addressTag" end },
      { "says what and where to", function(row) row.moves = nil end },
      { "say how they are reconciled", function(row) row.reconcile = nil end },
    }
    for _, each in ipairs(wrong) do
      local row = require("purser.api.operations").public()["wallet.withdraw"]
      check(row)
      each[2](row)
      local ok, message = pcall(check, row)
      assert.is_false(ok, each[1])
      assert.matches(each[1], message, 1, true)
      assert.matches("operation wallet.withdraw", message, 1, true)
    end
  end)

  it("are held to it when all are read", function()
    local kept = package.loaded["purser.api.wallet"]
    package.loaded["purser.api.operations"], package.loaded["purser.api.wallet"] = nil, nil
    local rows = require "purser.api.wallet"
    rows[1].colour = "red"
    local fresh = require "purser.api.operations"
    assert.has_error(function() return fresh.list end,
      "operation wallet.coins: colour is not a word of the vocabulary here")
    package.loaded["purser.api.operations"], package.loaded["purser.api.wallet"] = operations, kept
  end)

  it("cannot be changed through what users see", function()
    local public = require("purser").operations
    public["wallet.withdraw"].params[1].required = false
    assert.is_true(operations.by_name["wallet.withdraw"].params[1].required)
  end)
end)

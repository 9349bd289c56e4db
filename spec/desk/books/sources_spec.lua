-- SPDX-License-Identifier: MIT
-- The lists that are read of an owner, by whose key.

local sources = require "purser.desk.books.sources"

local function names(books, owner)
  local list = {}
  for i, one in ipairs(sources.of(books, owner)) do list[i] = one.list end
  table.sort(list)
  return table.concat(list, ", ")
end

describe("The lists of an owner", function()
  local books = { group = "sub_account", pairs = { ["a b"] = { "a", "b" } }, address_coins = {},
    main = { client = {} } }

  it("are its own key's, and the parent's for the transfers between accounts", function()
    local own = "conversion, deposit, "
    assert.equal(own .. "internal_transfer, transfer FUTURES SPOT, transfer SPOT FUTURES, withdrawal",
      names(books, { name = "Main", is_main = true, client = {} }))
    assert.falsy(names(books, { name = "Sub-a", sub = "a" }):find("deposit", 1, true))
    local all = names(books, { name = "Sub-a", sub = "a", client = {} })
    for _, name in ipairs { "deposit", "family >a SPOT SPOT", "family a> FUTURES SPOT", "family a>b SPOT SPOT" } do
      assert.truthy(all:find(name, 1, true), name)
    end
  end)

  it("are more for a broker", function()
    books.group = "broker"
    assert.truthy(names(books, { name = "Main", is_main = true, client = {} }):find("broker_deposits, ", 1, true))
    local operations = {}
    for _, one in ipairs(sources.of(books, { name = "Sub-a", sub = "a" })) do
      operations[one.operation or one.list] = true
      assert.is_true(one.is_state or one.from ~= one.to)
    end
    assert.same({ key = true, ["broker.list_api_keys"] = true, ["broker.sub_account_status"] = true,
      ["broker.transfer_history"] = true }, operations)
  end)
end)

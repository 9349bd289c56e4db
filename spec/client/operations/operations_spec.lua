-- SPDX-License-Identifier: MIT
-- All rows together: which there are, and what one row says of another.

local contract = require "contract"
local operations = require "purser.client.operations"
local shapes = require "purser.client.operations.shapes"

-- The members of a record that the answers of a row list, as a set.
local function members_of(row)
  local set = {}
  for _, field in ipairs(shapes[row.result.list or row.result.page or row.result.rows or row.result.record]) do
    set[field[1]] = true
  end
  return set
end

-- All of these are in the set.
local function hold(set, names, where)
  for _, name in ipairs(names or {}) do assert.is_truthy(set[name], where .. ": " .. name) end
end

describe("the rows", function()
  it("are the operations of the document, and those of the live service", function()
    local documented = 0
    for name in pairs(contract) do
      documented = documented + 1
      assert.is_nil(operations.by_name[name].live)
    end
    assert.equal(documented, #operations.list)
    assert.equal(#operations.list + #operations.groups.live, #operations.every)
    for _, row in ipairs(operations.every) do
      assert.equal(row, operations.by_name[row.full_name])
      assert.equal(row, operations.by_id[row.id])
      assert.equal(row.group .. "." .. row.name, row.full_name)
    end
  end)

  it("are in the groups of the document, and in that of the live service", function()
    assert.same({ "broker", "sub_account", "wallet" }, operations.group_names)
    assert.same({ "broker", "sub_account", "wallet", "live" }, operations.all_group_names)
  end)

  it("are in groups, and a name that is none of them has no rows", function()
    for _, row in ipairs(operations.groups.broker) do assert.equal("broker", row.group) end
    assert.is_nil(operations.groups.text)
    assert.is_nil(operations.groups["purser.core"])
  end)

  it("reconcile a call by what its list shows and takes", function()
    for _, row in ipairs(operations.list) do
      local reconcile = row.reconcile or {}
      local list = operations.by_name[reconcile.lookup]
      if list then
        local where, members = row.full_name, members_of(list)
        assert.equal("read", list.effect, where)
        hold(list.by_name, reconcile.copy_params, where)
        hold(list.by_name, reconcile.narrow, where)
        hold(row.by_name, reconcile.copy_params, where)
        hold(members, { reconcile.time_member, reconcile.failed_status and "status" }, where)
        hold(members, { reconcile.client_id }, where)
        if reconcile.strategy ~= "conversion" then hold(members, reconcile.match_on, where) end
        hold(row.by_name, reconcile.match_on, where)
      end
    end
  end)

  it("are walked by parameters that they have, over members that their records have", function()
    for _, row in ipairs(operations.list) do
      local paging = row.paging
      if paging then
        local where, members = row.full_name, members_of(row)
        hold(row.by_name, { paging.size }, where)
        hold(row.by_name, { paging.page }, where)
        hold(row.by_name, paging.unstable_filters, where)
        hold(members, { paging.time_member }, where)
        hold(members, { paging.id }, where)
        hold(members, paging.key, where)
        local max = row.by_name[paging.size].max
        assert.is_true(not max or paging.page_size <= max, where)
      end
    end
  end)
end)

describe("a row", function()
  it("has its required parameters by name, in order", function()
    local row = require("purser.client.operations").by_name["wallet.internal_transfer"]
    assert.same({ "toAccountType", "toAccount", "asset", "amount" }, row.required)
    assert.equal("wallet", row.group)
  end)
end)

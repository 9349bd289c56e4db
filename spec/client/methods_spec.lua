-- SPDX-License-Identifier: MIT
-- The walks of groups.

local methods = require "purser.client.methods"
local operations = require "purser.client.operations"
local recorder = require "recorder"

describe("a group", function()
  it("is there though none of its operations has pages", function() assert.same({}, methods.live) end)

  it("has a walk for each of its operations that has pages, and for no other", function()
    local client, count = recorder.new(), 0
    for _, row in ipairs(operations.list) do
      local walk = row.paging and methods[row.group]["each_" .. row.paging.iterator]
      if row.paging then
        count = count + 1
        assert.matches(row.full_name, tostring(walk(client, { from = 1700000000000 })), 1, true)
      end
    end
    local named = 0
    for _, group in pairs(methods) do
      for name in pairs(group) do named = named + (name:find "^each_" and 1 or 0) end
    end
    assert.equal(count, named)
  end)

  it("has no method that an operation's own name hides", function()
    for group, list in pairs(methods) do
      for name in pairs(list) do assert.is_nil(operations.by_name[group .. "." .. name], name) end
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The methods of groups that are more than one operation: each leads to the function that its name says.

local methods = require "purser.desk.workflow"
local operations = require "purser.client.operations"
local recorder = require "recorder"
local walks = require "purser.client.methods"

describe("a group", function()
  it("has no method that an operation's own name hides, or a walk", function()
    for group, list in pairs(methods) do
      for name in pairs(list) do
        assert.is_nil(operations.by_name[group .. "." .. name], name)
        assert.is_nil(group ~= "client" and walks[group][name] or nil, name)
      end
    end
  end)
end)

describe("a method of a group", function()
  for _, case in ipairs {
    { "wallet", "wait_withdrawal", "wait", "withdrawal" },
    { "wallet", "wait_transfer", "wait", "transfer" }, { "broker", "wait_transfer", "wait", "broker_transfer" },
    { "sub_account", "wait_transfer", "wait", "sub_account_transfer" },
    { "wallet", "plan_withdraw", "plan", "withdraw" },
    { "wallet", "plan_create_deposit_address", "plan", "create_deposit_address" },
    { "wallet", "convert_all", "dust", "convert_all" },
  } do
    it(("leads from client.%s:%s to %s.%s, with all its arguments"):format((table.unpack or unpack)(case)), -- luacheck: ignore
      function()
        local module, group, name = require("purser.desk.workflow." .. case[3]), case[1], case[2]
        local inner, got = module[case[4]], nil
        finally(function() module[case[4]] = inner end)
        module[case[4]] = function(...)
          got = { ... }
          return "result", "error"
        end
        local client = recorder.new()
        assert.same({ "result", "error" }, { client[group][name](client[group], 1, nil, 3) })
        assert.same({ client, 1, nil, 3 }, got)
      end)
  end

  it("that walks hands out nothing of the client", function()
    local client = recorder.new()
    for _, held in ipairs { client.wallet:each_deposit(), methods.sub_account.each_balance(client) } do
      assert.is_nil(held.client)
      assert.is_nil(held.source)
      assert.equal("string", type(getmetatable(held)))
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The functions that make transports, by name.

local luv = require "purser.hosts.luv"
local purser = require "purser"
local transports = require "purser.client.transports"

describe("purser.transport", function()
  it("has the transports of the client, and those that rooms above register", function()
    for _, name in ipairs { "cosocket", "curl", "multi", "openresty", "luv", "record", "replay" } do
      assert.is_function(purser.transport[name], name)
    end
    assert.error_matches(function() return purser.transport.none end, "there are [%l, ]* curl, [%l, ]* multi, "
      .. "[%l, ]* record, replay, and an object")
    transports.register("mine", "purser.hosts.luv")
    assert.equal(luv.new, purser.transport.mine)
  end)

  it("says which transports there are when asked for another", function()
    for wrong, hint in pairs { mutli = 'did you mean "multi"', nope = "there are copas, cosocket, cqueues, curl" } do
      local ok, message = pcall(function() return purser.transport[wrong] {} end)
      assert.is_false(ok)
      assert.matches('transports_spec.lua:%d+: purser.transport has no "' .. wrong .. '"', message)
      assert.matches(hint, message)
      assert.is_nil(message:find("no file", 1, true))
    end
    assert.error_matches(function() return purser.transport[5] end, 'has no "5"')
  end)
end)

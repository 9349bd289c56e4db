-- SPDX-License-Identifier: MIT
-- The functions that make transports, by name.

local purser = require "purser"

describe("purser.client.transport", function()
  it("has every transport there is a file of", function()
    local listing = assert(io.popen "cd lua/purser/client/transport && ls *.lua")
    -- what transports are made of, and what sends by one
    local parts = { exchange = true, http1 = true, sinks = true, outbox = true }
    for file in listing:lines() do
      local name = file:match "^(%w+)%.lua$"
      assert.is_true(parts[name] or type(purser.transport[name]) == "function", name)
    end
    listing:close()
    for _, name in ipairs { "record", "replay", "openresty", "cosocket" } do -- of other rooms
      assert.is_function(purser.transport[name])
    end
  end)

  it("says which transports there are when asked for another", function()
    for wrong, hint in pairs { mutli = 'did you mean "multi"', nope = "there are cosocket, curl, multi, openresty" } do
      local ok, message = pcall(function() return purser.transport[wrong] {} end)
      assert.is_false(ok)
      assert.matches('transports_spec.lua:%d+: purser.transport has no "' .. wrong .. '"', message)
      assert.matches(hint, message)
      assert.is_nil(message:find("no file", 1, true))
    end
    assert.error_matches(function() return purser.transport[5] end, 'has no "5"')
  end)
end)

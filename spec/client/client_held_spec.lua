-- SPDX-License-Identifier: MIT
-- The tables that users hold of a client: the name, its groups, and where the errors of a group stand.

local private = require "purser.client.util.private"
local raised_here = require "raised_here"
local recorder = require "recorder"

describe("what users hold", function()
  it("has a name, and a group the same method each time", function()
    local client = recorder.new { base_url = "https://service.example/v3" }
    assert.equal("purser.client (https://service.example/v3)", tostring(client))
    assert.same({ "purser.client", "purser.wallet" }, { getmetatable(client), getmetatable(client.wallet) })
    assert.equal(client.wallet.coins, client.wallet.coins)
    client:close()
    assert.equal("purser.client (https://service.example/v3, closed)", tostring(client))
    assert.equal("closed", select(2, client:ping()).kind)
  end)

  it("has a group whose methods are called with a colon, said at the line of the caller", function()
    local client = recorder.new()
    local message, is_here = raised_here(function(line)
      line()
      client.wallet.coins()
    end)
    assert.matches("call it with a colon: client.wallet:coins{...}", message, 1, true)
    assert.is_true(is_here, message)
  end)

  it("has a group that says which methods there are, at the line of the caller", function()
    local client = recorder.new()
    local message, is_here = raised_here(function(line)
      line()
      local _ = client.wallet.zzz
    end)
    assert.matches('client.wallet has no operation "zzz"; there are ', message, 1, true)
    assert.is_true(is_here, message)
    assert.matches(", each_deposit, ", message, 1, true)
  end)

  it("has an inner state whose fields are no methods", function()
    local state = private.states[recorder.new()]
    assert.is_function(state.call)
    for _, name in ipairs { "_call", "call_", "^call" } do assert.is_nil(state[name]) end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The whole policy of docs/desk/agents.md does what its sentence says.

local agent_world = require "agent_world"
local core = require "purser.core"
local files = require "files"
local ssh_keys = require "ssh_keys"

local SAVED, OTHER = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

describe("the policy of the agents' page", function()
  it("frees 20 USDT at once and 50 a day to saved addresses, and leaves the rest to a person", function()
    local page = files.read "docs/desk/agents.md"
    local block = assert(page:match "## A whole policy.-```json\n(.-)```")
    for _, name in ipairs { "alice", "bob" } do
      block = block:gsub('("' .. name .. '": %[")[^"]*', function(before) return before .. ssh_keys.public(name) end)
    end
    local rules = assert(core.decode(block)).rules
    assert.equal(3, #rules)
    local world = agent_world.new(nil, block)
    finally(function()
      world.close()
      ssh_keys.remove()
    end)
    assert(world.sim:save_address { account = world.owner.uid, coin = "USDT", network = "TRX", address = SAVED })
    local server = world.server()
    for i, case in ipairs { { "20", SAVED, "accepted" }, { "20.01", SAVED, "needs a person" },
      { "10", OTHER, "needs a person" }, { "19", SAVED, "accepted" }, { "11.5", SAVED, "needs a person" },
      { "11", SAVED, "accepted" }, { "12", SAVED, "needs a person" } } do
      local said = server.pay("inv-" .. i, "wallet.withdraw", { coin = "USDT", network = "TRX", address = case[2],
        amount = case[1] })
      assert.equal(case[3], said.state, case[1] .. " " .. tostring(said.reason))
    end
    assert.equal("needs a person", server.pay("own", "wallet.transfer", { asset = "USDT", amount = "5",
      fromAccountType = "SPOT", toAccountType = "FUTURES" }).state)
    assert.equal(3, world.moved())
    server.close()
  end)
end)

-- SPDX-License-Identifier: MIT
-- A change that no operation tells of: a trade.

local purser = require "purser"
local simulated = require "simulated"

describe("changes without a record", function()
  local sim, house, client

  before_each(function()
    sim = purser.sim.new { seed = 4 }
    house = assert(sim:account { role = "broker", name = "House", email = "house@mail.example",
      balances = { USDT = "100", SHIB = "9" } })
    client = simulated.client(sim, house)
  end)

  it("trade: balances change, and the books are right before and after a snapshot", function()
    local balances = assert(sim:trade { account = "House", changes = { USDT = "-25.5", MX = "10" } })
    assert.same({ { asset = "MX", free = "10", locked = "0" }, { asset = "SHIB", free = "9", locked = "0" },
      { asset = "USDT", free = "74.5", locked = "0" } }, balances)
    assert.same({ {}, {} }, { client.wallet:deposit_history(), client.wallet:withdrawal_history() })
    assert(sim:verify())
    assert(purser.sim.restore(sim:snapshot()):verify())
  end)

  it("trade: nothing changes where one amount is missing or is none", function()
    for changes, wrong in pairs {
      [{ MX = "5", USDT = "-100.1" }] = "has less USDT", [{ MX = 5 }] = "change of MX must be the text of a decimal,",
    } do
      local balances, message = sim:trade { account = "House", changes = changes }
      assert.is_nil(balances)
      assert.is_truthy(message:find(wrong, 1, true), message)
    end
    assert.equal("100", sim:state().accounts[1].spot[2].free)
    assert.is_nil(sim:state().accounts[1].spot[3])
  end)
end)

-- SPDX-License-Identifier: MIT
-- client.sub_account:each_balance: the balances of all sub-accounts, each once.

local balances = require "purser.desk.workflow.balances"
local purser = require "purser"
local simulated = require "simulated"
local stub_client = require "stub_client"

describe("each_balance", function()
  local sim, main, client

  before_each(function()
    sim = purser.sim.new { seed = 5 }
    main = sim:account { role = "main", balances = { USDT = "1" } }
    for i = 1, 3 do
      sim:account { role = "sub", parent = main.uid, name = "desk" .. i,
        balances = { USDT = i .. ".5", BTC = "0.0" .. i } }
    end
    client = simulated.client(sim, main, { retry = false })
  end)

  local function key(balance) return balance.subAccount .. " " .. balance.asset .. " " .. balance.free end
  local EXPECTED = { "desk1 BTC 0.01", "desk1 USDT 1.5", "desk2 BTC 0.02", "desk2 USDT 2.5", "desk3 BTC 0.03",
    "desk3 USDT 3.5" }

  it("yields every balance of every sub-account once", function()
    local seen = {}
    for balance in client.sub_account:each_balance() do
      seen[#seen + 1] = key(balance)
      assert.equal("0", balance.locked)
    end
    table.sort(seen)
    assert.same(EXPECTED, seen)
  end)

  it("returns the error of a read, and continues there when it is called again", function()
    local walk, seen, failures = client.sub_account:each_balance(), {}, 0
    while true do
      if #seen == 2 and failures == 0 then
        assert(sim:fault { kind = "reject", operation = "sub_account.balances", times = 1 })
      end
      local balance, err = walk:next()
      if err then failures = failures + 1
      elseif not balance then break
      else seen[#seen + 1] = key(balance) end
    end
    table.sort(seen)
    assert.equal(1, failures)
    assert.same(EXPECTED, seen)
  end)

  it("returns an error for a sub-account without a name and for a balance without an asset", function()
    local accounts, list = { { note = "n" } }, { { free = "1" } }
    local fake = stub_client.of { sub_account = { balances = function() return list end },
      now = function() return 1700000000000 end }
    function fake.call(_, _, params) return params.page == 1 and accounts or {} end
    for _, words in ipairs { "a sub-account without a name", "a balance without an asset" } do
      local balance, err = balances.each(fake):next()
      assert.is_nil(balance)
      assert.same({ "decode", "unknown" }, { err.kind, err.outcome })
      assert.matches(words, err.message, 1, true)
      accounts = { { subAccount = "desk1" } }
    end
    list = { { asset = "BTC", free = "1", locked = "0" } }
    assert.same({ subAccount = "desk1", asset = "BTC", free = "1", locked = "0" }, (balances.each(fake):next()))
  end)

  it("raises the error in a `for`, and rejects a parameter that is not known", function()
    local ok, problem = pcall(function()
      for _ in client.sub_account:each_balance { subAcount = "x" } do error "none" end
    end)
    assert.is_false(ok)
    assert.matches("subAcount", tostring(problem))
  end)
end)

-- SPDX-License-Identifier: MIT
-- The catalogue of coins and networks.

local coins = require "purser.testing.sim.coins"
local decimal = require "purser.decimal"

describe("the simulator's catalogue", function()
  it("has coins with memos, suspended networks and limits beyond every number type (C1)", function()
    local list = coins.handlers.C1 {}
    local networks, memos, suspended, greatest = 0, 0, 0, 0
    for _, coin in ipairs(list) do
      for _, network in ipairs(coin.networkList) do
        networks = networks + 1
        memos = memos + (network.sameAddress and 1 or 0)
        suspended = suspended + ((network.withdrawEnable and network.depositEnable) and 0 or 1)
        greatest = math.max(greatest, #network.withdrawMax)
        assert.is_true(assert(decimal(network.withdrawMin)):compare(network.withdrawFee) >= 0)
      end
    end
    assert.is_true(#list >= 12 and networks >= 20 and memos >= 3 and suspended >= 3)
    assert.equal(30, greatest)
  end)

  it("has only amounts that are exact decimals, with steps that its minimums are multiples of", function()
    for _, coin in pairs(coins.by_name) do
      if coin.price then assert.is_true(decimal(coin.price):sign() > 0, coin.name) end
      for _, network in ipairs(coin.networks) do
        local public = network.public
        assert.is_true(decimal(public.withdrawFee):sign() > 0, network.long)
        assert.is_true(decimal(public.withdrawMax):compare(public.withdrawMin) > 0, network.long)
        local step, min = public.withdrawIntegerMultiple, decimal(public.withdrawMin)
        assert.is_true(step == nil or min:round_down_to(step) == min, network.long)
        assert.is_true(public.minConfirm >= 1 and network.block_ms >= 1, network.long)
      end
    end
  end)

  it("says why no deposit or no withdrawal is possible, and rejects a coin that is not listed", function()
    local tips = {}
    for _, coin in ipairs(coins.handlers.C1 {}) do
      for _, network in ipairs(coin.networkList) do
        for tip, is_enabled in pairs { depositTips = network.depositEnable, withdrawTips = network.withdrawEnable } do
          if is_enabled then assert.is_nil(network[tip], network.name) end
          if network[tip] then tips[tip] = true end
        end
      end
    end
    assert.same({ depositTips = true, withdrawTips = true }, tips)
    coins.check "USDT"
    local ok, problem = pcall(coins.check, "NOPE")
    assert.is_false(ok)
    assert.same({ "10232", "The coin NOPE does not exist" }, { problem.code, problem.message })
  end)

  it("finds a coin's network by its long name, and by its short id where both are allowed", function()
    local tron = coins.network("USDT", "Tron(TRC20)")
    assert.same({ "USDT", "TRX", "Tron(TRC20)" }, { tron.coin, tron.short, tron.long })
    assert.is_nil(coins.network("USDT", "TRX"))
    assert.equal(tron, coins.network("USDT", "TRX", true))
    assert.equal("TRX", coins.short_id("USDT", "Tron(TRC20)"))
    for _, case in ipairs { { "USDT", "tron(trc20)" }, { "NOPE", "TRX" }, { "BTC", "TRX" } } do
      assert.is_nil(coins.network(case[1], case[2], true))
      assert.is_nil(coins.short_id(case[1], case[2]))
    end
  end)
end)

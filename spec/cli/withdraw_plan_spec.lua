-- SPDX-License-Identifier: MIT
-- `purser withdraw-plan`: what a withdrawal would do, every problem with it, and the withdrawal itself.

local at_shell = require "at_shell"

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("purser withdraw-plan", function()
  local at

  setup(function() at = at_shell({ "--seed", "9" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("reports every problem, and makes the withdrawal when asked", function()
    local arguments = { "withdraw-plan", "--coin", "USDT", "--network", "trc20", "--address", ADDRESS, "--amount" }
    local function plan(amount, ...)
      local all = { (table.unpack or unpack)(arguments) } -- luacheck: ignore
      for _, word in ipairs { amount, ... } do all[#all + 1] = word end
      return at.run((table.unpack or unpack)(all)) -- luacheck: ignore
    end
    local code, out = plan "5.0000005"
    assert.equal(2, code)
    assert.matches("error    the amount 5.0000005 is below the minimum of 10\n", out)
    assert.matches("error    the amount 5.0000005 is no multiple of 0.000001", out)
    code, out = plan "20.5"
    assert.equal(0, code)
    assert.matches("ok       no problem found\n$", out)
    local _, err
    code, _, err = plan("20.5", "--execute")
    assert.equal(2, code)
    assert.matches("give %-%-yes", err)
    assert.is_nil(at.world:counts()["wallet.withdraw"])
    code, out, err = plan("20.5", "--execute", "--yes")
    assert.equal(0, code, err)
    assert.matches("by it the withdrawal can be found afterwards", err)
    assert.matches("%x%x%x%x%x%x%x%x%x%x+\n*$", out)
  end)

  it("shows its plan once on a terminal, and at which service it would be executed", function()
    local before = at.received "wallet.withdraw"
    local code, shown = at.on_terminal("no\n", "withdraw-plan", "--coin", "USDT", "--network", "trc20", "--address",
      ADDRESS, "--amount", "20", "--execute")
    assert.equal(2, code)
    local _, times = shown:gsub("Withdrawal of 20 USDT", "")
    assert.equal(1, times)
    assert(shown:find("This moves money at " .. at.url, 1, true), shown)
    assert.equal(before, (at.received "wallet.withdraw"))
  end)

  it("ends with 1 when the service rejects it, whatever the code, and not with an error of its own", function()
    for _, code in ipairs { "10101", "10099", "30000", "x" } do
      assert(at.world:fault { kind = "reject", operation = "wallet.coins", code = code, times = 1 })
      local exit_code, _, err = at.run("withdraw-plan", "--coin", "USDT", "--address", ADDRESS, "--amount", "20")
      assert.equal(1, exit_code, err)
      assert.is_truthy(err:find("code " .. code .. ",", 1, true), err)
    end
  end)
end)

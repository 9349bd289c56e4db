-- SPDX-License-Identifier: MIT
-- `purser wallet withdraw --plan`: what a withdrawal would do, and every problem with it.

local at_shell = require "at_shell"
local core = require "purser.core"

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("purser wallet withdraw --plan", function()
  local at

  setup(function() at = at_shell({ "--seed", "9" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("reports every problem, and sends nothing that moves funds", function()
    local arguments = { "wallet", "withdraw", "--plan", "--coin",
      "USDT", "--network", "trc20", "--address", ADDRESS, "--amount" }
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
    for _, amount in ipairs { "20.5", "2" } do
      local err
      code, out, err = plan(amount, "--json")
      assert.same({ amount == "2" and 2 or 0, "" }, { code, err })
      local found = core.decode(out)
      assert.same({ amount == "20.5", amount, "1", "TRX" }, { found.ok, found.amount, found.fee,
        found.params.netWork })
      assert.equal(amount == "2" and 1 or 0, #found.errors)
    end
    code, out = plan("2", "--csv")
    assert.equal(2, code)
    assert.matches("^what,text\n.*\nerror,the amount 2 is below the minimum of 10\n", out)
    assert.is_nil(at.world:counts()["wallet.withdraw"])
  end)

  it("ends with 1 when the service rejects it, whatever the code, and not with an error of its own", function()
    for _, code in ipairs { "10101", "10099", "30000", "x" } do
      assert(at.world:fault { kind = "reject", operation = "wallet.coins", code = code, times = 1 })
      local exit_code, _, err = at.run("wallet", "withdraw", "--plan", "--coin", "USDT", "--address", ADDRESS,
        "--amount", "20")
      assert.equal(1, exit_code, err)
      assert.is_truthy(err:find("code " .. code .. ",", 1, true), err)
    end
  end)
end)

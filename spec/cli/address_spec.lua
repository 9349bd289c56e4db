-- SPDX-License-Identifier: MIT
-- `purser address COIN NETWORK`.

local at_shell = require "at_shell"

describe("purser address", function()
  local at

  setup(function() at = at_shell({ "--seed", "4" }, { role = "main", balances = {} }) end)
  teardown(function() at.stop() end)

  it("has an address with its network by all names", function()
    local code, out = at.run("address", "USDT", "trc20")
    assert.equal(0, code)
    assert.matches("^address +T%w+\ncoin +USDT\nnetwork +TRX %(Tron%(TRC20%)%)\nconfirmations +%d+\n$", out)
  end)

  it("says which networks there are", function()
    local code, out, err = at.run("address", "USDT", "NOPE")
    assert.same({ 1, "" }, { code, out })
    assert.matches("USDT has no network NOPE; it has TRX", err)
  end)
end)

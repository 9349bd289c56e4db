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

  it("is one that is wanted of those that exist, else a new one", function()
    local address = require "purser.cli.receive"
    local client = assert(require("purser").new { base_url = at.url, api_key = at.account.api_key,
      secret_key = at.account.secret_key })
    finally(function() client:close() end)
    local first = address.made_address(client, "USDT", "TRX")
    local seen = {}
    local kept = address.made_address(client, "USDT", "TRX", function(row)
      seen[#seen + 1] = row.address
      return row.address == first.address
    end)
    assert.same({ first.address, { first.address } }, { kept.address, seen })
    assert.equal(first.address, address.made_address(client, "USDT", "TRX").address)
  end)

  it("says which networks there are", function()
    local code, out, err = at.run("address", "USDT", "NOPE")
    assert.same({ 2, "" }, { code, out })
    assert.matches("USDT has no network NOPE; it has TRX", err)
  end)
end)

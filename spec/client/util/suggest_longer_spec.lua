-- SPDX-License-Identifier: MIT
-- A plural stands for what lists the things, not for another word of about the same length.

local purser = require "purser"
local suggest = require "purser.client.util.suggest"

describe("a plural that is no name", function()
  it("gets the name that begins with it, before one with three or more other letters", function()
    local names = { "withdraw", "withdraw_legacy", "withdrawal_addresses", "withdrawal_history", "coins" }
    assert.equal("withdrawal_history", suggest.find("withdrawals", names))
    assert.equal("withdraw", suggest.find("withdrawl", names))
    assert.equal("coins", suggest.find("coin", names))
  end)

  it("never leads a program that wants to read to a write call", function()
    local sim = purser.sim.new { seed = 1 }
    local account = sim:account { role = "main" }
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport() })
    local ok, message = pcall(function() return client.wallet:withdrawals() end)
    assert.is_false(ok)
    assert.matches('did you mean "withdrawal_history"', tostring(message), 1, true)
    local _, err = purser.restricted(client, { "wallet.deposits" })
    assert.matches('did you mean "wallet.deposit_history"', tostring(err), 1, true)
  end)
end)

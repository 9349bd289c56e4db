-- SPDX-License-Identifier: MIT
-- A withdrawal that could not be planned: why comes first, and a way out only where it can help.

local command = require "command"

local WORDS = { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", "T", "--amount", "20",
  "--yes" }

describe("a plan that cannot be made", function()
  it("does not advise to send it unchecked where the service cannot be reached", function()
    local code, _, err = command.run(WORDS, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s",
      PURSER_BASE_URL = "http://127.0.0.1:1" })
    assert.equal(3, code)
    assert.matches("^purser: wallet%.coins: no connection could be made.*\npurser: nothing was sent, because the coins "
      .. "and networks cannot be read\n$", err)
  end)
end)

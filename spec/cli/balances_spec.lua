-- SPDX-License-Identifier: MIT
-- `purser balances`: one table, of the account and of each sub-account, and what the table leaves out.

local at_shell = require "at_shell"
local core = require "purser.core"

describe("purser balances", function()
  local at
  setup(function()
    at = at_shell({ "--seed", "66" }, { role = "broker", balances = { USDT = "5000", MX = "4" } })
  end)
  teardown(function() at.stop() end)

  it("shows the whole account where the profile has the operation", function()
    local code, out, err = at.run("balances", "--profile", "mexc", "--base-url", at.url)
    assert.same({ 0, "" }, { code, err })
    assert.equal("asset  free  locked\n-----  ----  ------\nMX        4       0\nUSDT   5000       0\n", out)
    code, out = at.run("balances", "--profile", "mexc", "--base-url", at.url, "--filter", "asset=MX", "--json")
    assert.equal(0, code)
    assert.same({ { asset = "MX", free = "4", locked = "0" } }, core.decode(out))
  end)

  it("says what the document's operations leave out", function()
    local code, out, err = at.run "balances"
    assert.equal(0, code)
    assert.is_truthy(out:find("USDT   5000", 1, true), out)
    assert.is_nil(out:find("MX", 1, true))
    assert.is_truthy(err:find("no MX, nothing that is locked; --profile mexc shows all", 1, true), err)
  end)

  it("shows each sub-account with --all, a row for each asset", function()
    assert.equal(0, (at.run("sub_account", "create_sub_account", "--subAccount", "tradingdesk1", "--note", "n",
      "--yes")))
    assert.equal(0, (at.run("sub_account", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "SPOT",
      "--asset", "USDT", "--amount", "5", "--toAccount", "tradingdesk1", "--yes")))
    local code, out, err = at.run("balances", "--all", "--csv")
    assert.equal(0, code, err)
    assert.is_truthy(out:find("\ntradingdesk1,USDT,5,", 1, true), out)
    assert.is_truthy(out:find("\ntreasury,USDT,4995,", 1, true), out)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The question before something changes or money moves.

local at_shell = require "at_shell"
local command = require "command"
local errors = require "purser.client.call.errors"
local printed = require "printed"
local report = require "purser.cli.report"

describe("a question", function()
  local SOURCES = { url = "http://h", service = "--base-url", keys = "k", key = "mx0..", account = "treasury" }

  it("is not asked with --yes, and not where nobody can answer", function()
    assert.is_nil(report.ask({ yes = true }, "This moves money", SOURCES, {}))
    local code, out, err = printed(report.ask, {}, "This moves money", SOURCES, {})
    assert.same({ report.BAD_INPUT, "" }, { code, out })
    assert.equal("purser: This moves money: there is no terminal to confirm it on; give --yes\n", err)
  end)
end)

describe("the failure of a workflow", function()
  it("is that of a call that moves money: its outcome may be unknown", function()
    local code, _, err = printed(report.workflow_failure, errors.new { kind = "transport", outcome = "unknown",
      message = "m" })
    assert.equal(report.UNKNOWN, code)
    assert.matches("OUTCOME UNKNOWN: m", err, 1, true)
  end)
end)

describe("a transfer on a terminal", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "main", balances = { BTC = "2" } }) end)
  teardown(function() at.stop() end)

  local transfer = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
    "--asset", "BTC", "--amount", "0.1" }

  it("is rejected where there is none", function()
    local before = at.received "wallet.transfer"
    local code, _, err = command.run(transfer, at.keys, "yes\n")
    assert.equal(2, code)
    assert.is_truthy(err:find("give --yes", 1, true))
    assert.equal(before, (at.received "wallet.transfer"))
  end)

  it("goes on after yes, having shown what it would do", function()
    local _, before = at.received "wallet.transfer"
    local code, shown = command.run_on_terminal(transfer, at.keys, "yes\n")
    assert.equal(0, code)
    assert.is_truthy(shown:find("This moves money at " .. at.url, 1, true))
    assert.is_truthy(shown:find("amount%s+| 0%.1"))
    assert.is_truthy(shown:find("operation%s+| wallet.transfer %(C9%)"))
    assert.is_truthy(shown:find("service%s+| http://127.0.0.1:%d+ %(from PURSER_BASE_URL%)"))
    assert.is_truthy(shown:find("key%s+| " .. at.account.api_key:sub(1, 5) .. "%.%.%." .. at.account.api_key:sub(-3)))
    assert.is_truthy(shown:find("tranId", 1, true))
    local _, after = at.received "wallet.transfer"
    assert.equal(before + 1, after)
  end)

  it("sends nothing after anything else", function()
    local before = at.received "wallet.transfer"
    for _, typed in ipairs { "no\n", "y\n", "\n", "\4" } do
      local code, shown = command.run_on_terminal(transfer, at.keys, typed)
      assert.equal(2, code)
      assert.is_truthy(shown:find("nothing was sent", 1, true))
    end
    assert.equal(before, (at.received "wallet.transfer"))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Long listings: windows of time, pages, and how far they reach.

local at_shell = require "at_shell"
local core = require "purser.core"

describe("a listing", function()
  local at, to

  setup(function()
    at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } })
    local _, made = at.run("wallet", "create_deposit_address", "--coin", "USDT", "--network", "Tron(TRC20)", "--yes",
      "--csv")
    to = assert(made:match "\n([^\n,]+),", made)
    local now = at.world:refresh()
    for days = 0, 29 do
      assert(at.world:deposit { address = to, coin = "USDT", network = "TRX",
        amount = ("%d.5"):format(100 + days), time = now - days * 86400000 - 3600000 })
    end
  end)

  teardown(function() at.stop() end)

  it("walks windows of seven days, and every record comes once", function()
    local before = at.received "wallet.deposit_history"
    local code, out = at.run("wallet", "deposit_history", "--coin", "USDT", "--since", "35d", "--format", "json")
    assert.equal(0, code)
    -- six, each a little shorter than seven days: their edges are asked for, too; and once the second of a record,
    -- which shows whether the service counts in seconds
    assert.equal(7, at.received "wallet.deposit_history" - before)
    local seen = {}
    for _, record in ipairs(core.decode(out)) do
      assert.is_nil(seen[record.amount])
      seen[record.amount] = true
    end
    for days = 0, 29 do assert.is_true(seen[("%d.5"):format(100 + days)]) end
  end)

  it("stops at --limit records, the newest ones", function()
    local before = at.received "wallet.deposit_history"
    local code, out = at.run("wallet", "deposit_history", "--since", "30d", "--limit", "3", "--format", "csv",
      "--columns", "amount")
    assert.equal(0, code)
    assert.equal(2, at.received "wallet.deposit_history" - before)
    assert.equal("amount\n100.5\n101.5\n102.5\n", out)
  end)

  it("says that it shows a part, and how to see the rest", function()
    for _, name in ipairs { "part0001", "part0002", "part0003", "part0004", "part0005", "part0006", "part0007",
      "part0008", "part0009", "part0010", "part0011" } do
      assert.equal(0, (at.run("broker", "create_sub_account", "--subAccount", name, "--note", "n", "--yes")))
    end
    for _, words in ipairs { { "broker", "list_sub_accounts" }, { "broker", "list_sub_accounts", "--json" } } do
      local code, _, err = at.run((table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(0, code)
      assert.matches("(1 to 10; `purser export broker.list_sub_accounts` writes all)", err, 1, true)
    end
    for _, words in ipairs { { "--limit", "50" }, { "-q" } } do
      local _, _, err = at.run("broker", "list_sub_accounts", (table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal("", err)
    end
    local code, out, err = at.run("wallet", "deposit_history", "--coin", "BTC")
    assert.same({ 0, "(none)\n" }, { code, out })
    assert.matches("%(none since %d+%-%d+%-%d+; %-%-since 90d shows more%)", err)
    assert.equal("", (select(3, at.run("wallet", "deposit_history", "--since", "20d"))))
  end)

  it("rejects a beginning that lies in the future or after the end, and quotes what is no time", function()
    local before = at.received "wallet.deposit_history"
    for typed, expected in pairs { ["--since 2999-01-01"] = '--since: "2999-01-01" is in the future',
      ["--since 1d --until 3d"] = "--since is later than --until; exchange them",
      ["--since yesterday"] = '--since: "yesterday" is not a time; give a duration before now (30d,' } do
      local words = { "wallet", "deposit_history" }
      for word in typed:gmatch "%S+" do words[#words + 1] = word end
      at.rejected(words, expected)
    end
    assert.equal(before, (at.received "wallet.deposit_history"))
  end)

  it("rejects what lies beyond the reach, before anything is sent", function()
    local before = at.received "wallet.deposit_history"
    local code, _, err = at.run("wallet", "deposit_history", "--since", "91d")
    assert.equal(2, code)
    assert.is_truthy(err:find("reaches back 90 days", 1, true))
    assert.equal(before, (at.received "wallet.deposit_history"))
  end)

  it("lists exactly as far as the service reaches, and says from where", function()
    local code, out, err = at.run("wallet", "deposit_history", "--since", "90d", "--format", "csv",
      "--columns", "amount")
    assert.equal(0, code)
    assert.is_truthy(err:find("reaches back 90 days; this lists from ", 1, true))
    local _, lines = out:gsub("\n", "")
    assert.equal(31, lines)
  end)

  it("takes dates", function()
    local code, out = at.run("wallet", "deposit_history", "--since", "2001-09-10", "--until", "2001-09-12T00:00:00Z",
      "--dry-run")
    assert.equal(0, code)
    assert.is_truthy(out:find("startTime=1000080000000&endTime=1000252800000", 1, true))
  end)

  it("shows progress on a terminal, and only there", function()
    local code, shown = at.on_terminal("", "wallet", "deposit_history", "--since", "30d")
    assert.equal(0, code)
    assert.is_truthy(shown:find("records, back to", 1, true))
    local _, _, err = at.run("wallet", "deposit_history", "--since", "30d")
    assert.equal("", err)
  end)
end)

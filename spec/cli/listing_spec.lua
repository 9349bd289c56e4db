-- SPDX-License-Identifier: MIT
-- Long listings: windows of time, pages, and how far they reach.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local listing = require "purser.cli.listing"
local operations = require "purser.client.operations"

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
    -- each a little shorter than seven days: their edges are asked for, too
    assert.equal(6, at.received "wallet.deposit_history" - before)
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
    assert.equal(5, at.received "wallet.deposit_history" - before)
    assert.equal("amount\n100.5\n101.5\n102.5\n", out)
  end)

  it("says that it shows a part, and how to see the rest", function()
    for _, name in ipairs { "part0001", "part0002", "part0003", "part0004", "part0005", "part0006", "part0007",
      "part0008", "part0009", "part0010", "part0011" } do
      assert.equal(0, (at.run("broker", "create_sub_account", "--subAccount", name, "--note", "n", "--yes")))
    end
    for part, words in pairs { ["the first 10"] = {}, ["the first 10;"] = { "--json" }, ["the first 5"] = { "--csv",
      "--limit", "5" }, ["page 2, 1"] = { "--page", "2" } } do
      local code, _, err = at.run("broker", "list_sub_accounts", (table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(0, code)
      assert.matches(part, err, 1, true)
      assert.matches("; --all shows the rest)", err, 1, true)
    end
    for _, words in ipairs { { "--limit", "50" }, { "--all" }, { "-q" } } do
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

  -- Returns an answer of an operation with so many records.
  local function answer_of(row, count)
    local list = {}
    for i = 1, count do list[i] = {} end
    if row.result.list then return list end
    local answer = { [row.result.page and "data" or "rows"] = list }
    for name, what in pairs(row.result.counts) do answer[name] = what == "records" and count + 1 or 2 end
    return answer
  end

  it("never shows a page alone without a word: no list does, with times or without", function()
    local count = 0
    for _, row in ipairs(operations.list) do
      for _, from in ipairs(row.paging and { false, 86400000 * 100 } or {}) do
        local answer = answer_of(row, row.by_name[row.paging.size].default or 20)
        local client = { call = function() return answer end }
        local _, _, part = listing.run(client, row, { startTime = from or nil }, { from = from or nil,
          now = 86400000 * 101, to = 86400000 * 101 })
        assert.matches("--all shows the rest", part, 1, true, row.full_name)
        count = count + 1
      end
    end
    assert.is_true(count > 20)
  end)

  it("fetches every page with --all, in every format", function()
    for i = 1, 12 do
      assert.equal(0, (at.run("sub_account", "create_sub_account", "--subAccount", ("pageaccount%02d"):format(i),
        "--note", "n", "--yes")))
    end
    for _, format in ipairs { "table", "json", "csv" } do
      local code, out, err = at.run("sub_account", "list_sub_accounts", "--all", "--format", format)
      assert.same({ 0, "" }, { code, err })
      assert.equal(12, select(2, out:gsub("pageaccount", "")), format)
    end
  end)

  it("fetches every page of a history with --all, the newest first, in the form of an answer", function()
    for i = 1, 12 do
      assert.equal(0, (at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
        "--asset", "USDT", "--amount", ("%d"):format(i), "--yes")))
    end
    local words = { "wallet", "transfer_history", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--json" }
    local _, _, err = command.run(words, at.keys)
    assert.matches("the first 10 of 12; --all shows the rest", err, 1, true)
    words[#words + 1] = "--all"
    local code, out
    code, out, err = command.run(words, at.keys)
    assert.same({ 0, "" }, { code, err })
    local answer = core.decode(out)
    assert.same({ 12, 12 }, { answer.total, #answer.rows })
    for i, row in ipairs(answer.rows) do assert.equal(("%d"):format(13 - i), row.amount) end
    code, out = at.run("wallet", "deposit_history", "--all", "--csv", "--columns", "amount")
    assert.equal(0, code)
    assert.matches("^amount\n100.5\n101.5\n", out)
    assert.equal(31, select(2, out:gsub("\n", "")))
    code, out = at.run("wallet", "withdrawal_addresses", "--all", "--json")
    assert.equal(0, code)
    assert.equal(core.decode(out).totalRecords, #core.decode(out).data)
  end)

  it("leaves nothing of --output where Ctrl-C ends --all", function()
    local path, shown, sent = at.file(), at.file(""), at.received "broker.list_sub_accounts"
    assert(at.world:fault { kind = "slow", operation = "broker.list_sub_accounts", delay_ms = 600000, times = 1 })
    local child = command.start({ "broker", "list_sub_accounts", "--all", "--output", path }, at.keys, shown)
    eventually(function() return at.received "broker.list_sub_accounts" > sent end)
    child.kill "INT"
    assert.matches("purser: interrupted; ", files.read(shown), 1, true)
    assert.is_nil(core.file_mode(path))
  end)

  it("rejects --all next to one page, and where nothing says since when", function()
    local sent = at.received "broker.list_sub_accounts"
    at.rejected({ "broker", "list_sub_accounts", "--all", "--page", "2" }, "--page", "together with --all")
    at.rejected({ "broker", "list_sub_accounts", "--all", "--limit", "5" }, "--limit", "together with --all")
    at.rejected({ "broker", "deposit_history", "--all" }, "give it as --since")
    assert.equal(sent, (at.received "broker.list_sub_accounts"))
  end)

  it("shows progress on a terminal, and only there", function()
    local code, shown = at.on_terminal("", "wallet", "deposit_history", "--since", "30d")
    assert.equal(0, code, shown)
    assert.is_truthy(shown:find("records, up to", 1, true))
    code, shown = at.on_terminal("", "wallet", "deposit_history", "--all")
    assert.equal(0, code)
    assert.matches("wallet%.deposit_history: 20 records, up to %d+%-", shown)
    local _, _, err = at.run("wallet", "deposit_history", "--since", "30d")
    assert.equal("", err)
  end)
end)

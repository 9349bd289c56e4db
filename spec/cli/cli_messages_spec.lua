-- SPDX-License-Identifier: MIT
-- Messages for a line that the command does not understand: what there is, and as JSON where that was asked for.

local command = require "command"
local core = require "purser.core"

local function said(...)
  local code, out, err = command.run { ... }
  assert.same({ 2, "" }, { code, out })
  return err
end

describe("a command line that is not understood", function()
  it("lists the actions where none is given", function()
    assert.matches("a command is required, one of plan, show, run, status, report, retry", said "payouts")
    assert.matches("a command is required, one of plan, apply, rotate", said "fleet")
    assert.matches("missing argument 'kind': ", said "wait")
  end)

  it("is reported as JSON with --json, in any of its forms and places", function()
    for _, words in ipairs { { "wallet", "coins", "--colour", "--json" }, { "--json", "walet", "coins" },
      { "wallet", "coins", "--format", "json", "--colour" }, { "wallet", "coins", "--format=json", "--colour" } } do
      local code, out, err = command.run(words)
      local failure = assert(core.decode(out)).error
      assert.same({ 2, "string", "argument", "not_sent" }, { code, type(failure.message), failure.kind,
        failure.outcome })
      for line in err:gmatch "[^\n]+" do assert.is_string(assert(core.decode(line)).message) end
    end
    assert.matches("^purser: ", said("wallet", "coins", "--colour"))
  end)

  it("leads to --filter from the name of a member of what is listed", function()
    assert.matches("unknown option '%-%-coin'\npurser: wallet%.coins lists all; to see only some, give %-%-filter "
      .. "coin=VALUE\n", said("wallet", "coins", "--coin", "USDT"))
    assert.is_nil(said("wallet", "coins", "--verbose"):find("--filter", 1, true))
    assert.is_nil(said("wallet", "withdraw", "--id", "x"):find("--filter", 1, true))
  end)

  it("quotes a value that is none of the choices, and names the nearest option", function()
    assert.matches("%-%-fromAccountType: 'spot' is none of 'SPOT', 'FUTURES' %(did you mean \"SPOT\"%?%)",
      said("wallet", "transfer", "--fromAccountType", "spot"))
    assert.matches("'kind': 'withdrawl' is none of 'withdrawal', .*did you mean \"withdrawal\"",
      said("wait", "withdrawl", "x"))
    local transfer = { "wallet", "transfer", "--asset", "USDT" }
    for unknown, near in pairs { ["--from"] = "--fromAccountType", ["--coin"] = "--asset" } do
      transfer[3] = unknown
      assert.matches(("unknown option '%s'; did you mean '%s'?"):format(unknown, near),
        said((table.unpack or unpack)(transfer)), 1, true) -- luacheck: ignore
    end
    assert.matches("did you mean `purser help`?", said "hlep", 1, true)
  end)

  it("asks for one format alone, and for a filter that a shell does not take away", function()
    for _, format in ipairs { "--csv", "--format" } do
      local words = { "wallet", "coins", "--json", format, format == "--format" and "csv" or nil }
      local _, out = command.run(words)
      assert.matches("give one of them", core.decode(out).error.message)
    end
    assert.matches("a shell takes > and < for itself", said("operations", "--filter", "weight"),
      1, true)
  end)

  it("names the topic `credentials` and an operation that were misspelt", function()
    assert.matches("did you mean `purser help credentials`%?", said("help", "credential"))
    assert.matches('no operation has "wihdraw" in its facts %(did you mean "withdraw"%?%)',
      said("operations", "wihdraw"))
  end)

  it("names the journal that does not exist, once", function()
    assert.equal("purser: journal: there is no journal /nowhere/j.db; give the --journal that the write calls were "
      .. "given\n", said("journal", "list", "--journal", "/nowhere/j.db"))
    assert.matches('^purser: the journal "/dev/null" cannot be opened: ',
      said("journal", "list", "--journal", "/dev/null"))
  end)
end)

-- SPDX-License-Identifier: MIT
-- `--record FILE`: the exchanges of a command, and its exit code, which is the command's where all was written. What is
-- written, and what never is, stands in recording/record_spec.lua.

local at_shell = require "at_shell"
local core = require "purser.core"
local files = require "files"

describe("--record", function()
  local at

  setup(function() at = at_shell() end)
  teardown(function() at.stop() end)

  it("writes each exchange of the command, wherever the option stands, and changes nothing else", function()
    local path = at.file()
    local code, out, err = at.run("--json", "--record", path, "wallet", "convertible_balances")
    assert.equal(0, code, err)
    assert.equal("USDT", core.decode(out)[1].asset)
    assert.matches("1 exchange was written to " .. path, err, 1, true)
    assert.equal(1, select(2, files.read(path):gsub('"GET"', "")))
    code, out, err = at.run("-q", "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "-5", "--yes", "--record", at.file())
    assert.same({ 2, "" }, { code, out })
    assert.matches("amounts are positive", err, 1, true)
  end)

  it("needs a new file", function()
    at.rejected({ "wallet", "coins", "--record", "/nonexistent/x" }, "--record", "give the name of a new file")
  end)
end)

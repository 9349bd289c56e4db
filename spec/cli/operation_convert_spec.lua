-- SPDX-License-Identifier: MIT
-- The exit code of a conversion: the service answers with success, and says in the result which coins it rejected.

local at_shell = require "at_shell"
local core = require "purser.core"
local files = require "files"

describe("purser wallet convert", function()
  local at

  setup(function()
    at = at_shell({ "--seed", "5" }, { role = "main", balances = { BTC = "1", DOGE = "3", TRX = "2" } })
  end)
  teardown(function() at.stop() end)

  local function convert(assets, ...) return at.run("wallet", "convert", "--asset", assets, "--yes", ...) end

  -- It was 0 where no coin was converted.
  it("ends with 1 where a coin was not converted, and prints the result", function()
    local code, out, err = convert("BTC", "--json")
    assert.equal(1, code)
    assert.equal("30022", core.decode(out).failedList[1].code)
    assert.truthy(err:find("BTC was not converted: The balance is worth more than 5 USDT [code 30022]", 1, true), err)
    code, out = convert("BTC,DOGE", "--json")
    assert.same({ 1, { "DOGE" } }, { code, core.decode(out).successList })
    code, out, err = convert "TRX"
    assert.same({ 0, "" }, { code, err }, out)
  end)

  it("ends with the same code when it is run again with its key, and keeps the result in a file", function()
    local journal, path = at.file(), at.file()
    for _ = 1, 2 do
      local code, _, err = convert("BTC", "--key", "dust-1", "--journal", journal, "--output", path)
      assert.equal(1, code, err)
      assert.matches("30022", files.read(path))
    end
    files.remove_database(journal)
  end)
end)

-- SPDX-License-Identifier: MIT
-- `purser wait`: until a withdrawal, a deposit or a transfer is done.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"

describe("purser wait", function()
  local at

  setup(function() at = at_shell(nil, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("says on a terminal that it may be stopped, wherever the record goes", function()
    local words = command.line({ "wait", "withdrawal", "none", "--deadline", "1s" }, at.keys)
    local NOTE = "to stop it changes nothing at the service"
    local _, shown = command.shell(("script -q -e -c %s /dev/null"):format(command.quote(words .. " | cat")))
    assert.matches(NOTE, shown, 1, true)
    _, shown = command.shell(("script -q -e -c %s /dev/null"):format(command.quote(words .. " 2>&1 | cat")))
    assert.is_nil(shown:find(NOTE, 1, true))
  end)

  it("ends with 3 when the time is over, with 0 and the record when it is done, with 1 when it cannot be", function()
    local _, drawn = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address",
      "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", "--amount", "20.5", "--yes")
    local id = assert(drawn:match "(%x%x%x%x%x%x%x%x%x%x+)\n*$", drawn)
    local code, out, err
    code, _, err = at.run("wait", "withdrawal", id, "--deadline", "1s")
    assert.equal(3, code)
    assert.matches("after 1 s", err)
    at.world:advance(3600000)
    code, out, err = at.run("wait", "withdrawal", id, "--format", "json")
    assert.equal(0, code, err)
    assert.matches('"status": "SUCCESS"', out)
    code = at.run("wait", "withdrawal", id, "--goal", "cancelled")
    assert.equal(1, code)
    code = at.run("wait", "withdrawal", id, "--deadline", "soon")
    assert.equal(2, code)
  end)

  it("takes --since of a withdrawal alone", function()
    at.rejected({ "wait", "transfer", "1", "--since", "1d" }, "--since is of a withdrawal")
    local code, _, err = at.run("wait", "withdrawal", "none", "--deadline", "1s", "--since", "1d")
    assert.equal(3, code, err)
  end)

  describe("and the reads of withdrawals keep what became of the payments of a journal", function()
    -- Makes a journal with a payment that was cancelled by hand. Returns its path, and the withdrawal's id.
    local function cancelled()
      local path = at.file()
      local _, out = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--amount", "20.5", "--yes",
        "--journal", path, "--json", "--address", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7")
      local id = core.decode(out).id
      assert(at.world:set_withdrawal(id, "CANCEL"))
      return path, id
    end

    local function arrival(path)
      local _, out = at.run("journal", "list", "--json", "--journal", path)
      return core.decode(out)[1].arrival
    end

    it("in the journal of PURSER_JOURNAL, by a wait, a listing and a cursor", function()
      local cursor = at.file()
      for _, words in ipairs { { "wait", "withdrawal", "ID", "--goal", "cancelled" }, { "wait", "withdrawal", "ID" },
        { "wallet", "withdrawal_history" }, { "wallet", "withdrawal_history", "--since", "30d", "--all" },
        { "wallet", "withdrawal_history", "--cursor", cursor } } do
        local path, id = cancelled()
        words[3] = words[3] == "ID" and id or words[3]
        assert.is_nil(arrival(path))
        command.run(words, at.with { PURSER_JOURNAL = path })
        assert.equal("cancelled", arrival(path), table.concat(words, " "))
      end
    end)

    it("in the journal of --journal, and the cancel in its own", function()
      local path, id = cancelled()
      assert.equal(0, (at.run("wait", "withdrawal", id, "--goal", "final", "--journal", path)))
      assert.equal("cancelled", arrival(path))
      path, id = cancelled()
      assert.equal(0, (at.run("wallet", "cancel_withdrawal", "--id", id, "--yes", "--journal", path)))
      assert.equal("cancelled", arrival(path))
    end)

    it("and a journal of the environment that is not the account's stops no read", function()
      local folder, text, path, id = at.folder(), at.file "no journal", cancelled()
      local line = { "wait", "withdrawal", id, "--goal", "cancelled" }
      for _, journal in ipairs { path, folder .. "/missing.db", folder .. "/none/", text, "redis://x", folder } do
        local code, out, err = command.run(line, at.with { PURSER_JOURNAL = journal, PURSER_ACCOUNT = "other" })
        assert.equal(0, code, err)
        assert.is_truthy(out:find("CANCEL", 1, true))
        assert.is_nil(err:find(journal, 1, true), err)
      end
      assert.is_nil(arrival(path))
      assert.is_nil(io.open(folder .. "/missing.db"))
      for _, journal in ipairs { path, folder .. "/missing.db", folder .. "/none/" } do
        local code, _, err = command.run({ "wait", "withdrawal", id, "--journal", journal },
          at.with { PURSER_ACCOUNT = "other" })
        assert.equal(2, code, err)
      end
    end)
  end)
end)

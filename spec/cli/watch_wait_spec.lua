-- SPDX-License-Identifier: MIT
-- `purser wait`: until a withdrawal, a deposit or a transfer is done.

local at_shell = require "at_shell"
local command = require "command"

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
end)

-- SPDX-License-Identifier: MIT
-- A cancel reads the record before: an answer does not prove that the withdrawal existed (user 5).

local at_shell = require "at_shell"
local core = require "purser.core"

describe("purser wallet cancel_withdrawal", function()
  local at
  setup(function() at = at_shell({ "--seed", "62" }, { role = "broker", balances = { USDT = "5000" } }) end)
  teardown(function() at.stop() end)

  local function cancel(id, ...) return at.run("wallet", "cancel_withdrawal", "--id", id, "--yes", ...) end
  local function withdraw()
    local _, out = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--amount", "20", "--yes",
      "--json", "--address", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7")
    return core.decode(out).id
  end

  it("sends nothing for an id that no withdrawal has", function()
    withdraw()
    for _, id in ipairs { "0123456789abcdef0123456789abcdef", "nope" } do
      local code, out, err = cancel(id)
      assert.same({ 2, "" }, { code, out })
      assert.is_truthy(err:find("no withdrawal of the last 7 days has this id", 1, true), err)
    end
    assert.equal(0, (at.received "wallet.cancel_withdrawal"))
  end)

  it("names the command that shows the end, and sends nothing once the withdrawal is over", function()
    local id = withdraw()
    local code, out, err = cancel(id)
    assert.equal(0, code, err)
    assert.is_truthy(out:find(id, 1, true))
    assert.is_truthy(err:find(("next: purser wait withdrawal %s --goal cancelled"):format(id), 1, true), err)
    assert.equal(0, (at.run("wait", "withdrawal", id, "--goal", "cancelled")))
    local before = at.received "wallet.cancel_withdrawal"
    code, out = cancel(id, "--json")
    assert.same({ 0, id, "CANCEL" }, { code, core.decode(out).id, core.decode(out).status })
    code, out, err = cancel(id)
    assert.equal(0, code, out)
    assert.is_truthy(err:find("nothing was sent: the withdrawal " .. id .. " is cancelled already", 1, true), err)
    local other = withdraw()
    assert(at.world:set_withdrawal(other, 7))
    code, out = cancel(other, "--json")
    assert.equal(1, code)
    assert.is_truthy(core.decode(out).error.message:find("is done, so it can no longer be cancelled", 1, true), out)
    assert.equal(before, (at.received "wallet.cancel_withdrawal"))
  end)
end)

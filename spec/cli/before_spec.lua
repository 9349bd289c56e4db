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

  it("says by the record what became of a cancel without a clear answer", function()
    local rows = { -- the state before, the fault, and the exit code and message
      { 5, nil, 1, "is WAIT_PACKAGING, and not cancelled (the answer: " },
      { 2, { kind = "lost_answer" }, 0, "is cancelled already (the answer: " },
      { 2, { kind = "server_error", when = "before", status = 500 }, 4, "is AUDITING, and not cancelled by now" },
    }
    for _, row in ipairs(rows) do
      local id = withdraw()
      assert(at.world:set_withdrawal(id, row[1]))
      local fault = row[2]
      if fault then
        fault.operation, fault.times = "wallet.cancel_withdrawal", 1
        assert(at.world:fault(fault))
      end
      local code, out, err = cancel(id)
      assert.equal(row[3], code, err)
      assert.is_truthy(err:find(("the withdrawal %s %s"):format(id, row[4]), 1, true), err)
      assert.equal(row[3] == 4, err:find("UNKNOWN", 1, true) ~= nil, err)
      assert.equal(row[3] == 0, out:find("CANCEL", 1, true) ~= nil, out)
    end
  end)

  it("is unknown where the record cannot be read either", function()
    local id = withdraw()
    for _, fault in ipairs { { kind = "lost_answer", operation = "wallet.cancel_withdrawal", times = 1 },
      { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", skip = 1, times = 1 } } do
      assert(at.world:fault(fault))
    end
    local code, _, err = cancel(id)
    assert.equal(4, code, err)
    assert.is_truthy(err:find("UNKNOWN", 1, true), err)
  end)
end)

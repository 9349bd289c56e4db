-- SPDX-License-Identifier: MIT
-- The records that an undecided payment may be: every one is kept and printed, the likest first; and the payee's name.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("a person's word on payments", function()
  local at, journal

  setup(function()
    at = at_shell({ "--seed", "31" }, { role = "main", balances = { USDT = "5000" } })
    journal = at.file()
  end)
  teardown(function() at.stop() end)

  local function payouts(...)
    local words = { "payouts", ... }
    for _, word in ipairs { "--queue", "june", "--journal", journal } do words[#words + 1] = word end
    return at.run(unpack(words))
  end

  -- "... and 41 more" was all that a person could see of them.
  it("can be given on what the payment may be: every record, the likest first, by three commands", function()
    local to = { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON, "--yes", "--amount" }
    for _, amount in ipairs { "20", "21", "21", "21", "21" } do
      local line = { unpack(to) }
      line[#line + 1] = amount
      assert.equal(0, (at.run(unpack(line))))
    end
    local list = at.file("key,name,coin,network,address,amount\nrent,Alice Ltd,USDT,TRX," .. TRON .. ",21\n")
    local code, _, err = payouts("run", list, "--operation", "wallet.withdraw", "--yes")
    assert.equal(4, code, err)
    assert.equal(5, (select(2, at.received "wallet.withdraw")))
    local out
    code, out = payouts("report", "--json")
    assert.equal(0, code)
    local row = core.decode(out)[1]
    assert.same({ "rent", "Alice Ltd", "undecided" }, { row.key, row.name, row.state })
    assert.is_true(#row.candidates > 3, out)
    for i, candidate in ipairs(row.candidates) do
      assert.equal(i < #row.candidates and "21" or candidate.amount, candidate.amount)
      assert.is_true(candidate.id ~= nil and #candidate.fits >= 1)
    end
    code, out = payouts("report", "--csv")
    assert.equal(0, code)
    assert.matches(",Alice Ltd," .. #row.candidates .. "\n$", out)
    for _, words in ipairs { { "payouts", "show", "rent" }, { "journal", "show", "rent" } } do
      code, out, err = at.run(words[1], words[2], words[3], "--journal", journal)
      assert.equal(0, code)
      assert.matches("may be one of these; .*\nrecord +time +amount +asset +differs\n", err)
      for line in err:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
      assert.matches("\n" .. row.candidates[1].id .. "  %d%d%-%d%d %d%d:%d%d +21  USDT   %-\n", err)
      local shown = core.decode(out)
      assert.same({ "rent", "june", row.candidates }, { shown.key, shown.queue, shown.candidates })
    end
    at.rejected({ "payouts", "show", "rend", "--journal", journal }, "no payment has that key")
    at.rejected({ "payouts", "show", "rent" }, "for the payment of that key give --journal FILE")
    code, _, err = payouts("settle", "rent", "not_done", "--by", "alice", "--yes")
    assert.equal(0, code)
    assert.matches("may be one of these", err)
    assert.is_nil(core.decode((select(2, payouts("report", "--json"))))[1].candidates) -- a person has decided
  end)

  it("hears of a payment that was accepted, and cancelled later by hand", function()
    local own = at_shell({ "--seed", "32" })
    finally(own.stop)
    local list = own.file("key,coin,network,address,amount\nold,USDT,TRX," .. TRON .. ",33\n")
    local keys = own.with { PURSER_JOURNAL = own.file() }
    local code, out, err = command.run({ "payouts", "run", list, "--operation", "wallet.withdraw", "--yes" }, keys)
    assert.equal(0, code, out .. err)
    assert.is_truthy(err:find("the payment is made", 1, true), err)
    local _, report = command.run({ "payouts", "report", "--json" }, keys)
    local id = core.decode(report)[1].record_id
    assert.equal(0, (command.run({ "wallet", "cancel_withdrawal", "--id", id, "--yes" }, keys)))
    assert.equal(0, (command.run({ "wait", "withdrawal", id, "--goal", "cancelled" }, keys)))
    _, report = command.run({ "payouts", "report" }, keys)
    assert.is_truthy(report:find("old +done +cancelled +33 +USDT"), report)
    code, _, err = command.run({ "payouts", "run", list, "--operation", "wallet.withdraw", "--yes" }, keys)
    assert.equal(0, code)
    assert.is_truthy(err:find("1 of 1 payment that the service accepted failed or was cancelled later", 1, true), err)
    assert.is_nil(err:find("are made", 1, true), err)
  end)
end)

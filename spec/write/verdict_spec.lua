-- SPDX-License-Identifier: MIT
-- The verdicts of worlds drawn at random, and what a record may show of a call.

local operations = require "purser.client.operations"
local subjects = require "purser.write.subject"
local verdict = require "purser.write.verdict"
local verdict_worlds = require "verdict_worlds"

local START = 1700000000000
local ROW = operations.by_name["wallet.withdraw"]

describe("The verdicts of worlds", function()
  for _, kind in ipairs(verdict_worlds.KINDS) do
    it("are never false: " .. kind, function() verdict_worlds.hold(kind, kind == "hard" and 200 or 100, 0) end)
  end
end)

describe("a record", function()
  local HOUR = 3600000

  -- Returns whether a record of a withdrawal may be this call's, and whether the record agrees.
  local function judged(fields, seen, sent)
    local params = { coin = "USDT", netWork = "TRX", address = "Tshop", amount = "20" }
    for name, value in pairs(sent or {}) do params[name] = value or nil end
    local subject = subjects.of({ operation = ROW.full_name, params = params, id = "c" }, START, START + 60000)
    local record = { id = "r", coin = "USDT", address = "Tshop", amount = "20", applyTime = START + 400 }
    for name, value in pairs(fields) do record[name] = value or nil end
    verdict.tell(subject, seen or {})
    return verdict.may_be(subject, record), verdict.agrees(subject, record), verdict.is_rival(subject, record)
  end

  it("may be a call's up to 38 hours before and after, and agrees in the call's own time alone", function()
    for at, expected in pairs { [400] = { true, true, true }, [38 * HOUR + 60000] = { true, false, false },
      [38 * HOUR + 60001] = { false, false, false }, [-38 * HOUR] = { true, false, false },
      [-38 * HOUR - 1] = { false, false, false }, [120000] = { true, false, true }, [-60000] = { true, false, true },
      [120001] = { true, false, false }, [-60001] = { true, false, false } } do
      assert.same(expected, { judged { applyTime = START + at } }, at)
    end
  end)

  it("may be a call's where a fee or a cut explains the amount, which agrees as it was sent alone", function()
    for amount, expected in pairs { ["20.00"] = { true, true, true }, ["19"] = { true, false, true },
      ["10"] = { true, false, true }, ["40"] = { true, false, true }, ["9.99"] = { true, false, false },
      ["40.01"] = { true, false, false } } do
      assert.same(expected, { judged { amount = amount } }, amount)
    end
  end)

  it("of a move between own accounts may be a call's by a cut amount alone, as no fee is taken", function()
    local row = operations.by_name["wallet.transfer"]
    local sent = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20.129" }
    for amount, expected in pairs { ["20.129"] = true, ["20.12"] = true, ["20.13"] = true, ["20"] = true,
      ["20.11"] = false, ["19.129"] = false, ["10"] = false } do
      local subject = verdict.tell(subjects.of({ operation = row.full_name, params = sent, id = "c" }, START,
        START + 60000), {})
      local record = { tranId = "r", timestamp = START + 400, amount = amount, fromAccountType = "SPOT",
        toAccountType = "FUTURES", asset = "USDT" }
      assert.equal(expected, verdict.is_rival(subject, record), amount)
    end
  end)

  it("agrees where it shows payee, amount and time, and no memo that was not sent", function()
    for name, expected in pairs { address = false, amount = false, applyTime = false, coin = true } do
      assert.equal(expected, (select(2, judged { [name] = false })), name)
    end
    assert.same({ true, false, false }, { judged { memo = "7" } })
    assert.same({ true, true, true }, { judged({ memo = "7" }, nil, { memo = "7" }) })
  end)
end)

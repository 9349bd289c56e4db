-- SPDX-License-Identifier: MIT
-- The records that an undecided call may have made, as a table for a person.

local candidates = require "purser.cli.candidates"

local function candidate(id, differs, more)
  local one = { id = id, applyTime = 1700000000000, amount = "20", coin = "USDT", fits = {}, differs = differs }
  for name, value in pairs(more or {}) do one[name] = value end
  return one
end

describe("the table of candidates", function()
  local function text(...) return candidates.text("wallet.withdraw", { ... }) end

  it("shows those that differ in no more members than the first, and counts the others", function()
    local id = ("ab"):rep(16)
    assert.equal("it may be one of these; compare them with the service's page:\n"
      .. "record                            time         amount  asset  differs\n"
      .. "--------------------------------  -----------  ------  -----  -------\n"
      .. id .. "  11-14 22:13      20  USDT   -\n"
      .. "2 more are less like it\n",
      text(candidate(id, {}), candidate("b", { "amount" }), candidate("c", { "address", "amount" })))
  end)

  it("names what differs in words of people, and what is not shown by -", function()
    local shown = text(candidate("a", { "address", "coin" }), candidate("b", { "memo", "toAccount" },
      { applyTime = "soon", amount = false }))
    assert.matches("a +11%-14 22:13 +20 +USDT +payee, asset\n", shown)
    assert.matches("b +soon +%- +USDT +memo, payee\n", shown)
    assert.is_nil(shown:find("less like it", 1, true))
  end)

  it("shows five at most, and there is none of none", function()
    local list = {}
    for i = 1, 6 do list[i] = candidate("r" .. i, {}) end
    local shown = candidates.text("wallet.withdraw", list)
    assert.matches("\nr5 .*\n1 more is less like it\n$", shown)
    assert.is_nil(shown:find("r6", 1, true))
    assert.is_nil(candidates.text("wallet.withdraw", {}))
    assert.is_nil(candidates.text("wallet.withdraw", nil))
  end)
end)

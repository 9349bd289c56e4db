-- SPDX-License-Identifier: MIT
-- Two sides of one movement: by transaction, then by amount and time; never by a guess.

local match = require "purser.desk.books.match"

local NOW = 1700000000000

local function row(rid, amount, time, more)
  local made = { rid = rid, asset = "USDT", amount = amount, fee = "1", time = ("%d"):format(NOW + time), tx = "",
    address = "T1", memo = "" }
  for name, value in pairs(more or {}) do made[name] = value end
  return made
end

-- Returns the pairs as "w1=d1", in order, and the ids of what stays open.
local function pairs_of(withdrawals, deposits, said, outside)
  local pair_of, open = match.pairs(withdrawals, deposits, said or {}, outside or {})
  local list, left = {}, {}
  for _, withdrawal in ipairs(withdrawals) do
    local pair = pair_of[withdrawal.rid]
    if pair then list[#list + 1] = withdrawal.rid .. "=" .. pair.rid end
    if open[withdrawal.rid] then left[#left + 1] = withdrawal.rid end
  end
  table.sort(list)
  table.sort(left)
  return list, left
end

describe("match.pairs", function()
  it("takes the amount, or the amount less the fee, and no other", function()
    assert.same({ "w=d" }, (pairs_of({ row("w", "20", 0) }, { row("d", "20", 60000) })))
    assert.same({ "w=d" }, (pairs_of({ row("w", "20", 0) }, { row("d", "19", 60000) })))
    assert.same({}, (pairs_of({ row("w", "20", 0) }, { row("d", "19.99", 60000) })))
    assert.same({}, (pairs_of({ row("w", "20", 0) }, { row("d", "20", 60000, { address = "T2" }) })))
    assert.same({}, (pairs_of({ row("w", "20", 0) }, { row("d", "20", 60000, { memo = "7" }) })))
  end)

  it("believes a transaction before a time, in either spelling, and no time without it", function()
    local withdrawals = { row("w", "20", 0, { tx = "0xAB" }) }
    assert.same({ "w=d2" }, (pairs_of(withdrawals, { row("d1", "20", 60000, { tx = "cd" }),
      row("d2", "20", 90000000, { tx = "ab:0" }) })))
    assert.same({}, (pairs_of({ row("w", "20", 0) }, { row("d", "20", 90000000) })))
    assert.same({}, (pairs_of({ row("w", "20", 0) }, { row("d", "20", -600000) })))
  end)

  it("leaves two candidates open until a person says which", function()
    local withdrawals = { row("w", "20", 0) }
    local deposits = { row("d1", "20", 60000), row("d2", "19", 70000) }
    assert.same({ {}, { "w" } }, { pairs_of(withdrawals, deposits) })
    assert.same({ { "w=d2" }, {} }, { pairs_of(withdrawals, deposits, { w = { value = "d2" } }) })
    assert.same({ {}, {} }, { pairs_of(withdrawals, deposits, nil, { w = true }) })
  end)

  it("pairs as many equal ones in order, and what is left without them", function()
    assert.same({ { "w1=d1", "w2=d2" }, {} }, { pairs_of({ row("w2", "20", 10), row("w1", "20", 0) },
      { row("d2", "20", 70000), row("d1", "20", 60000) }) })
    local _, open = pairs_of({ row("w1", "20", 0), row("w2", "20", 10) }, { row("d1", "20", 60000) })
    assert.same({ "w1", "w2" }, open)
    -- d1 can be of w1 alone, so d2 is of w2
    assert.same({ "w1=d1", "w2=d2" }, (pairs_of({ row("w1", "20", 0, { tx = "a" }), row("w2", "20", 10) },
      { row("d1", "20", 60000, { tx = "a" }), row("d2", "20", 70000) })))
  end)

  it("leaves two open whose candidates are equal, and whose amounts or fees are not", function()
    local deposits = { row("d1", "20", 1000), row("d2", "20", 2000) }
    assert.same({}, (pairs_of({ row("w1", "20", 0), row("w2", "21", 0) }, deposits)))
    assert.same({}, (pairs_of({ row("w1", "20", 0), row("w2", "20", 0, { fee = "2" }) }, deposits)))
    assert.same({ "w1=d1", "w2=d2" }, (pairs_of({ row("w1", "20", 0), row("w2", "20", 0) }, deposits)))
    assert.same({}, (pairs_of({ row("w1", "20", 0), row("w2", "20", -86399000) }, deposits)))
  end)

  it("takes four times the steps for four times the withdrawals to one own address", function()
    local function steps(n)
      local withdrawals, deposits, count = {}, {}, 0
      for i = 1, n do
        withdrawals[i] = row("w" .. i, ("%d"):format(i), i * 1000, { tx = i % 2 == 0 and "t" .. i or "" })
        deposits[i] = row("d" .. i, ("%d"):format(i), i * 1000 + 500, { tx = i % 2 == 0 and "t" .. i or "" })
      end
      debug.sethook(function() count = count + 1 end, "", 1000)
      local list = pairs_of(withdrawals, deposits)
      debug.sethook()
      assert.equal(n, #list)
      return count
    end
    steps(10)
    assert.is_true(steps(1600) < 5.5 * steps(400))
  end)
end)

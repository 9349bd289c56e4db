-- SPDX-License-Identifier: MIT
-- Two sides of one movement: by transaction, then by amount and time; never by a guess.

local match = require "purser.desk.books.match"
local steps_of = require "steps".of

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
    assert.same({ "w=d1" }, (pairs_of(withdrawals, { row("d2", "20", 1000, { tx = "cd" }), row("d1", "20", 0) })))
    assert.same({ "w=d1" }, (pairs_of({ row("w", "20", 0) }, { row("d3", "20", 90000000), row("d2", "20", 90000001),
      row("d1", "20", 0) }))) -- in the order of time, whatever their own is
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

  it("leaves open what has as many candidates, and not the same", function()
    -- w2 and d2 show other transactions, so w2 is d1, if anything; in order it would be d2
    assert.same({}, (pairs_of({ row("w1", "20", 0), row("w2", "20", 10, { tx = "a" }) },
      { row("d1", "20", 60000), row("d2", "20", 70000, { tx = "b" }) })))
  end)

  it("says how many candidates has what stays open, on both sides", function()
    local _, open = match.pairs({ row("w1", "20", 0), row("w2", "21", 0, { fee = "" }) }, { row("d1", "20", 1000),
      row("d2", "19", 2000), row("d3", "21", 3000), row("d4", "5", 0) }, {}, {})
    assert.same({ w1 = 2, d1 = 1, d2 = 1 }, open)
  end)

  it("finds a deposit from five minutes before until a day after", function()
    for time, is_found in pairs { [-300001] = false, [-300000] = true, [86400000] = true, [86400001] = false } do
      assert.same(is_found and { "w=d" } or {}, (pairs_of({ row("w", "20", 0) }, { row("d", "20", time) })))
    end
  end)

  it("takes four times the steps for four times the withdrawals to one own address, also of one amount", function()
    for amount, transactions in pairs { ["%d"] = 2, ["20"] = 1e9, ["20.0"] = 1 } do
      local function steps(n)
        local withdrawals, deposits = {}, {}
        for i = 1, n do
          local tx = i % transactions == 0 and (transactions == 1 and "t" or "t" .. i) or ""
          withdrawals[i] = row("w" .. i, amount:format(i), i * 100, { tx = tx })
          deposits[i] = row("d" .. i, amount:format(i), i * 100 + 50, { tx = tx })
        end
        local count, list = steps_of(function() return (pairs_of(withdrawals, deposits)) end)
        assert.equal(n, #list)
        return count
      end
      assert.is_true(steps(1600) < 5 * steps(400), amount)
    end
  end)
end)

describe("match.before", function()
  it("orders by time, then by id, then by what a record went through", function()
    local function before(a, b) return { match.before(a, b), match.before(b, a) } end
    assert.same({ true, false }, before({ time = "1", rid = "b" }, { time = "2", rid = "a" }))
    assert.same({ true, false }, before({ time = "1", rid = "a", rev = "2" }, { time = "1", rid = "b", rev = "1" }))
    assert.same({ true, false }, before({ time = "1", rid = "a", row = { rev = "1" } },
      { time = "1", rid = "a", row = { rev = "2" } }))
    assert.same({ true, false }, before({ time = "1", rid = "a" }, { time = "1", rid = "a", rev = "1" }))
    assert.same({ false, false }, before({ time = "1", rid = "a" }, { time = "1", rid = "a" }))
  end)
end)

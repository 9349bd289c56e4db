-- SPDX-License-Identifier: MIT
-- Rows of a list that may be a mistake: what is found, and what is left alone.

local at = require "payouts_setting"
local payments_plan = require "purser.desk.payouts.plan"

local function withdrawal(key, amount, address, more)
  local params = { coin = "USDT", netWork = "TRX", amount = amount, address = address or "T" .. key }
  for name, value in pairs(more or {}) do params[name] = value end
  return { key = key, operation = "wallet.withdraw", row = {}, params = params, odd = {} }
end

-- The keys of the odd rows of a list, in its order.
local function odd_of(list, known, paid)
  payments_plan.find_odd(list, known or {}, paid or {})
  local keys = {}
  for i, payment in ipairs(list) do keys[#keys + 1] = payment.odd[1] and list[i].key or nil end
  table.sort(keys)
  return keys
end

describe("rows that may be a mistake", function()
  it("are equal ones, however the amount and the network are written", function()
    local list = { withdrawal("a", "20", "T"), withdrawal("b", "20.0", "T", { netWork = "ETH", remark = "x" }),
      withdrawal("c", "20", "T", { memo = "1" }), withdrawal("d", "21", "T"), withdrawal("e", "20", "U") }
    assert.same({ "a", "b" }, odd_of(list))
    assert.equal("2 equal rows: each pays 20 USDT to T", list[1].odd[1])
    local legacy = withdrawal("b", "20", "T", { netWork = "Tron(TRC20)" })
    legacy.operation = "wallet.withdraw_legacy"
    assert.same({ "a", "b" }, odd_of { withdrawal("a", "20", "T"), legacy })
  end)

  it("are keys that differ only in case, or blanks", function()
    assert.same({ "INV-1", "inv-1" }, odd_of { withdrawal("inv-1", "20"), withdrawal("INV-1", "21"),
      withdrawal("inv-2", "22") })
    assert.same({ "inv 3", "inv3" }, odd_of { withdrawal("inv 3", "20"), withdrawal("inv3", "21") })
  end)

  it("are what was sent in the last days, by whatever key, unless their key is known", function()
    local now = 1700000000000
    local sent = { withdrawal("x", "20", "T"), withdrawal("y", "21", "T"), withdrawal("z", "22", "T") }
    local states, asked = { "done", "rejected", "unknown" }, nil
    local journal = { entries = function(_, filter)
      asked = filter
      local entries = {}
      for i, payment in ipairs(sent) do
        entries[i] = { state = states[i], intent = { operation = "wallet.withdraw", params = payment.params,
          sent_at = now - 1000 } }
      end
      return entries
    end }
    local paid = assert(payments_plan.paid_lately(journal, now))
    assert.same({ now - 7 * 86400000 }, { asked.after.intent.sent_at })
    local list = { withdrawal("a", "20", "T"), withdrawal("b", "21", "T"), withdrawal("c", "22", "T") }
    assert.same({ "a", "c" }, odd_of(list, {}, paid))
    assert.matches("an equal payment was sent on 2023-11-14T22:13:19.000Z (done): 20 USDT to T", list[1].odd[1], 1,
      true)
    assert.same({}, odd_of({ withdrawal("a", "20", "T") }, { a = true }, paid))
    journal.entries = function() return nil, "no such table" end
    assert.same({ nil, "no such table" }, { payments_plan.paid_lately(journal, now) })
  end)

  it("are amounts ten times above the next lower one of the asset, where a list has a range", function()
    local function list_of(amounts, coin)
      local list = {}
      for i, amount in ipairs(amounts) do list[i] = withdrawal("k" .. i, amount, nil, { coin = coin }) end
      return list
    end
    assert.same({ "k6" }, odd_of(list_of { "12.50", "12.50", "13", "11", "12", "1250" }))
    assert.same({}, odd_of(list_of { "12.50", "12.50", "13", "11", "12", "120" }))
    assert.same({}, odd_of(list_of { "12", "1250" }))
    assert.same({}, odd_of(list_of { "1", "9", "80", "700", "5000", "40000" }))
    local both = list_of { "12", "13", "14", "15" }
    both[5] = withdrawal("btc", "50000", nil, { coin = "SATS" })
    assert.same({}, odd_of(both))
    both[6] = withdrawal("no", "1,5")
    assert.same({}, odd_of(both))
  end)

  it("are those whose key or memo a spreadsheet changed: a payment with another memo is lost", function()
    for _, text in ipairs { "1.23457E+11", "1e5", "123.0", "123,00", "'123", "=A1", "#N/A", "\239\188\145", "-", "NULL",
      "none", "n/a" } do
      local list = { withdrawal("a", "20", "T", { memo = text }), withdrawal(text, "21", "U"), withdrawal("c", "22") }
      assert.same({ text, "a" }, { odd_of(list)[1] == "a" and odd_of(list)[2] or odd_of(list)[1], list[1].key })
      assert.equal(("the memo %s may be a program's word for another text; compare it with its source")
        :format(text), list[1].odd[1])
      assert.same({}, odd_of({ withdrawal(text, "20", "T", { memo = text }) }, { [text] = true }))
    end
    for _, text in ipairs { "007", "123", "1.5", "e5", "INV-3E", "a=b", "5.01" } do
      assert.same({}, odd_of { withdrawal(text, "20", "T", { memo = text }) })
    end
  end)

  it("are none of a list whose rows are all in the queue", function()
    assert.same({}, odd_of({ withdrawal("a", "20", "T"), withdrawal("b", "20", "T") }, { a = true, b = true }))
  end)
end)

it("a row that equals a payment of another queue may be a mistake while that one may still be made", function()
  at.begin()
  local function odd_in(queue)
    local plan = assert(queue:plan { payments = { { key = "b", operation = at.TRANSFER, params = at.move "5" } } })
    return plan.payments[1].odd[1] or ""
  end
  for stage, is_odd in pairs { waiting = true, taken = true, undecided = true, failed = false, dropped = false } do
    local other = at.payouts_with { queue = stage }
    assert(other:add("a", at.TRANSFER, at.move "5"))
    at.set("stage = $1 WHERE queue = $2", stage, stage)
    local text = ('an equal payment is %s in the queue "%s": 5 USDT to tradingdesk1'):format(stage, stage)
    assert.same({ is_odd and text or "", nil }, { odd_in(at.payouts_with()), odd_in(other):match "in the queue" })
    at.set("stage = 'dropped' WHERE queue = $1", stage)
  end
  at.finish()
end)

-- SPDX-License-Identifier: MIT
-- Rows of the books from the service's records: the same id in every run, exact amounts, a class for each state.

local record = require "purser.desk.books.record"

local context = { account = "A", owner = "Main", source = "s", asset = function(coin) return coin end,
  is_own = function() return "" end }

local function rows(entity, made, where)
  local list = {}
  record.add(list, entity, made, where)
  return list
end

local function deposit(more)
  local made = { coin = "USDT", network = "TRX", address = "T1", amount = "5.10", insertTime = 1700000000000,
    status = 4, txId = "ab", memo = "" }
  for name, value in pairs(more or {}) do made[name] = value end
  local row = rows("deposit", made, context)[1]
  return row, record.rid(row, 1)
end

describe("A row of the books", function()
  it("has an id that padding, state and the way it is shown do not change", function()
    local row, id = deposit()
    assert.equal(64, #id)
    assert.equal("5.1", row.amount)
    for _, more in ipairs { { amount = "5.100000" }, { status = "5" }, { status = "SUCCESS" }, { status = 9 },
      { confirmTimes = "7" } } do
      local _, other = deposit(more)
      assert.equal(id, other)
    end
    for _, more in ipairs { { amount = "5.2" }, { txId = "ac" }, { insertTime = 1700000000001 }, { memo = "7" } } do
      local _, other = deposit(more)
      assert.are_not.equal(id, other)
    end
    assert.are_not.equal(id, record.rid(row, 2))
  end)

  it("knows an address with its memo in either form", function()
    local _, apart = deposit { address = "T1", memo = "77" }
    for _, more in ipairs { { address = "T1:77" }, { address = "T1:77", memo = "77" },
      { address = "T1", memo = "", addressTag = "77" } } do
      local _, id = deposit(more)
      assert.equal(apart, id)
    end
  end)

  it("has a class for each state, and none for an amount that is none", function()
    local classes = {}
    for state = 1, 12 do classes[state] = deposit { status = state }.class end
    assert.same({ "pending", "pending", "pending", "pending", "done", "pending", "void", "void", "early", "void",
      "pending", "pending" }, classes) -- 12: a state that sources disagree about is open, as for receive
    assert.equal("pending", deposit { status = 99 }.class)
    assert.equal("unreadable", deposit { amount = "much" }.class)
    assert.is_true(record.is_final "done" and record.is_final "void" and not record.is_final "sent")
  end)

  it("reads amounts exactly, also with an exponent", function()
    assert.same({ "0.00000012", "1200", "0", "", "-1.5" }, { record.amount "1.2E-7", record.amount "1.2e+3",
      record.amount "0.000", record.amount "much", record.amount "-1.50" })
  end)

  it("takes a conversion's parts as net or gross, whichever the total shows", function()
    local batch = { totalConvert = "1.96", totalFee = "0.04", convertTime = 1700000000000, convertDetails = {
      { id = "c1", convert = "0.98", fee = "0.02", amount = "2.50", time = 1700000000000, asset = "USDT" },
      { id = "c2", convert = "0.98", fee = "0.02", amount = "3", time = 1700000000000, asset = "TRX" } } }
    local found = rows("conversion", batch, context)
    assert.same({ "0.98", "0.98", "2.5" }, { found[1].got, found[2].got, found[1].amount })
    batch.totalConvert = "1.92"
    assert.equal("0.96", rows("conversion", batch, context)[1].got)
  end)

  it("knows a rebate by its day, user, asset and type, so that it may grow", function()
    local function rebate(amount, day)
      local row = rows("rebate", { asset = "USDT", amount = amount, type = "spot", uid = "7", time = day }, context)[1]
      assert.equal("done", row.class)
      return record.rid(row, 1), record.signature(row)
    end
    local id, small = rebate("1", "20231114") -- as the interface document has it
    local same, large = rebate("2", "2023-11-14")
    assert.equal(id, same)
    assert.are_not.equal(small, large)
    assert.are_not.equal(id, (rebate("1", "20231115")))
  end)

  it("writes equal records as equal texts, whatever they hold", function()
    local values = { { b = 1, a = "x" }, {}, { a = 'q"', b = { 1, 2 }, c = true }, { z = "", a = 5 },
      { b = 2, a = "1", c = "5%" }, { b = "2", a = 1, c = "5" }, { a = "\n" },
      { [""] = 1, a = 2 }, {}, { a = true } }
    for i = 1, 80 do values[9]["n" .. i] = i end
    for _, value in ipairs(values) do assert.equal(record.json(value), record.json(value, "kind")) end
    assert.equal('{"a":"x","b":1}', record.json({ b = 1, a = "x" }, "kind"))
  end)

  it("leaves a zero byte out of what a database keeps", function()
    assert.equal("a\\0b", deposit { txId = "a\0b" }.tx)
  end)

  it("tells the prefix of a chain from a memo behind an address", function()
    local own = { account = "A", owner = "Main", asset = function(coin) return coin end }
    for shown, expected in pairs { ["kaspa:qpm2qsznhks23z7629mms6s"] = "kaspa:qpm2qsznhks23z7629mms6s ",
      ["rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh:10417"] = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh 10417" } do
      local made = {}
      record.add(made, "deposit", { coin = "X", amount = "1", insertTime = 1700000000000, status = 5, address = shown },
        own)
      assert.equal(expected, made[1].address .. " " .. made[1].memo)
    end
  end)
end)

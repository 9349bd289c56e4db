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
    local ripple = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
    local _, apart = deposit { address = ripple, memo = "77" }
    for _, more in ipairs { { address = ripple .. ":77" }, { address = ripple .. ":77", memo = "77" },
      { address = ripple, memo = "", addressTag = "77" }, { address = ripple, memo = "077" } } do
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
      ["kaspa:qpm2qsznhks23"] = "kaspa:qpm2qsznhks23 ", ["kaspa:qpm2qsznhks2"] = "kaspa:qpm2qsznhks2 ",
      ["rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh:10417"] = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh 10417" } do
      local made = {}
      record.add(made, "deposit", { coin = "X", amount = "1", insertTime = 1700000000000, status = 5, address = shown },
        own)
      assert.equal(expected, made[1].address .. " " .. made[1].memo)
    end
  end)

  -- Returns the columns of a row that are not empty, as a text; its identity without what every row has.
  local function shown(row)
    local parts = {}
    for _, name in ipairs { "sid", "time", "updated", "state", "class", "asset", "amount", "fee", "fee_asset", "got",
      "got_asset", "owner", "from_owner", "from_place", "to_owner", "to_place", "network", "address", "memo", "tx",
      "client_id", "batch", "identity" } do
      local value = row[name]
      if value and value ~= "" then parts[#parts + 1] = ("%s=%s"):format(name, (value:gsub("\30", "|"))) end
    end
    return table.concat(parts, " ")
  end

  it("has these columns for a record of each kind", function()
    local T = 1700000000000
    local where = { account = "A", owner = "Main", source = "s", from = "Sub-a", to = "Sub-b",
      asset = function(coin) return coin == "USDT-TRX" and "USDT" or tostring(coin) end,
      is_own = function(text) return text == "77" and "Sub-a" or "" end }
    local cases = {
      { "deposit", { coin = "USDT-TRX", network = "TRX", address = "T1", addressTag = "9", amount = "5.0",
        status = "SUCCESS", insertTime = T, updateTime = T + 1, txId = "0xAB:0" },
        "time=1700000000000 updated=1700000000001 state=5 class=done asset=USDT amount=5 owner=Main to_owner=Main "
          .. "to_place=Spot network=TRX address=T1 memo=9 tx=0xAB:0 identity=1700000000000|USDT|5|7:text:T1|9|ab" },
      { "withdrawal", { id = "w1", coin = "USDT-TRX", network = "TRX", address = "T1", memo = "9", amount = "20",
        transactionFee = "1.0", status = 7, applyTime = T, updateTime = T + 1, transHash = "cd", txId = "ef",
        withdrawOrderId = "o1" },
        "sid=w1 time=1700000000000 updated=1700000000001 state=7 class=done asset=USDT amount=20 fee=1 fee_asset=USDT "
          .. "owner=Main from_owner=Main from_place=Spot network=TRX address=T1 memo=9 tx=cd client_id=o1 "
          .. "identity=w1" },
      { "withdrawal", { coin = "USDT", address = "T1", amount = "20", status = 6, applyTime = T, txId = "ef" },
        "time=1700000000000 state=6 class=sent asset=USDT amount=20 fee_asset=USDT owner=Main from_owner=Main "
          .. "from_place=Spot address=T1 tx=ef identity=1700000000000|USDT|20|T1" },
      { "transfer", { tranId = "t1", clientTranId = "c1", asset = "USDT", amount = "3", fromAccountType = "SPOT",
        toAccountType = "FUTURES", status = "success", timestamp = T },
        "sid=t1 time=1700000000000 state=SUCCESS class=done asset=USDT amount=3 owner=Sub-a from_owner=Sub-a "
          .. "from_place=Spot to_owner=Sub-b to_place=Futures client_id=c1 identity=t1|Sub-a|Spot|Sub-b|Futures" },
      { "transfer", { asset = "USDT", amount = "3", fromAccountType = "MARGIN", toAccountType = "EARN", status = "WAIT",
        timestamp = T },
        "time=1700000000000 state=WAIT class=pending asset=USDT amount=3 owner=Sub-a from_owner=Sub-a "
          .. "from_place=MARGIN to_owner=Sub-b to_place=EARN identity=1700000000000|USDT|3|Sub-a|MARGIN|Sub-b|EARN" },
      { "internal_transfer", { tranId = "i1", asset = "USDT", amount = "3", fromAccount = "77", toAccount = "88",
        status = "failed", timestamp = T },
        "sid=i1 time=1700000000000 state=FAILED class=void asset=USDT amount=3 owner=Sub-a from_owner=Sub-a "
          .. "from_place=Spot to_place=Spot address=88 batch=77 identity=i1" },
      { "internal_transfer", { asset = "USDT", amount = "3", fromAccount = "88", toAccount = "77", status = "WAIT",
        timestamp = T },
        "time=1700000000000 state=WAIT class=pending asset=USDT amount=3 owner=Main from_place=Spot to_owner=Sub-a "
          .. "to_place=Spot address=77 batch=88 identity=1700000000000|USDT|3|88|77" },
      { "rebate", { time = "20231114", asset = "USDT", amount = "0.50", type = "spot", uid = "5" },
        "time=1699920000000 state=SUCCESS class=done asset=USDT amount=0.5 owner=Main client_id=5 batch=spot "
          .. "identity=1699920000000|5|USDT|spot" },
      { "sub_account", { subAccount = "a", note = "n", uid = "5", isFreeze = false, createTime = T },
        "sid=a time=1700000000000 state=false class=done owner=Main address=n client_id=5 identity=a" },
      { "sub_account", { subAccount = "a", timestamp = T, isFreeze = true },
        "sid=a time=1700000000000 state=true class=done owner=Main identity=a" },
      { "api_key", { apiKey = "k", note = "n", permissions = "P", ip = "1.2.3.4", createTime = T },
        "sid=k time=1700000000000 state=P class=done owner=Main to_owner=Sub-b network=1.2.3.4 address=n identity=k" },
      { "address", { coin = "USDT", network = "TRX", address = "T1", memo = "9" },
        "class=done asset=USDT owner=Sub-a from_owner=Sub-a to_owner=Sub-b network=TRX address=T1 memo=9 "
          .. "identity=Sub-a|Sub-b|USDT|TRX|T1|9" },
      { "status", { status = "1" }, "state=1 class=done owner=Main to_owner=Sub-b identity=Sub-b" },
      { "call", { state = "open", intent = { id = "j1", sent_at = T, operation = "wallet.withdraw", account = "77",
        params = { coin = "USDT", amount = "20.0", address = "T1", memo = "9", withdrawOrderId = "o1" } } },
        "sid=j1 time=1700000000000 state=open class=done asset=USDT amount=20 owner=Sub-a from_owner=Sub-a address=T1 "
          .. "memo=9 client_id=o1 batch=wallet.withdraw identity=j1" },
      { "call", { state = "open", intent = { id = "j1", sent_at = T, operation = "x", account = "88",
        params = { asset = "USDT", amount = "20", toAccount = "desk", clientTranId = "c1" } } },
        "sid=j1 time=1700000000000 state=open class=done asset=USDT amount=20 owner=Main address=desk client_id=c1 "
          .. "batch=x identity=j1" },
    }
    for _, case in ipairs(cases) do
      local found = rows(case[1], case[2], where)
      assert.equal(1, #found)
      assert.equal(case[3], shown(found[1]))
      assert.same({ "A", case[1], "s", record.json(case[2]) }, { found[1].account, found[1].entity, found[1].source,
        found[1].raw })
      local of_states = { sub_account = true, api_key = true, address = true, status = true, call = true }
      assert.equal(not of_states[case[1]], record.is_payment(case[1]))
    end
    local found = rows("conversion", { convertTime = T, totalConvert = "0.960", convertDetails = {
      { id = "c1", asset = "DOGE", convert = "0.98", fee = "0.02", amount = "30" },
      { id = "c2", asset = "TRX", convert = "much", amount = "30" } } }, where)
    assert.same({ "sid=c1 time=1700000000000 state=SUCCESS class=done asset=DOGE amount=30 fee=0.02 fee_asset=MX "
      .. "got=0.96 got_asset=MX owner=Main batch=0.96 identity=c1|DOGE", "sid=c2 time=1700000000000 state=SUCCESS "
      .. "class=unreadable asset=TRX fee=0 fee_asset=MX got_asset=MX owner=Main batch=0.96 identity=c2|TRX" },
      { shown(found[1]), shown(found[2]) })
    assert.same({}, rows("conversion", { convertTime = T }, where))
  end)

  it("has a class for each state of a withdrawal, and none without a time", function()
    local classes = {}
    local function class_of(state, time)
      local made = { id = "w", coin = "X", amount = "1", applyTime = time, status = state }
      return rows("withdrawal", made, context)[1].class
    end
    for state = 1, 10 do classes[state] = class_of(state, 1700000000000) end
    assert.same({ "pending", "pending", "pending", "pending", "pending", "sent", "done", "void", "void", "pending" },
      classes)
    assert.equal("unreadable", class_of(7, nil))
    assert.is_false(record.is_final "early")
  end)

  it("is told from an equal one by what a state changes, and by nothing else", function()
    local first = deposit()
    for name, is_told in pairs { state = true, tx = true, fee = true, amount = true, network = true, address = true,
      memo = true, asset = true, got = true, time = false, client_id = false, batch = false, class = false } do
      local other = deposit()
      other[name] = "other"
      assert.equal(is_told, record.signature(first) ~= record.signature(other), name)
    end
    assert.equal(record.rid(first, 1), (select(2, deposit())))
    assert.are_not.equal(record.rid(first, 2), record.rid(first, 3))
  end)

  it("is like another deposit by its transaction, or by place, time and amount", function()
    local linked, bare = record.likeness(deposit { txId = "0xAB:0", address = "T1" })
    assert.same({ "USDT|7:text:T1|ab", "USDT|7:text:T1|1700000000000|5.1" }, {
       (linked:gsub("\30", "|")), (bare:gsub("\30", "|")) })
    assert.is_nil((record.likeness(deposit { txId = "" })))
  end)

  it("reads times as milliseconds, digits, days and dates, and none else", function()
    for time, expected in pairs { [1700000000000] = "1700000000000", ["1700000000000"] = "1700000000000",
      ["20231114"] = "1699920000000", ["2023-11-14"] = "1699920000000", ["2023-11-14T10:00:00Z"] = "1699920000000",
      soon = "", ["170000000000"] = "", [5] = "0000000000005" } do
      assert.equal(expected, deposit({ insertTime = time }).time, tostring(time))
    end
    local long = ("9"):rep(120)
    assert.equal(long, record.amount(long))
    assert.same({ "0", "", "10", "100" }, { record.amount "0", record.amount(nil), record.amount "10",
      record.amount(100) })
    assert.equal("0." .. ("0"):rep(98) .. "12", record.amount "1.2E-99")
  end)
end)

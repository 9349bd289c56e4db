-- SPDX-License-Identifier: MIT
-- make test: 6 s
-- Statements: the same question has the same bytes; a closed month stays, and what comes later is a correction.

local books_world = require "books_world"
local files = require "files"
local record = require "purser.desk.books.record"

local MINUTE, DAY = 60000, 86400000
local OUTSIDE = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

describe("A statement", function()
  after_each(files.remove_kept)

  local function deposit(world, amount, more)
    local fields = { account = world.main.uid, coin = "USDT", network = "TRX", amount = amount }
    for name, value in pairs(more or {}) do fields[name] = value end
    return assert(world.sim:deposit(fields))
  end

  local function sync(world, books)
    world.sim:advance(1)
    assert(books:sync())
    world.sim:advance(1)
  end

  local function closing(made, account, asset)
    for _, leg in ipairs(made.closing) do
      if leg[1] == account and leg[2] == asset then return tostring(leg[3]) end
    end
  end

  local NOVEMBER = { from = "2023-11-01", to = "2023-12-01" }
  local DECEMBER = { from = "2023-12-01", to = "2024-01-01" }
  local SPOT = "Assets:Account:Main:Spot"

  it("goes to a function part by part, which may end it", function()
    local world = books_world.new()
    local books = books_world.open(world)
    for i = 1, 600 do
      deposit(world, ("%d"):format(i))
      world.sim:advance(1000)
    end
    world.sim:advance(30 * MINUTE)
    sync(world, books)
    local parts, span = {}, { from = NOVEMBER.from, to = NOVEMBER.to, format = "csv" }
    local text = assert(books:statement(span))
    span.write = function(part) parts[#parts + 1] = part end
    assert.equal("", (books:statement(span)))
    assert.equal(text, table.concat(parts))
    assert.is_true(#parts > 1)
    local reason = {}
    span.write = function() error(reason, 0) end
    assert.same({ false, reason }, { pcall(books.statement, books, span) })
    books:close()
  end)

  it("shows an old revision with its old bytes, whatever is learned later", function()
    local world = books_world.new()
    local books = books_world.open(world)
    sync(world, books)
    deposit(world, "5")
    sync(world, books)
    local rev = tonumber(books.store:rev())
    local old = assert(books:statement(NOVEMBER))
    world.sim:advance(30 * MINUTE)
    sync(world, books)
    local new, made = books:statement(NOVEMBER)
    assert.are_not.equal(old, new)
    assert.equal("1005", closing(made, SPOT, "USDT"))
    assert.equal(old, (books:statement { from = NOVEMBER.from, to = NOVEMBER.to, rev = rev }))
    books:close()
  end)

  it("names a record whose time cannot be read, in every format", function()
    local books, rows = books_world.open(books_world.new()), {}
    record.add(rows, "deposit", { coin = "USDT", amount = "5", insertTime = "soon", status = 5, address = "T1" },
      { account = "Account", owner = "Main", source = "s", asset = tostring })
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = "1700000000000" }, rev)
    end)
    for _, format in ipairs { "hledger", "beancount", "csv", "jsonl", "html" } do
      local text, made = books:statement { from = NOVEMBER.from, to = NOVEMBER.to, format = format }
      assert.truthy(text, format .. ": " .. tostring(made))
      assert.truthy(format == "csv" or text:find("it cannot be read: no time is shown", 1, true), text)
    end
    books:close()
  end)

  it("shows an old revision's gaps as they were, also when the outage outlived what the service shows", function()
    local world = books_world.new()
    local books = books_world.open(world)
    sync(world, books)
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    world.sim:advance(DAY)
    assert(books:sync())
    local span = { from = NOVEMBER.from, to = "2024-06-01", rev = tonumber(books.store:rev()) }
    local old = assert(books:statement(span))
    assert.truthy(old:find("; not read: Main, withdrawal, from 2023-11-14 to now: ", 1, true))
    world.sim:advance(100 * DAY)
    sync(world, books)
    assert.equal(old, (books:statement(span)))
    local new = assert(books:statement { from = span.from, to = span.to })
    assert.truthy(new:find("; not read: Main, withdrawal, from 2023-11-14 to 2023-", 1, true), new)
    books:close()
  end)

  it("keeps a closed month's bytes, and corrects it on the first open day", function()
    local world = books_world.new()
    local books = books_world.open(world)
    sync(world, books)
    world.sim:advance(DAY)
    deposit(world, "8")
    world.sim:advance(10 * MINUTE)
    sync(world, books)
    local _, before = books:statement(NOVEMBER)
    assert.equal("1008", closing(before, SPOT, "USDT"))
    local done, err = books:close_before "2023-12-01"
    assert.same({ nil, "what lies before that day is not over" }, { done, err.message })
    world.sim:advance(16 * DAY)
    done, err = books:close_before "2023-12-01"
    assert.same({ nil, "not read yet: what is later than 2023-11-15 22:23 (Main, sub_accounts)", "ends" },
      { done, err.message, err.parameter })
    sync(world, books)
    assert.truthy(books:close_before "2023-12-01")
    local closed = assert(books:statement(NOVEMBER))
    -- a record of the closed month that shows up late; its money came when the month was over
    world.sim:advance(2 * DAY)
    deposit(world, "3", { time = world.sim:now() - 3 * DAY })
    sync(world, books)
    assert.equal(closed, (books:statement(NOVEMBER)))
    local text, made = books:statement(DECEMBER)
    assert.truthy(text:find "2023%-12%-01 %* correction\n  ; id: %x+\n.-  ; corrects: 2023%-11\n")
    assert.equal("1011", closing(made, SPOT, "USDT"))
    assert.equal(0, #made.unexplained)
    -- both months in one span have what both have
    local _, whole = books:statement { from = NOVEMBER.from, to = DECEMBER.to }
    assert.equal("1011", closing(whole, SPOT, "USDT"))
    books:close()
  end)

  it("carries what was held forward, and calls money in transit what no deposit shows yet", function()
    local world = books_world.new()
    local books = books_world.open(world, { addresses = { [OUTSIDE] = "Main" } })
    sync(world, books)
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = OUTSIDE })
    world.sim:advance(20 * DAY)
    sync(world, books)
    local text, made = books:statement(DECEMBER)
    assert.truthy(text:find("brought forward", 1, true))
    assert.equal("20", closing(made, "Assets:Account:Transit", "USDT"))
    assert.truthy(text:find("on its way to an own address", 1, true))
    local id = books.store:rows "SELECT rid FROM purser_books_withdrawal"[1].rid
    assert(books:outside(id))
    text, made = books:statement(DECEMBER)
    assert.is_nil(closing(made, "Assets:Account:Transit", "USDT"))
    assert.falsy(text:find("on its way", 1, true))
    books:close()
  end)

  it("prints what was not read, what no balance shows, what is open, and what went below zero", function()
    local world = books_world.new { subs = 1 }
    local books = books_world.open(world, { keys = {} })
    assert(world.client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "9" })
    deposit(world, "5")
    sync(world, books)
    local text = books:statement(NOVEMBER)
    for _, words in ipairs { "; not read: Sub%-desk1, key", "; open: %x+ of 2023",
      "; not reconciled: no balance shows Assets:Account:Main:Futures" } do
      assert.truthy(text:find(words), words)
    end
    books:close()
  end)

  it("settles by a person's word what is out of sight", function()
    local world = books_world.new()
    local books = books_world.open(world)
    local made = assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = OUTSIDE })
    world.sim:set_withdrawal(made.id, 4)
    sync(world, books)
    world.sim:advance(89 * DAY + DAY / 2)
    sync(world, books)
    local span = { from = "2023-11-01", to = "2030-01-01" }
    local text, data = books:statement(span)
    assert.truthy(text:find("out of sight", 1, true))
    assert.equal("21", closing(data, "Assets:Account:Main:Leaving", "USDT"))
    local id = books.store:rows "SELECT rid FROM purser_books_withdrawal"[1].rid
    assert(books:settle(id, "failed"))
    text, data = books:statement(span)
    assert.falsy(text:find("out of sight", 1, true))
    assert.equal("0", closing(data, "Assets:Account:Main:Leaving", "USDT"))
    books:close()
  end)

  it("says of a span that nobody read that nobody read it", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    local function gaps(span)
      local _, made = books:statement(span)
      return made.gaps[1] and made.gaps[1].why
    end
    assert.equal("nobody read this span", gaps(NOVEMBER)) -- there was no sync
    sync(world, books)
    assert.is_nil(gaps(NOVEMBER))
    assert.equal("nobody read this span", gaps(DECEMBER))
    assert.equal("nobody read this span", gaps { from = "2021-01-01", to = "2021-02-01" })
    world.sim:advance(30 * DAY)
    sync(world, books)
    assert.is_nil(gaps(DECEMBER))
    books:close()
  end)

  it("says of a span that was read in part which part nobody read, the same at a revision for ever", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    sync(world, books)
    sync(world, books) -- once a day
    local text, made = books:statement(NOVEMBER)
    assert.same({}, made.gaps)
    assert.truthy(text:find("; not read yet: what is later than 2023-11-14 22:13 (Main, sub_accounts)\n", 1, true))
    local page = books:statement { from = NOVEMBER.from, to = NOVEMBER.to, format = "html" }
    assert.truthy(page:find("Not all was read that is later than 2023-11-14 22:13.", 1, true))
    local _, day = books:statement { from = "2023-11-14", to = "2023-11-14T22:13" }
    assert.is_nil(day.ahead)
    _, day = books:statement { from = "2023-11-14", to = "2023-11-14T22:14" }
    assert.equal("sub_accounts", day.ahead.list)
    local before = select(2, books:statement { from = "2023-01-01", to = "2023-11-15" }).gaps
    local lists = {}
    for i, gap in ipairs(before) do
      lists[i] = ("%s %s %s"):format(gap.list, gap.why, books.days:date(gap.ends))
    end
    assert.same({ "conversion, internal_transfer nobody read this span 2023-05-18",
      "transfer nobody read this span 2023-05-20", "deposit, withdrawal nobody read this span 2023-08-16" }, lists)
    assert.same({}, books:gaps())
    local rev = tonumber(books.store:rev())
    world.sim:advance(30 * DAY)
    sync(world, books)
    assert.is_nil(select(2, books:statement(NOVEMBER)).ahead)
    assert.equal(text, (books:statement { from = NOVEMBER.from, to = NOVEMBER.to, rev = rev }))
    books:close()
  end)

  -- Returns a statement of November of these rows: { entity, record, context }.
  local function made_of(list, options)
    local books = books_world.open(books_world.new { subs = 0 }, options)
    local rows = {}
    for _, one in ipairs(list) do
      local context = { account = "Account", owner = "Main", source = "s", asset = tostring,
        is_own = function() return "" end }
      for name, value in pairs(one[3] or {}) do context[name] = value end
      record.add(rows, one[1], one[2], context)
    end
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = "1700000000000" }, rev)
    end)
    local _, made = books:statement { from = NOVEMBER.from, to = NOVEMBER.to }
    books:close()
    return made
  end

  local NOW = 1700000000000

  local function deposit_of(more)
    local fields = { coin = "USDT", amount = "5", insertTime = NOW, status = 5, address = "T1", txId = "a" }
    for name, value in pairs(more) do fields[name] = value end
    return { "deposit", fields }
  end

  it("names what is open, each with why, and nothing that is later than the span", function()
    local withdrawal = { id = "w", coin = "USDT", amount = "5", applyTime = NOW, status = 7, address = "T1" }
    local stranger = { "internal_transfer", { tranId = "i", asset = "USDT", amount = "3", timestamp = NOW,
      status = "SUCCESS", fromAccount = "x", toAccount = "y" } }
    local call = { state = "open", intent = { id = "j", sent_at = NOW, operation = "wallet.withdraw", account = "x",
      params = { coin = "USDT", amount = "9", withdrawOrderId = "o1" } } }
    local function open(...)
      local list = {}
      for i, one in ipairs(made_of { ... }.open) do list[i] = one.row.amount .. " " .. one.why end
      table.sort(list)
      return list
    end
    assert.same({}, open(deposit_of {}))
    assert.same({ "5 not final: deposit in state PENDING" }, open(deposit_of { status = 4 }))
    assert.same({ "5 not final: deposit in state PRE_SUCCESS" }, open(deposit_of { status = 9 }))
    assert.same({ "5 not final: deposit in state 77" }, open(deposit_of { status = 77 }))
    assert.same({}, open(deposit_of { status = 4, insertTime = NOW + 30 * DAY }))
    assert.same({ "3 which side is the account's is not known: name the identities" }, open(stranger))
    assert.same({ "5 whose it is is not known: name the address" }, open {
      "deposit", deposit_of({})[2], { owner = "" } })
    assert.same({ "5 1 withdrawals may be its other side", "5 1 withdrawals may be its other side",
      "5 2 deposits may be its other side" }, open({ "withdrawal", withdrawal }, deposit_of { txId = "b" },
      deposit_of { txId = "c" }))
    local waits = "9 the journal has its call of wallet.withdraw (open), and no record shows it yet"
    assert.same({ waits }, open { "call", call })
    withdrawal.withdrawOrderId = "o1"
    withdrawal.address = "T9"
    assert.same({}, open({ "call", call }, { "withdrawal", withdrawal }))
    call.intent.params.withdrawOrderId = nil
    assert.same({ waits }, open({ "call", call }, { "withdrawal", withdrawal }))
    call.intent.params.withdrawOrderId = "o1"
    assert.same({ waits }, open({ "call", call }, { "rebate", { asset = "USDT", amount = "1", uid = "o1",
      time = "20231114", type = "spot" } }))
  end)

  it("says what went below zero first, what is assumed, and what every account holds", function()
    local made = made_of { { "withdrawal", { id = "w", coin = "USDT", amount = "5", transactionFee = "1",
      applyTime = NOW, status = 7, address = "T9" } }, { "withdrawal", { id = "v", coin = "USDT", amount = "2",
      applyTime = NOW + 1, status = 7, address = "T9" } }, deposit_of { insertTime = NOW + 2 } }
    assert.same({}, made_of({ deposit_of {}, { "withdrawal", { id = "z", coin = "USDT", amount = "5",
      transactionFee = "0", applyTime = NOW + 1, status = 7, address = "T9" } } }).negative) -- zero is not below zero
    assert.equal(1, #made.negative)
    local lowest = made.negative[1]
    assert.same({ "Assets:Account:Main:Spot", "USDT", "-6", "w" }, { lowest.account, lowest.asset,
      tostring(lowest.amount), lowest.entry.row.sid })
    assert.equal(1, made.assumed)
    assert.same({ { "Assets:Account:Main:Spot", "USDT", "-3" } }, made.closing)
    assert.same({ { "Assets:Account:Main:Spot", "USDT", "-3" }, { "Equity:Account:Outside", "USDT", "2" },
      { "Expenses:Account:Fees:Withdrawal", "USDT", "1" } }, made.all)
    assert.same({ "Assets:Account:Main:Spot" }, made.unread) -- no balance was read
    assert.same({ 0, "Account" }, { #made.unexplained, made.account })
  end)

  it("brings forward what was held, against the opening account, and dates what has no time", function()
    local books, rows = books_world.open(books_world.new { subs = 0 }), {}
    record.add(rows, "deposit", deposit_of({ insertTime = NOW - 30 * DAY })[2], { account = "Account", owner = "Main",
      source = "s", asset = tostring })
    books.store:write(function(tx, rev)
      books.store:apply(tx, { rows = rows, source = "s", asked_at = "1700000000000" }, rev)
    end)
    local _, made = books:statement { from = NOVEMBER.from, to = NOVEMBER.to }
    local first = made.entries[1]
    assert.same({ "brought forward", "", made.from, { { SPOT, "USDT", "5" },
      { "Equity:Account:Opening", "USDT", "-5" } } }, { first.text, first.rid, first.time, first.legs })
    assert.equal(1, #made.entries)
    books:close()
  end)
end)

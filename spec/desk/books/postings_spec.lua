-- SPDX-License-Identifier: MIT
-- Where the money of a record stands in each state: whatever it goes through, the postings sum to zero.

local decimal = require "purser.decimal"
local postings = require "purser.desk.books.postings"

local chart = postings.chart "A"

local function versions(fields, ...)
  local list = {}
  for i, class in ipairs { ... } do
    local row = { rid = "r", class = class, seen = ("%d"):format(i), booked = ("%d"):format(i), rev = "1",
      asset = "USDT", amount = "20", fee = "", got = "", owner = "Main", from_owner = "", to_owner = "", state = "1",
      time = "1" }
    for name, value in pairs(fields) do row[name] = value end
    list[i] = row
  end
  return list
end

-- Returns the entries as texts, an entry a line.
local function shown(fields, facts, ...)
  local lines = {}
  for i, entry in ipairs(postings.entries(versions(fields, ...), facts, chart)) do
    local parts, sums = {}, {}
    for n, leg in ipairs(entry.legs) do
      parts[n] = leg[1]:gsub(":A:", ":") .. " " .. tostring(leg[3]) .. " " .. leg[2]
      sums[leg[2]] = (sums[leg[2]] or decimal(0)) + leg[3]
    end
    for asset, sum in pairs(sums) do assert.is_true(sum:is_zero(), asset) end
    lines[i] = entry.text .. ": " .. table.concat(parts, ", ")
  end
  return lines
end

local withdrawal = { entity = "withdrawal", from_owner = "Sub-desk1", fee = "1" }

describe("postings.entries", function()
  it("leads a withdrawal through Leaving, with the fee on top or inside", function()
    assert.same({ "withdrawal asked: Assets:Sub-desk1:Leaving 21 USDT, Assets:Sub-desk1:Spot -21 USDT",
      "withdrawal sent: Assets:Sub-desk1:Leaving -21 USDT, Equity:Outside 20 USDT, Expenses:Fees:Withdrawal 1 USDT" },
      shown(withdrawal, { inside = false }, "pending", "pending", "sent", "done"))
    assert.same({ "withdrawal done: Assets:Sub-desk1:Spot -20 USDT, Assets:Transit 19 USDT, "
      .. "Expenses:Fees:Withdrawal 1 USDT" }, shown(withdrawal, { inside = true, transit = true }, "done"))
    assert.same({ "withdrawal asked: Assets:Sub-desk1:Leaving 21 USDT, Assets:Sub-desk1:Spot -21 USDT",
      "withdrawal given back: Assets:Sub-desk1:Leaving -21 USDT, Assets:Sub-desk1:Spot 21 USDT" },
      shown(withdrawal, { inside = false }, "pending", "void"))
  end)

  it("counts a deposit once it is credited, also early, and takes it back", function()
    local deposit = { entity = "deposit", to_owner = "Main" }
    assert.same({ "deposit, credited early: Assets:Main:Spot 20 USDT, Equity:Outside -20 USDT",
      "deposit taken back: Assets:Main:Spot -20 USDT, Equity:Outside 20 USDT" },
      shown(deposit, {}, "pending", "early", "done", "void"))
    assert.same({}, shown({ entity = "deposit" }, {}, "done")) -- nobody knows whose
  end)

  it("books both sides of a transfer, and of a transfer to somebody else one", function()
    local transfer = { entity = "transfer", from_owner = "Main", from_place = "Spot", to_owner = "Main",
      to_place = "Futures" }
    assert.same({ "transfer waits: Assets:Main:Leaving 20 USDT, Assets:Main:Spot -20 USDT",
      "transfer: Assets:Main:Futures 20 USDT, Assets:Main:Leaving -20 USDT" }, shown(transfer, {}, "pending", "done"))
    assert.same({ "internal transfer: Assets:Main:Spot -20 USDT, Equity:Outside 20 USDT" },
      shown({ entity = "internal_transfer", from_owner = "Main" }, {}, "done"))
    assert.same({}, shown({ entity = "internal_transfer" }, {}, "done"))
  end)

  it("keeps what is out of sight where it stood, until a person says how it ended", function()
    local lost = versions(withdrawal, "pending", "lost_sight")
    lost[2].state = "4"
    lost[1].state = "4"
    assert.equal(1, #postings.entries(lost, { inside = false }, chart))
    lost[3] = versions(withdrawal, "lost_sight")[1]
    lost[3].said, lost[3].booked = "void", "3"
    assert.equal(2, #postings.entries(lost, { inside = false }, chart))
  end)

  it("books a rebate that grows by what it grew, and a conversion with its fee", function()
    local list = versions({ entity = "rebate" }, "done", "done")
    list[2].amount = "25.5"
    local entries = postings.entries(list, {}, chart)
    assert.equal("5.5", tostring(entries[2].legs[1][3]))
    assert.same({ "conversion: Assets:Main:Spot 0.49 MX, Assets:Main:Spot -20 USDT, Equity:Conversion -0.5 MX, "
      .. "Equity:Conversion 20 USDT, Expenses:Fees:Conversion 0.01 MX" },
      shown({ entity = "conversion", fee = "0.01", got = "0.49", got_asset = "MX" }, {}, "done"))
  end)

  it("makes an account of any name, and different ones of different names", function()
    assert.equal("Assets:A:Sub-a-2Db-20c:Spot", chart.owner("Sub-a-b c", "Spot"))
    assert.are_not.equal(chart.owner("Sub-a-2D", "Spot"), chart.owner("Sub-a-", "Spot"))
    assert.equal("Assets:A:Main:MARGIN-0A-20-201", chart.owner("Main", "MARGIN\n  1"))
  end)

  it("books nothing with a receiver before it came, whatever it is", function()
    for entity, fields in pairs { deposit = {}, internal_transfer = { from_owner = "" }, conversion = {}, rebate = {},
      transfer = { from_owner = "Sub-a", from_place = "Spot", to_place = "Spot" },
      withdrawal = { from_owner = "Sub-a", fee = "1" } } do
      fields.entity, fields.to_owner = entity, "Main"
      for _, line in ipairs(shown(fields, {}, "pending")) do assert.falsy(line:find("Main", 1, true), line) end
    end
  end)

  it("dates an entry by when its state counts, never before the entry before, and names its record", function()
    local list, facts = versions(withdrawal, "pending", "sent", "void"), { inside = false }
    list[1].booked, list[2].booked, list[3].booked = "5", "3", "7"
    local entries = postings.entries(list, facts, chart)
    assert.same({ "5", "5", "7" }, { entries[1].time, entries[2].time, entries[3].time })
    for i, entry in ipairs(entries) do
      assert.equal("r", entry.rid)
      assert.equal(list[i], entry.row)
      assert.equal(facts, entry.fact)
      assert.equal(i == 1, entry.is_pending)
    end
  end)

  it("leads from one position to the next, account by account and asset by asset", function()
    local list = versions({ entity = "rebate" }, "done", "done", "void")
    list[2].amount = "25"
    local function legs_of(i) return postings.entries(list, {}, chart)[i].legs end
    assert.same({ { "Assets:A:Rebates", "USDT", "20" }, { "Income:A:Rebates", "USDT", "-20" } }, legs_of(1))
    assert.same({ { "Assets:A:Rebates", "USDT", "5" }, { "Income:A:Rebates", "USDT", "-5" } }, legs_of(2))
    assert.same({ { "Assets:A:Rebates", "USDT", "-25" }, { "Income:A:Rebates", "USDT", "25" } }, legs_of(3))
    local moved = versions({ entity = "conversion", fee = "0.01", got = "0.49", got_asset = "MX" }, "done", "done")
    moved[2].got = "0.59"
    assert.same({ { "Assets:A:Main:Spot", "MX", "0.1" }, { "Equity:A:Conversion", "MX", "-0.1" } },
      postings.entries(moved, {}, chart)[2].legs)
  end)

  it("books a deposit and a withdrawal of an own address against Transit, and no call", function()
    assert.same({ "deposit: Assets:Main:Spot 20 USDT, Assets:Transit -20 USDT" },
      shown({ entity = "deposit", to_owner = "Main" }, { transit = true }, "done"))
    assert.same({ "deposit not credited any more: Assets:Main:Spot -20 USDT, Equity:Outside 20 USDT" },
      { shown({ entity = "deposit", to_owner = "Main" }, {}, "done", "pending")[2] })
    assert.same({}, shown({ entity = "call" }, {}, "done"))
    assert.same({}, shown(withdrawal, {}, "unreadable"))
    assert.same({ "internal transfer waits: Assets:Main:Leaving 20 USDT, Assets:Main:Spot -20 USDT",
      "internal transfer: Assets:Main:Leaving -20 USDT, Assets:Sub-a:Spot 20 USDT" },
      shown({ entity = "internal_transfer", from_owner = "Main", to_owner = "Sub-a" }, {}, "pending", "done"))
    assert.same({ "internal transfer: Assets:Sub-a:Spot 20 USDT, Equity:Outside -20 USDT" },
      shown({ entity = "internal_transfer", to_owner = "Sub-a" }, {}, "done"))
    assert.is_true(postings.moves "call" and not postings.moves "api_key")
  end)

  it("has an account for each kind of money", function()
    assert.same({ "Assets:A:Transit", "Assets:A:Rebates", "Expenses:A:Fees:Withdrawal", "Expenses:A:Fees:Conversion",
      "Income:A:Rebates", "Equity:A:Opening", "Equity:A:Outside", "Equity:A:Conversion", "Equity:A:Unexplained:Main",
      "Equity:A:Unexplained:Sub-a-2Db" }, { chart.transit, chart.rebates, chart.withdrawal_fees, chart.conversion_fees,
      chart.income, chart.opening, chart.outside, chart.conversion, chart.unexplained "Main",
      chart.unexplained "Sub-a-b" })
  end)
end)

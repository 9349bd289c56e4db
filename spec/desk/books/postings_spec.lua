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
  end)

  it("books nothing with a receiver before it came, whatever it is", function()
    for entity, fields in pairs { deposit = {}, internal_transfer = { from_owner = "" }, conversion = {}, rebate = {},
      transfer = { from_owner = "Sub-a", from_place = "Spot", to_place = "Spot" },
      withdrawal = { from_owner = "Sub-a", fee = "1" } } do
      fields.entity, fields.to_owner = entity, "Main"
      for _, line in ipairs(shown(fields, {}, "pending")) do assert.falsy(line:find("Main", 1, true), line) end
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The books against the balances: what is left over has a name, and a fee stands where the balances say.

local days_of = require "purser.desk.books.days"
local decimal = require "purser.decimal"
local postings = require "purser.desk.books.postings"
local reconcile = require "purser.desk.books.reconcile"
local zones = require "purser.client.util.zone"

local chart, utc = postings.chart "A", days_of.of(zones.open "UTC")
local DAY = 86400000

local function time(days, ms) return ("%013d"):format(1700006400000 + days * DAY + (ms or 0)) end

local function reading(days, ...)
  local totals = {}
  for asset, amount in (...):gmatch "(%a+)=([%d.]+)" do totals[asset] = decimal(amount) end
  return { began = time(days), at = time(days), rev = ("%012d"):format(days * 10), totals = totals }
end

-- Returns an entry of that day. `row` has what its record is beyond a credited deposit that was seen at once.
local function entry(days, amount, row, more)
  local made = { time = time(days), rid = tostring(days), fact = {}, row = { entity = "deposit", class = "done",
    seen = time(days), rev = ("%012d"):format(math.floor(days * 10)) },
    legs = { { chart.owner("Main", "Spot"), "USDT", amount } } }
  for name, value in pairs(row or {}) do made.row[name] = value end
  for name, value in pairs(more or {}) do made[name] = value end
  return made
end

local function lines(entries, readings)
  local list, out = reconcile.lines(entries, { Main = readings }, chart, utc), {}
  for i, line in ipairs(list) do
    out[i] = ("%s %s %s"):format(line.time, line.is_unexplained and "?" or "opening", tostring(line.legs[2][3]))
  end
  table.sort(out)
  return out
end

describe("reconcile.lines", function()
  it("opens with the first balance less what had moved, and needs nothing where all adds up", function()
    assert.same({ time(0) .. " opening 95" }, lines({ entry(0, "5"), entry(1.5, "7") }, { reading(1, "USDT=100"),
      reading(2, "USDT=107") }))
  end)

  it("names a day's difference at its last reading, and none that a later record of the day explains", function()
    assert.same({ time(1) .. " opening 100", time(3) .. " ? -3" }, lines({}, { reading(1, "USDT=100"),
      reading(2, "USDT=100"), reading(3, "USDT=97") }))
    local late = reading(2, "USDT=105")
    late.at, late.began = time(2, 1000), time(2, 1000)
    -- the balance shows it a second before the record does
    assert.same({ time(1) .. " opening 100" }, lines({ entry(2, "5", { seen = time(2, 1500), rev = time(9) },
      { time = time(2, 1500) }) }, { reading(1, "USDT=100"), late, { began = time(2, 2000), at = time(2, 2000),
      rev = time(9), totals = { USDT = decimal "105" } } }))
  end)

  it("counts a record that shows up late by its own time", function()
    local found = lines({ entry(1.5, "5", { seen = time(4), rev = time(9) }) }, { reading(1, "USDT=100"),
      reading(2, "USDT=105"), reading(3, "USDT=105") })
    assert.same({ time(1) .. " opening 100" }, found)
  end)

  it("is a line with what it says, of whom, and against which account", function()
    local found = reconcile.lines({}, { Main = { reading(1, "USDT=100"), reading(2, "USDT=97") } }, chart, utc)
    table.sort(found, function(a, b) return a.time < b.time end)
    local opening, line = found[1], found[2]
    local spot = chart.owner("Main", "Spot")
    assert.same({ time(1), "!" .. spot .. " USDT", "opening balance", "Main", "USDT", "100", { { chart.opening, "USDT",
      "-100" }, { spot, "USDT", "100" } } }, { opening.time, opening.rid, opening.text, opening.owner, opening.asset,
      tostring(opening.amount), opening.legs })
    assert.same({ time(2), "~" .. spot .. " USDT", "not explained by any record", "Main", "USDT", "-3", true, time(1),
      { { chart.unexplained "Main", "USDT", "3" }, { spot, "USDT", "-3" } } }, { line.time, line.rid, line.text,
      line.owner, line.asset, tostring(line.amount), line.is_unexplained, line.since, line.legs })
  end)

  it("gives a late record to the reading whose balance moved by its amount, if only one did", function()
    local function unexplained(amounts, late)
      local readings = {}
      for i, amount in ipairs(amounts) do readings[i] = reading(i, amount) end
      return lines({ entry(1.5, late, { seen = time(4), rev = time(9) }) }, readings)
    end
    assert.same({ time(1) .. " opening 100" }, unexplained({ "USDT=100", "USDT=100", "USDT=105" }, "5"))
    assert.same({ time(1) .. " opening 100", time(2) .. " ? -5", time(3) .. " ? 6" },
      unexplained({ "USDT=100", "USDT=100", "USDT=106" }, "5"))
    -- an entry of the revision and time of a reading is known to that reading
    assert.same({ time(1) .. " opening 95" }, lines({ entry(1, "5") }, { reading(1, "USDT=100") }))
    assert.same({ time(0.5) .. " opening 93" }, lines({ entry(0.5, "7") }, { reading(1, "USDT=100") }))
    assert.same({}, (reconcile.lines({ entry(1, "5") }, {}, chart, utc)))
    -- one that no reading knew yet belongs to none
    assert.same({ time(1) .. " opening 100" }, lines({ entry(2, "5") }, { reading(1, "USDT=100") }))
  end)

  it("says when an account last added up", function()
    local _, checks = reconcile.lines({}, { Main = { reading(1, "USDT=100"), reading(2, "USDT=100"),
      reading(3, "USDT=97") } }, chart, utc)
    assert.equal(time(2), checks[chart.owner("Main", "Spot") .. "\30USDT"])
  end)
end)

describe("reconcile.measure_fees", function()
  -- Returns the entries of a withdrawal of 20 whose state changed each day, and its fact.
  local function withdrawal(rid, fee, ...)
    local versions, fact = {}, { is_unknown = true, inside = true }
    for i, class in ipairs { ... } do
      versions[i] = { rid = rid, entity = "withdrawal", class = class, fee = fee, amount = "20", asset = "USDT",
        from_owner = "Main", booked = time(i + .5), seen = time(i + .5), rev = ("%012d"):format(i * 10 + 5) }
    end
    return postings.entries(versions, fact, chart), fact
  end

  -- Measures withdrawals { fee, classes } with a reading a day; returns where the fees stand.
  local function measured(withdrawals, ...)
    local entries, facts, readings = {}, {}, {}
    for i, one in ipairs(withdrawals) do
      local list
      list, facts[i] = withdrawal("w" .. i, (table.unpack or unpack)(one)) -- luacheck: ignore
      for _, each in ipairs(list) do entries[#entries + 1] = each end
    end
    for i, balance in ipairs { ... } do readings[i] = reading(i, "USDT=" .. balance) end
    reconcile.measure_fees(entries, { Main = readings }, chart)
    for i, fact in ipairs(facts) do
      facts[i] = fact.measured == nil and "?" or fact.measured and "inside" or "on top"
      assert.equal(fact.measured ~= nil, fact.is_measured == true)
    end
    return table.concat(facts, ", ")
  end

  it("finds whether nothing or all fees went beyond the amounts, and guesses none", function()
    assert.equal("on top", measured({ { "1", "done" } }, "1000", "979"))
    assert.equal("inside", measured({ { "1", "done" } }, "1000", "980"))
    local three = { { "1", "done" }, { "0.5", "done" }, { "0.3", "done" } }
    assert.equal("on top, on top, on top", measured(three, "1000", "938.2"))
    assert.equal("?, ?", measured({ three[1], three[2] }, "1000", "959.5")) -- a trade of 0.5 looks like that
  end)

  it("measures a sent withdrawal, none that waits, and none where the first balance came later", function()
    assert.equal("on top", measured({ { "1", "sent" } }, "1000", "979"))
    assert.equal("?", measured({ { "1", "pending" } }, "1000", "1000"))
    assert.equal("on top", measured({ { "1", "pending", "sent", "done" } }, "1000", "1000", "979", "979"))
    assert.equal("?", measured({ { "1", "sent" } }, "979"))
    local entries = withdrawal("w", "1", "sent")
    entries[1].fact = {}
    reconcile.measure_fees(entries, { Main = { reading(1, "USDT=1000"), reading(2, "USDT=979") } }, chart)
    assert.same({}, entries[1].fact)
  end)

  it("counts the fee of a withdrawal that came back, and finds nothing where all fees add up to zero", function()
    local one, other = { "1", "sent", "void" }, { "1", "pending", "sent" }
    assert.equal("on top, ?", measured({ one, other }, "1000", "979", "979"))
    assert.equal("inside, ?", measured({ one, other }, "1000", "980", "980"))
    assert.equal("on top, on top, on top", measured({ { "3", "done", "void" }, other, other }, "1000", "977", "958"))
    assert.equal("?, ?", measured({ { "1", "done", "void" }, other }, "1000", "979.5", "979.5"))
  end)
end)

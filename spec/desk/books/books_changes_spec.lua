-- SPDX-License-Identifier: MIT
-- Books of what the service does without an operation that tells of it: a trade, a rebate that grows, a record that
-- vanishes and comes back, a coin that is named with its network.

local books_world = require "books_world"
local core = require "purser.core"
local files = require "files"

local MINUTE, HOUR, DAY = 60000, 3600000, 86400000
local PAYEE = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

describe("books of what changes behind their back:", function()
  local world, books, log

  -- Opens books of a world, whose events go into a file.
  local function open(options)
    world, log = books_world.new(options), files.new_path ""
    books = books_world.open(world, { receivers = { log = { command = "cat >>" .. log } } })
  end

  after_each(function()
    books:close()
    files.remove_kept()
  end)

  -- Reads everything once more, after so long. Returns how many records are new or changed.
  local function sync(after)
    world.sim:advance(after or 0)
    local report = assert(books:sync())
    assert.same({}, report.problems)
    return report.changes
  end

  -- Returns the statement's text and data of the weeks around; at a revision, where one is named.
  local function statement(rev)
    return assert(books:statement { from = "2023-11-01", to = "2024-01-01", rev = rev })
  end

  -- Returns what a statement's accounts hold at its end.
  local function held(made)
    local amounts = {}
    for _, leg in ipairs(made.closing) do
      if leg[3] ~= "0" then amounts[leg[1]:match ":(.*)" .. " " .. leg[2]] = leg[3] end
    end
    return amounts
  end

  -- Sends what waits. Returns every event of a kind of record so far, as `show` shows it.
  local function events(entity, show)
    assert(books:deliver())
    local list = {}
    for line in io.lines(log) do
      local event = core.decode(line)
      if event.record.entity == entity then list[#list + 1] = show(event) end
    end
    return list
  end

  -- Returns state, class and whether it is missing, of each record of a kind.
  local function rows(entity)
    return books_world.column(books, "SELECT state || ' ' || class || CASE missing_since WHEN '' THEN '' ELSE "
      .. "' missing' END AS value FROM purser_books_" .. entity .. " ORDER BY time, rid")
  end

  describe("a trade", function()
    -- Returns the lines that no record explains: owner, amount and asset, as they stand.
    local function unexplained(made)
      local lines = {}
      for _, line in ipairs(made.unexplained) do
        lines[#lines + 1] = ("%s %s %s"):format(line.owner, tostring(line.amount), line.asset)
      end
      return lines
    end

    it("between two readings is a line a day and asset, to the last digit, and the rest adds up", function()
      open()
      sync()
      assert.same({}, unexplained(select(2, statement())))
      assert(world.sim:trade { account = "Acme", changes = { USDT = "-25.000001", MX = "10" } })
      assert(world.sim:deposit { account = "Acme", coin = "USDT", network = "TRX", amount = "7" })
      sync(10 * MINUTE) -- in which the deposit is credited
      assert(world.sim:trade { account = "Acme", changes = { USDT = "-5" } })
      assert(world.sim:trade { account = "desk1", changes = { MX = "-3" } })
      sync(10 * MINUTE)
      local text, made = statement()
      assert.same({ "Main 10 MX", "Main -30.000001 USDT", "Sub-desk1 -3 MX" }, unexplained(made))
      assert.same({ ["Account:Main:Spot BTC"] = "1", ["Account:Main:Spot MX"] = "10",
        ["Account:Main:Spot USDT"] = "976.999999", ["Account:Sub-desk1:Spot USDT"] = "50" }, held(made))
      assert.truthy(text:find("Equity:Account:Unexplained:Sub-desk1", 1, true))
      assert(world.sim:trade { account = "Acme", changes = { USDT = "30.000001" } })
      sync(DAY)
      made = select(2, statement())
      assert.equal(4, #unexplained(made))
      assert.equal("Main 30.000001 USDT", unexplained(made)[4])
      assert.equal("1007", held(made)["Account:Main:Spot USDT"])
    end)

    it("before the first reading is in the balance that opens the books", function()
      open()
      assert(world.sim:trade { account = "Acme", changes = { USDT = "-25", MX = "10" } })
      sync()
      local _, made = statement()
      assert.same({}, unexplained(made))
      assert.equal("975", held(made)["Account:Main:Spot USDT"])
    end)
  end)

  describe("a rebate that grows", function()
    local function grow(amount, uid)
      assert(world.sim:rebate { account = "Acme", asset = "USDT", amount = amount, uid = uid or "77", grows = true })
    end

    it("is one record, a change with its old and its new amount, and an event", function()
      open { role = "broker" }
      grow "0.5"
      grow("2", "78")
      sync()
      local before, rev = statement(), books.store:rev()
      local function seen(event)
        return { event.type, event.before and event.before.amount or "", event.record.amount }
      end
      assert.equal(2, #events("rebate", seen))
      grow "0.25"
      grow "0.5"
      assert.equal(1, sync(HOUR / 2))
      assert.equal(0, sync(MINUTE))
      local kept = books.store:rows "SELECT body, raw FROM purser_books_change"
      assert.same({ 1, "0.5", "0.5" }, { #kept, core.decode(kept[1].body).amount, core.decode(kept[1].raw).amount })
      assert.same({ "1.25", "2" }, books_world.column(books, "SELECT amount AS value FROM purser_books_rebate "
        .. "ORDER BY amount"))
      local list = events("rebate", seen)
      assert.equal(3, #list)
      assert.same({ "rebate.changed", "0.5", "1.25" }, list[3])
      local text, made = statement()
      assert.equal("3.25", held(made)["Account:Rebates USDT"])
      assert.are_not.equal(before, text)
      assert.equal(before, (statement(tonumber(rev))))
    end)

    it("is another one on the next day", function()
      open { role = "broker" }
      grow "0.5"
      sync()
      world.sim:advance(DAY)
      grow "0.25"
      assert.is_true(sync() >= 1)
      assert.same({ "1699920000000 0.5", "1700006400000 0.25" }, books_world.column(books,
        "SELECT time || ' ' || amount AS value FROM purser_books_rebate ORDER BY time"))
      assert.same({ "rebate.new", "rebate.new" }, events("rebate", function(event) return event.type end))
    end)
  end)

  describe("a record that vanishes", function()
    local function seen(event)
      return { event.before and event.before.class or "", event.record.class, event.record.missing_since ~= "" }
    end

    it("is missing, out of sight after an hour with its money where it was, and comes back", function()
      open()
      local id = assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
        address = PAYEE }).id
      assert(world.sim:set_withdrawal(id, "MANUAL"))
      sync()
      local _, shown = statement()
      assert.same({ "10 pending" }, rows "withdrawal")
      assert(world.sim:hide(id))
      assert.equal(1, sync(MINUTE))
      assert.same({ "10 pending missing" }, rows "withdrawal")
      assert.equal(0, sync(HOUR - 1))
      assert.same({ "10 pending missing" }, rows "withdrawal")
      assert.equal(1, sync(1))
      assert.same({ "10 lost_sight missing" }, rows "withdrawal")
      assert.equal(0, sync(2 * HOUR))
      local _, made = statement()
      assert.same(held(shown), held(made))
      assert.same({}, made.unexplained)
      assert.same({ "out of sight: the service shows it no more" }, { made.open[1].why })

      assert(world.sim:hide(id, false))
      assert.equal(1, sync(MINUTE))
      assert.same({ "10 pending" }, rows "withdrawal")
      assert(world.sim:set_withdrawal(id, "CANCEL"))
      assert.equal(1, sync(MINUTE))
      assert.same({ "9 void" }, rows "withdrawal")
      made = select(2, statement())
      assert.same({ "1000", {} }, { held(made)["Account:Main:Spot USDT"], made.open })
      assert.same({ { "", "pending", false }, { "pending", "pending", true }, { "pending", "lost_sight", true },
        { "lost_sight", "pending", false }, { "pending", "void", false } }, events("withdrawal", seen))
    end)

    it("is what it was where it is final, and missing until it is shown", function()
      open()
      local id = assert(world.sim:deposit { account = "Acme", coin = "USDT", network = "TRX", amount = "7" }).id
      sync(10 * MINUTE)
      assert(world.sim:hide(id))
      sync(MINUTE)
      assert.equal(0, sync(3 * HOUR))
      assert.same({ "5 done missing" }, rows "deposit")
      assert.equal("1007", held(select(2, statement()))["Account:Main:Spot USDT"])
      assert(world.sim:hide(id, false))
      assert.equal(1, sync(MINUTE))
      assert.same({ "5 done" }, rows "deposit")
    end)

    it("is one of two equal ones, whichever, and its twin stays", function()
      open()
      local ids = {}
      for i = 1, 2 do
        ids[i] = assert(world.sim:deposit { account = "Acme", coin = "USDT", network = "TRX", amount = "7",
          tx_id = ("ab"):rep(32) }).id
        assert(world.sim:set_deposit(ids[i], 6))
      end
      sync()
      for _, id in ipairs(ids) do
        assert(world.sim:hide(id))
        sync(MINUTE)
        assert.equal(2, #rows "deposit")
        assert.equal(1, select(2, table.concat(rows "deposit"):gsub("missing", "")))
        assert(world.sim:hide(id, false))
        assert.equal(1, sync(MINUTE))
        assert.same({ "6 pending", "6 pending" }, rows "deposit")
      end
    end)
  end)

  it("a coin that is named with its network is booked as the coin", function()
    open { sim = { seed = 5, variant = "live", key_days = 0 } }
    sync()
    assert(world.sim:deposit { account = "Acme", coin = "USDT", network = "TRX", amount = "7" })
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", address = PAYEE })
    sync(10 * MINUTE)
    for _, entity in ipairs { "deposit", "withdrawal" } do
      local row = books.store:rows("SELECT asset, fee_asset, raw FROM purser_books_" .. entity)[1]
      assert.equal("USDT", row.asset)
      assert.equal(entity == "deposit" and "" or "USDT", row.fee_asset)
      assert.equal("USDT-TRX", core.decode(row.raw).coin)
    end
    local text, made = statement()
    assert.same({}, made.unexplained)
    assert.equal("986", held(made)["Account:Main:Spot USDT"])
    assert.is_nil(text:find("USDT-TRX", 1, true))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Which record is which deposit, rule by rule: docs/desk/receive.md, "One deposit".

local files = require "files"
local receive_readings = require "receive_readings"

local HOUR, DAY = 3600000, 86400000
local T0 = receive_readings.T0

describe("A record of a deposit", function()
  local world
  before_each(function() world = receive_readings.new() end)
  after_each(function()
    world.store:close()
    files.remove_kept()
  end)

  it("is a new deposit at once, while every known one is shown", function()
    world.read { { tx = "a" } }
    world.read { { tx = "a" }, { tx = "b", amount = "7" } }
    assert.equal("credit alice 5 USDT, credit alice 7 USDT", world.events())
  end)

  it("that is equal to another one is a second deposit when readings over two hours show both", function()
    world.read { { tx = "a" }, { tx = "a" } }
    world.now = world.now + HOUR
    world.read { { tx = "a" }, { tx = "a" } }
    assert.equal("credit alice 5 USDT", world.events())
    world.show { { tx = "a" }, { tx = "a" } }
    assert.equal("credit alice 5 USDT, credit alice 5 USDT", world.events())
  end)

  it("that is equal to another one keeps its own end, in whichever order both are shown", function()
    for _ = 1, 2 do world.show { { tx = "a" }, { tx = "a" } } end
    for _, states in ipairs { { 8, 5 }, { 5, 8 }, { 8, 5 } } do
      world.show { { tx = "a", status = states[1] }, { tx = "a", status = states[2] } }
      assert.equal("credit alice 5 USDT, credit alice 5 USDT, reversed alice 5 USDT", world.events())
      assert.same({}, world.list())
    end
  end)

  it("of a state that says neither yes nor no is the credited one, beside an equal pending one", function()
    for _ = 1, 2 do world.show { { tx = "a" }, { tx = "a", status = 4 } } end
    for _, states in ipairs { { 4, 12 }, { 12, 4 } } do
      world.show { { tx = "a", status = states[1] }, { tx = "a", status = states[2] } }
      assert.same({ "alice", { "seen" } }, { world.list()[1].customer, world.list()[1].verbs })
      assert.is_nil(world.list()[2])
    end
  end)

  for name, change in pairs { network = { network = "ERC20" }, coin = { coin = "USDT-X" },
    amount = { amount = "4.9" } } do
    it("with another " .. name .. " is the credited one, where the transaction is the same", function()
      local shown = { tx = "a", coin = change.coin, network = change.network, amount = change.amount }
      world.show { { tx = "a" } }
      world.show { shown }
      assert.equal("credit alice 5 USDT", world.events())
      assert.same({}, world.list())
      assert.equal(1, #assert(world.store:rows "SELECT dp FROM purser_receive_deposit"))
    end)
  end

  it("that gets its transaction later is the credited one, where all else and the time are equal", function()
    world.show { { tx = "" } }
    world.show { { tx = "a" } }
    assert.equal("credit alice 5 USDT", world.events())
    assert.same({}, world.list())
  end)

  for name, other in pairs { time = { tx = "a", time = T0 + HOUR + 1000 }, amount = { tx = "a", amount = "4.9" } } do
    it("that gets its transaction later with another " .. name .. " is a person's", function()
      world.show { { tx = "" } }
      world.show { other }
      assert.equal("credit alice 5 USDT", world.events())
      assert.equal(1, #world.list())
    end)
  end

  it("in one reading without the credited one is nothing yet", function()
    world.show { { tx = "a" } }
    world.read { { tx = "a", network = "ERC20" } }
    world.show { { tx = "a" }, { tx = "b" } }
    assert.equal("credit alice 5 USDT, credit alice 5 USDT", world.events())
  end)

  it("is kept as it was shown last", function()
    local function kept()
      local row = assert(world.store:rows "SELECT * FROM purser_receive_deposit")[1]
      return { row.coin, row.network, row.address, row.tx, row.amount, row.status, tonumber(row.time) }
    end
    local address = receive_readings.ADDRESS
    world.show { { tx = "a", status = 4 } }
    assert.same({ "USDT", "ETH", address, "a", "5", "4", T0 + HOUR }, kept())
    world.show { { tx = "a", status = 6, coin = "USDT-X", network = "ERC20", address = address:upper(), amount = "4.9",
      time = T0 + HOUR + 1000 } }
    assert.same({ "USDT-X", "ERC20", address:upper(), "a", "4.9", "6", T0 + HOUR + 1000 }, kept())
  end)

  it("makes its event in the order of the deposits' ids", function()
    local shown, last = {}, ""
    for i = 1, 20 do shown[i] = { tx = "t" .. i } end
    world.show(shown)
    for _, row in ipairs(assert(world.store:rows "SELECT subject FROM purser_receive_event ORDER BY seq")) do
      assert.is_true(last < row.subject)
      last = row.subject
    end
  end)

  it("without a transaction may be one of the same day that the reading did not ask for", function()
    world.show { { tx = "a" } }
    world.now = world.now + HOUR
    local from = T0 + 2 * HOUR
    assert.is_nil(world.read({ { tx = "b", time = from } }, from))
    assert.equal("credit alice 5 USDT, credit alice 5 USDT", world.events())
    local shown = { { tx = "", amount = "7", time = from }, { tx = "b", time = from } }
    assert.equal(T0 + HOUR - DAY, world.read(shown, from))
    assert.is_nil(world.read({ { tx = "", amount = "8", time = from + DAY + 1 } }, from + DAY))
  end)

  it("takes the place of a pending one only when two readings lack that one", function()
    world.show { { tx = "a", status = 4 } }
    local dp = assert(world.store:rows "SELECT dp FROM purser_receive_deposit")[1].dp
    assert.truthy(world.read { { tx = "b", status = 4 } }) -- look again
    world.read { { tx = "a", status = 4 }, { tx = "b", status = 4 } }
    assert.equal("a", assert(world.store:rows("SELECT tx FROM purser_receive_deposit WHERE dp = $1", dp))[1].tx)
  end)

  it("of another transaction, while a credited one is missing, is a person's", function()
    world.show { { tx = "a" } }
    world.show { { tx = "b" } }
    assert.equal("credit alice 5 USDT", world.events())
    local line = world.list()[1]
    assert.matches("may be dp_%x+ %(alice%), which is not shown; transaction b, was a", line.why)
    world.settle(line.deposit, "same", line.verbs[1]:match "dp_%x+")
    world.show { { tx = "b" } }
    assert.same({}, world.list())
    assert.equal("credit alice 5 USDT", world.events())
  end)

  it("that a person said to be another one shows that other one", function()
    world.show { { tx = "a" } }
    world.show { { tx = "b" } }
    local line = world.list()[1]
    world.settle(line.deposit, "same", line.verbs[1]:match "dp_%x+")
    world.show { { tx = "b" }, { tx = "c", amount = "7" } } -- the first one is shown, as b
    assert.same({}, world.list())
    assert.equal("credit alice 5 USDT, credit alice 7 USDT", world.events())
  end)

  it("that was held beside a rival leaves the rival no way to take the credited one's place", function()
    world.show { { tx = "a", coin = "USDT" } }
    -- the same transaction brings two coins; one of them is in doubt for longer than the other one
    for _, coin in ipairs { "SHIB", "SHIB-X", "SHIB-X", "SHIB-X" } do
      world.now = world.now + HOUR
      world.read { { tx = "a", coin = "USDT-X" }, { tx = "a", coin = coin } }
    end
    assert.equal("credit alice 5 USDT", world.events())
    assert.equal(2, #world.list()) -- SHIB is not lost
  end)

  it("that may be either of two credited ones of its transaction is a person's", function()
    world.show { { tx = "a", coin = "USDT" }, { tx = "a", coin = "SHIB" } }
    world.show { { tx = "a", coin = "USDT-X" } }
    assert.equal(1, #world.list())
  end)

  it("keeps its rivals from being credited without a person", function()
    world.show { { tx = "a" }, { tx = "p", amount = "7", status = 4 } }
    world.show { { tx = "b" } } -- either of both
    world.show { { tx = "b" }, { tx = "p", amount = "7" } } -- the pending one succeeds
    assert.equal("credit alice 5 USDT", world.events())
    assert.equal(2, #world.list())
  end)

  it("that takes the place of one that was never credited has nothing of that one", function()
    world.show { { tx = "a", status = 7 } }
    world.show { { tx = "", time = T0 + 2 * HOUR } }
    assert.equal("credit alice 5 USDT", world.events())
    for _ = 1, 2 do world.show { { tx = "b", time = T0 + 2 * HOUR }, { tx = "a", status = 7, network = "ERC20" } } end
    assert.equal("credit alice 5 USDT", world.events())
  end)

  it("whose spelling goes to and fro does not wait for ever", function()
    local function k(name, network) return { tx = name, network = network } end
    world.show { k "a", k("b", "BSC") }
    for i = 1, 6 do
      world.now = world.now + HOUR
      world.read(i % 2 == 1 and { k("a", "ERC20"), k("b", "BSC"), k("c", "ETH") }
        or { k "a", k("b", "BEP20"), k("c", "ERC20") })
    end
    assert.equal("credit alice 5 USDT, credit alice 5 USDT, credit alice 5 USDT", world.events())
    assert.equal(3, #assert(world.store:rows "SELECT dp FROM purser_receive_deposit"))
  end)

  it("that is equal to another one waits for readings in a row", function()
    world.show { { tx = "a" } }
    for _ = 1, 4 do -- a page that moves now and then
      world.now = world.now + HOUR
      world.read { { tx = "a" }, { tx = "a" } }
      world.read { { tx = "a" } }
    end
    assert.equal("credit alice 5 USDT", world.events())
  end)

  it("is not missing where the reading did not ask for it", function()
    world.show { { tx = "a", time = T0 + HOUR } }
    world.now = T0 + 10 * DAY
    world.read({ { tx = "b", time = T0 + 9 * DAY } }, T0 + 8 * DAY)
    assert.equal("credit alice 5 USDT, credit alice 5 USDT", world.events())
  end)

  it("at the very start of a reading was asked for", function()
    world.show { { tx = "a", time = T0 + HOUR } }
    world.read({ { tx = "b", time = T0 + 2 * HOUR } }, T0 + HOUR)
    assert.equal("credit alice 5 USDT", world.events())
  end)

  it("waits for a reading that reaches a day behind the missing one", function()
    world.show { { tx = "a", time = T0 + HOUR } }
    world.now = T0 + 12 * HOUR
    local from = T0 + HOUR
    assert.equal(T0 + HOUR - DAY, world.read({ { tx = "b", time = T0 + 2 * HOUR } }, from))
    world.show({ { tx = "b", time = T0 + 2 * HOUR } }, from)
    assert.same({}, world.list())
    world.show { { tx = "b", time = T0 + 2 * HOUR } }
    assert.equal(1, #world.list())
  end)

  it("that had succeeded before the place is old, and is not credited when it is shown again", function()
    world.read({ { tx = "a", time = T0 - HOUR } }, nil, true)
    world.show { { tx = "a", time = T0 - HOUR } }
    assert.equal("", world.events())
    world.show { { tx = "a", time = T0 - HOUR, network = "ERC20" } }
    assert.equal("", world.events())
    assert.same({}, world.list())
  end)

  it("of before the place, first shown later, is a person's", function()
    world.read({}, nil, true)
    world.show { { tx = "a", time = T0 - HOUR } }
    assert.equal("", world.events())
    assert.matches("dated before the begin", world.list()[1].why)
  end)

  it("that had a face which another one has now is held", function()
    world.show { { tx = "a" } }
    world.show { { tx = "a", network = "ERC20" } }
    world.show { { tx = "a", network = "ERC20" }, { tx = "a" } } -- the old face is back beside the new one
    assert.equal("credit alice 5 USDT", world.events())
    assert.equal(1, #world.list())
  end)
end)

describe("Memos that are hidden", function()
  local shared = "rShared1111111111111113"
  local world
  before_each(function()
    world = receive_readings.new(("customer,address,memo\nc,%s,1\nd,%s,2\n"):format(shared, shared))
  end)
  after_each(function()
    world.store:close()
    files.remove_kept()
  end)
  local function both(memos, status)
    return { { tx = "a", address = shared, memo = memos and "1", status = status },
      { tx = "a", address = shared, memo = memos and "2", status = status } }
  end

  it("from two credited deposits of one transaction credit nobody again", function()
    world.show(both(true))
    world.show(both(false))
    local events = world.events()
    assert.equal("credit", events:match "^%a+")
    assert.equal(2, select(2, events:gsub("credit", "")))
    for _, line in ipairs(world.list()) do assert.truthy(line.why:find "may be" or line.why:find "memo", line.why) end
  end)

  it("from one credited deposit are a person's question, as one transaction may pay two memos", function()
    world.show { both(true)[1] }
    world.show { both(false)[1] }
    assert.equal("credit c 5 USDT", world.events())
    assert.matches("may be dp_%x+ %(c%)", world.list()[1].why)
  end)

  it("before they succeed are a person's, for each of them", function()
    world.show(both(true, 4))
    world.show(both(false, 4))
    world.show(both(false, 5))
    assert.equal("", world.events())
    assert.equal(2, #world.list())
  end)
end)

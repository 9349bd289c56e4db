-- SPDX-License-Identifier: MIT
-- States of a deposit: taken back once, and only when two readings say so. Whom a credit is for.

local files = require "files"
local lists = require "purser.desk.receive.lists"
local receive_readings = require "receive_readings"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("The state of a deposit", function()
  after_each(files.remove_kept)

  it("takes back once, after the credit, when two readings show a refund", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    local deposit = world.deposit "3"
    assert(world.receive:run { deadline_ms = HOUR })
    assert(world.sim:set_deposit(deposit.id, 4)) -- an answer that lags
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 5))
    assert(world.receive:run { deadline_ms = 60000 })
    assert(world.sim:set_deposit(deposit.id, 8))
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 3, reversed alice 3", receive_world.events(world))
    assert.equal("3", tostring(world.receive:check()[1].reversed))
  end)
end)

describe("A deposit in a state", function()
  local world
  before_each(function() world = receive_readings.new() end)
  after_each(function()
    world.store:close()
    files.remove_kept()
  end)

  -- Shows a deposit in one state after the other, thrice each. Returns its events, and what a person is asked.
  local function states(...)
    for _, status in ipairs { ... } do world.show { { tx = "a", status = status } } end
    local line = world.list()[1]
    return { (world.events():gsub(" alice 5 USDT", "")), line and line.why:match "^%a+ %a+" }
  end

  for _, case in ipairs {
    { { 1, 2, 3, 4, 6, 9, 11 }, "" }, { { 4, 5 }, "credit" }, { { 7 }, "" }, { { 8 }, "" }, { { 10 }, "" },
    { { 12 }, "", "a state" }, { { 77 }, "", "a state" }, { { 12, 5 }, "", "a state" }, { { 12, 7 }, "" },
    { { 5, 4, 5 }, "credit" }, { { 5, 9, 6 }, "credit" }, { { 5, 7 }, "credit, reversed" },
    { { 5, 8, 8 }, "credit, reversed" }, { { 5, 10, 7 }, "credit, reversed" }, { { 5, 12 }, "credit", "a state" },
    { { 5, 8, 5 }, "credit, reversed", "successful again" }, { { 5, 8, 12 }, "credit, reversed" },
    { { 7, 5 }, "credit" },
  } do
    it(("that goes %s makes: %s; a person: %s"):format(table.concat(case[1], " "), case[2], case[3] or "no"), function()
      assert.same({ case[2], case[3] }, states((table.unpack or unpack)(case[1]))) -- luacheck: ignore
    end)
  end

  it("is taken back by two readings in a row, not by one and another", function()
    for _, status in ipairs { 5, 8, 5, 8, 4, 7, 5 } do
      world.now = world.now + HOUR
      world.read { { tx = "a", status = status } }
    end
    assert.equal("credit alice 5 USDT", world.events())
  end)

  it("that a person gave a customer is not asked about again while it stays", function()
    world.show { { tx = "a", status = 12 } }
    world.settle(world.list()[1].deposit, "give", "alice")
    world.show { { tx = "a", status = 12 } }
    assert.same({ {}, "credit alice 5 USDT" }, { world.list(), world.events() })
    world.show { { tx = "a", status = 7 } }
    assert.matches("reversed", world.events())
  end)

  it("that says neither yes nor no after the credit is seen, and is no other deposit", function()
    world.show { { tx = "a" }, { tx = "b" } }
    world.show { { tx = "a", status = 12 }, { tx = "b" } }
    local dp = world.list()[1].deposit
    local other = assert(world.store:rows("SELECT dp FROM purser_receive_deposit WHERE dp <> $1", dp))[1].dp
    for _, verb in ipairs { "same", "give", "refuse" } do
      local ok, err = pcall(world.settle, dp, verb, verb == "give" and "alice" or other)
      assert.is_false(ok)
      assert.matches("is credited.*; say seen$", err.message)
    end
    world.settle(dp, "seen")
    assert.same({}, world.list())
  end)

  it("that a person says is one not credited yet, whose memo is hidden now, credits that customer", function()
    local at = { address = "rX", memo = "5", tx = "a", status = 4 }
    local hidden = { address = "rX", tx = "a", status = 5 }
    world.store:close()
    world = receive_readings.new "customer,address,memo\nalice,rX,5\n"
    world.show { at }
    world.show { hidden }
    local verb, known = world.list()[1].verbs[1]:match "^(%S+) (%S+)$"
    world.settle(world.list()[1].deposit, verb, known)
    world.show { hidden }
    assert.same({ "credit alice 5 USDT", {} }, { world.events(), world.list() })
    local sum = assert(lists.check(world.store))[1]
    assert.same({ "5", "0", true }, { tostring(sum.credited), tostring(sum.pending), sum.adds_up })
  end)

  it("is said to be another one in one direction alone, so that one of both stays to be credited", function()
    world.show { { address = "rX", tx = "a" }, { address = "rX", tx = "b" }, { address = "rX", tx = "c" } }
    local dp = {}
    for i, line in ipairs(world.list()) do dp[i] = line.deposit end
    world.settle(dp[1], "same", dp[2])
    world.settle(dp[2], "same", dp[3])
    for _, other in ipairs { dp[1], dp[2], dp[3], "dp_none" } do
      local ok, err = pcall(world.settle, dp[3], "same", other)
      assert.same({ false, "there is no other deposit " .. other }, { ok, err.message })
    end
    world.settle(dp[3], "give", "alice")
    world.show { { address = "rX", tx = "a" } }
    assert.equal("credit alice 5 USDT", world.events())
  end)

  for _, amount in ipairs { "-5", "0", "five" } do
    it("is no customer's where its amount is " .. amount, function()
      world.show { { tx = "a", amount = amount } }
      local dp = world.list()[1].deposit
      local ok, err = pcall(world.settle, dp, "give", "alice")
      assert.is_false(ok)
      assert.matches('the amount "' .. amount .. '" of ' .. dp .. " is none to credit", err.message, 1, true)
      world.settle(dp, "refuse")
      assert.same({ "", {} }, { world.events(), world.list() })
    end)
  end

  it("that had succeeded before the place, and is taken back, is a person's", function()
    world.read({ { tx = "a", time = receive_readings.T0 - HOUR } }, nil, true)
    world.show { { tx = "a", time = receive_readings.T0 - HOUR, status = 8 } }
    assert.equal("", world.events())
    assert.matches("taken back; it had succeeded before", world.list()[1].why)
    world.settle(world.list()[1].deposit, "seen")
    world.show { { tx = "a", time = receive_readings.T0 - HOUR, status = 8 } }
    assert.same({}, world.list())
  end)
end)

describe("The customer of a deposit", function()
  after_each(files.remove_kept)

  local T0, TIME = receive_readings.T0, receive_readings.T0 + 24 * HOUR
  local function ms(time) return ("%013d"):format(time) end

  -- a customers' file without its first line, the deposit, and the events or why a person is asked
  for _, case in ipairs {
    { "alice,A,,usdt;usdc,,,", { coin = "USDC" }, "credit alice 5 USDC" },
    { "alice,A,,USDT,,," .. ms(TIME - 2 * HOUR) .. "\nbob,A,,USDC,," .. ms(TIME - 2 * HOUR) .. ",", { coin = "USDC" },
      "credit bob 5 USDC" },
    { "alice,A,,USDC,,,", {}, "its customer takes no such coin" },
    { "alice,A,,,5,,", {}, "credit alice 5 USDT" },
    { "alice,A,,,5.01,,", {}, "less than its customer's least" },
    { "alice,A,,,,," .. ms(TIME - HOUR) .. "\nbob,A,,,," .. ms(TIME - HOUR) .. ",", {}, "credit bob 5 USDT" },
    { "alice,A,,,,," .. ms(TIME + HOUR) .. "\nbob,A,,,," .. ms(TIME + HOUR) .. ",", {}, "credit alice 5 USDT" },
    { "alice,A,,,,," .. ms(TIME - HOUR + 1) .. "\nbob,A,,,," .. ms(TIME - HOUR + 1) .. ",", {},
      "within an hour of a hand-over" },
    { "alice,A,,,,," .. ms(TIME - 2 * HOUR), {}, "no customer has" },
    { "alice,A,,,," .. ms(TIME + 2 * HOUR) .. ",", {}, "no customer has" },
    { "alice,rA,7,,,,\nbob,rA,8,,,,", { address = "rA", memo = "8" }, "credit bob 5 USDT" },
    { "alice,rA,7,,,,", { address = "rA", memo = "07" }, "no customer has" },
    { "alice,rA,7,,,,", { address = "rA" }, "no customer has" },
  } do
    local text = case[1]:gsub(",A,", "," .. receive_readings.ADDRESS:upper():gsub("^0X", "0x") .. ",")
    it(("of a file %s: %s"):format(case[1]:gsub("\n", " | "), case[3]), function()
      local world = receive_readings.new("customer,address,memo,coins,least,from,until\n" .. text .. "\n")
      local deposit = { tx = "a", time = TIME }
      for name, value in pairs(case[2]) do deposit[name] = value end
      world.now = TIME
      world.show { deposit }
      local line = world.list()[1]
      local found = line and line.why or world.events()
      assert.equal(case[3], found:sub(1, #case[3]))
      world.store:close()
    end)
  end

  it("is a person's word where the service hides a memo that it showed at the address", function()
    local world = receive_readings.new "customer,address\nalice,rA\n"
    world.show { { tx = "a", address = "rA", memo = "7" }, { tx = "b", address = "rA", time = TIME } }
    assert.equal("", world.events())
    assert.matches("no memo, and its address had one before", world.list()[2].why .. world.list()[1].why)
    assert.equal(T0, world.now - 3 * HOUR)
    world.store:close()
  end)
end)

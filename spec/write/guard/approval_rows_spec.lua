-- SPDX-License-Identifier: MIT
-- What the journal counts for a policy: sums by whole hours, what was given back, when an address was first paid.

local approval_rows = require "purser.write.guard.approval_rows"
local decimal = require "purser.decimal"
local own = require "own_journal"
local rules = require "purser.write.guard.rules"

local HOUR, NOON = 3600000, 1795348800000

before_each(own.begin)
after_each(own.finish)

local function send(tx, id, hours, amount, more)
  local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = amount }
  for name, value in pairs(more or {}) do params[name] = value end
  local call = rules.call(more and more.operation or "wallet.withdraw", params)
  call.now = NOON + math.floor(hours * HOUR)
  approval_rows.sent(tx, "treasury", id, call, "", "", "1")
  return call
end

local function sum(tx, call, limit)
  limit.coin, limit.per = limit.coin or "USDT", limit.per or "account"
  return tostring(approval_rows.sum(tx, "treasury", call, limit))
end

describe("the sums of an account", function()
  it("are of coin, operation, destination and whole hours", function()
    own.within(function(tx)
      send(tx, "1", 0, "1")
      send(tx, "2", 0.99, "2.5")
      send(tx, "3", 1, "4", { address = "TOther" })
      send(tx, "4", 1, "8", { coin = "BTC" })
      local call = send(tx, "5", 24.99, "16")
      assert.equal("23.5", sum(tx, call, { hours = 24 }))
      assert.equal("20", sum(tx, call, { hours = 23 }))
      assert.equal("19.5", sum(tx, call, { hours = 24, per = "destination" }))
      assert.equal("8", sum(tx, call, { hours = 24, coin = "BTC" }))
      assert.equal("23.5", sum(tx, call, { hours = 24, operation = { withdrawals = true } }))
      assert.equal("0", sum(tx, call, { hours = 24, operation = { ["wallet.transfer"] = true } }))
      call.now = NOON + 25 * HOUR
      assert.equal("20", sum(tx, call, { hours = 24 }))
      return true
    end)
  end)

  it("lose what was given back, once", function()
    own.within(function(tx)
      send(tx, "1", 0, "1")
      local call = send(tx, "2", 0, "2")
      approval_rows.give_back(tx, "2")
      approval_rows.give_back(tx, "2")
      approval_rows.give_back(tx, "unknown")
      assert.equal("1", sum(tx, call, { hours = 1 }))
      send(tx, "2", 0, "2") -- the same call sent again
      assert.equal("3", sum(tx, call, { hours = 1 }))
      return true
    end)
  end)

  it("agree with a plain addition of 2,000 calls", function()
    local seed, calls = 11, {}
    local function random(n)
      seed = (seed * 16807) % 2147483647
      return seed % n + 1
    end
    own.within(function(tx)
      for i = 1, 2000 do
        local address = ("T%d"):format(random(3))
        local call = send(tx, "i" .. i, random(60 * 48) / 60, ("%d.%d"):format(random(50), random(99)),
          { address = address })
        calls[i] = { at = call.now, amount = call.amount, address = address }
        if random(5) == 1 then
          approval_rows.give_back(tx, "i" .. i)
          calls[i].amount = decimal "0"
        end
      end
      for i = 1, 200 do
        local call = send(tx, "x", 0, "1", { address = ("T%d"):format(random(3)) })
        approval_rows.give_back(tx, "x")
        call.now = NOON + math.floor((20 + random(60 * 28) / 60) * HOUR)
        local hours, per = random(24), i % 2 == 0 and "account" or "destination"
        local expected, first = decimal "0", math.floor(call.now / HOUR) - hours
        for _, each in ipairs(calls) do
          if math.floor(each.at / HOUR) >= first and (per == "account" or each.address == call.params.address) then
            expected = expected + each.amount
          end
        end
        assert.equal(tostring(expected), sum(tx, call, { hours = hours, per = per }))
      end
      return true
    end)
  end)
end)

describe("what is pruned", function()
  it("is what no rule can ask for any more", function()
    own.within(function(tx)
      send(tx, "old", 0, "1")
      send(tx, "kept", 0, "1", { address = "TKept" })
      own.write(tx, "kept", NOON, { state = "done" })
      local call = send(tx, "new", 24 * 200, "2")
      approval_rows.prune(tx, own.time_text(NOON + 24 * 190 * HOUR))
      assert.equal("2", sum(tx, call, { hours = 24 * 201 }))
      assert.equal(2, #tx:rows "SELECT intent FROM purser_approved")
      return true
    end)
  end)
end)

describe("a destination", function()
  it("is known since the first call that was made", function()
    own.within(function(tx)
      local call = send(tx, "1", 0, "1")
      assert.is_false(approval_rows.known_since(tx, "treasury", call.destination))
      own.write(tx, "1", NOON, { state = "unknown" })
      send(tx, "2", 5, "1")
      own.write(tx, "2", NOON + 5 * HOUR, { state = "done" })
      send(tx, "3", 9, "1")
      own.write(tx, "3", NOON + 9 * HOUR, { state = "done" })
      assert.equal(NOON + 5 * HOUR, approval_rows.known_since(tx, "treasury", call.destination))
      assert.is_false(approval_rows.known_since(tx, "other", call.destination))
      return true
    end)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The journal counts for a policy: sums by whole hours, what was given back, when an address was first paid.

local approval_rows = require "purser.desk.approvals.approval_rows"
local decimal = require "purser.decimal"
local json = require "purser.json"
local own = require "own_journal"
local rules = require "purser.desk.approvals.rules"
local utc = require "purser.client.util.utc"

local HOUR, NOON = 3600000, 1795348800000
local NOTHING = { queue = "", key = "", call = "", host = "" }

before_each(function() own.begin(approval_rows.TABLES) end)
after_each(own.finish)

local function send(tx, id, hours, amount, more)
  local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = amount }
  for name, value in pairs(more or {}) do params[name] = value end
  local call = rules.call(more and more.operation or "wallet.withdraw", params)
  call.now = NOON + math.floor(hours * HOUR)
  own.write(tx, id, call.now, { operation = call.operation, params = json.encode(params), account = "treasury",
    destination = call.destination, state = "open" })
  approval_rows.charge(tx, "treasury", call, call.now)
  return call
end

local function recharge(tx, id, sign)
  approval_rows.recharge(tx, tx:rows("SELECT * FROM purser_calls WHERE id = $1", id)[1], sign)
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

  it("lose what made no record, and have it again where it did", function()
    own.within(function(tx)
      send(tx, "1", 0, "1")
      local call = send(tx, "2", 0, "2")
      recharge(tx, "2", -1)
      assert.equal("1", sum(tx, call, { hours = 1 }))
      recharge(tx, "2", 1)
      assert.equal("3", sum(tx, call, { hours = 1 }))
      tx:rows "DELETE FROM purser_sums" -- of an account without a policy there are none
      recharge(tx, "2", 1)
      recharge(tx, "1", -1)
      assert.equal("0", sum(tx, call, { hours = 1 }))
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
          recharge(tx, "i" .. i, -1)
          calls[i].amount = decimal "0"
        end
      end
      for i = 1, 200 do
        local call = send(tx, "x" .. i, 0, "1", { address = ("T%d"):format(random(3)) })
        recharge(tx, "x" .. i, -1)
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
      local call = send(tx, "new", 24 * 200, "2")
      approval_rows.prune(tx, own.time_text(NOON + 24 * 190 * HOUR))
      assert.equal("2", sum(tx, call, { hours = 24 * 201 }))
      return true
    end)
  end)

  it("is a plan that is over, with its signatures, when no call is kept that it let through", function()
    local DAY = 24 * HOUR
    local now = NOON + 400 * DAY

    -- Keeps a plan that is good until the end of a day, as one that was added on another.
    local function add(tx, digest, added_at, not_after)
      tx.time = added_at
      local text = json.encode { not_after = utc.text(not_after):sub(1, 10) } .. "\n{}\n"
      approval_rows.add(tx, { digest = digest, text = text, head = { account = "treasury", queue = "q" } },
        { "signed" })
    end

    own.within(function(tx)
      add(tx, "over", NOON, NOON + 7 * DAY)
      add(tx, "made", NOON, NOON + 7 * DAY)
      add(tx, "needed", NOON, NOON + 7 * DAY)
      add(tx, "valid", NOON, now)
      add(tx, "young", NOON + 300 * DAY, NOON + 301 * DAY)
      own.write(tx, "made", NOON, { plan = "made" })
      own.write(tx, "kept", NOON, { plan = "needed", params = '{"coin":"USDT"}' })
      tx.time = now
      approval_rows.prune(tx, own.time_text(NOON + 200 * DAY))
      local left = {}
      for i, plan in ipairs(tx:rows "SELECT plan FROM purser_statements ORDER BY plan") do left[i] = plan.plan end
      assert.same({ "needed", "valid", "young" }, left)
      assert.equal(3, #approval_rows.stored(tx, "treasury"))
      return true
    end)
  end)
end)

describe("a destination", function()
  it("is known since the first call that was made", function()
    own.within(function(tx)
      local call = send(tx, "1", 0, "1")
      local function since(account) return approval_rows.known(tx, account, NOTHING, call.destination).known_since end
      assert.is_nil(since "treasury")
      send(tx, "2", 5, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '2'"
      send(tx, "3", 9, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '3'"
      assert.equal(NOON + 5 * HOUR, since "treasury")
      assert.is_nil(since "other")
      return true
    end)
  end)

  it("is not known by a payment that a history showed and this journal never sent", function()
    own.within(function(tx)
      local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "1" }
      local call = rules.call("wallet.withdraw", params)
      own.write(tx, "found", 0, { operation = "wallet.withdraw", params = json.encode(params), sent_at = "" })
      approval_rows.install(tx, "treasury", { latest = { version = 1, asks_sums = true },
        versions = { { digest = "d" } } })
      send(tx, "1", 2, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '1'"
      assert.equal(NOON + 2 * HOUR, approval_rows.known(tx, "treasury", NOTHING, call.destination).known_since)
      return true
    end)
  end)
end)

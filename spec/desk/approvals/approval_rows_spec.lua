-- SPDX-License-Identifier: MIT
-- The journal counts for a policy: sums by whole hours, what was given back, when an address was first paid.

local approval_rows = require "purser.desk.approvals.approval_rows"
local decimal = require "purser.decimal"
local json = require "purser.json"
local own = require "own_journal"
local rules = require "purser.desk.approvals.rules"
local utc = require "purser.client.util.utc"

local HOUR, NOON = 3600000, 1795348800000
local NOTHING = { queue = "", key = "", call = "" }

before_each(function() own.begin(approval_rows.TABLES) end)
after_each(own.finish)

local function send(tx, id, hours, amount, more)
  local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = amount }
  for name, value in pairs(more or {}) do params[name] = value end
  local call = rules.call(more and more.operation or "wallet.withdraw", params)
  call.now = NOON + math.floor(hours * HOUR)
  own.write(tx, id, call.now, { operation = call.operation, params = json.encode(params),
    destination = call.destination, state = "open" })
  approval_rows.charge(tx, call, call.now)
  return call
end

local function recharge(tx, id, sign)
  approval_rows.recharge(tx, tx:rows("SELECT * FROM purser_calls WHERE id = $1", id)[1], sign)
end

local function sum(tx, call, limit)
  limit.coin, limit.per = limit.coin or "USDT", limit.per or "account"
  return tostring(approval_rows.sum(tx, call, limit, {}))
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

  it("is a plan that is over, with its signatures, when no call or attempt is kept that it let through", function()
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
      add(tx, "retried", NOON, NOON + 7 * DAY)
      add(tx, "valid", NOON, now)
      add(tx, "young", NOON + 300 * DAY, NOON + 301 * DAY)
      own.write(tx, "made", NOON, { plan = "made" })
      own.write(tx, "kept", NOON, { plan = "needed", params = '{"coin":"USDT"}' })
      own.write(tx, "again", NOON, { plan = "young", params = '{"coin":"USDT"}' })
      for call, plan in pairs { again = "retried", made = "over" } do -- of the latter call the plan is forgotten, too
        own.attempt(tx, call, NOON, { plan = plan, approved_by = "bob" })
      end
      tx.time = now
      approval_rows.prune(tx, own.time_text(NOON + 200 * DAY))
      local left = {}
      for i, plan in ipairs(tx:rows "SELECT plan FROM purser_statements ORDER BY plan") do left[i] = plan.plan end
      assert.same({ "needed", "retried", "valid", "young" }, left)
      assert.equal(4, #approval_rows.stored(tx))
      assert.is_nil(rawget(approval_rows.stored(tx)[1], "text")) -- each is read alone: a plan may have 4 MiB
      return true
    end)
  end)
end)

describe("a destination", function()
  it("is known since the first payment that was seen to be sent", function()
    own.within(function(tx)
      local call = send(tx, "1", 0, "1")
      local function since() return approval_rows.known(tx, NOTHING, call.destination).known_since end
      assert.is_nil(since())
      send(tx, "2", 5, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '2'"
      send(tx, "3", 9, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '3'"
      for i, state in ipairs { "accepted", "failed", "cancelled" } do
        send(tx, state, i, "1")
        tx:rows("UPDATE purser_calls SET state = 'done' WHERE id = $1", state)
        own.arrived(tx, state, state)
      end
      assert.is_nil(since())
      own.arrived(tx, "3", "sent")
      assert.equal(NOON + 9 * HOUR, since())
      own.arrived(tx, "2", "sent")
      tx:rows "UPDATE purser_calls SET record_id = 'another' WHERE id = '2'"
      assert.equal(NOON + 9 * HOUR, since()) -- another record was seen
      tx:rows "UPDATE purser_calls SET record_id = '' WHERE id = '2'"
      assert.equal(NOON + 5 * HOUR, since())
      assert.equal(NOON + 9 * HOUR, approval_rows.known(tx, NOTHING, "").newest) -- for the clock
      return true
    end)
  end)

  it("is not known by a payment that a history showed and this journal never sent", function()
    own.within(function(tx)
      local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "1" }
      local call = rules.call("wallet.withdraw", params)
      own.write(tx, "found", 0, { operation = "wallet.withdraw", params = json.encode(params), sent_at = "" })
      approval_rows.install(tx, { latest = { version = 1, asks_sums = true },
        versions = { { digest = "d" } } })
      send(tx, "1", 2, "1")
      tx:rows "UPDATE purser_calls SET state = 'done' WHERE id = '1'"
      own.arrived(tx, "1", "sent")
      assert.equal(NOON + 2 * HOUR, approval_rows.known(tx, NOTHING, call.destination).known_since)
      return true
    end)
  end)
end)

describe("the policies of an account", function()
  it("follow the newest one that it was under, by version and digest", function()
    own.within(function(tx)
      local function chain(...)
        local versions = {}
        for version, letter in ipairs { ... } do versions[version] = { version = version, digest = letter:rep(64) } end
        return { latest = versions[#versions], versions = versions }
      end
      assert.same({}, { approval_rows.problem(tx, chain "a") })
      assert.is_nil(approval_rows.install(tx, chain("a", "b")))
      local b = { version = 2, digest = ("b"):rep(64) }
      assert.same({ nil, b }, { approval_rows.problem(tx, chain("a", "b", "c")) })
      assert.same({ "policy", b }, { approval_rows.problem(tx, chain("a", "c")) })
      assert.same({ "rollback" }, { approval_rows.problem(tx, chain "a") })
      assert.equal("policy", approval_rows.install(tx, chain("a", "c", "d")))
      assert.same(b, approval_rows.policy(tx))
      return true
    end)
  end)
end)

describe("the call of a plan's row", function()
  it("is that of the queue and payment, or of the key, and says whether it may be executed", function()
    own.within(function(tx)
      own.write(tx, "queued", NOON, { operation = "wallet.withdraw", queue = "june", payment = "k", state = "planned" })
      own.write(tx, "single", NOON, { operation = "wallet.withdraw", key = "k", state = "unknown" })
      own.write(tx, "other", NOON, { operation = "wallet.transfer", key = "l", state = "rejected" })
      for _, case in ipairs { { "queued", false, "june", "k" }, { "single", true, "", "k" },
        { "other", false, "", "l" }, { "", false, "july", "k" }, { "", false, "", "m" } } do
        assert.same({ case[1], case[2] }, { approval_rows.call_of(tx, case[3], case[4]) })
      end
      return true
    end)
  end)
end)

describe("what an account sent before it was under a policy", function()
  local CHAIN = { latest = { version = 1, asks_sums = true }, versions = { { digest = ("d"):rep(64) } } }
  local now = NOON + 48 * HOUR

  -- Writes calls that ended long ago, ten to a place.
  local function write(first, last)
    own.within(function(tx)
      for i = first, last do
        own.write(tx, ("i%05d"):format(i), NOON + i, { operation = "wallet.withdraw",
          ended_at = own.time_text(NOON + i),
          params = json.encode { coin = "USDT", netWork = "TRX", address = "T" .. i % 10, amount = "1" } })
      end
      return true
    end)
  end

  local function survey() return assert(approval_rows.survey(own.journal.db, now)) end

  -- Installs the policy, and returns the sums and the calls without a destination.
  local function install(history)
    return own.within(function(tx)
      assert.is_nil(approval_rows.install(tx, CHAIN, history))
      return tx:rows "SELECT place, amount FROM purser_sums ORDER BY place",
        tx:rows "SELECT id FROM purser_calls WHERE destination = ''"
    end, now)
  end

  -- Calls fn(), and returns the largest number of statements in a transaction, and of rows of a statement.
  local function most_of(fn)
    local db, most, longest, count = own.journal.db, 0, 0, 0
    local rows, transaction = db.rows, db.transaction
    function db.transaction(...)
      count = 0
      return transaction(...)
    end
    function db.rows(self, sql, ...)
      count = count + 1
      most = math.max(most, count)
      local found, changed = rows(self, sql, ...)
      longest = math.max(longest, found and #found or 0)
      return found, changed
    end
    fn()
    db.rows, db.transaction = nil, nil
    return most, longest
  end

  it("is counted in steps of a thousand calls, and not in the transaction that installs the policy", function()
    write(1, 2500)
    local history, sums, left
    local statements, rows = most_of(function() history = survey() end)
    assert.same({ true, 1000 }, { statements < 1010, rows })
    statements, rows = most_of(function() sums, left = install(history) end)
    assert.same({ true, 11 }, { statements < 60, rows }) -- the sums that this spec reads
    assert.same({ 11, "2500", {} }, { #sums, sums[1].amount, left })
    own.within(function(tx) return tx:rows "DELETE FROM purser_policies" end)
    assert.same(sums, (install())) -- all of it in the transaction
  end)

  it("has what was sent meanwhile, and what ended otherwise meanwhile", function()
    write(1, 20)
    local history = survey()
    own.within(function(tx)
      for id, ended_at in pairs { late = own.time_text(now), open = "" } do
        own.write(tx, id, NOON, { operation = "wallet.withdraw", ended_at = ended_at,
          state = ended_at == "" and "open" or "done",
          params = json.encode { coin = "USDT", netWork = "TRX", address = "T1", amount = "5" } })
      end
      return true
    end)
    local sums, left = install(history)
    assert.same({ "30", {} }, { sums[1].amount, left })
    own.within(function(tx)
      tx:rows "DELETE FROM purser_policies"
      return tx:rows("UPDATE purser_calls SET state = 'rejected', ended_at = $1 WHERE id = 'i00001'",
        own.time_text(now))
    end)
    assert.equal("29", install(history)[1].amount)
  end)

  it("is not passed over where a call of it cannot be read", function()
    write(1, 2)
    own.within(function(tx) return tx:rows "UPDATE purser_calls SET params = 'x' WHERE id = 'i00001'" end)
    local history, message = approval_rows.survey(own.journal.db, now)
    assert.same({ nil, "the call i00001 cannot be read" }, { history, message })
  end)

  it("is not counted again under a policy", function()
    write(1, 2)
    install()
    assert.is_false((approval_rows.survey(own.journal.db, now)))
  end)
end)

describe("a row of the journal that is damaged", function()
  it("is no account without a policy", function()
    own.within(function(tx)
      return tx:rows [[INSERT INTO purser_policies (version, digest, added_at)
        VALUES ('0000001', 'damaged', '0')]]
    end)
    for _, ask in ipairs { function(tx) return approval_rows.policy(tx) end,
      function(tx) return approval_rows.known(tx, NOTHING, "") end } do
      local value, message = own.journal.db:transaction(ask)
      assert.same({ nil, "the journal's row of the policy is damaged" }, { value, message })
    end
  end)

  it("is no plan that is over", function()
    own.within(function(tx)
      approval_rows.add(tx, { digest = "d", text = "damaged", head = { account = "treasury", queue = "q" } },
        { "signed" })
      tx.time = NOON + 400 * 24 * HOUR
      approval_rows.prune(tx, own.time_text(NOON + 300 * 24 * HOUR))
      assert.equal(1, #approval_rows.signatures(tx, "d"))
      return true
    end, NOON)
  end)
end)

describe("a sum", function()
  it("is asked once, however many rules ask for it", function()
    own.within(function(tx)
      local call, asked, count = send(tx, "1", 0, "1"), {}, 0
      local counting = { rows = function(_, ...)
        count = count + 1
        return tx:rows(...)
      end }
      for _ = 1, 3 do
        for _, operation in ipairs { { withdrawals = true }, { ["wallet.transfer"] = true } } do
          local limit = { coin = "USDT", hours = 24, per = "account", operation = operation }
          local expected = operation.withdrawals and "1" or "0"
          assert.equal(expected, tostring(approval_rows.sum(counting, call, limit, asked)))
        end
      end
      assert.equal(1, count)
      approval_rows.sum(counting, call, { coin = "USDT", hours = 25, per = "account" }, asked)
      assert.equal(2, count)
      return true
    end)
  end)
end)

-- SPDX-License-Identifier: MIT
-- A treasury's policy of fourteen rules with every kind of condition: it is read, checked, and decides.

local check = require "purser.desk.approvals.check"
local decimal = require "purser.decimal"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local rules = require "purser.desk.approvals.rules"

local HOUR, DAY = 3600000, 86400000
local MONDAY = 1795392000000 -- 2026-11-23T00:00Z

local function places(group, count) return { { group = group, count = count } } end
local function sum(amount, per) return { amount = amount, hours = 24, per = per } end
local function allow(name, when, approvals, unless)
  return { name = name, effect = "allow", when = when, unless = unless, approvals = approvals }
end
local function ask(name, when, approvals, unless, wait_hours)
  return { name = name, effect = "require", when = when, unless = unless, approvals = approvals,
    wait_hours = wait_hours }
end
local function forbid(name, when, unless) return { name = name, effect = "forbid", when = when, unless = unless } end

local WITHDRAWALS = { operation = "withdrawals" }

local function example()
  return policies.text(policies.given { groups = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" },
    machines = { "carol" } }, rules = {
    allow("cold-small", { to = "cold", coin = "USDT", amount_up_to = "5000" }, {}),
    allow("new-payee", WITHDRAWALS, places("treasury", 2), { { known_days = 7 } }),
    ask("no-split", { coin = "USDT", sum_over = sum("10000", "destination") }, places("treasury", 2)),
    ask("rest", nil, nil, { { known_days = 0 } }, 24),
    forbid("office", WITHDRAWALS, { { days = { "mon", "tue", "wed", "thu", "fri" }, hours = "08:00-18:00" } }),
    allow("robot", { queue = "payroll", coin = "USDT", amount_up_to = "2000", made_by = "machines" }, {}),
    allow("inside", { operation = { "sub_account.transfer", "wallet.transfer" } }, {}),
    allow("known", { operation = "withdrawals", known_days = 7 }, places("finance", 1)),
    ask("large", { coin = "USDT", amount_over = "10000" }, places("treasury", 2)),
    forbid("daily", { operation = "withdrawals", coin = "USDT", sum_over = sum("50000", "account") }),
    forbid("try-first", { coin = "USDT", amount_over = "50" }, { { known_days = 0 } }),
    forbid("saved-only", WITHDRAWALS, { { saved = true }, { to = "cold" } }),
    forbid("coins", WITHDRAWALS, { { coin = { "USDT", "USDC" } } }),
    allow("keys", { operation = "sub_account.create_api_key" }, places("treasury", 2)),
  } })
end

-- Returns a payment to a payee who is known and in the service's book, at nine on a Monday, but for what `more` says. A
-- book that is false was not read.
local function withdrawal(more, params)
  local all = { coin = "USDT", netWork = "TRX", address = "TNew", amount = "100" }
  for name, value in pairs(params or {}) do all[name] = value end
  local call = rules.call("wallet.withdraw", all)
  call.now, call.known_since, call.waited_ms = MONDAY + 9 * HOUR, MONDAY - 30 * DAY, 25 * HOUR
  call.book = { { address = "TNew", network = "TRX" } }
  function call.sum() return decimal "0" end
  for name, value in pairs(more or {}) do call[name] = value end
  return call
end

local function by(names)
  local set = {}
  for name in names:gmatch "%w+" do set[name] = true end
  return set
end

describe("a treasury's policy", function()
  it("decides by every one of its rules", function()
    local given = assert(policy.read(example()))
    assert.equal(14, #given.rules)
    local function sums(text) return function() return decimal(text) end end
    local cold, finance = { address = "TCold" }, by "carol"
    for i, case in ipairs {
      { withdrawal { signed = finance } },
      { withdrawal(), "known" },
      { withdrawal({ book = {} }, cold) }, -- saved-only: the own cold wallet need not be in the book
      { withdrawal({ book = false }, cold) },
      { withdrawal { signed = finance, book = {} }, "saved-only" },
      { withdrawal { signed = finance, book = false }, "saved-only" },
      { withdrawal({ signed = finance }, { address = "tnew" }), "saved-only" },
      { withdrawal({ signed = finance }, { coin = "BTC" }), "coins" },
      { withdrawal { signed = finance, now = MONDAY + 19 * HOUR }, "office" },
      { withdrawal({ signed = finance }, { amount = "10001" }), "large no-split" },
      { withdrawal({ signed = by "alice bob carol" }, { amount = "10001" }) },
      { withdrawal { signed = by "alice bob carol", sum = sums "49950" }, "daily" },
      { withdrawal { signed = by "alice bob", known_since = false }, "try-first" },
      { withdrawal({ signed = by "alice bob", known_since = false }, { amount = "50" }) },
      { withdrawal({ signed = by "alice bob", known_since = false, waited_ms = 23 * HOUR }, { amount = "50" }),
        "rest" },
      { withdrawal { queue = "payroll", maker = "carol" } },
      { withdrawal { queue = "payroll", maker = "alice" }, "known" },
    } do
      local decision = rules.decide(given, case[1])
      local stops = decision.forbidden[1] and decision.forbidden or decision.ok and {} or decision.unmet
      assert.equal(case[2] or "", table.concat(stops, " "), "case " .. i)
      assert.equal(case[2] == nil, decision.ok, "case " .. i)
    end
    local key = rules.call("sub_account.create_api_key", { subAccount = "desk" })
    key.now, key.known_since, key.signed, key.waited_ms = MONDAY, false, by "alice bob", 25 * HOUR
    assert.is_true(rules.decide(given, key).ok)
    key.signed = by "alice"
    assert.is_false(rules.decide(given, key).ok)
  end)

  it("passes its own check", function()
    local found = assert(check.check(example(), example()))
    assert.same({ {}, {}, {}, {} }, { found.never, found.forbidden, found.unfilled, found.looser })
    local without = example():gsub('"unless":%[{"saved":true},', '"unless":[')
    assert.same({ "forbid saved-only: its unless" }, assert(check.check(example(), without)).looser)
  end)
end)

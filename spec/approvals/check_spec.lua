-- SPDX-License-Identifier: MIT
-- Finds what is odd about a policy, and what a new one loosens.

local check = require "purser.approvals.check"
local policies = require "policies"

local function text(rules, changes)
  local given = policies.given(changes)
  given.rules = rules
  return policies.text(given)
end

local two = { { group = "treasury", count = 2 } }
local function allow(name, when, approvals) return { name = name, effect = "allow", when = when,
  approvals = approvals or {} } end
local function forbid(name, when, unless) return { name = name, effect = "forbid", when = when, unless = unless } end

describe("a policy that is checked", function()
  it("shows rules that never match, or never help", function()
    local small = { coin = "USDT", amount_up_to = "50" }
    local found = assert(check.check(text { allow("all", {}, two), allow("small", small),
      forbid("never", { coin = "USDT", amount_up_to = "50", amount_over = "50" }),
      forbid("no-btc", { coin = "BTC" }), allow("btc", { coin = "BTC", network = "BTC" }),
      forbid("office", {}, { { days = { "mon" } }, { days = { "tue", "wed", "thu", "fri", "sat", "sun" } } }) }))
    assert.same({ { "never", "office" }, { "btc" }, {} }, { found.never, found.forbidden, found.unfilled })
    assert.same({ USDT = "50" }, found.unasked)
    assert.equal(found.of, found.cells)
  end)

  it("shows places that nobody can fill, and amounts that nobody is asked for", function()
    local found = assert(check.check(text({ allow("all", { coin = "USDT" }),
      { name = "large", effect = "require", when = { coin = "USDT", amount_over = "100" },
        approvals = { { group = "finance", count = 3 } } },
      allow("btc", { coin = "BTC", known_days = 7 }) },
      { change = { approvals = { { group = "treasury", count = 4 } } } })))
    assert.same({ "large", "change" }, found.unfilled)
    assert.same({ USDT = "100", BTC = "any" }, found.unasked)
  end)

  it("shows what it loosens against another, for those who sign it", function()
    local rest = { name = "rest", effect = "require", wait_hours = 24 }
    local old = text { allow("all", {}, two), rest,
      forbid("office", { operation = "withdrawals" }, { { hours = "08:00-18:00" } }) }
    assert.same({}, assert(check.check(old, old)).looser)
    local small = { coin = "USDT", amount_up_to = "5" }
    local found = assert(check.check(text { allow("all", {}, two), allow("small", small), rest,
      forbid("office", { operation = "withdrawals" }, { { hours = "08:00-19:00" } }) }, old)).looser
    local pairs_found = {}
    for _, one in ipairs(found) do pairs_found[one.allowed_by .. "<" .. one.held_by] = one end
    assert.truthy(pairs_found["small<all"])
    assert.truthy(pairs_found["all<office"] or pairs_found["small<office"])
    assert.matches("wallet.withdraw", pairs_found["small<all"].example)
    assert.same({}, pairs_found["small<all"].signed)
    assert.same({}, assert(check.check(text { allow("all", { coin = "USDT" }, two), rest, forbid("office",
      { operation = "withdrawals" }, { { hours = "09:00-17:00" } }) }, old)).looser)
    rest.wait_hours = 23
    local sooner = assert(check.check(text { allow("all", {}, two), rest,
      forbid("office", { operation = "withdrawals" }, { { hours = "08:00-18:00" } }) }, old)).looser
    assert.same({ "all", "rest" }, { sooner[1].allowed_by, sooner[1].held_by })
  end)

  it("says when the grid is too large to try all of it", function()
    local rules = { allow("all", { queue = { "a", "b", "c", "d", "e", "f" } }) }
    for i = 1, 12 do
      rules[#rules + 1] = forbid("f" .. i, { coin = "C" .. i, amount_over = ("%d"):format(i), network = "N" .. i,
        days = { "mon" }, hours = ("0%d:00-1%d:30"):format(i % 9, i % 9), known_days = i })
    end
    local found = assert(check.check(text(rules)))
    assert.is_true(found.cells < found.of)
  end)

  it("is one", function()
    assert.is_nil((check.check "{}"))
    assert.is_nil((check.check(text { allow("all", {}) }, "{}")))
  end)
end)

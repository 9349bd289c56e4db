-- SPDX-License-Identifier: MIT
-- Finds what is odd about a policy, and what a new one loosens.

local check = require "purser.desk.approvals.check"
local policies = require "policies"
local random_policies = require "random_policies"

local function text(rules, changes)
  local given = policies.given(changes)
  given.rules = rules
  return policies.text(given)
end

local two = { { group = "treasury", count = 2 } }
local function allow(name, when, approvals) return { name = name, effect = "allow", when = when,
  approvals = approvals or {} } end
local function forbid(name, when, unless) return { name = name, effect = "forbid", when = when, unless = unless } end

local function looser(list, old) return table.concat(assert(check.check(list, old)).looser, "\n") end

describe("a policy that is checked", function()
  it("shows rules that never match, or never help", function()
    local small = { coin = "USDT", amount_up_to = "50" }
    local found = assert(check.check(text { allow("all", {}, two), allow("small", small),
      forbid("never", { coin = "USDT", amount_up_to = "50", amount_over = "50" }),
      forbid("no-btc", { coin = "BTC" }), allow("btc", { coin = "BTC", network = "BTC" }),
      forbid("weekend", { days = { "sat" } }, { { days = { "sat", "sun" } } }) }))
    assert.same({ { "never", "weekend" }, { "btc" }, {} }, { found.never, found.forbidden, found.unfilled })
    assert.same({ USDT = "50" }, found.unasked)
  end)

  it("shows places that nobody can fill, and amounts that nobody is asked for", function()
    local found = assert(check.check(text({ allow("all", { coin = "USDT" }),
      { name = "large", effect = "require", when = { coin = "USDT", amount_over = "100" },
        approvals = { { group = "finance", count = 3 } } },
      allow("btc", { coin = "BTC", known_days = 7 }) },
      { change = { approvals = { { group = "treasury", count = 4 } } } })))
    assert.same({ "large", "change" }, found.unfilled)
    assert.same({ USDT = "100", BTC = "any" }, found.unasked)
    local sums = forbid("daily", { coin = "USDT", sum_over = { amount = "70", hours = 24, per = "account" } })
    assert.same({ USDT = "70", ["any other coin"] = "any" },
      assert(check.check(text { allow("all", {}), sums })).unasked)
    assert.same({}, assert(check.check(text { allow("all", {}), forbid("no", { operation = "withdrawals" }) })).unasked)
    assert.same({}, assert(check.check(text { allow("all", { operation = "wallet.transfer" }) })).unasked)
  end)

  it("sees a band: the amounts between a rule's bounds are allowed, asked for or stopped", function()
    local band = { coin = "USDT", amount_over = "50", amount_up_to = "200" }
    local found = assert(check.check(text { allow("all", {}, two), allow("band", band) }))
    assert.same({ {}, {}, { USDT = "200" } }, { found.never, found.forbidden, found.unasked })
    found = assert(check.check(text { allow("band", band), forbid("large", { coin = "USDT", amount_over = "120" }) }))
    assert.same({ {}, {}, { USDT = "120" } }, { found.never, found.forbidden, found.unasked })
    found = assert(check.check(text { allow("all", { coin = "USDT" }), forbid("band", band) })) -- above the band: any
    assert.same({ {}, { USDT = "any" } }, { found.never, found.unasked })
    local old = text { allow("all", {}, two) }
    assert.matches("band", looser(text { allow("all", {}, two), allow("band", band) }, old))
  end)

  it("names each kind of write call that nobody is asked for", function()
    local seen = 0
    for _, row in ipairs(require("purser.client.operations").every) do
      local name = row.full_name
      if row.effect ~= "read" then
        local found = assert(check.check(text { allow("all", {}, two), allow("free", { operation = name }) }))
        local is_withdrawal = row.moves and row.moves.to == "address"
        assert.same(is_withdrawal and {} or { name }, found.free)
        assert.equal(is_withdrawal or false, next(found.unasked) ~= nil, name)
        local stopped = assert(check.check(text { allow("free", { operation = name }),
          forbid("no", { operation = name }) }))
        assert.same({ {}, {} }, { stopped.free, stopped.unasked }, name)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 8)
  end)

  it("shows what may get looser, for those who sign it", function()
    local rest = { name = "rest", effect = "require", wait_hours = 24 }
    local function office(hours) return forbid("office", { operation = "withdrawals" }, { { hours = hours } }) end
    local old = text { allow("all", {}, two), rest, office "08:00-18:00" }
    assert.equal("", looser(old, old))
    local small = { coin = "USDT", amount_up_to = "5" }
    assert.equal("allow small: new\nforbid office: its unless", looser(text { allow("all", {}, two),
      allow("small", small), rest, office "08:00-19:00" }, old))
    assert.equal("", looser(text { allow("all", { coin = "USDT" }, two), rest, office "09:00-17:00" }, old))
    assert.equal("forbid office: gone", looser(text { allow("all", {}, two), rest }, old))
    rest.wait_hours = 23
    assert.equal("require rest: its approvals or wait_hours",
      looser(text { allow("all", {}, two), rest, office "08:00-18:00" }, old))
  end)

  it("knows for each condition which holds for more calls", function()
    local function sum(amount, hours) return { amount = amount, hours = hours, per = "account" } end
    local cases = { operation = { "wallet.withdraw", "withdrawals" }, coin = { "USDT", { "BTC", "USDT" } },
      network = { { "TRC20", "TRX" }, { "ETH", "TRX" } }, queue = { "june", { "july", "june" } },
      to = { "cold", { "cold", "hot" } },
      known_days = { 7, 1 }, days = { { "mon" }, { "mon", "tue" } }, hours = { "09:00-17:00", "09:00-18:00" },
      made_by = { "finance", "everybody" }, amount_over = { "10", "5" }, amount_up_to = { "5", "10" },
      sum_over = { sum("10", 23), sum("10", 24) } }
    local changes = { addresses = { cold = { { address = "TCold" } }, hot = { { address = "THot" } } },
      groups = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" },
        everybody = { "alice", "bob", "carol", "dave" } } }
    local function of(effect, word, value)
      local when = { [word] = value }
      if word:find "amount" or word == "sum_over" then when.coin = "USDT" end
      return text({ allow("z", {}, two), { name = "r", effect = effect, when = when,
        approvals = effect == "allow" and {} or nil } }, changes)
    end
    for word, case in pairs(cases) do
      local narrow, wide = of("allow", word, case[1]), of("allow", word, case[2])
      assert.equal("", looser(narrow, wide), word)
      assert.equal("allow r: its " .. word, looser(wide, narrow))
      narrow, wide = of("forbid", word, case[1]), of("forbid", word, case[2])
      assert.equal("", looser(wide, narrow), word)
      assert.equal("forbid r: its " .. word, looser(narrow, wide))
    end
    local before = of("forbid", "days", { "mon" })
    changes.zone = "+01:00"
    assert.equal("forbid r: its days", looser(of("forbid", "days", { "mon" }), before))
    changes.zone = nil
    for _, places in ipairs { { "treasury", 1 }, { "everybody", 2 } } do
      assert.equal("allow all: its approvals or wait_hours", looser(text({ allow("all", {}, { { group = places[1],
        count = places[2] } }) }, changes), text({ allow("all", {}, two) }, changes)))
    end
    assert.equal("", looser(text({ allow("all", {}, { { group = "finance", count = 1 }, two[1] }) }, changes),
      text({ allow("all", {}, { two[1], { group = "everybody", count = 1 } }) }, changes)))
  end)

  it("follows from a policy with the same bounds, and from no wider one", function()
    local function bounded(amount) return text { allow("a", { coin = "USDT", amount_up_to = amount }),
      forbid("f", { coin = "USDT", amount_over = amount }) } end
    assert.equal("", looser(bounded "50", bounded "50"))
    assert.equal("allow a: its amount_up_to\nforbid f: its amount_over", looser(bounded "50.1", bounded "50"))
    assert.equal("", looser(bounded "49.9", bounded "50"))
  end)

  it("takes saved for one more condition", function()
    local all, saved = text { allow("all", {}) }, text { allow("all", { saved = true }) }
    assert.same({ "", "", "allow all: its saved" }, { looser(saved, saved), looser(saved, all), looser(all, saved) })
    local function no(unless) return text { allow("all", {}), forbid("no", { operation = "withdrawals" }, unless) } end
    local never, only = no(), no { { saved = true } }
    assert.same({ "", "", "forbid no: its unless" }, { looser(only, only), looser(never, only), looser(only, never) })
    local when = { saved = true }
    assert.same({ "no" }, assert(check.check(text { allow("all", {}), forbid("no", when, { when }) })).never)
  end)

  it("shows who changes the policy, and who has another key", function()
    local given = policies.given()
    local old = policies.text(given)
    given.people.alice = { policies.key "mallory" }
    given.change = { approvals = { { group = "treasury", count = 1 } } }
    given.plan_days = 30
    given.groups.treasury = { "alice", "bob", "carol", "dave" }
    assert.equal("allow all: its approvals or wait_hours\nchange: its approvals\nplan_days: 30, and before 7\n"
      .. "alice: the key " .. policies.key "mallory", looser(policies.text(given), old))
    assert.equal("", looser(old, old))
  end)

  it("gets no looser without a word on it", function()
    random_policies.loosen(500, 3)
  end)

  it("is one", function()
    assert.is_nil((check.check "{}"))
    assert.is_nil((check.check(text { allow("all", {}) }, "{}")))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Decisions by a policy: the examples of docs/desk/approvals.md, all subsets of signatures against an oracle, and
-- random policies against a second, naive evaluator.
-- make test: 6 s, on lua5.4 and luajit

local decimal = require "purser.decimal"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local random_policies = require "random_policies"
local rules = require "purser.desk.approvals.rules"
local utc = require "purser.client.util.utc"

local HOUR, DAY = 3600000, 86400000
local MONDAY = 1795392000000 -- 2026-11-23T00:00Z

local function read(list, changes)
  local given = policies.given(changes)
  given.rules = list
  return assert(policy.read(policies.text(given)))
end

local function withdrawal(more)
  local params = { coin = "USDT", netWork = "TRX", address = "TNew", amount = "100" }
  for name, value in pairs(more and more.params or {}) do params[name] = value end
  local call = rules.call(more and more.operation or "wallet.withdraw", params)
  call.now, call.known_since = MONDAY + 9 * HOUR, false
  for name, value in pairs(more or {}) do if name ~= "params" and name ~= "operation" then call[name] = value end end
  return call
end

local function persons(text)
  local set = {}
  for name in text:gmatch "%w+" do set[name] = true end
  return set
end

local treasury2 = { { group = "treasury", count = 2 } }
local function allow(name, when, approvals, unless)
  return { name = name, effect = "allow", when = when, approvals = approvals or {}, unless = unless }
end

describe("a policy's rules", function()
  it("forbid what none of them allows", function()
    local inside = read { allow("inside", { operation = { "wallet.transfer", "sub_account.transfer" } }) }
    assert.is_false(rules.decide(inside, withdrawal()).ok)
    assert.is_true(rules.decide(inside, withdrawal { operation = "wallet.transfer",
      params = { asset = "USDT", fromAccountType = "SPOT", toAccountType = "FUTURES" } }).ok)
    assert.is_false(rules.decide(inside, rules.call("sub_account.create_api_key", { subAccount = "x" })).ok)
  end)

  it("ask more persons where more is at stake", function()
    local finance1 = { { group = "finance", count = 1 } }
    local two = read { allow("known", { operation = "withdrawals", known_days = 7 }, finance1),
      allow("new", { operation = "withdrawals" }, treasury2, { { known_days = 7 } }),
      { name = "large", effect = "require", when = { coin = "USDT", amount_over = "10000" }, approvals = treasury2 } }
    local known = MONDAY - 10 * DAY
    for _, case in ipairs { { false, "100", "alice dave", true }, { false, "100", "alice", false },
      { known, "100", "carol", true }, { known, "100", "alice bob", false }, { known, "10000", "carol", true },
      { known, "10001", "carol", false }, { known, "10001", "carol bob", false },
      { known, "10001", "carol alice bob", true }, { MONDAY + 9 * HOUR - 6 * DAY, "100", "carol", false } } do
      local decision = rules.decide(two, withdrawal { known_since = case[1], params = { amount = case[2] },
        signed = persons(case[3]) })
      assert.equal(case[4], decision.ok, table.concat({ tostring(case[1]), case[2], case[3] }, " "))
    end
  end)

  it("hold back what time alone forbids, and say so", function()
    local office = read({ allow("all", {}), { name = "office", effect = "forbid", when = { operation = "withdrawals" },
      unless = { { days = { "mon", "tue", "wed", "thu", "fri" }, hours = "08:00-18:00" } } } }, { zone = "+02:00" })
    for hour, expected in pairs { [5] = false, [6] = true, [15] = true, [16] = false, [6 - 24] = false } do
      local decision = rules.decide(office, withdrawal { now = MONDAY + hour * HOUR })
      assert.equal(expected, decision.ok, tostring(hour))
      assert.equal(not expected, decision.due_in ~= nil)
    end
    local rest = read { allow("all", {}), { name = "rest", effect = "require", wait_hours = 24 } }
    assert.is_true(rules.decide(rest, withdrawal { waited_ms = DAY }).ok)
    assert.equal(HOUR, rules.decide(rest, withdrawal { waited_ms = 23 * HOUR }).due_in)
    assert.is_nil(rules.decide(rest, withdrawal()).due_in) -- without a plan no time helps
    local never = read { allow("all", {}), { name = "rest", effect = "require", wait_hours = 24 },
      { name = "no", effect = "forbid", when = { coin = "USDT" } } }
    assert.is_nil(rules.decide(never, withdrawal { waited_ms = 23 * HOUR }).due_in)
  end)

  it("count hours and days of a named zone over both changes of the clock", function()
    local office = read({ allow("all", {}), { name = "office", effect = "forbid", when = { operation = "withdrawals" },
      unless = { { days = { "sun" }, hours = "08:00-18:00" } } } }, { zone = "Europe/Berlin" })
    local function opens(day) -- returns the hours of UTC at which a day's office is open, from the eve on
      local hours = {}
      for hour = -4, 28 do
        local now = utc.ms(day) + hour * HOUR
        if rules.decide(office, withdrawal { now = now }).ok then hours[#hours + 1] = hour end
      end
      return ("%d to %d, %d hours"):format(hours[1], hours[#hours], #hours)
    end
    assert.equal("7 to 16, 10 hours", opens "2026-03-22") -- a Sunday of winter: UTC+1
    assert.equal("6 to 15, 10 hours", opens "2026-03-29") -- the clock was set forward at night
    assert.equal("6 to 15, 10 hours", opens "2026-10-18")
    assert.equal("7 to 16, 10 hours", opens "2026-10-25") -- and back
  end)

  it("count what was sent with what is to be sent", function()
    local daily = read { allow("all", {}), { name = "daily", effect = "forbid", when = { coin = "usdt",
      sum_over = { amount = "500", hours = 24, per = "account" } } } }
    local function sum(text) return function(limit)
      assert.equal("USDT", limit.coin)
      return text and decimal(text)
    end end
    assert.is_true(rules.decide(daily, withdrawal { sum = sum "400" }).ok)
    assert.is_false(rules.decide(daily, withdrawal { sum = sum "400.01" }).ok)
    assert.is_false(rules.decide(daily, withdrawal { sum = sum(nil) }).ok)
    assert.is_true(rules.decide(daily, withdrawal { params = { coin = "USDC" } }).ok)
    local conversion = rules.call("wallet.convert", { asset = "USDT" }) -- how much it moves is not known
    conversion.now, conversion.sum = MONDAY, sum "0"
    assert.is_false(rules.decide(daily, conversion).ok)
    assert.is_nil(rules.matches(daily.rules[2], conversion, daily))
    assert.is_nil(rules.matches(daily.rules[2], withdrawal(), daily)) -- nor here what was sent
  end)

  it("are not loosened by what cannot be judged", function()
    for _, effect in ipairs { "allow", "forbid" } do
      local known = { { known_days = 7 } }
      local one = read { allow("all", effect == "allow" and known[1] or {}),
        effect == "forbid" and { name = "no", effect = "forbid", unless = known } or allow("z", { coin = "XYZ" }) }
      local unknown = withdrawal()
      unknown.known_since = nil
      assert.is_false(rules.decide(one, unknown).ok)
      assert.is_false(rules.decide(one, withdrawal { known_since = false }).ok)
      assert.is_true(rules.decide(one, withdrawal { known_since = MONDAY - 30 * DAY }).ok)
    end
    local coin = read { allow("all", {}), { name = "no", effect = "forbid", when = { coin = "USDT" } } }
    for _, text in ipairs { "USDT", "usdt", "USDT ", "USDT;" } do
      assert.is_false(rules.decide(coin, withdrawal { params = { coin = text } }).ok, text)
    end
    assert.is_true(rules.decide(coin, withdrawal { params = { coin = "BTC" } }).ok)
    assert.is_false(rules.decide(coin, rules.call("wallet.convert", { asset = "BTC,USDT" })).ok)
    assert.is_true(rules.decide(coin, rules.call("wallet.convert", { asset = "BTC,MX" })).ok)
  end)

  it("know a network by each of its names; an unknown one is no permission, and meets what forbids", function()
    local listed = { coin = "USDT", networkList = { { netWork = "TRX", network = "Tron(TRC20)" },
      { netWork = "NEW", network = "New(N1)" } } }
    for _, case in ipairs { { true, "TRX", "trc20" }, { true, "Tron(TRC20)", "TRX" }, { false, "TRX", "ETH" },
      { nil, "TRX", "NEW" }, { nil, "TRX" }, { false, "TRX", "N1", listed }, { true, "NEW", "N1", listed },
      { nil, "TRX", "N2", listed }, { nil, { "NEW", "ETH" }, "TRC20" }, { true, { "NEW", "TRX" }, "TRC20" } } do
      local call = withdrawal { params = { netWork = case[3] }, listed = case[4] }
      if not case[3] then call = withdrawal { operation = "wallet.withdraw_legacy" } end
      for effect, is_met in pairs { allow = case[1] == true, require = case[1] ~= false, forbid = case[1] ~= false } do
        local given = read { allow("all", {}), { name = "it", effect = effect, when = { network = case[2] },
          approvals = effect == "require" and treasury2 or effect == "allow" and {} or nil } }
        assert.equal(case[1], rules.matches(given.rules[2], call, given))
        local applying = rules.applying(given, call)
        assert.equal(is_met, applying[2] ~= nil)
      end
    end
    local function destination(name) return withdrawal({ params = { netWork = name } }).destination end
    assert.equal(destination "TRX", destination "Tron(TRC20)")
    assert.are_not.equal(destination "TRX", destination "NEW")
  end)

  it("know an address of the service's book by all that stands there", function()
    local saved = read { allow("saved", { saved = true }) }
    local book = { { address = "TOther", network = "TRX" }, { address = "TNew", network = "TRX", memo = "7" } }
    assert.is_true(rules.decide(saved, withdrawal { book = book, params = { memo = "7" } }).ok)
    assert.is_true(rules.decide(saved, withdrawal { book = book, params = { address = "TOther" } }).ok)
    assert.is_nil(rules.matches(saved.rules[1], withdrawal {}, saved)) -- the book was not read
    assert.is_false(rules.matches(saved.rules[1], withdrawal { book = {} }, saved))
    assert.is_false(rules.matches(saved.rules[1], withdrawal { book = book, params = { address = "TThird" } }, saved))
    assert.is_false(rules.matches(saved.rules[1], rules.call("wallet.transfer", { asset = "USDT" }), saved))
    for _, params in ipairs { {}, { memo = "8" }, { memo = "7", address = "TNEW" }, { memo = "7", address = "tnew" },
      { memo = "7", netWork = "ETH" }, { memo = "7", contractAddress = "0x1" } } do
      assert.is_nil(rules.matches(saved.rules[1], withdrawal { book = book, params = params }, saved))
    end
  end)

  it("take an address of the service's book for the coin that the book has it for", function()
    local saved = read { allow("saved", { saved = true }) }
    for shown, expected in pairs { USDT = true, ["usdt-TRX"] = true, USDC = false, USDTX = false, [""] = false } do
      local call = withdrawal { book = { { address = "TNew", network = "TRX", coin = shown } } }
      assert.equal(expected or nil, rules.matches(saved.rules[1], call, saved), shown)
    end
    local call = withdrawal { book = { { address = "TNew", network = "TRX", coin = "USDT" } } }
    call.coins = nil
    assert.is_nil(rules.matches(saved.rules[1], call, saved))
  end)

  it("are met by a call whose coin may be theirs: by its sum, too, which does not count that call", function()
    local function decide(coin, when, effect)
      local given = read { allow("all", {}), { name = "one", effect = effect or "forbid", when = when,
        approvals = effect and {} or nil } }
      return rules.decide(given, withdrawal { params = { coin = coin }, sum = function() return decimal "0" end }).ok
    end
    local sum = { coin = "USDT", sum_over = { amount = "1000", hours = 24, per = "account" } }
    for coin, is_free in pairs { USDT = true, usdt = true, USDC = true, ["USDC-TRX"] = true, ["USDT-TRX"] = false,
      ["USDT "] = false, ["USDT;"] = false, ["USDT,BTC"] = false } do
      assert.equal(is_free, decide(coin, sum), coin)
      assert.equal(is_free and coin:upper() ~= "USDT", decide(coin, { coin = "USDT" }), coin)
    end
    assert.is_false(decide("USDT-TRX", { coin = "USDT-TRX" }))
    local allowed = read { allow("usdt", { coin = "USDT" }) }
    assert.is_false(rules.decide(allowed, withdrawal { params = { coin = "USDT-TRX" } }).ok)
  end)

  it("know a destination by all that says who is paid", function()
    local cold = read { allow("cold", { to = "cold" }) }
    assert.is_true(rules.decide(cold, withdrawal { params = { address = "TCold" } }).ok)
    for _, params in ipairs { { address = "TColD" }, { address = "TCold", memo = "1" },
      { address = "TCold", netWork = "ETH" }, { address = "TCold", contractAddress = "0x1" } } do
      assert.is_false(rules.decide(cold, withdrawal { params = params }).ok)
      assert.are_not.equal(withdrawal({ params = { address = "TCold" } }).destination,
        withdrawal({ params = params }).destination)
    end
  end)
end)

describe("places", function()
  it("are filled by persons as an oracle that tries all says", function()
    local names = { "alice", "bob", "carol", "dave" }
    local members = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" } }
    local tried = 0
    for treasury = 0, 4 do
      for finance = 0, 4 do
        local approvals, places = {}, {}
        for group, count in pairs { treasury = treasury, finance = finance } do
          if count > 0 then approvals[#approvals + 1] = { group = group, count = count } end
          for _ = 1, count do places[#places + 1] = members[group] end
        end
        local given = read { allow("r", {}, approvals) }
        for subset = 0, 255 do -- of eight keys, two a person
          local signed = {}
          for i = 0, 7 do
            if math.floor(subset / 2 ^ i) % 2 == 1 then signed[names[i % 4 + 1]] = true end
          end
          local expected = random_policies.oracle(places, signed, {})
          assert.equal(expected, rules.filled(given, given.rules[1].approvals, signed))
          tried = tried + 1
        end
      end
    end
    assert.equal(25 * 256, tried)
  end)
end)

describe("a maker who did not sign", function()
  it("is unknown: no allow is met, and each forbid and require applies", function()
    local robots = read { allow("all", {}, nil, { { made_by = "finance" } }), allow("robot", { made_by = "finance" }) }
    local stopped = read { allow("all", {}), { name = "f", effect = "forbid", when = { made_by = "finance" } },
      { name = "r", effect = "require", when = { made_by = "finance" }, wait_hours = 24 } }
    for maker, expected in pairs { carol = { true, false }, alice = { true, true }, [""] = { false, false } } do
      local call = withdrawal { maker = maker ~= "" and maker or nil }
      assert.same(expected, { rules.decide(robots, call).ok, rules.decide(stopped, call).ok }, maker)
    end
  end)
end)

describe("a destination whose memo stands behind a colon", function()
  local ADDRESS, OTHER = "TCold", "TOther"
  local function to(address, operation, memo)
    local params = operation == "wallet.withdraw" and { netWork = "TRX", memo = memo } or { network = "TRX" }
    params.address = address
    return withdrawal { operation = operation, params = params }
  end

  it("is one with the address alone: for a rule by address, and for a sum", function()
    local changes = { addresses = { bad = { { address = ADDRESS } }, memo = { { address = ADDRESS, memo = "7" } } } }
    local function is_ok(rule, call) return rules.decide(read(rule, changes), call).ok end
    local function forbids(name, call)
      return not is_ok({ allow("all", {}), { name = "f", effect = "forbid", when = { to = name } } }, call)
    end
    for _, case in ipairs { { "broker.withdraw", ADDRESS }, { "broker.withdraw", ADDRESS .. ":7" },
      { "broker.withdraw", ADDRESS:upper() .. ":7" }, { "broker.withdraw", ADDRESS:lower() .. ":7" },
      { "broker.withdraw", ADDRESS .. ":" },
      { "wallet.withdraw", ADDRESS .. ":7" }, { "wallet.withdraw", ADDRESS, "7" }, { "wallet.withdraw", ADDRESS } } do
      local call = to(case[2], case[1], case[3])
      assert.same({ true, true }, { forbids("bad", call), forbids("memo", call) }, case[1] .. case[2])
      assert.is_false(forbids("bad", to(OTHER .. ":7", case[1])))
    end
    for name, expected in pairs { memo = true, bad = false } do
      assert.equal(expected, is_ok({ allow(name, { to = name }) }, to(ADDRESS .. ":7", "broker.withdraw")))
    end
    local plain, with_memo = to(ADDRESS, "broker.withdraw"), to(ADDRESS .. ":7", "broker.withdraw")
    assert.equal(plain.place, with_memo.place)
    assert.not_equal(plain.destination, with_memo.destination)
    assert.equal(with_memo.destination, to(ADDRESS, "wallet.withdraw", "7").destination)
  end)

  it("is not made of a prefix where the operation has a memo of its own", function()
    local first, second = to("bitcoincash:qa", "wallet.withdraw"), to("bitcoincash:qb", "wallet.withdraw")
    assert.not_equal(first.place, second.place)
    assert.not_equal(to("0xAB", "wallet.withdraw").place, to("AB", "wallet.withdraw").place) -- approvals.md, 12
  end)
end)

describe("random policies", function()
  it("decide as a second evaluator does, whatever the order, and never looser", function()
    random_policies.compare(2000, 7)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Decisions by a policy: the examples of docs/approvals.md, all subsets of signatures against an oracle, and random
-- policies against a second, naive evaluator.
-- make test: 17 s

local decimal = require "purser.decimal"
local policies = require "policies"
local policy = require "purser.signed.policy"
local rules = require "purser.signed.rules"

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
  end)

  it("are not loosened by what cannot be judged", function()
    local saved = { { saved = true } }
    for _, effect in ipairs { "allow", "forbid" } do
      local one = read { allow("all", effect == "allow" and { saved = true } or {}),
        effect == "forbid" and { name = "no", effect = "forbid", unless = saved } or allow("z", { coin = "XYZ" }) }
      assert.is_false(rules.decide(one, withdrawal()).ok)
      assert.is_false(rules.decide(one, withdrawal { saved = false }).ok)
      assert.is_true(rules.decide(one, withdrawal { saved = true }).ok)
    end
    local coin = read { allow("all", {}), { name = "no", effect = "forbid", when = { coin = "USDT" } } }
    for _, text in ipairs { "USDT", "usdt", "USDT ", "USDT;" } do
      assert.is_false(rules.decide(coin, withdrawal { params = { coin = text } }).ok, text)
    end
    assert.is_true(rules.decide(coin, withdrawal { params = { coin = "BTC" } }).ok)
    assert.is_false(rules.decide(coin, rules.call("wallet.convert", { asset = "BTC,USDT" })).ok)
    assert.is_true(rules.decide(coin, rules.call("wallet.convert", { asset = "BTC,MX" })).ok)
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

-- A person for each place, found by trying all.
local function oracle(places, signed, used)
  local group = places[1]
  if not group then return true end
  for _, person in ipairs(group) do
    if signed[person] and not used[person] then
      used[person] = true
      if oracle({ unpack(places, 2) }, signed, used) then return true end
      used[person] = nil
    end
  end
  return false
end
unpack = table.unpack or unpack -- luacheck: ignore

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
          assert.equal(oracle(places, signed, {}), rules.filled(given, given.rules[1].approvals, signed))
          tried = tried + 1
        end
      end
    end
    assert.equal(25 * 256, tried)
  end)
end)

------------------------------------------------------------------------------------------ against a naive evaluator

local seed = 7
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end
local function one(list) return list[random(#list)] end

local AMOUNTS = { "1", "50", "99.5", "100" }
local makers = {
  coin = function() return one { "USDT", "BTC", { "USDT", "BTC" } } end,
  network = function() return one { "TRX", "ETH" } end,
  operation = function() return one { "withdrawals", "wallet.transfer", "wallet.convert", { "wallet.withdraw",
    "sub_account.transfer" } } end,
  to = function() return "cold" end, known_days = function() return one { 0, 1, 7 } end,
  saved = function() return true end,
  days = function() return one { { "mon" }, { "sat", "sun" }, { "tue", "mon" } } end,
  hours = function() return one { "08:00-18:00", "00:00-24:00", "22:15-23:00" } end,
  queue = function() return one { "june", { "payroll", "june" } } end,
  made_by = function() return one { "finance", "treasury" } end,
}
local NAMES = { "coin", "network", "operation", "to", "known_days", "saved", "days", "hours", "queue", "made_by" }

local function random_conditions()
  local made = {}
  for _ = 1, random(3) - 1 do
    local name = one(NAMES)
    made[name] = makers[name]()
  end
  if random(3) == 1 then
    made.coin = one { "USDT", "BTC" }
    if random(2) == 1 then made.amount_over = one(AMOUNTS) else made.amount_up_to = one(AMOUNTS) end
    if random(2) == 1 then
      made.sum_over = { amount = one(AMOUNTS), hours = 24, per = one { "account", "destination" } }
    end
  end
  return made
end

local function random_places()
  local list = {}
  for _ = 1, random(3) - 1 do list[#list + 1] = { group = one { "treasury", "finance" }, count = random(2) } end
  return list
end

local function random_rule(i, effect)
  local rule = { name = "r" .. i, effect = effect or one { "allow", "allow", "require", "forbid" },
    when = random_conditions() }
  if random(2) == 1 then
    local except = random_conditions()
    if next(except) then rule.unless = { except } end
  end
  if rule.effect ~= "forbid" then
    rule.approvals = random_places()
    if random(4) == 1 or rule.effect == "require" and not rule.approvals[1] then rule.wait_hours = 24 end
  end
  return rule
end

local OPERATIONS = {
  { "wallet.withdraw", { coin = one, netWork = { "TRX", "ETH" }, address = { "TCold", "TNew", "tcold" },
    amount = AMOUNTS } },
  { "wallet.withdraw", { coin = one, address = { "TCold", "TNew" }, amount = AMOUNTS } },
  { "wallet.transfer", { asset = one, amount = AMOUNTS } }, { "wallet.convert", { asset = one } },
  { "sub_account.transfer", { asset = one, amount = AMOUNTS, toAccount = { "a", "b" } } },
  { "sub_account.create_api_key", { subAccount = { "a" } } },
}

local function random_call()
  local kind = one(OPERATIONS)
  local params = {}
  for name, values in pairs(kind[2]) do
    params[name] = one(values == one and (kind[1] == "wallet.convert" and { "BTC", "USDT,BTC" }
      or { "USDT", "BTC", "USDC", "US DT" }) or values)
  end
  local call = rules.call(kind[1], params)
  call.now = MONDAY + random(7 * 24 * 60) * 60000
  if random(5) > 1 then
    call.known_since = one { false, call.now - HOUR, call.now - 3 * DAY, call.now - 8 * DAY }
  end
  if random(3) > 1 then call.saved = random(2) == 1 end
  local sum = one { false, "0", "49", "100" }
  call.sum = function() return sum and decimal(sum) or nil end
  call.naive_sum = sum
  call.queue = one { "", "june", "payroll" }
  if random(3) > 1 then call.maker = one { "alice", "carol", "eve" } end
  if random(3) > 1 then call.waited_ms = one { 0, 23 * HOUR, 24 * HOUR } end
  for _, name in ipairs { "alice", "bob", "carol", "dave" } do if random(2) == 1 then call.signed[name] = true end end
  return call
end

-- The naive evaluator works on what was given, not on what was read: numbers as floats, sets as lists, all tried.
local naive = {}
local function holds(value, list)
  for _, each in ipairs(type(list) == "table" and list or { list }) do if each == value then return "yes" end end
  return "no"
end
function naive.operation(value, call)
  for _, each in ipairs(type(value) == "table" and value or { value }) do
    if each == call.operation or each == "withdrawals" and call.operation:find "withdraw" then return "yes" end
  end
  return "no"
end
function naive.coin(value, call)
  local text = call.params.coin or call.params.asset
  if not text then return "no" end
  if text == "US DT" then return "maybe" end
  if text == "USDT,BTC" then return type(value) == "table" and "yes" or "maybe" end
  return holds(text, value)
end
function naive.network(value, call)
  if call.operation ~= "wallet.withdraw" then return "no" end
  return not call.params.netWork and "maybe" or holds(call.params.netWork, value)
end
function naive.to(_, call)
  if not call.params.address or call.params.address == "TNew" then return "no" end
  return call.params.address == "TCold" and call.params.netWork == "TRX" and "yes" or "maybe"
end
function naive.known_days(value, call)
  if not call.params.address and not call.params.toAccount then return "maybe" end
  if call.known_since == nil then return "maybe" end
  return call.known_since and (call.now - call.known_since) / DAY >= value and "yes" or "no"
end
function naive.saved(_, call) return call.saved == nil and "maybe" or call.saved and "yes" or "no" end
function naive.amount_over(value, call)
  if not call.params.amount then return "maybe" end
  return tonumber(call.params.amount) > tonumber(value) and "yes" or "no"
end
function naive.amount_up_to(value, call)
  if not call.params.amount then return "maybe" end
  return tonumber(call.params.amount) > tonumber(value) and "no" or "yes"
end
function naive.sum_over(value, call)
  if not call.params.amount or not call.naive_sum then return "maybe" end
  if value.per == "destination" and not call.params.address and not call.params.toAccount then return "maybe" end
  return tonumber(call.params.amount) + tonumber(call.naive_sum) > tonumber(value.amount) and "yes" or "no"
end
local function civil(call) return os.date("!*t", math.floor(call.now / 1000)) end
function naive.days(value, call)
  return holds(({ "sun", "mon", "tue", "wed", "thu", "fri", "sat" })[civil(call).wday], value)
end
function naive.hours(value, call)
  local now = ("%02d:%02d"):format(civil(call).hour, civil(call).min)
  return now >= value:sub(1, 5) and now < value:sub(7) and "yes" or "no"
end
function naive.queue(value, call) return holds(call.queue, value) end
function naive.made_by(value, call)
  return holds(call.maker, value == "finance" and { "carol", "dave" } or { "alice", "bob", "dave" })
end

local function every(conditions, call)
  local found = { yes = 0, no = 0, maybe = 0 }
  for name, value in pairs(conditions or {}) do
    local answer = naive[name](value, call)
    found[answer] = found[answer] + 1
  end
  return found.no > 0 and "no" or found.maybe > 0 and "maybe" or "yes"
end

local GROUPS = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" } }

local function naive_decide(list, call)
  local allowed, stopped = false, false
  for _, rule in ipairs(list) do
    local when, except = every(rule.when, call), "no"
    if rule.unless then except = every(rule.unless[1], call) end
    local match = when
    if except == "yes" then match = "no" elseif except == "maybe" and when == "yes" then match = "maybe" end
    local places = {}
    for _, place in ipairs(rule.approvals or {}) do
      for _ = 1, place.count do places[#places + 1] = GROUPS[place.group] end
    end
    local met = oracle(places, call.signed, {}) and (not rule.wait_hours or (call.waited_ms or -1) >= 24 * HOUR)
    if rule.effect == "forbid" and match ~= "no" then stopped = true end
    if rule.effect == "require" and match ~= "no" and not met then stopped = true end
    if rule.effect == "allow" and match == "yes" and met then allowed = true end
  end
  return allowed and not stopped
end

describe("random policies", function()
  local function shuffled(list)
    local copy = {}
    for i, value in ipairs(list) do table.insert(copy, random(i), value) end
    return copy
  end

  it("decide as a second evaluator does, whatever the order, and never looser", function()
    local counts = { [true] = 0, [false] = 0 }
    for _ = 1, 10000 do
      local list = {}
      for i = 1, 1 + random(4) do list[i] = random_rule(i, i == 1 and "allow" or nil) end
      local first, second = read(list), read(shuffled(list))
      local extra = random_rule(9)
      list[#list + 1] = extra
      local more = read(list)
      list[#list] = nil
      for _ = 1, 10 do
        local call = random_call()
        local decision = rules.decide(first, call)
        counts[decision.ok] = counts[decision.ok] + 1
        assert.equal(naive_decide(list, call), decision.ok)
        assert.same(decision, rules.decide(second, call))
        local with_rule = rules.decide(more, call).ok
        if with_rule ~= decision.ok then assert.equal(extra.effect == "allow", with_rule) end
        call.signed[one { "alice", "bob", "carol", "dave" }] = true
        if decision.ok then assert.is_true(rules.decide(first, call).ok) end
      end
    end
    assert.is_true(counts[true] > counts[false] / 20 and counts[false] > counts[true] / 20)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Random policies and calls, decided by purser.desk.approvals.rules and by a second evaluator, a naive one: of what
-- was given, not on what was read, with numbers as floats and sets as lists, and tries all.
--
--     random_policies.compare(10000, seed)    as many policies, ten calls each; it raises what differs
--     random_policies.loosen(10000, seed)     as many changes of policies; it raises what was looser without a word
--     random_policies.oracle(places, signed, {})

local assert = require "luassert"
local check = require "purser.desk.approvals.check"
local decimal = require "purser.decimal"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local rules = require "purser.desk.approvals.rules"

local M = {}

local HOUR, DAY = 3600000, 86400000
local MONDAY = 1795392000000 -- 2026-11-23T00:00Z
local unpack = table.unpack or unpack -- luacheck: ignore

local function read(list)
  local given = policies.given()
  given.rules = list
  return assert(policy.read(policies.text(given)))
end

--- Returns whether these persons fill the places (lists of names), found by trying all.
function M.oracle(places, signed, used)
  local group = places[1]
  if not group then return true end
  for _, person in ipairs(group) do
    if signed[person] and not used[person] then
      used[person] = true
      if M.oracle({ unpack(places, 2) }, signed, used) then return true end
      used[person] = nil
    end
  end
  return false
end

------------------------------------------------------------------------------------------ against a naive evaluator

local seed
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
local NAMES = { "coin", "network", "operation", "to", "known_days", "saved", "days", "hours", "queue",
  "made_by" }

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
  { "wallet.withdraw", { coin = one, netWork = { "TRX", "ETH" }, address = { "TCold", "TNew", "TCOLD" },
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
  if random(3) > 1 then call.book = one { {}, { { address = "TNew", network = "ETH" } } } end
  local sum = one { false, "0", "49", "100" }
  call.sum = function() return sum and decimal(sum) or nil end
  call.naive_sum = sum
  call.queue = one { "", "june", "payroll" }
  if random(3) > 1 then call.maker = one { "alice", "carol", "eve" } end
  if random(3) > 1 then call.waited_ms = one { 0, 23 * HOUR, 24 * HOUR } end
  for _, name in ipairs { "alice", "bob", "carol", "dave" } do if random(2) == 1 then call.signed[name] = true end end
  return call
end

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
function naive.saved(_, call)
  if not call.params.address then return "no" end
  if not call.book then return "maybe" end
  if not call.book[1] or call.params.address ~= "TNew" then return "no" end
  return call.params.netWork == "ETH" and "yes" or "maybe"
end
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
  if (call.params.coin or call.params.asset) == "US DT" then return "maybe" end -- in no sum
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
  if not call.maker then return "maybe" end -- nobody signed as the maker
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
    local met = M.oracle(places, call.signed, {}) and (not rule.wait_hours or (call.waited_ms or -1) >= 24 * HOUR)
    if rule.effect == "forbid" and match ~= "no" then stopped = true end
    if rule.effect == "require" and match ~= "no" and not met then stopped = true end
    if rule.effect == "allow" and match == "yes" and met then allowed = true end
  end
  return allowed and not stopped
end

local function shuffled(list)
  local copy = {}
  for i, value in ipairs(list) do table.insert(copy, random(i), value) end
  return copy
end

--- Decides ten calls by each of so many policies, and by the same shuffled, and with a rule or a signature more.
function M.compare(count, first_seed)
  seed = first_seed
  local counts = { [true] = 0, [false] = 0 }
  for _ = 1, count do
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
end

-- Returns a copy of rules with one of them changed, gone, or new.
local function changed(list)
  local copy, i = { (table.unpack or unpack)(list) }, random(#list) -- luacheck: ignore
  local kind = random(6)
  if kind == 1 then table.insert(copy, random_rule(9)) return copy end
  if kind == 2 then table.remove(copy, i) return copy end
  local rule = {}
  for name, value in pairs(list[i]) do rule[name] = value end
  copy[i], rule.when = rule, {}
  for name, value in pairs(list[i].when) do rule.when[name] = value end
  local amount = rule.when.amount_over and "amount_over" or rule.when.amount_up_to and "amount_up_to"
  if kind == 3 and amount then rule.when[amount] = one(AMOUNTS)
  elseif kind == 4 and rule.approvals then rule.approvals = random_places()
  elseif kind == 5 then rule.when.queue = makers.queue()
  else
    local name = one(NAMES)
    if name ~= "coin" or not amount then rule.when[name] = random(2) == 1 and makers[name]() or nil end
  end
  return copy
end

--- Changes so many policies at random. Of those that get no looser, as the check says, no call may be let through that
--- was not before.
function M.loosen(count, first_seed)
  seed = first_seed
  local counts = { proved = 0, named = 0, looser = 0 }
  for _ = 1, count do
    local list = {}
    for i = 1, 1 + random(3) do list[i] = random_rule(i, i == 1 and "allow" or nil) end
    local given = policies.given()
    given.rules = list
    local old = policies.text(given)
    given.rules = changed(list)
    local new = policies.text(given)
    local before, now = policy.read(old), policy.read(new)
    local named = now and assert(check.check(new, old)).looser[1]
    if now then counts[named and "named" or "proved"] = counts[named and "named" or "proved"] + 1 end
    for _ = 1, now and 20 or 0 do
      local call = random_call()
      if rules.decide(now, call).ok and not rules.decide(before, call).ok then
        assert.is_truthy(named, new .. old)
        counts.looser = counts.looser + 1
      end
    end
  end
  assert.is_true(counts.proved > count / 10 and counts.looser > count / 10, counts.proved .. " " .. counts.looser)
  return counts
end

return M

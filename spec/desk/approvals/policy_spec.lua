-- SPDX-License-Identifier: MIT
-- The file of a policy: its vocabulary is closed, and what is read is what is written.

local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local ssh_keys = require "ssh_keys"

teardown(ssh_keys.remove)

local function read(changes) return policy.read(policies.text(policies.given(changes))) end

local function with_rule(changes)
  local rule = { name = "r", effect = "allow", approvals = {} }
  for name, value in pairs(changes) do rule[name] = value end
  return { rules = { rule } }
end

local function fails(expected, changes)
  local result, message = read(changes)
  assert.is_nil(result, expected)
  assert.matches(expected, message)
end

describe("a policy", function()
  it("says who may do what", function()
    local given = assert(read { zone = "-03:30", plan_days = 3, rules = {
      { name = "b", effect = "forbid", when = { operation = "withdrawals", coin = { "usdt" }, amount_over = "50" },
        unless = { { known_days = 0 }, { to = "cold" } }, note = "try first" },
      { name = "a", effect = "require", when = { days = { "mon", "sun" }, hours = "08:00-18:00", made_by = "finance" },
        wait_hours = 24 } } })
    assert.same({ "a", "b" }, { given.rules[1].name, given.rules[2].name })
    assert.equal("-03:30", given.zone.name)
    assert.equal(3, given.plan_days)
    assert.is_true(given.rules[2].when.coin.USDT)
    assert.same({ [1] = true, [7] = true }, given.rules[1].when.days)
    assert.same({ from = 480, to = 1080 }, given.rules[1].when.hours)
    assert.equal("treasury", given.account)
    assert.equal(7, read().plan_days)
  end)

  it("has no word but those of the vocabulary", function()
    fails('no member "groupes" %(did you mean "groups"', { groupes = {} })
    fails('when may have no member "amount_above"', with_rule { when = { amount_above = "5" } })
    fails('no member "approval"', with_rule { approval = {} })
    fails('effect: "deny" is none of allow, require and forbid', with_rule { effect = "deny" })
    fails("writes nothing", with_rule { when = { operation = "wallet.coins" } })
    fails("writes nothing", with_rule { when = { operation = { "withdrawals", "withdraw" } } })
    fails("none of mon to sun", with_rule { when = { days = { "monday" } } })
    for _, hours in ipairs { "8-18", "18:00-08:00", "08:00-08:00", "08:00-24:01", "08:60-18:00", "" } do
      fails("hours", with_rule { when = { hours = hours } })
    end
    fails("is no amount in quotes", with_rule { when = { coin = "USDT", amount_over = 50 } })
    fails("is no amount in quotes", with_rule { when = { coin = "USDT", amount_over = "-1" } })
    fails("not one coin beside it", with_rule { when = { amount_over = "50" } })
    fails("not one coin beside it", with_rule { when = { coin = { "USDT", "USDC" }, amount_over = "50" } })
    fails('per: "day" is none of account and destination', with_rule { when = { coin = "USDT",
      sum_over = { amount = "1", hours = 24, per = "day" } } })
    fails("whole number", with_rule { when = { known_days = -1 } })
    for _, value in ipairs { false, "no", 1 } do fails("is not true", with_rule { when = { saved = value } }) end
    fails('"addresses" has no "hot"', with_rule { when = { to = { "cold", "hot" } } })
    fails('"groups" has no "robots"', with_rule { when = { made_by = "robots" } })
    fails("coin is no list", with_rule { when = { coin = {} } }) -- {} is an object
    fails("never matches", with_rule { unless = { { coin = "USDT" }, {} } })
    fails("unless is no list", with_rule { unless = { coin = "USDT" } })
  end)

  it("has rules that say what they need", function()
    fails("allows without a word on approvals", { rules = { { name = "r", effect = "allow" } } })
    fails("requires nothing", with_rule { effect = "require" })
    fails("no approval or wait undoes that", with_rule { effect = "forbid" })
    fails('"groups" has no "none"', with_rule { approvals = { { group = "none", count = 1 } } })
    fails("count is 0", with_rule { approvals = { { group = "finance", count = 0 } } })
    fails("approvals is no list", with_rule { approvals = { group = "finance", count = 1 } })
    fails('two rules are named "r"', { rules = { with_rule({}).rules[1], with_rule({}).rules[1] } })
    fails("there are no rules", { rules = {} })
    fails("change.approvals is empty", { change = { approvals = {} } })
  end)

  it("gives each key to one person", function()
    local key = policies.key "alice"
    fails("one key is alice's and bob's", { people = { alice = { key }, bob = { key } }, groups = {} })
    fails("or there twice", { people = { alice = { key, key } } })
    fails("one key is alice's and bob's", { people = { alice = { key .. " a" }, bob = { key .. " b" } } })
    fails("not one or two keys", { people = { alice = {} } })
    fails("not one or two keys", { people = { alice = { key, policies.key "b", policies.key "c" } } })
    fails("people.alice: a key of the kind \"ssh%-rsa\"", { people = { alice = { ssh_keys.public("rsa", "rsa") } } })
    fails("anybody can make signatures", { people = { alice = { "ssh-ed25519 " .. ssh_keys.base64(
      ssh_keys.with_length "ssh-ed25519" .. ssh_keys.with_length(("\0"):rep(32))) } } })
    fails('groups.treasury%[1%]: "people" has no "eve"', { groups = { treasury = { "eve" } } })
    fails("is no name", { people = { ["al ice"] = { key } } })
  end)

  it("names the version that it replaces", function()
    assert.equal(2, assert(read { version = 2, replaces = ("ab"):rep(32) }).version)
    for _, replaces in ipairs { "", "ab", 7 } do
      fails("replaces is the digest", { version = 2, replaces = replaces })
    end
    fails("replaces is the digest", { replaces = ("ab"):rep(32) })
    fails("version is 0", { version = 0 })
    fails("whole number", { version = "1" })
    fails('there is no zone "Europe/Berln"', { zone = "Europe/Berln" })
    assert.equal("Europe/Berlin", assert(read { zone = "Europe/Berlin" }).zone.name)
    fails("is none of the kinds of policies", { purser = "policy 2" })
  end)

  it("loses no member, and takes any bytes", function()
    local text = policies.text(policies.given())
    for _, other in ipairs { (text:gsub('"version":1', '"version":1,"version":2')), (text:gsub('"treasury"', "null")),
      (text:gsub('"finance"', '"treasury"')) } do
      assert.is_nil((policy.read(other)))
    end
    for at = 0, #text - 2 do assert.is_nil((policy.read(text:sub(1, at)))) end
    for at = 1, #text do
      for _, letter in ipairs { "\0", "[", "{", '"', "7", "x", "\255" } do
        policy.read(text:sub(1, at - 1) .. letter .. text:sub(at + 1)) -- raises nothing
      end
    end
    for _, name in ipairs { "purser", "version", "account", "people", "groups", "change", "rules", "zone",
      "addresses", "plan_days", "replaces" } do
      for _, value in ipairs { "x", 7.5, true, {}, { 7 }, { x = 7 }, { { { 7 } } } } do
        policy.read((policies.text(policies.given { [name] = value == 7.5 and 7 or value })))
      end
    end
  end)

  it("says which keys ssh-keygen has to know", function()
    local lines = policy.signers(assert(read()))
    assert.equal(4, select(2, lines:gsub("\n", "")))
    assert.truthy(lines:find("bob " .. policies.key "bob", 1, true))
  end)
end)

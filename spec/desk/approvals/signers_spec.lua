-- SPDX-License-Identifier: MIT
-- Who says what of a plan: persons count, none twice, and the maker only as the maker.

local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local random_policies = require "random_policies"
local rules = require "purser.desk.approvals.rules"
local signers = require "purser.desk.approvals.signers"
local ssh_keys = require "ssh_keys"
local sshsig = require "purser.desk.approvals.sshsig"

teardown(ssh_keys.remove)

local TEXT = "the text of a plan"

local function chain()
  local latest = assert(policy.read(policies.text(policies.given(nil, true))))
  local ever = {}
  for key, person in pairs(latest.by_key) do ever[key] = { [person] = true } end
  latest.by_key[signers.statement(TEXT, ssh_keys.sign("bob", "purser-plan-1", TEXT)).key] = nil -- bob was removed
  return { latest = latest, versions = { latest }, ever = ever }
end

local function of(...)
  local statements = {}
  for i, each in ipairs { ... } do
    local name, purpose = each:match "^(%w+) ?(.*)$"
    statements[i] = signers.statement(TEXT, ssh_keys.sign(name, "purser-plan-" .. purpose .. "1", TEXT))
  end
  return signers.of({ maker = "carol" }, chain(), statements)
end

describe("the signers of a plan", function()
  it("are persons, each once, and not its maker", function()
    assert.same({ signed = { alice = true, dave = true }, maker = "carol", problems = {
      { code = "same_person", person = "alice", number = 3 }, { code = "maker", person = "carol", number = 4 },
      { code = "stranger", number = 5 }, { code = "maker", person = "alice", number = 6 },
      { code = "stranger", number = 8 } } },
      of("alice", "dave", "alice", "carol", "eve", "alice made-", "carol made-", "bob"))
  end)

  it("withdraw also where they were removed since", function()
    assert.equal("bob", of("alice", "bob withdraw-").withdrawn)
    assert.is_nil(of("alice", "eve withdraw-").withdrawn)
  end)

  it("are not its maker under another name that the policy had for the key", function()
    local given, signature = chain(), ssh_keys.sign("alice", "purser-plan-1", TEXT)
    local statement = signers.statement(TEXT, signature)
    given.ever[statement.key].carol = true
    assert.same({ signed = {}, problems = { { code = "maker", person = "alice", number = 1 } } },
      signers.of({ maker = "carol" }, given, { statement }))
    local made = signers.statement(TEXT, ssh_keys.sign("alice", "purser-plan-made-1", TEXT))
    assert.equal("alice", signers.of({ maker = "carol" }, given, { made }).maker)
  end)

  it("sign this text for a purpose of plans, or nothing", function()
    local signature = ssh_keys.sign("alice", "purser-plan-1", TEXT)
    assert.equal("approve", signers.statement(TEXT, signature).kind)
    for _, each in ipairs { { TEXT .. " ", signature }, { TEXT, ssh_keys.sign("alice", "purser-policy-1", TEXT) } } do
      assert.same({}, signers.statement(each[1], each[2]))
    end
    assert.same({ message = "this is no signature as `ssh-keygen -Y sign` writes it" }, signers.statement(TEXT, ""))
  end)
end)

describe("four persons with two keys each", function()
  it("fill places as an oracle says, whichever keys signed, and however often", function()
    local names, people, keys = { "alice", "bob", "carol", "dave" }, {}, {}
    for i, name in ipairs(names) do
      people[name] = { policies.key(name), policies.key(name .. "2") }
      keys[i], keys[i + 4] = people[name][1], people[name][2]
    end
    local groups = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" }, all = names }
    local latest = assert(policy.read(policies.text(policies.given { people = people, groups = groups })))
    for i, line in ipairs(keys) do keys[i] = assert(sshsig.key(line)).key end
    for subset = 0, 255 do
      local statements, signed = {}, {}
      for i, key in ipairs(keys) do
        for _ = 1, math.floor(subset / 2 ^ (i - 1)) % 2 * (i % 3 + 1) do
          table.insert(statements, #statements % 2 + 1, { kind = "approve", key = key })
          signed[names[(i - 1) % 4 + 1]] = true
        end
      end
      local found = signers.of({ maker = "eve" }, { latest = latest, ever = {} }, statements).signed
      assert.same(signed, found)
      for count = 1, 4 do
        for name, members in pairs(groups) do
          local places = {}
          for i = 1, count do places[i] = members end
          assert.equal(random_policies.oracle(places, signed, {}),
            rules.filled(latest, { { group = name, count = count } }, found))
        end
      end
    end
  end)
end)

describe("a plan", function()
  it("belongs to one account, queue, journal and service, under a policy of the chain, for a time", function()
    local given = chain()
    local payer = { account = "a", journal_id = "j", base_url = "u", chain = given }
    local head = { account = "a", queue = "q", journal = "j", base_url = "u", policy = "1 " .. given.latest.digest,
      not_after = "1970-01-08" }
    local plan = { head = head, ends = 100 }
    assert.is_nil(signers.misfit(plan, payer, "q", 99))
    assert.is_nil(signers.misfit(plan, payer, nil, 99))
    assert.equal("expired", signers.misfit(plan, payer, "q", 100))
    given.latest.plan_days = 6 -- what is brought obeys the limit, and not only what this program writes
    assert.equal("plan_days", signers.misfit(plan, payer, "q", 99))
    assert.matches("allow.*1970%-01%-07", select(2, signers.write(payer, "q", "carol", {}, 99, "1970-01-08")))
    given.latest.plan_days = 7
    for name, code in pairs { account = "account", queue = "queue", journal = "journal", base_url = "service",
      policy = "policy" } do
      local kept = head[name]
      head[name] = name == "policy" and "1 " .. ("0"):rep(64) or "other"
      assert.equal(code, signers.misfit(plan, payer, "q", 99))
      head[name] = kept
    end
  end)
end)

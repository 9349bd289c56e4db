-- SPDX-License-Identifier: MIT
-- Who says what of a plan: persons count, none twice, and the maker only as the maker.

local policies = require "policies"
local policy = require "purser.signed.policy"
local signers = require "purser.signed.signers"
local ssh_keys = require "ssh_keys"

teardown(ssh_keys.remove)

local TEXT = "the text of a plan"

local function chain()
  local latest = assert(policy.read(policies.text(policies.given(nil, true))))
  local ever = {}
  for key, person in pairs(latest.by_key) do ever[key] = person end
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
      { code = "same_person", person = "alice" }, { code = "maker", person = "carol" }, { code = "stranger" },
      { code = "maker", person = "alice" }, { code = "stranger" } } },
      of("alice", "dave", "alice", "carol", "eve", "alice made-", "carol made-", "bob"))
  end)

  it("withdraw also where they were removed since", function()
    assert.equal("bob", of("alice", "bob withdraw-").withdrawn)
    assert.is_nil(of("alice", "eve withdraw-").withdrawn)
  end)

  it("sign this text for a purpose of plans, or nothing", function()
    local signature = ssh_keys.sign("alice", "purser-plan-1", TEXT)
    assert.equal("approve", signers.statement(TEXT, signature).kind)
    for _, each in ipairs { { TEXT .. " ", signature }, { TEXT, "" },
      { TEXT, ssh_keys.sign("alice", "purser-policy-1", TEXT) } } do
      assert.same({}, signers.statement(each[1], each[2]))
    end
  end)
end)

describe("a plan", function()
  it("belongs to one account, queue, journal and service, under a policy of the chain, for a time", function()
    local given = chain()
    local payer = { account = "a", journal_id = "j", base_url = "u", chain = given }
    local head = { account = "a", queue = "q", journal = "j", base_url = "u", policy = "1 " .. given.latest.digest }
    local plan = { head = head, ends = 100 }
    assert.is_nil(signers.misfit(plan, payer, "q", 99))
    assert.is_nil(signers.misfit(plan, payer, nil, 99))
    assert.equal("expired", signers.misfit(plan, payer, "q", 100))
    for name, code in pairs { account = "account", queue = "queue", journal = "journal", base_url = "service",
      policy = "policy" } do
      local kept = head[name]
      head[name] = name == "policy" and "1 " .. ("0"):rep(64) or "other"
      assert.equal(code, signers.misfit(plan, payer, "q", 99))
      head[name] = kept
    end
  end)
end)

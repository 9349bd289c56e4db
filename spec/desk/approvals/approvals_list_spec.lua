-- SPDX-License-Identifier: MIT
-- Two people, one list: a plan is made, signed, brought to the payer, and paid once.

local at = require "payouts_setting"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local approvals = purser.approvals

before_each(function() policies.begin(at) end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

local function list(first, last)
  local payments = {}
  for i = first, last do
    payments[#payments + 1] = { key = "invoice-" .. i, operation = at.TRANSFER, params = at.move(("%d.50"):format(i)),
      payee = "ACME" }
  end
  return payments
end

local function plan(payments, changes)
  local options = { client = at.client, policy = at.policy, journal_id = assert(at.journal:id()), payments = payments,
    maker = "carol" }
  for name, value in pairs(changes or {}) do options[name] = value end
  return approvals.plan(options)
end

local function sign(text, name, purpose) return ssh_keys.sign(name, purpose or "purser-plan-1", text) end

local function add(text, signatures, more)
  local options = { client = at.client, plan = text, signatures = signatures }
  for name, value in pairs(more or {}) do options[name] = value end
  return approvals.add(options)
end

local function fails(code, value, err)
  assert.is_nil(value)
  assert.equal("approval." .. code, err.code, tostring(err))
end

local function paid() return at.counted(at.TRANSFER, "applied") end

describe("a list that two persons sign", function()
  it("is paid once, whoever made it and however often it is added", function()
    local text = assert(plan(list(1, 5)))
    assert.equal(text, plan(list(1, 5)))
    local payouts = at.payouts_with {}
    local known = assert(add(text, { sign(text, "alice") }))
    assert.same({ "alice" }, known.signed)
    assert(payouts:run())
    assert.equal(0, paid())
    assert.same({ "alice", "bob" }, assert(add(text, { sign(text, "bob") })).signed)
    assert(payouts:run())
    assert.equal(5, paid())
    for _ = 1, 2 do
      assert(add(text, { sign(text, "alice"), sign(text, "bob") }))
      assert(payouts:run())
    end
    assert.equal(5, paid())
    local status = assert(approvals.status { client = at.client })
    assert.same({ 1, 5, { "alice", "bob" }, {} }, { #status, status[1].rows, status[1].signed, status[1].unmet })
  end)

  it("is for one account, queue, service, journal and time", function()
    local signatures = {}
    local function other(code, changes)
      local text = assert(plan(list(1, 2), changes))
      signatures[1], signatures[2] = sign(text, "alice"), sign(text, "bob")
      fails(code, add(text, signatures))
    end
    other("journal", { journal_id = ("a"):rep(24) })
    other("expired", { until_day = "2020-01-01" })
    local text = assert(plan(list(1, 2), { client = at.client_with { base_url = "http://127.0.0.1" } }))
    fails("service", add(text, { sign(text, "alice"), sign(text, "bob") }))
    text = assert(plan(list(1, 2), { queue = "other" }))
    assert(add(text, { sign(text, "alice"), sign(text, "bob") }))
    assert(at.payouts_with({}):run())
    assert.equal(0, paid())
    text = text:gsub('"account":"treasury"', '"account":"desk"')
    fails("account", add(text, { sign(text, "alice") }))
    fails("policy", plan(list(1, 2), { policy = "/nowhere" }))
    for _, id in ipairs { "", "x", ("a"):rep(23), ("a"):rep(25), ("a"):rep(23) .. "-" } do
      fails("journal", plan(list(1, 2), { journal_id = id })) -- before anybody signs it
    end
    fails("journal", approvals.plan { client = at.client, policy = at.policy, payments = list(1, 2), maker = "carol" })
  end)

  it("takes no signature that is worth nothing to anybody", function()
    local text = assert(plan(list(1, 1)))
    fails("stranger", add(text, { sign(text, "alice"), sign(text, "eve") }))
    fails("signature", add(text, { sign(text .. " ", "alice") }))
    fails("signature", add(text, { "-----BEGIN" }))
    fails("changed", add(text .. "\n", { sign(text, "alice") }))
    local status = assert(approvals.status { client = at.client })
    assert.same({}, status)
    local known = assert(add(text, { sign(text, "carol"), sign(text, "alice"),
      sign(text, "carol", "purser-plan-made-1") }))
    assert.same({ "alice" }, known.signed)
    assert.equal("carol", known.made_by)
    assert.same({ { code = "maker", person = "carol" } }, { { code = known.problems[1].code,
      person = known.problems[1].person } })
    known = assert(add(text, { sign(text, "dave", "purser-plan-withdraw-1"), sign(text, "bob") }))
    assert.equal("dave", known.withdrawn)
  end)

  it("is said to lack what a sending would, also where only the journal knows", function()
    policies.finish(at)
    policies.begin(at, { rules = {
      { name = "known", effect = "allow", when = { known_days = 7 }, approvals = { { group = "finance", count = 1 } } },
      { name = "new", effect = "allow", unless = { { known_days = 7 } }, approvals = { { group = "treasury",
        count = 2 } } }, { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8",
        hours = 24, per = "account" } } } } })
    local text = assert(plan(list(1, 3))) -- 1.5, 2.5 and 3.5
    local function unmet() return assert(approvals.status { client = at.client })[1].unmet end
    assert(add(text, { sign(text, "alice") }))
    assert.same({ ["it waits for approval: policy 1, new (treasury 2); signed by alice"] = 3 }, unmet())
    assert(add(text, { sign(text, "dave") }))
    assert.same({}, unmet())
    assert(at.payouts_with({}):run())
    assert.equal(3, paid())
    assert.same({}, unmet()) -- what was paid lacks nothing, though no more may be paid today
  end)

  it("has a status that only reads: no other process waits for it", function()
    local text, db = assert(plan(list(1, 3))), at.journal.db
    assert(add(text, { sign(text, "alice") }))
    local rows, asked = db.rows, {}
    function db.rows(self, sql, ...)
      asked[sql:match "^%s*(%u+[^(]*)":sub(1, 15)] = true
      return rows(self, sql, ...)
    end
    assert.equal(1, #assert(approvals.status { client = at.client }))
    db.rows = nil
    for sql in pairs(asked) do assert(sql:find "^SELECT" or sql == "COMMIT", sql) end
    assert.is_true(asked.COMMIT)
  end)

  it("is not paid where the policy forbids a row, and says so", function()
    policies.finish(at)
    policies.begin(at, { rules = { { name = "all", effect = "allow", approvals = {} },
      { name = "no-btc", effect = "forbid", when = { coin = "BTC" } } } })
    local payments = list(1, 2)
    payments[2].params.asset = "BTC"
    assert(add(assert(plan(payments))))
    assert.same({ ["the policy forbids it: policy 1, no-btc"] = 1 },
      assert(approvals.status { client = at.client })[1].unmet)
    assert(at.payouts_with({}):run())
    assert.equal(1, paid())
  end)

  it("has signatures that anybody can check without Purser", function()
    local text = assert(plan(list(1, 3)))
    local signature = sign(text, "alice")
    assert.is_true(ssh_keys.takes("alice", "purser-plan-1", text, signature))
    local known = assert(approvals.verify(text, { signature, sign(text, "alice") }, at.policy))
    assert.same({ "alice" }, known.signed)
    assert.equal(plan_text.digest(text), known.plan.digest)
  end)

  it("with any bit changed has no signature", function()
    local text = assert(plan(list(1, 3)))
    local signatures = { sign(text, "alice"), sign(text, "bob") }
    local accepted = 0
    local function try(changed)
      local known = approvals.verify(changed, signatures, at.policy)
      if known and known.signed[1] then accepted = accepted + 1 end
    end
    for i = 1, #text, 5 do
      for bit = 0, 7 do
        local byte = text:byte(i)
        local flipped = math.floor(byte / 2 ^ bit) % 2 == 1 and byte - 2 ^ bit or byte + 2 ^ bit
        try(text:sub(1, i - 1) .. string.char(flipped) .. text:sub(i + 1))
      end
      try(text:sub(1, i - 1))
    end
    assert.equal(0, accepted)
  end)
end)

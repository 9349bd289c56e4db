-- SPDX-License-Identifier: MIT
-- A payment that a policy holds back waits: for persons, or for time alone.

local approval_rows = require "purser.desk.approvals.approval_rows"
local at = require "payouts_setting"
local core = require "purser.core"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local policies = require "policies"
local ssh_keys = require "ssh_keys"
local utc = require "purser.client.util.utc"

local HOUR = 3600000

local function begin(rule)
  policies.begin(at, { plan_days = 300, rules = {
    { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } }, rule } })
end

before_each(function()
  begin { name = "rest", effect = "require", when = { coin = "USDT", amount_over = "5" }, wait_hours = 2 }
end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

local function approve(payouts, keys)
  local rows = {}
  for i, key in ipairs(keys) do
    local payment = assert(payouts:find(key))
    rows[i] = { key = key, operation = payment.operation, params = payment.params, word = planned.within(at.journal,
      function(tx) return { planned.standing_word(tx, payment.id) } end)[1] }
  end
  local text = assert(plan_text.write({ account = "treasury", queue = "default", journal = assert(at.journal:id()),
    base_url = "http://localhost", policy = "1 " .. plan_text.digest(at.policy_text), maker = "carol",
    not_after = utc.text(at.sim:now() + 20 * 24 * HOUR):sub(1, 10) }, rows))
  assert(at.journal.db:transaction(function(tx)
    tx.time = at.sim:now()
    approval_rows.add(tx, assert(plan_text.read(text)), policies.approve(text))
    return true
  end))
end

describe("a payment under a policy", function()
  it("waits until it is approved, and is then made once", function()
    local payouts = at.payouts_with {}
    at.add(payouts, 1, 3)
    assert(payouts:run())
    local report = assert(payouts:report())
    assert.same({ 3, 3, 0 }, { report.waiting, report.blocked, at.counted(at.TRANSFER, "received") })
    assert.matches("waits for approval", report.blocked_payments[1].message)
    approve(payouts, { "invoice-1", "invoice-3" })
    assert(payouts:run())
    assert(payouts:run())
    report = assert(payouts:report())
    assert.same({ 2, 1, 2 }, { report.done, report.blocked, at.counted(at.TRANSFER, "applied") })
  end)

  -- Runs until the run ends by itself. Returns its report.
  local function run_to_its_end(payouts)
    local looks = 0
    payouts.progress_ms, payouts.progress = 1, function()
      looks = looks + 1
      if looks == 500 then payouts:stop() end
    end
    local report = assert(payouts:run())
    assert.is_true(looks < 500, "the run did not end by itself")
    return report
  end

  it("that only has to rest is due when it has, and leaves the run to end", function()
    local payouts = at.payouts_with {}
    at.add(payouts, 6, 6)
    approve(payouts, { "invoice-6" })
    local report = run_to_its_end(payouts)
    local row = assert(at.journal.db:rows "SELECT stage, due_at, blocked FROM purser_calls")[1]
    assert.same({ "waiting", "" }, { row.stage, row.blocked })
    local later = tonumber(row.due_at) - core.now_ms()
    assert.is_true(later > 7000000 and later <= 7200000, tostring(later))
    assert.same({ 1, 0, tonumber(row.due_at) }, { report.waiting, report.blocked, report.next_due_at })
    at.sim:advance(2 * HOUR)
    at.set("due_at = $1", at.ahead(0))
    assert.equal(1, run_to_its_end(payouts).done)
  end)

  it("that a sum holds back is made by a later run, and the others by this one", function()
    policies.finish(at)
    begin { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8", hours = 24,
      per = "account" } } }
    local payouts = at.payouts_with { concurrency = 1 }
    at.add(payouts, 5, 7)
    approve(payouts, { "invoice-5", "invoice-6", "invoice-7" })
    local report = run_to_its_end(payouts)
    assert.same({ 1, 2, 0 }, { report.done, report.waiting, report.blocked })
    assert.is_true(report.next_due_at > core.now_ms())
    for _, done in ipairs { 2, 3 } do
      at.sim:advance(26 * HOUR)
      at.set("due_at = $1 WHERE stage = 'waiting'", at.ahead(0))
      assert.equal(done, run_to_its_end(payouts).done)
    end
    assert.is_nil(assert(payouts:report()).next_due_at)
  end)

  it("that was put back counts in a sum again once a history shows that it was made", function()
    policies.finish(at)
    begin { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8", hours = 24,
      per = "account" } } }
    local payouts
    at.client = at.client_with { policy = at.policy, transport = at.transport(function(request, inner)
      local response = inner:send(request)
      if request.operation ~= at.TRANSFER then return response end
      payouts:stop()
      return nil, { outcome = "not_sent", phase = "connect", message = "it says that nothing left" }
    end) }
    payouts = at.payouts_with { concurrency = 1 }
    at.add(payouts, 5, 6)
    approve(payouts, { "invoice-5", "invoice-6" })
    assert(payouts:run())
    assert.equal(1, at.counted(at.TRANSFER, "applied"))
    at.journal:close()
    at.open()
    at.client = at.client_with { policy = at.policy }
    at.set "due_at = '' WHERE stage = 'waiting'"
    local report = run_to_its_end(at.payouts_with { concurrency = 1 })
    assert.same({ 1, 1, 1 }, { report.done, report.waiting, at.counted(at.TRANSFER, "applied") })
  end)

  it("that a person disowned counts in a sum when it is made again, whatever was known of it", function()
    for _, columns in ipairs { "stage = 'failed', state = 'rejected'", "stage = 'undecided', state = 'planned'" } do
      policies.finish(at)
      begin { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8", hours = 24,
        per = "account" } } }
      local payouts, is_sent = at.payouts_with { concurrency = 1 }, columns:find "rejected"
      at.add(payouts, 5, 5)
      if is_sent then
        at.sim:fault { kind = "reject", code = "700004", message = "no", operation = "transfer", times = 1 }
        approve(payouts, { "invoice-5" })
        assert.equal(1, run_to_its_end(payouts).failed)
      end
      at.set(columns)
      assert.is_true(payouts:retry("invoice-5", { force = true }))
      at.add(payouts, 4, 4)
      approve(payouts, { "invoice-4", "invoice-5" })
      at.set "due_at = '9' WHERE payment = 'invoice-4'" -- the other one goes first
      local report = run_to_its_end(payouts)
      assert.same({ 1, 1, 1 }, { report.done, report.waiting, at.counted(at.TRANSFER, "applied") }, columns)
      assert.equal("done", assert(payouts:find "invoice-5").state)
    end
  end)

  it("that a late copy's rejection leaves undecided counts in a sum", function()
    policies.finish(at)
    begin { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8", hours = 24,
      per = "account" } } }
    local payouts = at.payouts_with { concurrency = 1, history_check = "never" }
    at.add(payouts, 5, 5)
    at.add(payouts, 4, 4)
    approve(payouts, { "invoice-4", "invoice-5" })
    at.set "blocked = 'yes' WHERE payment = 'invoice-4'"
    at.sim:fault { kind = "reject", code = "700003", message = "too late", operation = at.TRANSFER, times = 1 }
    at.sim:fault { kind = "reject", code = "700007", message = "no", operation = "sub_account.transfer_history",
      times = 1000 }
    assert.equal(1, run_to_its_end(payouts).undecided)
    at.set "due_at = '', blocked = '' WHERE payment = 'invoice-4'"
    local report = run_to_its_end(payouts)
    assert.same({ 1, 1, 0 }, { report.undecided, report.waiting, report.done })
  end)

  it("that was rejected, and is found undecided before it is sent again, counts in a sum", function()
    policies.finish(at)
    begin { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "8", hours = 24,
      per = "account" } } }
    local other = at.client_with { journal = false, policy = false }
    local payouts = at.payouts_with { concurrency = 1 }
    assert(payouts:add("a", "wallet.transfer", at.own "5"))
    approve(payouts, { "a" })
    at.sim:fault { kind = "reject", code = "700004", message = "no", operation = "wallet.transfer", times = 1 }
    assert.equal(1, run_to_its_end(payouts).failed)
    assert.is_true(payouts:retry "a")
    assert(other:call("wallet.transfer", at.own "5"))
    at.journal:close()
    at.open()
    at.client = at.client_with { policy = at.policy }
    payouts = at.payouts_with { concurrency = 1 }
    run_to_its_end(payouts)
    local found = assert(payouts:find "a")
    assert.same({ "undecided", "undecided" }, { found.state, found.call_state })
    assert(payouts:add("b", "wallet.transfer", at.own "4"))
    approve(payouts, { "b" })
    local report = run_to_its_end(payouts)
    assert.same({ 1, 1, 0 }, { report.undecided, report.waiting, report.done })
  end)
end)

-- SPDX-License-Identifier: MIT
-- The torture under a policy: workers are killed, the service answers badly, and all that was paid stands in a plan
-- whose signatures `ssh-keygen -Y verify` accepts.
-- make test-all: 120 s, waits, on lua5.4

local files = require "files"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"
local torture = dofile "spec/torture/torture.lua"

local KEYS = { "sub_account.create_api_key", "sub_account.delete_api_key" }
local PAYMENTS = tonumber(os.getenv "PAYMENTS") or 100
local folder, policy, plans

before_each(function()
  folder, plans = files.folder(), {}
  policy = policies.folder({ account = "torture", rules = {
    { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } },
    { name = "keys", effect = "allow", when = { operation = KEYS }, approvals = {} },
    { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "100000000", hours = 24,
      per = "destination" } } } } }, "alice", "bob")
end)
after_each(function()
  files.remove(folder)
  files.remove(policy)
end)
teardown(ssh_keys.remove)

local function approve(client, journal, payments)
  local text = assert(purser.approvals.plan { client = client, policy = policy, journal_id = assert(journal:id()),
    journal = journal, payments = payments, maker = "carol" .. #plans })
  local plan = assert(plan_text.read(text))
  plan.signatures = policies.approve(text)
  plans[#plans + 1], plans[plan.digest] = plan, plan
  assert(purser.approvals.add { client = client, plan = text, signatures = plan.signatures })
end

-- Returns the rows of calls that were sent, but for keys.
local function sent(where)
  local journal = assert(purser.journal.open(where))
  local rows = assert(journal.db:rows "SELECT * FROM purser_calls WHERE sent_at <> '' AND queue <> ''")
  local sums = assert(journal.db:rows "SELECT place, amount FROM purser_sums")
  journal:close()
  return rows, sums
end

local function check(where, workers, seed)
  local result = torture.run { payments = PAYMENTS, workers = workers, kill_every = 40, seed = seed, seconds = 1200,
    keys = 2, folder = folder, journal = where, policy = policy, approve = approve }
  assert.same({}, result.problems)
  assert.equal(PAYMENTS, result.done + result.undecided)
  assert.is_true(result.kills >= 2, result.kills .. " kills")
  local rows, sums = sent(where)
  assert.equal(PAYMENTS, #rows)
  for _, plan in ipairs(plans) do
    for i, name in ipairs { "alice", "bob" } do
      assert.is_true(ssh_keys.takes(name, "purser-plan-1", plan.text, plan.signatures[i]))
    end
  end
  local total, summed = purser.decimal "0", purser.decimal "0"
  for _, row in ipairs(rows) do
    local params = require("purser.core").decode(row.params)
    assert.same({ "alice bob", "1" }, { row.approved_by, row.policy })
    assert.is_true(plan_text.is_of(plans[row.plan].by_key[row.payment], row.operation, params))
    if row.disowned ~= "" then assert.are_not.equal(plans[1].digest, row.plan) end -- a word asks for another plan
    total = total + params.amount
  end
  for _, sum in ipairs(sums) do
    if sum.place == "" then summed = summed + sum.amount end
  end
  assert.equal(tostring(total), tostring(summed)) -- each call counts once, however often it was tried
  print(("# %d payments, %d kills, %d requests, %d plans"):format(PAYMENTS, result.kills, result.requests, #plans))
end

describe("the torture under a policy", function()
  it("pays what persons have signed, once, from a journal of SQLite", function()
    check({ sqlite = folder .. "/journal" }, 1, 5)
  end)

  it("pays what persons have signed, once, from a journal of PostgreSQL", function()
    local server = dofile("spec/torture/postgresql.lua").start(folder)
    local ok, raised = pcall(check, { postgresql = server.options }, 3, 6)
    server.stop()
    if not ok then error(raised, 0) end
  end)
end)

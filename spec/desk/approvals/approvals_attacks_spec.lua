-- SPDX-License-Identifier: MIT
-- One dishonest person and a plan that others have signed, or will sign: nothing of what that person tries is paid.

local at = require "payouts_setting"
local policies = require "policies"
local plan_text = require "purser.desk.approvals.plan_text"
local policy_chain = require "purser.desk.approvals.policy_chain"
local purser = require "purser"
local runs = require "purser.desk.payouts.runs"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local approvals = purser.approvals
local answer

before_each(function()
  answer = nil
  policies.begin(at)
  at.client = at.client_with { policy = at.policy, transport = at.transport(function(request, inner)
    if answer and request.method == "POST" then return answer end
    return inner:send(request)
  end) }
end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

local function plan(amounts, changes)
  local payments = {}
  for i, amount in ipairs(amounts) do
    payments[i] = { key = "invoice-" .. i, operation = at.TRANSFER, params = at.move(amount) }
  end
  local options = { client = at.client, policy = at.policy, journal_id = assert(at.journal:id()), payments = payments,
    maker = "carol" }
  for name, value in pairs(changes or {}) do options[name] = value end
  return assert(approvals.plan(options))
end

local function add(text, signatures)
  return approvals.add { client = at.client, plan = text, signatures = signatures or policies.approve(text) }
end

local function run()
  local payouts = at.payouts_with {}
  assert(payouts:run { all = true })
  return payouts, at.counted(at.TRANSFER, "applied")
end

local function fails(code, pattern, value, err)
  assert.is_nil(value)
  if code ~= "" then assert.equal("approval." .. code, err.code) end
  assert.matches(pattern, err.message)
end

describe("a plan that was signed", function()
  it("does not bring back what was dropped, and pays nothing else in its place", function()
    local text, payouts = plan { "1", "2" }, at.payouts_with {}
    assert(add(text, {}))
    assert(payouts:drop "invoice-1")
    assert(runs.begin(payouts, assert(payouts:plan { payments = { { key = "invoice-2", operation = at.TRANSFER,
      params = at.move "3" } } })))
    assert(add(text)) -- what the payer has already stays
    for _ = 1, 2 do
      assert.equal(0, select(2, run()))
      assert.equal("dropped", assert(payouts:find "invoice-1").state)
      assert.matches("not as its plan says", assert(payouts:find "invoice-2").message)
    end
    fails("", "in the queue with other content", add(plan({ "1", "2" }, { maker = "dave" })))
    assert.equal("bob", assert(add(text, { ssh_keys.sign("bob", "purser-plan-withdraw-1", text) })).withdrawn)
  end)

  it("pays nothing a second time that a person says was not made", function()
    local text = plan { "1" }
    assert(add(text))
    answer = { status = 400, body = '{"code":700004,"msg":"no"}', headers = "" }
    local payouts = run()
    answer = nil
    assert.equal("failed", assert(payouts:find "invoice-1").state)
    assert(payouts:retry("invoice-1", { force = true }))
    for _ = 1, 2 do
      assert.equal(0, select(2, run()))
      assert.matches("needs another plan", assert(payouts:find "invoice-1").message)
      assert.matches("needs another plan", next(assert(approvals.status { client = at.client })[1].unmet))
      assert(add(text))
    end
    assert(add(plan({ "1" }, { maker = "erin" })))
    assert.equal(0, select(2, run())) -- without the word
    local other = plan({ "1" }, { journal = at.journal })
    assert(add(other))
    for _ = 1, 2 do assert.equal(1, select(2, run())) end
    local function sent_under() return assert(at.journal.db:rows "SELECT plan FROM purser_calls")[1].plan end
    assert.equal(plan_text.digest(other), sent_under())
    at.set "stage = 'failed', state = 'rejected', record_id = '', disowned = ''" -- and once more
    assert(payouts:retry("invoice-1", { force = true }))
    assert.equal(1, select(2, run())) -- its record shows that it was made
    assert.equal(plan_text.digest(other), sent_under())
  end)

  it("pays again by itself what the service rejected, where a look shows no record", function()
    assert(add(plan { "1" }))
    answer = { status = 400, body = '{"code":700004,"msg":"no"}', headers = "" }
    local payouts = run()
    answer = nil
    assert(payouts:retry "invoice-1")
    assert.equal(1, select(2, run()))
  end)

  it("has other bytes with other line ends, and so have its signatures", function()
    local text = plan { "1" }
    local windows = text:gsub("\n", "\r\n")
    fails("changed", "made again it has other bytes", add(windows, policies.approve(windows)))
    fails("signature", "not over this plan", add(text, policies.approve(windows)))
    local signature = policies.approve(text)[1]:gsub("\n", "\r\n")
    fails("signature", "^signature 1: this is no signature as `ssh%-keygen %-Y", add(text, { signature }))
    assert.equal(0, select(2, run()))
  end)
end)

describe("a policy", function()
  it("is loosened by nobody alone", function()
    local first = policy_chain.open(at.policy, "treasury").latest
    local given = policies.given({ version = 2, replaces = first.digest,
      rules = { { name = "all", effect = "allow", approvals = {} } } }, true)
    local text = policies.text(given)
    for _, names in ipairs { "alice", "alice carol", "alice alice eve", "" } do
      local signatures = {}
      for name in names:gmatch "%w+" do
        signatures[#signatures + 1] = ssh_keys.sign(name, policy_chain.NAMESPACE, text)
      end
      signatures = table.concat(signatures)
      assert.is_nil((policy_chain.install(at.policy, "treasury", text, signatures)))
      whole.write(at.policy .. "/2.json", text) -- by who may write there
      whole.write(at.policy .. "/2.sigs", signatures)
      local client, err = purser.new { base_url = "http://localhost", transport = at.sim:transport(), api_key = "k",
        secret_key = "s", account = "treasury", journal = at.journal, policy = at.policy }
      assert.is_nil(client)
      assert.matches("not all have signed", tostring(err))
      os.remove(at.policy .. "/2.json")
      os.remove(at.policy .. "/2.sigs")
    end
    assert(at.payouts_with({}):add("invoice-1", at.TRANSFER, at.move "1"))
    assert.equal(0, select(2, run())) -- the running payer has the first one
  end)
end)

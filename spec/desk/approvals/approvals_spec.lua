-- SPDX-License-Identifier: MIT
-- The public names of approvals, on one list from its plan to its payment.

local at = require "payouts_setting"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

before_each(function() policies.begin(at) end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

describe("purser.desk.approvals", function()
  it("plans, shows, verifies, adds, reports, checks and tries", function()
    local approvals, payer = purser.approvals, { client = at.client }
    local text = assert(approvals.plan { client = at.client, policy = at.policy, maker = "carol",
      journal_id = assert(at.journal:id()),
      payments = { { key = "invoice-1", operation = at.TRANSFER, params = at.move "15" } } })
    local signatures = policies.approve(text, "alice dave")
    local verified = assert(approvals.verify(text, signatures, at.policy))
    assert.same({ "alice", "dave" }, verified.signed)
    assert.matches("made by carol", assert(approvals.show(text)))
    payer.plan, payer.signatures = text, signatures
    assert.same({ "alice", "dave" }, assert(approvals.add(payer)).signed)
    payer.plan, payer.signatures = nil, nil
    assert.equal(1, #assert(approvals.status(payer)))
    assert.matches("1 row goes to addresses that you never paid", approvals.show(text, { journal = at.journal }))
    assert.equal(1, assert(at.payouts_with({}):run()).done)
    assert.is_nil(approvals.show(text, { journal = at.journal }):find("you never paid", 1, true))
    assert.equal("approval.policy", select(2, approvals.show(text, { policy = "/nowhere" })).code)
    local trial = assert(approvals.try { journal = at.journal, account = "treasury", policy = at.policy_text })
    assert.same({ 1, { treasury = 2 } }, { trial.payments, trial.asked })
    assert.same({}, assert(approvals.check(at.policy_text, at.policy_text)).looser)
  end)

  it("needs a client, and knows its options", function()
    for _, options in ipairs { {}, { client = {} }, { client = at.client, policies = at.policy } } do
      for _, name in ipairs { "plan", "add", "status" } do
        local value, err = purser.approvals[name](options)
        assert.is_nil(value)
        assert.truthy(err.option or err.message:find("has no client", 1, true))
      end
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- A plan of 10,000 rows is made, verified, added and judged in seconds of processor time.
-- make test-all: 30 s, on lua5.4

local at = require "payouts_setting"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local approvals = purser.approvals

before_each(function() policies.begin(at) end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

local function timed(what, most, run, ...)
  local began = os.clock()
  local result = assert(run(...))
  local took = os.clock() - began
  print(("# 10,000 rows %s in %.2f s"):format(what, took))
  assert.is_true(took < most, what)
  return result
end

describe("a plan of 10,000 rows", function()
  it("takes seconds, and no step takes the square of its rows", function()
    local payments = {}
    for i = 1, 10000 do
      payments[i] = { key = ("inv-%05d"):format(i), operation = at.TRANSFER, params = at.move(("%d.5"):format(i)) }
    end
    local text = timed("planned", 10, approvals.plan, { client = at.client, policy = at.policy, maker = "carol",
      journal_id = assert(at.journal:id()), payments = payments })
    local signatures = policies.approve(text)
    assert.same({ "alice", "bob" }, timed("verified", 5, approvals.verify, text, signatures, at.policy).signed)
    timed("added", 15, approvals.add, { client = at.client, plan = text, signatures = signatures })
    assert.same({}, timed("judged", 10, approvals.status, { client = at.client })[1].unmet)
  end)
end)

-- SPDX-License-Identifier: MIT
-- A signed plan that is brought again: to the same payer, to a journal that was put back, to another journal, account,
-- queue or service, by two accounts of one machine. Nothing is paid a second time.
-- make test-all: 5 s, on lua5.4

local at = require "payouts_setting"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local approvals = purser.approvals
local text, signatures

local function client() return at.client_with { policy = at.policy } end

before_each(function()
  policies.begin(at)
  local payments = {}
  for i = 1, 5 do
    payments[i] = { key = "invoice-" .. i, operation = at.TRANSFER, params = at.move(("%d.5"):format(i)) }
  end
  text = assert(approvals.plan { client = at.client, policy = at.policy, journal_id = assert(at.journal:id()),
    payments = payments, maker = "carol" })
  signatures = policies.approve(text)
end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

local function add() return approvals.add { client = at.client, plan = text, signatures = signatures } end
local function paid() return at.counted(at.TRANSFER, "applied") end

local function reopen()
  at.journal = assert(purser.journal.open { sqlite = at.path })
  at.client = client()
end

describe("a plan that was paid", function()
  it("is not paid again from a journal that was put back", function()
    for _, has_plan in ipairs { true, false } do -- the copy was made after, or before the plan came
      local before = paid()
      if has_plan then assert(add()) end
      at.journal:close()
      at.copy(at.path, at.path .. ".copy")
      reopen()
      assert(add())
      assert(at.payouts_with({}):run())
      assert.equal(has_plan and before + 5 or before, paid())
      at.journal:close()
      at.copy(at.path .. ".copy", at.path)
      reopen()
      assert(add())
      assert(at.payouts_with({}):run())
      assert.equal(5, paid())
    end
  end)

  it("is not paid by another journal, though it is of the same account", function()
    assert(add())
    assert(at.payouts_with({}):run())
    at.lose_journal()
    at.client = client()
    local value, err = add()
    assert.is_nil(value)
    assert.equal("approval.journal", err.code)
    assert(at.payouts_with({}):run())
    assert.equal(5, paid())
  end)

  it("is not paid again by its rows as single calls, or in another queue", function()
    assert(add())
    assert(at.payouts_with({}):run())
    local other = assert(at.payouts_with { queue = "other" })
    for i = 1, 5 do
      local params = at.move(("%d.5"):format(i))
      local result = at.client:call(at.TRANSFER, params, { key = "invoice-" .. i })
      assert.is_nil(result)
      local planned = assert(at.payouts_with({}):find("invoice-" .. i)).params
      assert(not other:add { key = "invoice-" .. i, operation = at.TRANSFER, params = planned }
        or other:run())
    end
    assert.equal(5, paid())
  end)
end)

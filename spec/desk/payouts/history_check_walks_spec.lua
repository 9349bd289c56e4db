-- SPDX-License-Identifier: MIT
-- Payouts with a journal that lacks what was sent: how often the histories are walked.

local at = require "payouts_setting"

before_each(at.begin)
after_each(at.finish)

describe("the check of the histories", function()
  local function looks() return at.counted("sub_account.transfer_history", "received") end

  it("is one walk for many payments, and none for a run that has nothing to do", function()
    at.finish()
    at.begin { key_days = 0 }
    local payouts = at.payouts_with()
    assert(payouts:run())
    assert.equal(0, looks())
    at.add(payouts, 1, 50)
    assert.equal(50, assert(payouts:run()).done)
    local first = looks()
    assert.is_true(first < 20, first .. " reads")
    at.add(payouts, 51, 60)
    assert.equal(60, assert(payouts:run()).done)
    assert.equal(first, looks()) -- this process has had the journal open all the time
    at.sim:advance(200 * 86400000) -- further than any history reaches: what was made since is in the journal
    at.add(payouts, 61, 61)
    assert.equal(61, assert(payouts:run()).done)
    assert.equal(first, looks())
  end)

  it("is made again when the connection to the journal was opened again", function()
    local payouts = at.payouts_with()
    at.add(payouts, 1, 2)
    assert(payouts:run())
    local first = looks()
    -- SQLite closes no connection before its statements
    for _, statement in pairs(at.journal.db.statements) do statement:close() end
    at.journal.db.handle:close()
    at.journal.db.handle, at.journal.db.statements = nil, {}
    at.add(payouts, 3, 3)
    assert(payouts:run())
    assert.is_true(looks() > first)
  end)
end)

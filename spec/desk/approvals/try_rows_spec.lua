-- SPDX-License-Identifier: MIT
-- A policy is tried over 100,000 payments in 10 s of processor time.
-- make test-all: 40 s, on lua5.4

local own = require "own_journal"
local policies = require "policies"
local purser = require "purser"

local NOON = 1795348800000

before_each(own.begin)
after_each(own.finish)

describe("a policy that is tried over 100,000 payments", function()
  it("says what it would have asked and refused, in seconds", function()
    own.within(function(tx)
      tx:rows([[INSERT INTO purser_calls (id, operation, history, key, content, params, digest, sent_at,
        recv_window, queue, payment, state)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        SELECT 'i' || i, 'wallet.withdraw', '', '', '', '{"address":"T' || (i % 700) || '","amount":"'
          || (i % 500 + 1) || '","coin":"USDT","netWork":"TRX"}', 'i' || i, printf('%013d', $1 + i * 60000), '5000', '',
          'i' || i, 'done' FROM n]], NOON)
      tx:rows "INSERT INTO purser_arrivals SELECT id, record_id, 'sent', sent_at, sent_at FROM purser_calls"
      return true
    end)
    local began = os.clock()
    local trial = assert(purser.approvals.try { journal = own.journal, account = "treasury",
      policy = policies.text(policies.given { rules = {
        { name = "known", effect = "allow", when = { known_days = 1 }, approvals = {} },
        { name = "new", effect = "allow", approvals = { { group = "finance", count = 1 } } },
        { name = "daily", effect = "forbid", when = { coin = "USDT",
          sum_over = { amount = "370000", hours = 24, per = "account" } } } } }) })
    local took = os.clock() - began
    assert.equal(100000, trial.payments)
    assert.equal(100000, trial.unasked + trial.refused + trial.asked.finance)
    assert.is_true(trial.asked.finance >= 700 and trial.unasked > 0 and trial.refused_by.daily > 0)
    print(("# 100,000 payments tried in %.1f s"):format(took))
    assert.is_true(took < 40)
  end)
end)

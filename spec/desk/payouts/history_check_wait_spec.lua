-- SPDX-License-Identifier: MIT
-- When the first payment of a run leaves: what its plan says, and what of the wait passed at a question.

local at = require "payouts_setting"
local files = require "files"

before_each(at.begin)
after_each(at.finish)

describe("the wait of a run, which its plan says before", function()
  local WAIT = 66000

  -- Returns the plan of a payment, and how long its run waits by the service's clock.
  local function planned(payouts, key)
    local list = { { key = key, operation = at.TRANSFER, params = at.move "5" } }
    return assert(payouts:plan { payments = list })
  end

  local function waited(payouts, plan)
    local before = at.sim:now()
    assert.equal(1, assert(payouts:run(plan)).of_run.done)
    return at.sim:now() - before
  end

  -- Moves the time of a plan back, as a person's time at the question does.
  local function asked_for(plan, ms)
    plan.wait.since = plan.wait.since - ms
    return plan
  end

  local function about(ms, value) assert.is_true(value >= ms - 1000 and value <= ms + 1000, tostring(value)) end

  it("is said with its reason, and counts from the plan on", function()
    local payouts = at.payouts_with()
    local plan = planned(payouts, "a")
    assert.same({ WAIT, "the journal cannot show that it is the newest" }, { plan.wait.ms, plan.wait.why })
    about(WAIT - 20000, waited(payouts, asked_for(plan, 20000)))
    payouts = at.payouts_with { queue = "two" }
    about(0, waited(payouts, asked_for(planned(payouts, "b"), 70000)))
    payouts = at.payouts_with { queue = "three" }
    about(WAIT, waited(payouts, planned(payouts, "c")))
  end)

  it("begins once more after five minutes, and with another connection", function()
    local payouts = at.payouts_with()
    about(WAIT, waited(payouts, asked_for(planned(payouts, "a"), 301000)))
    payouts = at.payouts_with { queue = "two" }
    local plan = asked_for(planned(payouts, "b"), 20000)
    plan.wait.place = "another"
    about(WAIT, waited(payouts, plan))
  end)

  it("is none where nothing waits", function()
    assert.is_nil(planned(at.payouts_with { history_check = "never" }, "a").wait)
    local payouts = at.payouts_with()
    waited(payouts, planned(payouts, "a"))
    assert.is_nil(planned(payouts, "b").wait)
    local convert = { { key = "c", operation = "wallet.convert", params = { asset = "BTC" } } }
    assert.is_nil(assert(at.payouts_with():plan { payments = convert }).wait)
  end)

  it("says that an earlier run did not end, and none where the witness shows the newest journal", function()
    local witness = at.path .. ".witness"
    finally(function() files.remove_database(witness) end)
    local payouts = at.payouts_with { witness = witness }
    waited(payouts, planned(payouts, "a"))
    assert.is_nil(planned(at.payouts_with { witness = witness }, "b").wait)
    assert(payouts.witness_db:rows("INSERT INTO purser_running SELECT scope, 'two' FROM purser_marks"))
    assert.equal("an earlier run did not end", planned(at.payouts_with { witness = witness }, "b").wait.why)
  end)
end)

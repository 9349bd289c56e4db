-- SPDX-License-Identifier: MIT
-- Payments that a person drops, or replaces by a corrected list: only what is known not to have been made.

local at = require "payouts_setting"
local runs = require "purser.desk.payouts.runs"

local TRANSFER, move, payouts_with = at.TRANSFER, at.move, at.payouts_with
local payouts

before_each(function()
  at.begin { balance = "1000", key_days = 0 }
  payouts = payouts_with()
end)
after_each(at.finish)

local function applied() return at.counted(TRANSFER, "applied") end

-- Corrects a payment as a person does: by a list. Returns its plan and the report of its run.
local function correct(key, params)
  local plan = assert(payouts:plan { payments = { { key = key, operation = TRANSFER, params = params } } })
  return plan, payouts:run(plan)
end

-- A payment that the service rejects for its balance.
local function leave_failed()
  assert(payouts:add("a", TRANSFER, move "5000"))
  assert.equal(1, assert(payouts:run()).failed)
end

-- A payment that was made, and of which nobody knows.
local function leave_undecided()
  assert(payouts:add("a", TRANSFER, move "5"))
  at.sim:fault { kind = "lost_answer", operation = TRANSFER }
  local reconcile, asked = at.client.reconcile, 0
  at.client.reconcile = function(_, intent, options, window)
    if window.is_planned then return reconcile(at.client, intent, options, window) end -- before it was sent
    asked = asked + 1
    if asked == 2 then at.client.reconcile = nil end -- it is asked about once more
    local answer = { outcome = "undecided", candidates = {}, reason = "nobody looked" }
    assert(at.journal:reconciled(intent, answer))
    return answer
  end
  assert.equal(1, assert(payouts:run()).undecided)
end

describe("a payment that failed", function()
  it("is dropped, is paid no more, and its key stays used", function()
    leave_failed()
    assert.is_true(payouts:drop "a")
    assert.is_false(payouts:drop "a")
    local report = assert(payouts:run())
    assert.same({ 0, 1, 1, 0 }, { report.failed, report.dropped, report.total, applied() })
    assert.is_false(payouts:add("a", TRANSFER, move "5000"))
    assert.is_true(payouts:retry "a") -- a person takes the word back
    assert.equal("waiting", assert(payouts:find "a").state)
    assert.equal(0, applied())
  end)

  it("is neither dropped nor given another content while it may be made by what was sent", function()
    assert(payouts:add("s", TRANSFER, move "5"))
    assert(at.journal.db:rows "UPDATE purser_calls SET stage = 'sent', state = 'unknown', attempt = '1'")
    assert.is_false(payouts:drop "s")
    local queue = require "purser.desk.payouts.queue"
    local made = assert(require("purser.desk.payouts.add").prepare(payouts, "s", TRANSFER, move "6"))
    assert.is_false(assert(at.journal.db:transaction(function(tx)
      return { queue.replace(tx, payouts, queue.find(tx, payouts, "s"),
        { content = made.content }) }
    end))[1])
    assert.same({ "sent", "5" }, { assert(payouts:find "s").state, assert(payouts:find "s").params.amount })
  end)

  it("is dropped out of the hands of a worker that is gone, and that worker sends it no more", function()
    assert(payouts:add("t", TRANSFER, move "5"))
    assert(at.journal.db:rows "UPDATE purser_calls SET stage = 'taken', worker = 'gone' WHERE payment = 't'")
    assert.is_true(payouts:drop("t", { by = "alice" }))
    local dropped = assert(payouts:find "t")
    assert.same({ "dropped", "", "alice gave it up" }, { dropped.state, dropped.worker, dropped.message })
    assert(payouts:run())
    assert.equal(0, applied())
  end)

  it("is replaced, and what takes its place is paid once", function()
    leave_failed()
    assert.equal("a", correct("a", move "5").changed[1].key)
    assert.equal(1, assert(payouts:report()).done)
    assert.equal("a", correct("a", move "6").refused[1].key)
    assert.equal(1, assert(payouts:report()).done)
    assert.equal(1, applied())
    assert.equal("5", assert(payouts:find "a").params.amount)
    local _, err = payouts:add("a", TRANSFER, move "5000")
    assert.equal("payouts.other_content", err.code)
  end)

  it("says how it is corrected when its list has other content", function()
    leave_failed()
    local _, err = payouts:add("a", TRANSFER, move "5")
    assert.matches("put the old value back, or correct it by a plan of the list (payouts:plan)", err.message, 1, true)
  end)
end)

describe("a payment that was made, and of which nobody knows,", function()
  it("is not dropped: it is found, and done", function()
    leave_undecided()
    local done, err = payouts:drop "a"
    assert.is_nil(done)
    assert.equal("payouts.done", err.code)
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, applied())
  end)

  it("is not dropped while it cannot be looked for", function()
    leave_undecided()
    at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 100 }
    local done, err = payouts:drop "a"
    assert.is_nil(done)
    assert.equal("payouts.not_checked", err.code)
    assert.equal(1, assert(payouts:report()).undecided)
  end)

  it("is not replaced: a list with another value is refused", function()
    leave_undecided()
    local plan, report, err = correct("a", move "6")
    assert.equal("a", plan.refused[1].key)
    assert.is_nil(report)
    assert.equal("payouts.changed_since", err.code)
    assert.equal("5", assert(payouts:find "a").params.amount)
    assert.equal(1, applied())
  end)
end)

describe("a payment that waits", function()
  it("is dropped or replaced", function()
    for _, key in ipairs { "a", "b" } do assert(payouts:add(key, TRANSFER, move "5")) end
    assert.is_true(payouts:drop "a")
    local _, report = correct("b", move "7")
    assert.equal("7", assert(payouts:find "b").params.amount)
    assert.same({ 1, 1, 1 }, { report.done, report.dropped, applied() })
  end)

  it("with other content than it was sent with is not done by an answer to that which is written late", function()
    at.client = at.client_with { transport = at.transport(function(request, inner)
      if request.operation ~= TRANSFER then return inner:send(request) end
      return nil, { outcome = "not_sent", phase = "connect", message = "no route" }
    end) }
    payouts = at.payouts_with { attempts = 1, history_check = "never" }
    assert(payouts:add("a", TRANSFER, move "5"))
    local finish, intent = at.journal.finish, nil
    at.journal.finish = function(journal, sent, ...)
      intent = sent
      return finish(journal, sent, ...)
    end
    assert.equal(1, assert(payouts:run()).failed)
    assert.is_true(payouts:retry("a", { force = true }))
    local changed = assert(payouts:plan { payments = { { key = "a", operation = TRANSFER, params = move "7" } } })
    assert(runs.begin(payouts, changed))
    assert(finish(at.journal, intent, { tranId = "of the earlier one" }))
    assert.equal("waiting", assert(payouts:find "a").state)
    at.client = at.client_with()
    payouts = at.payouts_with { history_check = "never" }
    assert.equal(1, assert(payouts:run { all = true }).done)
    assert.equal("7", assert(payouts:find "a").params.amount)
    assert.equal(1, applied())
  end)

  it("is not dropped where a history holds what may be its record, until a person says so", function()
    assert(payouts:add("a", TRANSFER, move "5"))
    at.set "stage = 'undecided', message = 'one record may be its'"
    local done, err = payouts:drop "a"
    assert.is_nil(done)
    assert.equal("payouts.not_checked", err.code)
    assert.matches("one record may be its", err.message)
    assert.equal("a", correct("a", move "6").refused[1].key)
    at.set "stage = 'undecided', message = 'one record may be its'"
    assert.is_true(payouts:drop("a", { force = true }))
  end)

  it("is not replaced by what is no payment, nor where there is none", function()
    assert(payouts:add("a", TRANSFER, move "5"))
    local plan, report = correct("a", {})
    assert.same({ 1, nil }, { plan.bad, report })
    assert.equal("5", assert(payouts:find "a").params.amount)
    assert.is_false(payouts:drop "b")
  end)
end)

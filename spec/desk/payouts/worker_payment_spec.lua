-- SPDX-License-Identifier: MIT
-- Payouts never wait without an end or a reason: after undecided payments, after clocks, after other accounts.

local at = require "payouts_setting"
local core = require "purser.core"
local private = require "purser.client.util.private"
local purser = require "purser"
local queue = require "purser.desk.payouts.queue"

local TRANSFER, move, own, client_with, payouts_with = at.TRANSFER, at.move, at.own, at.client_with, at.payouts_with
local set, ahead = at.set, at.ahead
local DAY = 86400000

before_each(at.begin)
after_each(at.finish)

describe("a payment that the service rejects", function()
  it("is looked for in the same run, and fails there", function()
    local payouts = payouts_with { concurrency = 1 }
    assert(payouts:add("a", TRANSFER, move "5"))
    at.sim:fault { kind = "reject", operation = TRANSFER, times = 9 }
    local report = assert(payouts:run())
    assert.same({ 1, 0, 0 }, { report.failed, report.sent, report.waiting })
    assert.equal("failed", payouts:find "a".state)
  end)
end)

describe("a queue with the guard rail no_duplicates", function()
  before_each(function()
    at.client = client_with { guard = { no_duplicates = true } }
  end)

  -- One of two equal payments is left undecided: its answer is lost, and its history rejects.
  local function leave_one_undecided()
    local payouts = payouts_with { concurrency = 1, history_check = "never" }
    assert(payouts:add("a", "wallet.transfer", own "5"))
    assert(payouts:add("b", "wallet.transfer", own "5"))
    assert(payouts:add("other", "wallet.transfer", own "6"))
    at.sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    at.sim:fault { kind = "reject", operation = "wallet.transfer_history", times = 10 }
    return payouts, assert(payouts:run())
  end

  it("ends its run after an undecided payment, and the report names both", function()
    local payouts, report = leave_one_undecided()
    assert.same({ 1, 1, 1, 1 }, { report.undecided, report.waiting, report.blocked, report.done })
    local blocked = report.blocked_payments[1]
    assert.matches(('payment "%s" is undecided'):format(report.undecided_payments[1].key), blocked.message)
    assert.equal(1, assert(payouts:run()).blocked)
  end)

  it("goes on when the undecided one is decided", function()
    local payouts, report = leave_one_undecided()
    local ok, err = payouts:retry(report.undecided_payments[1].key)
    assert.is_nil(ok)
    assert.equal("payouts.done", err.code)
    report = assert(payouts:run())
    assert.same({ 3, 0 }, { report.done, report.blocked })
    assert.equal(3, at.sim:counts()["wallet.transfer"].applied)
  end)

  it("is not held up by a payment that a person put back", function()
    local payouts, report = leave_one_undecided()
    assert.is_true(payouts:retry(report.undecided_payments[1].key, { force = true }))
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("is not left blocked by a payment that a person decides while the worker looks at it", function()
    local payouts, report = leave_one_undecided()
    local db, equal_call, is_looked_at, put_back = at.journal.db, queue.equal_call, false, nil
    local transaction = db.transaction
    function queue.equal_call(...)
      local equal = equal_call(...)
      is_looked_at = true
      return equal
    end
    function db.transaction(...)
      if is_looked_at and put_back == nil then
        put_back = false
        put_back = payouts:retry(report.undecided_payments[1].key, { force = true })
      end
      return transaction(...)
    end
    finally(function() queue.equal_call = equal_call end)
    report = assert(payouts:run())
    assert.is_true(put_back)
    assert.same({ 3, 0 }, { report.done, report.blocked })
  end)

  it("ends after a call of which nobody knows the end, and says what reconciles it", function()
    at.sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local _, err = at.client.wallet:transfer(own "5")
    assert.equal("unknown", err.outcome)
    at.sim:advance(120000)
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", "wallet.transfer", own "5"))
    local report = assert(payouts:run())
    assert.equal(1, report.blocked)
    assert.matches("journal:recover", report.blocked_payments[1].message, 1, true)
    assert(at.journal:recover(at.client))
    assert.equal(1, assert(payouts:run()).done)
  end)
end)

describe("times that were written while the clock was wrong", function()
  it("do not keep a new payment from being due", function()
    local now_ms = core.now_ms
    core.now_ms = function() return now_ms() + 3600000 end
    local payouts = payouts_with()
    local ok, err = payouts:add("a", TRANSFER, move "1")
    core.now_ms = now_ms
    assert(ok, err)
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("do not put a payment off by more than three days", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("due_at = $1", ahead(4 * DAY))
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("do not leave a payment with a dead worker for more than an hour", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("stage = 'taken', worker = 'dead', lease_until = $1", ahead(2 * 3600000))
    assert.equal(1, assert(payouts:run()).done)
    local rejected, err = purser.payouts.new { client = at.client, journal = at.journal, lease_ms = 3600001 }
    assert.is_nil(rejected)
    assert.matches("lease_ms", err.message)
  end)

  it("are bounded when the service asks for a pause of years", function()
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, move "1"))
    at.sim:fault { kind = "throttle", operation = TRANSFER, retry_after = 99999999, times = 5 }
    payouts.progress, payouts.progress_ms = function(progress)
      if progress.waiting_for then payouts:stop() end
    end, 1
    assert(payouts:run())
    local due = tonumber(assert(at.journal.db:rows "SELECT due_at FROM purser_calls")[1].due_at)
    assert.is_true(due <= core.now_ms() + 3 * DAY)
  end)
end)

describe("a queue of another account's journal", function()
  it("takes nothing and runs nothing, also for a client that was made before the journal had an account", function()
    at.client = client_with { account = "second" }
    local early = payouts_with()
    at.client = client_with()
    assert.is_true(payouts_with():add("rent", TRANSFER, move "1"))
    for _, answer in ipairs { { early:add("rent", TRANSFER, move "1") }, { early:run() } } do
      assert.is_nil(answer[1])
      assert.same({ "config", "journal.other_account" }, { answer[2].kind, answer[2].code })
    end
    assert.is_nil((purser.new { base_url = "http://localhost", transport = at.sim:transport(), api_key = "k",
      secret_key = "s", journal = at.journal, account = "second" }))
    assert.equal(nil, at.sim:counts()[TRANSFER])
  end)
end)

describe("a payment whose answer was lost, and whose history", function()
  local body, failure, reasons

  -- Returns the payouts, of which the run is stopped after an hour.
  local function begin(options)
    reasons, body, failure = {}, nil, nil
    at.client = client_with { retry = false, transport = at.transport(function(request, inner)
      local response, problem = inner:send(request)
      if request.operation == TRANSFER then return nil, { outcome = "unknown", phase = "receive", message = "lost" } end
      if body and request.operation == "sub_account.transfer_history" then response.body = body end
      if failure and request.operation == "sub_account.transfer_history" then return nil, failure end
      return response, problem
    end) }
    local began, payouts = at.sim:now(), nil
    local all = { progress_ms = 1, progress = function(progress)
      reasons[#reasons + 1] = progress.waiting_for
      if at.sim:now() - began > 600000 then failure = nil end
      if at.sim:now() - began > 3600000 then payouts:stop() end
    end }
    for name, value in pairs(options or {}) do all[name] = value end
    payouts = payouts_with(all)
    assert(payouts:add("a", TRANSFER, move "5"))
    return payouts
  end

  local function says(text)
    for _, reason in ipairs(reasons) do
      if reason:find(text, 1, true) then return true end
    end
  end

  it("is no list for good is undecided, and the run ends; it is found once the history is one", function()
    local payouts = begin { history_check = "never" }
    body = "<html>"
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.undecided, report.sent })
    assert.matches("cannot be looked for", report.undecided_payments[1].message, 1, true)
    body = nil
    assert.equal("payouts.done", select(2, payouts:retry "a").code)
  end)

  it("is no list for good is not paid where the journal may lack a payment, and the run ends", function()
    local payouts = begin()
    body = '{"rows": 5}'
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.blocked, at.counted(TRANSFER, "received") })
    assert.matches("cannot be looked for", report.blocked_payments[1].message, 1, true)
  end)

  it("cannot be reached is waited for, and the progress says why", function()
    local payouts = begin { history_check = "never" }
    failure = { outcome = "not_sent", phase = "connect", message = "no route to host" }
    assert.equal(1, assert(payouts:run()).done)
    assert.is_true(says "cannot be read: " and says "no route to host")
    assert.equal(1, at.counted(TRANSFER, "applied"))
  end)

  it("shows records of which no list can be made is left to a person, and the run ends", function()
    local looks, HOUR = 0, 3600000
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response = inner:send(request)
      if request.method == "POST" then return nil, { kind = "transport", outcome = "unknown", message = "lost" } end
      local first, last = request.target:match "startTime=(%d+)&endTime=(%d+)"
      if not first then return response end
      local records = {} -- ten, which may be a part of more, and which no part of the window shows again
      for i = 1, last - first > 24 * HOUR and 10 or 0 do
        records[i] = ('{"id":"w%d","coin":"USDT","address":"T%d","amount":"1","status":7,"applyTime":%d}'):format(i, i,
          first + i * HOUR)
      end
      return { status = 200, headers = response.headers, body = "[" .. table.concat(records, ",") .. "]" }
    end)
    local payouts
    payouts = at.payouts_with { history_check = "never", progress_ms = 1, progress = function()
      looks = looks + 1
      if looks == 1000 then payouts:stop() end
    end }
    assert(payouts:add("k", "wallet.withdraw", { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7" }))
    assert(payouts:run())
    local lost = assert(payouts:find "k")
    assert.equal("undecided", lost.state)
    assert.matches("it cannot be looked for: .*a record that was shown before is missing", lost.message)
  end)
end)

describe("a payment of a lost journal that a history shows", function()
  -- Its first ends with a record get this verdict, as if another process had been there before.
  local function lose(verdict, times)
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "5"))
    assert(payouts:run())
    at.lose_journal()
    local end_call = at.journal.end_call
    at.journal.end_call = function(journal, intent, ending)
      if times == 0 or not (intent.id and ending.record) then return end_call(journal, intent, ending) end
      times = times - 1
      return verdict
    end
    payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "5"))
    return assert(payouts:run()), assert(payouts:find "a")
  end

  it("is undecided where its record was given to another call meanwhile", function()
    local report, payment = lose({ is_taken = true }, 3)
    assert.same({ 1, 1 }, { report.undecided, at.counted(TRANSFER, "applied") })
    assert.same({ "its record is another call's", "undecided" }, { payment.message, payment.call_state })
  end)

  it("is looked for again where the record may be that of an equal call", function()
    local report = lose({ is_over = true }, 1)
    assert.same({ 1, 1 }, { report.done, at.counted(TRANSFER, "applied") })
  end)
end)

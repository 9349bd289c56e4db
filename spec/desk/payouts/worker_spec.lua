-- SPDX-License-Identifier: MIT
-- One worker: its tasks, what it takes over, what ends its run, and what it does with each kind of answer.

local at = require "payouts_setting"
local core = require "purser.core"
local private = require "purser.client.util.private"
local purser = require "purser"
local queue = require "purser.desk.payouts.queue"
local schedule = require "purser.schedule"

before_each(at.begin)
after_each(at.finish)

local set, ahead = at.set, at.ahead

describe("tasks that wait for the journal's connection", function()
  it("take no payments beside those that another task took meanwhile", function()
    at.journal:close()
    at.journal = assert(purser.journal.open { sqlite = at.path, sleep = schedule.sleep })
    at.client = at.client_with()
    local payouts = at.payouts_with { concurrency = 4, history_check = "never" }
    for i = 1, 20 do assert(payouts:add("p" .. i, at.TRANSFER, at.move(tostring(i)))) end
    local begun, sent, held, take_waiting = at.journal.db.kind, false, 0, queue.take_waiting
    -- each transaction lets the other tasks run, as a database does that another process has locked
    at.journal.db.kind = setmetatable({ connection_error = function(db)
      schedule.sleep(1)
      return begun.connection_error(db)
    end }, { __index = begun })
    function queue.take_waiting(...)
      held = math.max(held, #payouts.current.hand)
      return take_waiting(...)
    end
    finally(function() queue.take_waiting = take_waiting end)
    private.states[at.client]._transport = at.transport(function(request, inner)
      if not sent then schedule.sleep(5) end -- the others take their turns
      sent = true
      return inner:send(request)
    end)
    assert.equal(20, assert(payouts:run()).done)
    assert.equal(0, held)
  end)
end)

describe("a payment that another run of the same worker name left behind", function()
  it("is taken over when its lease ends, and no run renews it for ever", function()
    local first = at.payouts_with { history_check = "never" }
    assert(first:add("a", at.TRANSFER, at.move "1"))
    at.sim:fault { kind = "lost_answer", operation = at.TRANSFER }
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response, failure = inner:send(request)
      first:stop()
      return response, failure
    end)
    assert(first:run())
    assert.equal(1, assert(first:report()).sent)
    set("worker = 'two', lease_until = $1", ahead(3600000))
    at.client = at.client_with()
    local calls, second = 0, nil
    second = at.payouts_with { history_check = "never", lease_ms = 200, progress_ms = 10, progress = function()
      calls = calls + 1
      if calls == 1 then set("worker = 'one', lease_until = $1", ahead(100)) end -- the first run is only ending now
      if calls == 200 then second:stop() end
    end }
    assert.equal(1, assert(second:run()).done)
  end)
end)

describe("a progress function that raises", function()
  it("ends the run, and nothing is paid afterwards", function()
    local waits = at.client_with { clock = function()
      if schedule.current() and schedule.can_wait() then schedule.sleep(1) end
      return at.sim:now()
    end }
    local calls = 0
    local payouts = at.payouts_with { client = waits, concurrency = 2, history_check = "never", progress_ms = 1,
      progress = function()
        calls = calls + 1
        if calls == 2 then error("the screen is gone", 0) end
      end }
    for i = 1, 100 do assert(payouts:add("invoice-" .. i, at.TRANSFER, at.move(tostring(i)))) end
    local ok, raised = pcall(payouts.run, payouts)
    assert.is_false(ok)
    assert.equal("the screen is gone", raised)
    assert.equal(2, calls)
    local counts = assert(payouts:report())
    assert.equal(0, counts.sent)
    assert.is_true(counts.done < 100)
    schedule.run(function() schedule.sleep(300) end)
    assert.same(counts, assert(payouts:report()))
    assert.equal(100, assert(payouts:run()).done)
  end)
end)

describe("what concerns all payments alike", function()
  for _, history_check in ipairs { "unless_newest", "never" } do
    it("ends the run, and fails none of them, where the histories are compared " .. history_check, function()
      local silent = true
      at.client = at.client_with { credentials = function()
        if not silent then return at.account.api_key, at.account.secret_key end
      end }
      local payouts = at.payouts_with { history_check = history_check }
      for i = 1, 3 do assert(payouts:add("k" .. i, at.TRANSFER, at.move(tostring(i)))) end
      local report, err = payouts:run()
      assert.is_nil(report)
      assert.matches("credentials function", err.message)
      assert.equal(0, assert(payouts:report()).failed)
      silent = false
      assert.equal(3, assert(payouts:run()).done)
    end)
  end
end)

describe("what becomes of a payment", function()
  local queues = 0

  -- Runs one payment whose requests get this answer, or error. Returns it, and how many were sent.
  local function run(operation, answer, options)
    local sent = 0
    at.client = at.client_with()
    private.states[at.client]._transport = at.transport(function(request, inner)
      if request.method == "GET" then return inner:send(request) end
      sent = sent + 1
      return answer(request, inner)
    end)
    queues = queues + 1
    local all = { history_check = "never", queue = "q" .. queues }
    for name, value in pairs(options or {}) do all[name] = value end
    local payouts = at.payouts_with(all)
    assert(payouts:add("a", operation, operation == at.TRANSFER and at.move "1" or at.own "1"))
    local report, err = payouts:run()
    return assert(payouts:find "a"), sent, report, err
  end

  local function reject(code)
    return function()
      return { status = 400, headers = "", body = ('{"code":%d,"msg":"the service says no"}'):format(code) }
    end
  end

  local function not_sent()
    return nil, { kind = "transport", outcome = "not_sent", message = "no route" }
  end

  local function lost_before()
    return nil, { kind = "transport", outcome = "unknown", message = "lost" }
  end

  it("that the service rejects is to fail, after a look: a second copy may have been rejected", function()
    for _, operation in ipairs { "wallet.transfer", at.TRANSFER } do
      local history = operation .. "_history"
      local reads = at.counted(history, "received")
      local payment, sent = run(operation, reject(10101))
      assert.same({ "failed", 1, 1 }, { payment.state, payment.attempts, sent })
      assert.matches("the service says no", payment.message)
      assert.is_true(at.counted(history, "received") > reads)
    end
  end)

  it("that could not be sent is to be sent again, so many times", function()
    for operation, number in pairs { ["wallet.transfer"] = 1, [at.TRANSFER] = 3 } do
      local payment, sent = run(operation, not_sent, { attempts = number })
      assert.same({ "failed", number, number }, { payment.state, payment.attempts, sent })
      assert.matches(("gave up after %d attempts?: "):format(number), payment.message)
    end
  end)

  it("that was certainly not executed is to be sent again, so many times", function()
    for _, operation in ipairs { "wallet.transfer", at.TRANSFER } do
      local payment, sent = run(operation, lost_before, { attempts = 2 })
      assert.same({ "failed", 2, 2 }, { payment.state, payment.attempts, sent })
      assert.matches("gave up after 2 attempts: it was not executed", payment.message, 1, true)
    end
  end)

  it("that was outside of the service's window, or that a firewall rejected, is to be sent again", function()
    for _, answer in ipairs { reject(700003), function() return { status = 403, headers = "", body = "<html>" } end } do
      local times = 0
      local payment, sent = run("wallet.transfer", function(request, inner)
        times = times + 1
        if times == 1 then return answer() end
        return inner:send(request)
      end)
      assert.equal("done", payment.state, payment.message)
      assert.is_true(sent >= 2)
    end
    assert.equal(2, at.counted("wallet.transfer", "applied"))
  end)

  it("that is throttled is to wait for as long as the service says, and until it was looked for", function()
    for after_s, waits_s in pairs { [0] = 60, [200] = 200 } do
      local began, times = at.sim:now(), 0
      local payment = run("wallet.transfer", function(request, inner)
        times = times + 1
        if times > 1 then return inner:send(request) end
        return { status = 429, headers = ("Retry-After: %d\r\n"):format(after_s), body = "" }
      end)
      assert.equal("done", payment.state)
      local passed = at.sim:now() - began
      assert.is_true(passed >= waits_s * 1000 and passed < (waits_s + 60) * 1000, passed .. " ms")
    end
  end)

  it("that cannot be looked for, and was not rejected, is to be undecided", function()
    at.sim:fault { kind = "reject", operation = "wallet.transfer_history", times = 100 }
    local payment, sent = run("wallet.transfer", lost_before)
    assert.same({ "undecided", 1 }, { payment.state, sent })
    assert.matches("it cannot be looked for", payment.message)
  end)

  it("that a guard rail rejects is to fail, unsent", function()
    at.client = at.client_with { guard = { max_amount = { USDT = "0.5" } } }
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", "wallet.transfer", at.own "1"))
    assert.equal(1, assert(payouts:run()).failed)
    assert.matches("max_amount", assert(payouts:find "a").message)
    assert.equal(0, assert(payouts:find "a").attempts)
  end)
end)

describe("a payment that one reading leaves undecided", function()
  -- Of three payments the answer of the second is lost, which was not executed, and a stranger pays the same user.
  local function pay(foreign)
    assert(at.sim:account { name = "Payee", role = "main", email = "payee@mail.example" })
    local function to_payee(amount)
      return { toAccountType = "EMAIL", toAccount = "payee@mail.example", asset = "USDT", amount = amount }
    end
    local other, number = at.client_with { journal = false, account = false }, 0
    at.client = at.client_with { transport = at.transport(function(request, inner)
      if request.operation == "wallet.internal_transfer" then number = number + 1 end
      if request.operation ~= "wallet.internal_transfer" or number ~= 2 then return inner:send(request) end
      number = number + 1
      assert(other.wallet:internal_transfer(to_payee(foreign)))
      return nil, { kind = "transport", outcome = "unknown", message = "lost" }
    end) }
    local payouts = at.payouts_with { concurrency = 1, history_check = "never" }
    for place, amount in ipairs { "499", "100", "500" } do
      assert(payouts:add("p" .. place, "wallet.internal_transfer", to_payee(amount)))
    end
    local report = assert(payouts:run())
    return { report.done, report.undecided, assert(payouts:find "p2").attempts }
  end

  it("is asked about once more when the others are made, whose records are witnesses", function()
    assert.same({ 3, 0, 2 }, pay "30") -- no fee explains this amount
  end)

  it("stays undecided where a fee that was not seen before explains the stranger's amount", function()
    assert.same({ 2, 1, 1 }, pay "99")
  end)
end)

it("goes on with a payment that is put back when another task had found nothing left", function()
  local counted = false
  local rows = at.journal.db.rows
  function at.journal.db.rows(db, sql, ...)
    local found, more = rows(db, sql, ...)
    counted = counted or sql:find("CAST(count(*)", 1, true) and found and found[1] and found[1].number == "0"
    return found, more
  end
  local rejected = false
  local client = at.client_with { transport = at.transport(function(request, inner)
    if rejected or request.operation ~= "wallet.transfer" then return inner:send(request) end
    rejected = true
    at.set "state = 'undecided', stage = 'undecided'" -- by another worker, which gave up looking for it
    counted = false
    while not counted do schedule.sleep(1) end
    return { status = 400, headers = {}, body = '{"code":700003,"msg":"too late"}' }
  end) }
  local payouts = at.payouts_with { client = client, concurrency = 2, idle_ms = 20 }
  assert(payouts:add("a", "wallet.transfer", at.own "2"))
  assert.equal(1, assert(payouts:run()).done)
end)

it("lets one of sixteen idle tasks look for work", function()
  local payouts = at.payouts_with { idle_ms = 5 }
  at.add(payouts, 1, 1)
  assert(payouts:run()) -- the histories are read
  at.add(payouts, 2, 2)
  at.set("stage = 'waiting', due_at = $1 WHERE payment = 'invoice-2'", at.ahead(150))
  local sleep, rests = schedule.sleep, 0
  finally(function() schedule.sleep = sleep end)
  function schedule.sleep(ms)
    if ms == 5 then rests = rests + 1 end
    return sleep(ms)
  end
  local began = core.monotonic_ms()
  assert.equal(2, assert(payouts:run()).done)
  local pauses = (core.monotonic_ms() - began) / 5
  assert.is_true(rests > 0 and rests <= pauses + 1, ("%d rests in %.1f pauses"):format(rests, pauses))
end)

-- SPDX-License-Identifier: MIT
-- Rejected payments that carry an id: each is looked for by it before it counts as failed, and all by one reading.
-- make test: 10 s, waits, on lua5.4 and luajit

local at = require "payouts_setting"
local schedule = require "purser.schedule"

local TRANSFER, move, client_with, payouts_with = at.TRANSFER, at.move, at.client_with, at.payouts_with
local payouts

before_each(function()
  at.begin { balance = "1000" }
  payouts = payouts_with()
end)
after_each(at.finish)

local function counted(word) return at.counted(TRANSFER, word) end

describe("a rejected payment", function()
  it("that was executed is found by its id before it counts as failed", function()
    local first = true
    at.client = client_with { transport = at.transport(function(request, inner)
      local response = inner:send(request)
      if request.operation ~= TRANSFER or not first then return response end
      first = false
      return { status = 400, body = '{"code":33333,"msg":"clientTranId was used before"}', headers = {} }
    end) }
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, move "5"))
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.done, report.failed })
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
    local payment = assert(payouts:find "a")
    assert.is_string(payment.record_id)
    assert.is_nil(payment.message)
  end)

  -- Runs two payments of 5 and 6 under a limit of 8, of which the first is answered with a rejection.
  local function run_two(is_executed, options)
    options.transport = at.transport(function(request, inner)
      if request.operation ~= TRANSFER or not request.target:find "amount=5" then return inner:send(request) end
      if is_executed then inner:send(request) end
      return { status = 400, body = '{"code":33333,"msg":"clientTranId was used before"}', headers = {} }
    end)
    at.client = client_with(options)
    payouts = payouts_with { history_check = "never", concurrency = 1 }
    at.add(payouts, 5, 6)
    at.set "due_at = '9' WHERE payment = 'invoice-6'" -- the other one goes first
    return assert(payouts:run())
  end

  it("counts in a limit until the look has ended: the rejection may be that of a second copy", function()
    local report = run_two(true, { guard = { spending_limit = { USDT = "8" } } })
    assert.same({ 1, 1, 0 }, { report.done, report.blocked, report.failed })
    assert.equal(1, counted "applied")
  end)

  it("that was not executed leaves a limit's rest to the others of its run", function()
    local report = run_two(false, { guard = { spending_limit = { USDT = "8" } } })
    assert.same({ 1, 0, 1 }, { report.done, report.blocked, report.failed })
    assert.equal(1, counted "applied")
  end)

  it("is looked for after a restart as well, and keeps the reason of its rejection", function()
    local reconcile = at.client.reconcile
    at.client.reconcile = function() payouts:stop() return nil, { message = "the program ends" } end
    payouts = payouts_with { history_check = "never" }
    at.sim:fault { kind = "reject", operation = TRANSFER, code = "10101" }
    assert(payouts:add("a", TRANSFER, move "5"))
    assert.equal(1, assert(payouts:run()).sent)
    at.client.reconcile = reconcile
    payouts = payouts_with { history_check = "never" }
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.failed, report.sent })
    assert.is_not_nil(assert(payouts:list "failed")[1].message)
    assert.same({ 1, 0 }, { counted "received", counted "applied" })
  end)

  it("that cannot be looked for is undecided, and the run ends", function()
    at.sim:fault { kind = "reject", operation = TRANSFER, code = "10101" }
    at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", code = "700007", times = 1000 }
    local ended = 0
    payouts = payouts_with { history_check = "never", lease_ms = 50, progress_ms = 10, progress = function()
      ended = ended + 1
      if ended == 300 then payouts:stop() end
    end }
    assert(payouts:add("a", TRANSFER, move "5"))
    local report = assert(payouts:run())
    assert.is_true(ended < 300, "the run did not end by itself")
    assert.equal(1, report.undecided)
    assert.matches("cannot be looked for", report.undecided_payments[1].message, 1, true)
  end)

  it("does not hold up the others while its record may not be visible yet", function()
    payouts = payouts_with { concurrency = 1, history_check = "never" }
    local began = at.sim:now()
    for i = 1, 200 do
      assert(payouts:add(("k%03d"):format(i), TRANSFER, move(i <= 100 and "5000" or "1")))
    end
    local report = assert(payouts:run())
    assert.same({ 100, 100 }, { report.failed, report.done })
    assert.is_true(at.sim:now() - began < 100000, at.sim:now() - began .. " ms") -- not 66 s each
    assert.equal(200, counted "received")
  end)
end)

describe("a clock that lets other tasks run", function()
  it("does not keep the run from ending when the last of its payments is rejected", function()
    local looks, reads = 0, 0
    at.client = client_with { clock = function()
      reads = reads + 1
      schedule.sleep(reads % 2 * 20) -- one task has begun the round when another reads the time it asked for before
      return at.sim:now()
    end }
    payouts = payouts_with { history_check = "never", progress_ms = 1, progress = function()
      looks = looks + 1
      if looks == 500 then payouts:stop() end
    end }
    assert(payouts:add("a", TRANSFER, move "5000"))
    local report = assert(payouts:run())
    assert.equal(1, report.failed)
    assert.is_true(looks < 500, "the run did not end by itself")
  end)
end)

describe("many rejected payments", function()
  local WITHDRAW, HISTORY = "wallet.withdraw", "wallet.withdrawal_history"
  local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

  -- A reading is shared while the client's clock goes as the machine's does.
  before_each(function()
    at.finish()
    at.begin { balance = "1000", clock = "real" }
    at.client = client_with { recv_window = 500, visibility_delay_ms = 0 }
    payouts = payouts_with()
  end)

  local function add_withdrawals(count)
    local list = {}
    for i = 1, count do
      list[i] = { key = ("w%03d"):format(i), operation = WITHDRAW,
        params = { coin = "USDT", netWork = "TRX", address = address, amount = "5000" } }
    end
    assert(payouts:add_all(list))
  end

  local function answer_by(send)
    at.client = client_with { recv_window = 500, visibility_delay_ms = 0, transport = at.transport(send) }
  end

  -- No record of a known call shows that the service counts time as its clock does, so each reading asks twice: for the
  -- calls' own window, and for the hours around it.
  local ONE_READING = 2
  local VISIBLE_MS = 500 + 1000 -- recv_window, and what clocks may differ by

  it("are looked for by one reading of the history, which begins when the last of them must be visible", function()
    local began
    answer_by(function(request, inner)
      if request.operation == HISTORY then began = began or at.sim:now() end
      return inner:send(request)
    end)
    for _, count in ipairs { 5, 60 } do
      payouts = payouts_with { history_check = "never", queue = "of " .. count, concurrency = 1 }
      add_withdrawals(count)
      local before = at.counted(HISTORY, "received")
      began = nil
      assert.equal(count, assert(payouts:run()).failed)
      local entries = assert(at.journal:entries())
      local first, last = entries[#entries - count + 1].intent.sent_at, entries[#entries].intent.sent_at
      local rounds = 1 + math.floor((last - first) / VISIBLE_MS) -- the first waits for as long, and for no more
      assert.is_true(at.counted(HISTORY, "received") - before <= ONE_READING * rounds)
      assert.is_true(began >= (rounds == 1 and last or first) + VISIBLE_MS)
    end
  end)

  it("are looked for by one reading when an earlier life left them behind", function()
    local number = 0
    answer_by(function(request, inner)
      if request.operation == WITHDRAW then
        number = number + 1
        if number == 40 then payouts:stop() end
      end
      return inner:send(request)
    end)
    payouts = payouts_with { history_check = "never", worker = "w", concurrency = 4 }
    add_withdrawals(40)
    assert.equal(40, assert(payouts:run()).sent)
    at.sim:advance(120000)
    at.set("added_at = $1 WHERE payment = 'w040'", at.ahead(-86400000))
    payouts = payouts_with { history_check = "never", worker = "w", concurrency = 4 }
    local before = at.counted(HISTORY, "received")
    assert.equal(40, assert(payouts:run()).failed)
    assert.equal(ONE_READING, at.counted(HISTORY, "received") - before)
  end)

  it("are found by their ids when they were executed all the same", function()
    local number = 0
    answer_by(function(request, inner)
      local response = inner:send(request)
      if request.operation ~= TRANSFER then return response end
      number = number + 1
      if number % 2 == 0 then return response end
      return { status = 400, body = '{"code":33333,"msg":"rejected"}', headers = {} }
    end)
    payouts = payouts_with { history_check = "never" }
    for i = 1, 20 do assert(payouts:add("k" .. i, TRANSFER, move(i <= 10 and "1" or "5000"))) end
    local report = assert(payouts:run())
    assert.same({ 10, 10 }, { report.done, report.failed })
    assert.same({ 20, 10 }, { counted "received", counted "applied" })
  end)

  it("are put back by one reading of the history, those that were not executed", function()
    payouts = payouts_with { history_check = "never" }
    add_withdrawals(30)
    assert.equal(30, assert(payouts:run()).failed)
    local keys = { "no such" }
    for i, payment in ipairs(assert(payouts:list "failed")) do keys[i + 1] = payment.key end
    local before = at.counted(HISTORY, "received")
    local put_back, others = payouts:retry_all(keys)
    assert.equal(30, #put_back)
    assert.same({ ["no such"] = false }, others)
    assert.equal(ONE_READING, at.counted(HISTORY, "received") - before)
    assert.equal(30, assert(payouts:report()).waiting)
  end)
end)

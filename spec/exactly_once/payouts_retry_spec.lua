-- SPDX-License-Identifier: MIT
-- Putting payments back: what failed or was left undecided is looked for once more before it may be paid again.

local purser = require "purser"
local schedule = require "purser.schedule"

local sim, account, path, journal, client, payouts

local TRANSFER = "sub_account.transfer"

local function move(amount, fields)
  local params = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
  for name, value in pairs(fields or {}) do params[name] = value end
  return params
end

local function payouts_with(options)
  local all = { client = client, journal = journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

local function client_with(options)
  local all = { base_url = "http://localhost", transport = sim:transport(), clock = function() return sim:now() end,
    rate_limit = false, journal = journal, retry = { attempts = 5, base_ms = 1 }, account = "treasury" }
  if not (options and options.credentials) then
    all.api_key, all.secret_key = account.api_key, account.secret_key
  end
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.new(all))
end

before_each(function()
  path = os.tmpname()
  sim = purser.sim.new { seed = 5, key_days = 0 }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  journal = assert(purser.journal.open { sqlite = path })
  client = client_with()
  payouts = payouts_with()
end)

after_each(function()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

local function counted(word)
  local count = sim:counts()[TRANSFER]
  return count and count[word] or 0
end

-- The next look of this client shows nothing.
local function leave_next_undecided()
  client.reconcile = function(_, intent)
    client.reconcile = nil
    local answer = { outcome = "undecided", candidates = {}, reason = "nobody looked" }
    assert(journal:reconciled(intent, answer))
    return answer
  end
end

-- Leaves the payment "a" undecided, which was made or was not.
local function leave_undecided(made)
  assert(payouts:add("a", TRANSFER, move "5"))
  sim:fault { kind = made and "lost_answer" or "reset", when = not made and "before" or nil, operation = TRANSFER }
  leave_next_undecided()
  assert.equal(1, assert(payouts:run()).undecided)
end

describe("a payment that was left undecided", function()
  it("and was made is not put back: it is done", function()
    leave_undecided(true)
    local put_back, err = payouts:retry "a"
    assert.is_nil(put_back)
    assert.same({ "workflow", "payouts.done" }, { err.kind, err.code })
    assert.equal("5", err.details.record.amount)
    local payment = assert(payouts:list "done")[1]
    assert.same({ "a", err.details.record.tranId }, { payment.key, payment.record_id })
    assert.equal("done", assert(journal:entries { id = payment.intent })[1].state)
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
  end)

  it("and was not made is put back, and paid once", function()
    leave_undecided(false)
    assert.is_true(payouts:retry "a")
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted "applied")
  end)

  it("is not put back when it cannot be looked for", function()
    leave_undecided(true)
    sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 100 }
    local put_back, err = payouts:retry "a"
    assert.is_nil(put_back)
    assert.equal("payouts.not_checked", err.code)
    assert.matches("cannot be looked for", err.message)
    assert.matches("force = true", err.message, 1, true)
    assert.equal(1, assert(payouts:report()).undecided)
    assert.equal(1, counted "received")
    sim:disarm()
    assert(journal.db:rows "DELETE FROM purser_intents")
    assert.matches("intent is missing", select(2, payouts:retry "a").message)
    assert(journal.db:rows "PRAGMA query_only = 1")
    assert.is_nil((payouts:retry("a", { force = true })))
  end)

  it("is put back without a look when a person says so, and even then not sent when its id is found", function()
    leave_undecided(true)
    assert.is_true(payouts:retry("a", { force = true }))
    assert.equal(1, assert(payouts:run()).done)
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
  end)

  it("is looked for over all of its attempts", function()
    -- the first attempt was made; a person put it back, the second never arrived, and hours lie between
    leave_undecided(true)
    assert.is_true(payouts:retry("a", { force = true }))
    sim:advance(5 * 3600000)
    sim:fault { kind = "reset", when = "before", operation = TRANSFER }
    sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 11 }
    assert.equal(1, assert(payouts:run()).undecided)
    sim:disarm()
    local _, err = payouts:retry "a"
    assert.equal("payouts.done", err.code)
  end)

  it("is looked for over its own attempts, not over those of the same key in another queue", function()
    local older = payouts_with { queue = "older" }
    assert(older:add("a", TRANSFER, move "5"))
    assert.equal(1, assert(older:run()).done)
    sim:advance(200 * 86400000)
    local began = sim:now()
    leave_undecided(true)
    local reconcile, sent_at = client.reconcile, nil
    client.reconcile = function(self, intent, ...)
      sent_at = intent.sent_at
      return reconcile(self, intent, ...)
    end
    assert.equal("payouts.done", select(2, payouts:retry "a").code)
    assert.is_true(sent_at >= began)
  end)

  it("is put back by one of two who look at the same time", function()
    leave_undecided(false)
    client.reconcile = function(_, ...)
      client.reconcile = nil
      assert.is_true(payouts:retry "a")
      assert.equal(1, assert(payouts:run()).done)
      return client:reconcile(...)
    end
    local put_back, err = payouts:retry "a"
    assert.is_true(put_back == false or err.code == "payouts.done", tostring(err))
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted "applied")
  end)
end)

describe("a payment that failed", function()
  it("is looked for as well, unless it was never sent", function()
    client = client_with { guard = { max_amount = { USDT = "5" } } }
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add_all { { key = "big", operation = TRANSFER, params = move "6" },
      { key = "wrong", operation = TRANSFER, params = move("1", { toAccount = "nobody01" }) } })
    assert.equal(2, assert(payouts:run()).failed)
    local reconcile, looked = client.reconcile, 0
    client.reconcile = function(...)
      looked = looked + 1
      return reconcile(...)
    end
    assert.is_true(payouts:retry "big")
    assert.equal(0, looked)
    assert.is_true(payouts:retry "wrong") -- the service cannot show it, but it had rejected it
    assert.equal(1, looked)
  end)

  it("is not put back while the look fails", function()
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add("wrong", TRANSFER, move("1", { toAccount = "nobody01" })))
    assert.equal(1, assert(payouts:run()).failed)
    sim:fault { kind = "server_error", operation = "sub_account.transfer_history", times = 100 }
    assert.equal("payouts.not_checked", select(2, payouts:retry "wrong").code)
    assert.is_true(payouts:retry("wrong", { force = true }))
  end)
end)

describe("a rejected payment", function()
  it("that was executed is found by its id before it counts as failed", function()
    local inner, first = sim:transport(), true
    client = client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response = inner:send(request)
      if request.operation ~= TRANSFER or not first then return response end
      first = false
      return { status = 400, body = '{"code":33333,"msg":"clientTranId was used before"}', headers = {} }
    end } }
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, move "5"))
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.done, report.failed })
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
  end)

  it("is looked for after a restart as well, and keeps the reason of its rejection", function()
    local reconcile = client.reconcile
    client.reconcile = function() payouts:stop() return nil, { message = "the program ends" } end
    payouts = payouts_with { history_check = "never" }
    sim:fault { kind = "reject", operation = TRANSFER, code = "10101" }
    assert(payouts:add("a", TRANSFER, move "5"))
    assert.equal(1, assert(payouts:run()).sent)
    client.reconcile = reconcile
    payouts = payouts_with { history_check = "never" }
    local report = assert(payouts:run())
    assert.same({ 1, 0 }, { report.failed, report.sent })
    assert.is_not_nil(assert(payouts:list "failed")[1].message)
    assert.same({ 1, 0 }, { counted "received", counted "applied" })
  end)

  it("does not hold up the others while its record may not be visible yet", function()
    payouts = payouts_with { concurrency = 1, history_check = "never" }
    local began = sim:now()
    for i = 1, 200 do
      assert(payouts:add(("k%03d"):format(i), TRANSFER, move(i <= 100 and "5000" or "1")))
    end
    local report = assert(payouts:run())
    assert.same({ 100, 100 }, { report.failed, report.done })
    assert.is_true(sim:now() - began < 60000, sim:now() - began .. " ms") -- not 9 s each
    assert.equal(200, counted "received")
  end)
end)

describe("a clock that lets other tasks run", function()
  it("does not keep the run from ending when the last of its payments is rejected", function()
    local looks, reads = 0, 0
    client = client_with { clock = function()
      reads = reads + 1
      schedule.sleep(reads % 2 * 20) -- one task has begun the round when another reads the time it asked for before
      return sim:now()
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
  local quick = { recv_window = 500, visibility_delay_ms = 0 }

  -- A reading is shared while the client's clock goes as the machine's does.
  before_each(function()
    sim = purser.sim.new { seed = 5, clock = "real" }
    account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    client = client_with(quick)
  end)

  local function add_withdrawals(count)
    local list = {}
    for i = 1, count do
      list[i] = { key = ("w%03d"):format(i), operation = WITHDRAW,
        params = { coin = "USDT", netWork = "TRX", address = address, amount = "5000" } }
    end
    assert(payouts:add_all(list))
  end

  local function received(operation)
    local count = sim:counts()[operation]
    return count and count.received or 0
  end

  -- No record of a known call shows that the service counts time as its clock does, so each reading asks twice: for the
  -- calls' own window, and for the hours around it.
  local ONE_READING = 2
  local VISIBLE_MS = 500 + 1000 -- recv_window, and what clocks may differ by

  it("are looked for by one reading of the history, which begins when the last of them must be visible", function()
    local began
    local inner = sim:transport()
    client = client_with { recv_window = 500, visibility_delay_ms = 0, transport = {
      sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      if request.operation == HISTORY then began = began or sim:now() end
      return inner:send(request)
    end } }
    for _, count in ipairs { 5, 60 } do
      payouts = payouts_with { history_check = "never", queue = "of " .. count, concurrency = 1 }
      add_withdrawals(count)
      local before = received(HISTORY)
      began = nil
      assert.equal(count, assert(payouts:run()).failed)
      local entries = assert(journal:entries())
      local first, last = entries[#entries - count + 1].intent.sent_at, entries[#entries].intent.sent_at
      local rounds = 1 + math.floor((last - first) / VISIBLE_MS) -- the first waits for as long, and for no more
      assert.is_true(received(HISTORY) - before <= ONE_READING * rounds)
      assert.is_true(began >= (rounds == 1 and last or first) + VISIBLE_MS)
    end
  end)

  it("are looked for by one reading when an earlier life left them behind", function()
    local inner, number = sim:transport(), 0
    client = client_with { recv_window = 500, visibility_delay_ms = 0, transport = {
      sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      if request.operation == WITHDRAW then
        number = number + 1
        if number == 40 then payouts:stop() end
      end
      return inner:send(request)
    end } }
    payouts = payouts_with { history_check = "never", worker = "w", concurrency = 4 }
    add_withdrawals(40)
    assert.equal(40, assert(payouts:run()).sent)
    sim:advance(120000)
    payouts = payouts_with { history_check = "never", worker = "w", concurrency = 4 }
    local before = received(HISTORY)
    assert.equal(40, assert(payouts:run()).failed)
    assert.equal(ONE_READING, received(HISTORY) - before)
  end)

  it("are found by their ids when they were executed all the same", function()
    local inner, number = sim:transport(), 0
    client = client_with { recv_window = 500, visibility_delay_ms = 0, transport = {
      sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response = inner:send(request)
      if request.operation ~= TRANSFER then return response end
      number = number + 1
      if number % 2 == 0 then return response end
      return { status = 400, body = '{"code":33333,"msg":"rejected"}', headers = {} }
    end } }
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
    local before = received(HISTORY)
    local put_back, others = payouts:retry_all(keys)
    assert.equal(30, #put_back)
    assert.same({ ["no such"] = false }, others)
    assert.equal(ONE_READING, received(HISTORY) - before)
    assert.equal(30, assert(payouts:report()).waiting)
  end)
end)

describe("options of retry", function()
  it("are checked", function()
    for words, options in pairs { ["a table"] = 5, ['did you mean "force"'] = { forse = true },
      ["boolean"] = { force = 1 } } do
      local put_back, err = payouts:retry("a", options)
      assert.is_nil(put_back)
      assert.equal("argument", err.kind)
      assert.matches(words, tostring(err))
    end
  end)
end)

describe("two payments with one id", function()
  it("are an error when they are added, whichever list they are in", function()
    local id = ("x"):rep(32)
    assert(payouts:add("a", TRANSFER, move("1", { clientTranId = id })))
    assert.is_false(payouts:add("a", TRANSFER, move("1", { clientTranId = id })))
    local added, err = payouts:add("b", TRANSFER, move("2", { clientTranId = id }))
    assert.is_nil(added)
    assert.matches('that of payment "a"', err.message)
    local other = ("y"):rep(32)
    added, err = payouts_with { queue = "second" }:add_all {
      { key = "c", operation = TRANSFER, params = move("1", { clientTranId = other }) },
      { key = "d", operation = TRANSFER, params = move("1", { clientTranId = other }) },
    }
    assert.is_nil(added)
    assert.matches('payment "d".* that of payment "c"', err.message)
    assert.equal(1, assert(payouts:report()).total)
    added, err = payouts_with { queue = "second" }:add("a", TRANSFER, move("1", { clientTranId = id }))
    assert.is_nil(added)
    assert.matches('that of payment "a"', err.message)
  end)

  it("are found whatever characters the id has, and an id that is only alike is another", function()
    local function order(id)
      return { coin = "USDT", address = "an-address", netWork = "TRX", amount = "1", withdrawOrderId = id }
    end
    for i, id in ipairs { "a%b", "a_b", 'a"b', "a\\b", "a'b", "aXb" } do
      assert.is_true(payouts:add("k" .. i, "wallet.withdraw", order(id)), id)
      local added, err = payouts:add("again", "wallet.withdraw", order(id))
      assert.is_nil(added)
      assert.matches(('that of payment "k%d"'):format(i), err.message)
    end
  end)
end)

describe("what concerns all payments alike", function()
  it("ends the run, and fails none of them", function()
    local silent = true
    client = client_with { credentials = function()
      if not silent then return account.api_key, account.secret_key end
    end }
    payouts = payouts_with()
    for i = 1, 3 do assert(payouts:add("k" .. i, TRANSFER, move(tostring(i)))) end
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.matches("credentials function", err.message)
    assert.equal(0, assert(payouts:report()).failed)
    silent = false
    assert.equal(3, assert(payouts:run()).done)
  end)
end)

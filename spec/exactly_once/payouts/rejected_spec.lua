-- SPDX-License-Identifier: MIT
-- Rejected payments that carry an id: each is looked for by it before it counts as failed, and all by one reading.

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

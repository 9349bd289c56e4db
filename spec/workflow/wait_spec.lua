-- SPDX-License-Identifier: MIT
-- Waiting for withdrawals, deposits and transfers, and watching deposits: on the simulator's clock, so no time passes.

local errors = require "purser.call.errors"
local purser = require "purser"

local NOW, MINUTE, HOUR = 1700000000000, 60000, 3600000
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function world(options)
  options = options or {}
  local sim = purser.sim.new { start_time = NOW, visibility_delay_ms = options.lag,
    transfer_wait_ms = options.transfer_wait }
  local owner = sim:account { role = "main", email = "a@example.org", balances = { USDT = "1000" } }
  local client = assert(purser.new { base_url = "http://localhost", api_key = owner.api_key,
    secret_key = owner.secret_key, rate_limit = false,
    transport = sim:transport(), clock = function() return sim:now() end })
  return sim, client, owner
end

local function withdraw(client, order_id)
  return assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = TRON, amount = "20",
    withdrawOrderId = order_id }).id
end

describe("wait_withdrawal", function()
  it("waits through all states until success", function()
    local sim, client = world()
    local id = withdraw(client)
    local record = assert(client.wallet:wait_withdrawal(id))
    assert.equal(7, record.status)
    assert.equal(id, record.id)
    assert.is_true(sim:now() > NOW + 2 * MINUTE)
    assert.is_true(sim:counts()["wallet.withdrawal_history"].received < 20) -- it looks less and less often
  end)

  it("is content with less, when asked", function()
    local _, client = world()
    assert.equal(6, assert(client.wallet:wait_withdrawal(withdraw(client), { goal = "sent", max_ms = 5000 })).status)
  end)

  it("finds it by the caller's own id, and when it shows up late", function()
    local _, client = world { lag = 20000 }
    withdraw(client, "order-1")
    assert.equal("order-1", assert(client.wallet:wait_withdrawal { withdrawOrderId = "order-1" }).withdrawOrderId)
  end)

  it("ends at once when the goal can no longer be reached", function()
    local sim, client = world()
    local id = withdraw(client)
    assert(sim:fail_withdrawal(id))
    local record, err = client.wallet:wait_withdrawal(id)
    assert.is_nil(record)
    assert.same({ "workflow", "rejected", 8 }, { err.kind, err.outcome, err.details.record.status })
    assert.truthy(tostring(err):find("is failed (state 8)", 1, true))
    assert.is_true(sim:now() < NOW + 2000)
    assert.equal(8, assert(client.wallet:wait_withdrawal(id, { goal = "final" })).status)
    local other = withdraw(client)
    assert(client.wallet:cancel_withdrawal { id = other })
    assert.equal(9, assert(client.wallet:wait_withdrawal(other, { goal = "cancelled" })).status)
    record, err = client.wallet:wait_withdrawal(id, { goal = "cancelled" })
    assert.is_nil(record)
    assert.equal("rejected", err.outcome)
  end)

  it("ends at its deadline, with the last state seen", function()
    local sim, client = world()
    local record, err = client.wallet:wait_withdrawal(withdraw(client), { deadline_ms = 40000 })
    assert.is_nil(record)
    assert.equal("unknown", err.outcome)
    assert.is_true(err.retryable)
    assert.equal(5, err.details.record.status)
    assert.equal(NOW + 40000, sim:now())
    record, err = client.wallet:wait_withdrawal("nosuch", { deadline_ms = 5000 })
    assert.is_nil(record)
    assert.truthy(err.message:find("was not found after 5000 ms", 1, true))
  end)

  it("reads again after a failure that passes, and ends at one that does not", function()
    local sim, client = world()
    local id = withdraw(client)
    sim:fault { kind = "server_error", operation = "wallet.withdrawal_history", times = 8 }
    assert.equal(7, assert(client.wallet:wait_withdrawal(id)).status)
    sim:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    local _, err = client.wallet:wait_withdrawal(id)
    assert.equal("700007", err.code)
  end)

  it("rejects what it does not know", function()
    local _, client = world()
    for _, case in ipairs {
      { "id", { gaol = "sent" }, 'did you mean "goal"' }, { "id", { goal = "sending" }, "one of cancelled, final" },
      { "id", { deadline_ms = 1.5 }, "whole number" }, { {}, nil, "give the id" }, { 17, nil, "give the id" },
    } do
      local _, err = client.wallet:wait_withdrawal(case[1], case[2])
      assert.equal("argument", err.kind)
      assert.truthy(tostring(err):find(case[3], 1, true), tostring(err))
    end
  end)
end)

describe("wait_deposit", function()
  it("waits until a deposit is credited", function()
    local sim, client, owner = world()
    local deposit = sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "12.50" }
    local record = assert(client.wallet:wait_deposit({ txId = deposit.txId, amount = "12.5" }, { first_ms = 100 }))
    assert.equal(5, record.status)
    assert.is_true(sim:now() >= NOW + 60000)
  end)

  it("distinguishes success from what is too small to be credited", function()
    local sim, client, owner = world()
    local deposit = sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "0.001" }
    local _, err = client.wallet:wait_deposit { txId = deposit.txId }
    assert.equal("rejected", err.outcome)
    assert.truthy(err.message:find("too small to be credited", 1, true))
    assert.equal(1, assert(client.wallet:wait_deposit({ txId = deposit.txId }, { goal = "seen" })).status)
  end)

  it("knows the network of the coin by each of its names", function()
    for _, variant in ipairs { {}, { "other_networks" } } do
      local sim = purser.sim.new { start_time = NOW, variant = variant }
      local owner = sim:account { role = "main", email = "a@example.org" }
      local client = assert(purser.new { base_url = "http://localhost", api_key = owner.api_key,
        secret_key = owner.secret_key, rate_limit = false, transport = sim:transport(),
        clock = function() return sim:now() end })
      assert(sim:deposit { account = owner.uid, coin = "USDT", network = "Ethereum(ERC20)", amount = "7" })
      assert(sim:deposit { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", amount = "12.5" })
      for _, name in ipairs { "TRX", "TRC20", "Tron(TRC20)", "trc-20" } do
        local found = assert(client.wallet:wait_deposit({ coin = "USDT", network = name }, { first_ms = 100 }))
        assert.equal("12.5", found.amount)
      end
      local _, err = client.wallet:wait_deposit({ coin = "USDT", network = "BSC" }, { deadline_ms = 1000 })
      assert.equal("unknown", err.outcome)
    end
  end)

  it("says what a deposit can be recognized by", function()
    local _, client = world()
    for _, requested in ipairs { {}, { tx = "1" }, { amount = "1e3" }, { coin = 5 } } do
      local _, err = client.wallet:wait_deposit(requested)
      assert.equal("argument", err.kind)
    end
  end)
end)

describe("wait_transfer", function()
  it("waits for a transfer between spot and futures", function()
    local _, client = world { transfer_wait = 90000, lag = 2000 }
    local id = assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }).tranId
    assert.equal("SUCCESS", assert(client.wallet:wait_transfer(id)).status)
  end)

  it("ends when it failed", function()
    local sim, client = world { transfer_wait = 90000 }
    local id = assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }).tranId
    assert(sim:fail_transfer(id))
    local _, err = client.wallet:wait_transfer(id)
    assert.truthy(tostring(err):find("is FAILED", 1, true))
  end)

  it("waits for a transfer of the family by its clientTranId", function()
    local _, client = world { lag = 10000 }
    assert(client.sub_account:create_sub_account { subAccount = "traders01", note = "n" })
    local transfer = { toAccount = "traders01", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "5", clientTranId = purser.client_id() }
    assert(client.sub_account:transfer(transfer))
    assert.equal(transfer.clientTranId, assert(client.sub_account:wait_transfer(transfer)).clientTranId)
  end)
end)

describe("wait_for", function()
  it("waits for anything that can be read", function()
    local sim, client = world()
    sim:advance(17)
    local time = assert(client:wait_for {
      what = "the next minute", first_ms = 1000,
      read = function() return client:server_time() end,
      judge = function(now) return now >= NOW + MINUTE and "done" end,
    })
    assert.is_true(time >= NOW + MINUTE)
    local _, err = client:wait_for { read = function() return 1 end }
    assert.truthy(errors.is(err) and err.message:find('"judge" is required', 1, true))
  end)
end)

describe("watch_deposits", function()
  -- Events until `deadline_ms` is over, as texts.
  local function events(client, params, stop_after)
    local list, watch = {}, client.wallet:watch_deposits(params)
    local cursor
    for event in watch do
      list[#list + 1] = ("%s %s %s>%d"):format(event.kind, event.deposit.amount, event.before or "",
        event.deposit.status)
      cursor = event.cursor
      if #list == stop_after then break end
    end
    return list, cursor or watch:cursor()
  end

  it("reports each new deposit and each change of state once", function()
    local sim, client, owner = world()
    for i = 1, 3 do
      assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = tostring(i) })
    end
    local list = events(client, { since = NOW, deadline_ms = 5 * MINUTE })
    table.sort(list)
    assert.same({ "changed 1 4>5", "changed 2 4>5", "changed 3 4>5", "new 1 >4", "new 2 >4", "new 3 >4" }, list)
  end)

  it("goes on across restarts, at every event", function()
    local sim, client, owner = world { lag = 4000 }
    local got, cursor = {}, client.wallet:watch_deposits({}):cursor()
    for round = 1, 30 do
      if round <= 10 then
        assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = ("%d"):format(10 + round) })
      end
      local list
      list, cursor = events(client, { cursor = cursor, deadline_ms = 7000, poll_ms = 2000 }, 1)
      got[#got + 1] = list[1]
    end
    table.sort(got)
    local requested = {}
    for i = 1, 10 do
      requested[#requested + 1] = ("changed %d 4>5"):format(10 + i)
      requested[#requested + 1] = ("new %d >4"):format(10 + i)
    end
    table.sort(requested)
    assert.same(requested, got)
    assert.is_true(#cursor < 1000)
  end)

  it("forgets what is old and final", function()
    local sim, client, owner = world()
    for _ = 1, 47 do sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "5" } end
    local _, cursor = events(client, { since = NOW, deadline_ms = 3 * MINUTE })
    assert.is_true(#cursor > 47 * 16)
    sim:advance(60 * MINUTE)
    local list
    list, cursor = events(client, { cursor = cursor, deadline_ms = 1000 })
    assert.same({}, list)
    assert.is_true(#cursor < 100)
  end)

  it("raises what does not pass, and goes on through what does", function()
    local sim, client, owner = world()
    sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "5" }
    sim:fault { kind = "server_error", operation = "wallet.deposit_history", times = 4 }
    assert.same({ "new 5 >4" }, (events(client, { since = NOW, deadline_ms = 20000 })))
    sim:fault { kind = "reject", code = "700007", operation = "wallet.deposit_history", times = 1 }
    assert.is_false(pcall(events, client, { since = NOW, deadline_ms = 20000 }))
    local _, err = client.wallet:watch_deposits({ sinse = 1 }):next()
    assert.truthy(err.message:find('did you mean "since"', 1, true))
  end)
end)

describe("watch_deposits over equal deposits", function()
  local core = require "purser.core"
  local record_id = require "purser.history.record_id"
  local operations = require "purser.api.operations"
  local key_of = record_id.of(operations.by_name["wallet.deposit_history"].paging)

  local function deposit(status)
    return { coin = "USDT", network = "TRX", txId = "one", address = "T", amount = "5", insertTime = NOW - 5000,
      status = status }
  end

  -- A client whose looks show these states in turn, in an order that changes; the last is shown for ever. `asleep` has
  -- its pauses.
  local function client_of(looks)
    local now, number = NOW, 0
    local client = { asleep = {} }
    function client.now() return now end
    function client.sleep(_, ms)
      assert(ms >= 1 and ms <= 3 * 86400000, "a pause of " .. tostring(ms))
      client.asleep[#client.asleep + 1] = ms
      now = now + ms
    end
    function client.call()
      number = number + 1
      local look = looks[math.min(number, #looks)]
      if errors.is(look) then return nil, look end
      local list = {}
      for i, status in ipairs(look) do table.insert(list, number % 2 == 0 and 1 or i, deposit(status)) end
      return list
    end
    return client
  end

  local function events(looks, params)
    params = params or { since = NOW - HOUR, deadline_ms = 10 * MINUTE }
    local client = client_of(looks)
    local list, watch = {}, require("purser.workflow.watch").deposits(client, params)
    for event in watch do list[#list + 1] = ("%s>%d"):format(event.before or "", event.deposit.status) end
    return list, watch:cursor(), client
  end

  it("has one event for each change, however they are ordered", function()
    assert.same({ ">4", ">5" }, (events { { 4, 5 } }))
    assert.same({ ">4", ">4", "4>5" }, (events { { 4, 4 }, { 4, 5 } }))
    assert.same({ ">4", ">4", "4>5", "4>5" }, (events { { 4, 4 }, { 4, 5 }, { 5, 5 } }))
    assert.same({ ">4", ">6", "4>5", "6>7" }, (events { { 4, 6 }, { 7, 5 } }))
  end)

  it("credits equal deposits as often as there are", function()
    assert.same({ ">5", ">5" }, (events { { 5, 5 } }))
    assert.same({ ">5", ">5" }, (events { { 5 }, { 5, 5 } }))
    assert.same({ ">4", "4>5", ">4", "4>5" }, (events { { 4 }, { 5 }, { 5, 4 }, { 5, 5 } }))
  end)

  it("has no event for one that is missing for a while, nor for an answer that lags behind success", function()
    assert.same({ ">4", ">5" }, (events { { 4, 5 }, { 5 }, { 5, 4 } }))
    assert.same({ ">4", "4>5", "5>7" }, (events { { 4 }, { 5 }, { 4 }, { 5 }, { 4 }, { 7 } }))
  end)

  it("reports success once, also where an old answer comes after a later state", function()
    assert.same({ ">5", "5>8" }, (events { { 5 }, { 8 }, { 5 }, { 8 }, { 4 }, { 5 }, { 8 } }))
    assert.same({ ">5", "5>8", "8>12" }, (events { { 5 }, { 8 }, { 12 }, { 5 } }))
    assert.same({ ">5", "5>13" }, (events { { 5 }, { 13 }, { 5 } }))
    assert.same({ ">5", ">5", "5>8" }, (events { { 5, 5 }, { 5, 8 }, { 5, 5 }, { 5, 8 } }))
  end)

  it("takes a state that is not final for an old answer after success", function()
    for _, status in ipairs { 0, 1, 2, 3, 4, 6, 9, 11, -5 } do
      assert.same({ ">5" }, (events { { 5 }, { status }, { 5 } }), status)
    end
    assert.same({ ">11", "11>5" }, (events { { 11 }, { 5 }, { 11 }, { 5 } }))
  end)

  it("reports success after a rejection that was taken back", function()
    assert.same({ ">4", "4>7", "7>5" }, (events { { 4 }, { 7 }, { 5 } }))
  end)

  it("remembers across a restart that success was reported", function()
    local list, cursor = events({ { 5 }, { 8 } }, { since = NOW - HOUR, deadline_ms = MINUTE })
    assert.same({ ">5", "5>8" }, list)
    assert.same({}, (events({ { 5 }, { 8 } }, { cursor = cursor, deadline_ms = MINUTE })))
  end)

  it("goes on from a cursor of an older version", function()
    local digits = core.md5_hex((key_of(deposit(4)))):sub(1, 16)
    local old = ("purser1;watch;%d;%s:%d:5.4"):format(NOW - HOUR, digits, NOW - 5000)
    local list, cursor = events({ { 4, 5 }, { 5, 5 } }, { cursor = old, deadline_ms = MINUTE })
    assert.same({ "4>5" }, list)
    assert.matches("^purser2;watch;", cursor)
    assert.is_nil(cursor:find("m" .. digits, 1, true))
    assert.same({ "5>7" }, (events({ { 5, 5 }, { 5, 7 } }, { cursor = cursor, deadline_ms = MINUTE })))
  end)

  it("sleeps no longer than it lasts, whatever pause the service asks for", function()
    local busy = errors.new { kind = "throttled", outcome = "rejected", retryable = true, retry_after = 99999999,
      message = "slow down" }
    local list, _, client = events { { 4 }, busy, { 5 } }
    assert.same({ ">4" }, list)
    assert.is_true(#client.asleep < 200)
    busy.retry_after = math.huge
    list = events({ busy, { 4 } }, { since = NOW - HOUR, deadline_ms = 5 * 86400000, poll_ms = 86400000 })
    assert.same({ ">4" }, list)
  end)
end)

describe("wait_deposit where sources disagree", function()
  it("calls state 12 neither success nor rejection", function()
    local client = { now = function() return NOW end, sleep = function() error "it waits" end, call = function()
      return { { txId = "x:0", transHash = "x", insertTime = NOW - 5, status = 12 } }
    end }
    local record, err = require("purser.workflow.wait").deposit(client, { txId = "x" })
    assert.is_nil(record)
    assert.same({ "workflow", "unknown", 12 }, { err.kind, err.outcome, err.details.record.status })
    assert.matches("returned or completed %(sources disagree%)", err.message)
    assert.is_falsy(err.retryable)
  end)

  it("finds a deposit by the chain's own hash, with the number of an output after it or apart", function()
    for _, record in ipairs { { txId = "ab:0" }, { txId = "ab" }, { txId = "z", transHash = "ab" } } do
      record.insertTime, record.status = NOW - 5, 5
      local client = { now = function() return NOW end, call = function() return { record } end }
      assert.equal(record, (require("purser.workflow.wait").deposit(client, { txId = "ab" })))
    end
  end)
end)

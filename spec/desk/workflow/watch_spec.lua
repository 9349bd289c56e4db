-- SPDX-License-Identifier: MIT
-- Watching deposits: each new one and each change of its state once, on the simulator's clock, so no time passes.

local errors = require "purser.client.call.errors"
local simulated = require "simulated"
local stub_client = require "stub_client"
local watch_module = require "purser.desk.workflow.watch"

local NOW, MINUTE, HOUR = 1700000000000, 60000, 3600000

local function world(options)
  return simulated.world({ start_time = NOW, visibility_delay_ms = options and options.lag },
    { role = "main", email = "a@example.org", balances = { USDT = "1000" } }, { rate_limit = false })
end

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

  it("ends at once where it is asked for in a way that it does not know, and says what to give", function()
    local _, client = world()
    for words, params in pairs { ["given as a number; give a table"] = 5, ["give a text of watch:cursor()"] = {
      cursor = "purser1;watch;1" }, ["each address once"] = { sub_accounts = { desk = 5 } },
      ["must be a time in epoch milliseconds"] = { since = "yesterday" } } do
      local watch = client.wallet:watch_deposits(params)
      local event, err = watch:next()
      assert.is_nil(event)
      assert.same({ "argument", "wallet.watch_deposits" }, { err.kind, err.operation })
      assert.matches(words, tostring(err), 1, true)
      assert.equal("purser1;watch;" .. NOW - 1 .. ";", watch:cursor())
    end
  end)

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
  local function deposit(status)
    return { coin = "USDT", network = "TRX", txId = "one", address = "T", amount = "5", insertTime = NOW - 5000,
      status = status }
  end

  -- A client whose looks show these states in turn, in an order that changes; the last is shown for ever. `asleep` has
  -- its pauses.
  local function client_of(looks)
    local now, number = NOW, 0
    local client = stub_client.of { asleep = {} }
    function client.now() return now end
    function client.sleep(_, ms)
      assert(ms >= 1 and ms <= 3 * 86400000, "a pause of " .. tostring(ms))
      client.asleep[#client.asleep + 1] = ms
      now = now + ms
    end
    function client.call(_, _, asked)
      if asked.endTime - asked.startTime > 3000 then number = number + 1 end -- else it asks how finely time is counted
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
    local list, watch = {}, watch_module.deposits(client, params)
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

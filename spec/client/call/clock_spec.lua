-- SPDX-License-Identifier: MIT
-- The client's clock: learned from the service, corrected once, and not fooled when the host's clock jumps.

local private = require "purser.client.util.private"
local purser = require "purser"
local schedule = require "purser.schedule"
local service_clock = require "purser.client.call.clock"

local NOW = 1700000000000

local function world(offset, options)
  local sim = purser.sim.new { start_time = NOW, record_requests = 50 }
  local owner = sim:account { role = "main", email = "a@example.org", balances = { USDT = "1000" } }
  local settings = { base_url = "http://localhost", api_key = owner.api_key, secret_key = owner.secret_key,
    transport = sim:transport(), clock = function() return sim:now() + offset end }
  for name, value in pairs(options or {}) do settings[name] = value end
  return sim, assert(purser.new(settings))
end

local function received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

describe("the Date header of a rejection", function()
  it("sets the clock in each month, and is late by a second at most", function()
    local days = 19675 -- 2023-11-14
    for i, name in ipairs { "Nov", "Dec", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct" } do
      local now = days * 86400000 + 49999123
      local clock = service_clock.new(function() return now + 7200000 end)
      assert.same({ false, 0 }, { clock.offset, clock.corrections })
      local date = os.date("!%d", math.floor(now / 1000))
      local text = ("Tue, %s %s %s 13:53:19 GMT"):format(date, name, os.date("!%Y", math.floor(now / 1000)))
      assert.is_true(clock:learn_date(text), text)
      assert.same({ now - 123, 1 }, { clock:now(), clock.corrections })
      days = days + ({ 30, 31, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31 })[i]
    end
    local clock = service_clock.new(function() return NOW end)
    for _, text in ipairs { "", "Tue, 14 Foo 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:20", "14 Nov 2023" } do
      assert.is_nil(clock:learn_date(text))
    end
    assert.is_nil(clock:learn_date(nil))
  end)
end)

describe("a clock of one's own", function()
  it("is read with a check, whichever of its two clocks it is", function()
    for _, clock in ipairs { service_clock.new(function() return NOW end, function() return 5 end),
      service_clock.new(nil, function() return 5 end) } do
      clock.offset = 0
      local now, problem = clock:read()
      assert.is_nil(now)
      assert.matches("did not give a time", problem)
      clock.offset = NOW
      assert.equal(NOW + 5, clock:read())
    end
  end)
end)

describe("code 700003", function()
  it("corrects the clock once and reads again", function()
    for _, offset in ipairs { 7200000, -7200000 } do
      local sim, client = world(offset)
      local info = {}
      assert(client.wallet:deposit_history({}, { info = info }))
      assert.equal(2, info.attempts)
      assert.equal(NOW, client:now())
      assert(client.wallet:deposit_history {})
      assert.equal(3, received(sim, "wallet.deposit_history")) -- the second call was right at once
    end
  end)

  it("never sends a second time a write call, and says that the clock is right now", function()
    local sim, client = world(-60000)
    local transfer = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
    local result, err = client.wallet:transfer(transfer)
    assert.is_nil(result)
    assert.same({ "700003", "rejected", true }, { err.code, err.outcome, err.clock_corrected })
    assert.equal(1, received(sim, "wallet.transfer"))
    assert(client.wallet:transfer(transfer))
  end)

  it("is an error when the correction does not help", function()
    local sim, client = world(0)
    sim:fault { kind = "reject", code = "700003", operation = "wallet.deposit_history", times = 5 }
    local _, err = client.wallet:deposit_history {}
    assert.equal("700003", err.code)
    assert.equal(2, received(sim, "wallet.deposit_history"))
  end)

  it("is only an error where that is asked for", function()
    local sim, client = world(60000, { correct_clock = false })
    local _, err = client.wallet:deposit_history {}
    assert.equal("700003", err.code)
    assert.equal(1, received(sim, "wallet.deposit_history"))
  end)

  it("takes the Date header where the service does not tell its time", function()
    local inner
    local sim, client = world(90000, { retry = false, transport = { send = function(_, request)
      if request.target:find("/time", 1, true) then return { status = 404, body = "", headers = {} } end
      return inner:send(request)
    end } })
    inner = sim:transport()
    sim:advance(1700)
    assert(client.wallet:deposit_history {})
    assert.is_true(client:now() <= sim:now() and client:now() > sim:now() - 1000)
  end)
end)

describe("sync_clock", function()
  it("learns the service's time and says by how much that corrects", function()
    local sim, client = world(4321)
    assert.equal(-4321, client:sync_clock())
    assert.equal(sim:now(), client:now())
    assert.equal(0, client:sync_clock())
  end)

  it("leaves a right clock right where the first request waits for a name and a connection", function()
    local now, asked = NOW, 0
    local clock = service_clock.new(function() return now end, function() return now - NOW end)
    local function learn(delays_ms)
      asked = 0
      return clock:learn(function()
        asked = asked + 1
        now = now + delays_ms[asked]
        local time = now
        now = now + 50
        return time
      end)
    end
    assert.same({ 0, 2, 0 }, { learn { 5000, 50 }, asked, clock:now() - now })
    assert.same({ 0, 1, 0 }, { learn { 50 }, asked, clock:now() - now })
    learn { 3000, 4000 } -- the quicker one tells more
    assert.same({ 2, 1475 }, { asked, clock:now() - now })
  end)

  it("is an error, and nothing is asked, where the option clock gives no time", function()
    for _, time in ipairs { "soon", 5.5, 0 / 0, -1, {} } do
      local sim, client = world(0, { clock = function() return time end })
      local correction, err = client:sync_clock()
      assert.is_nil(correction)
      assert.same({ "config", "not_sent", "clock" }, { err.kind, err.outcome, err.option })
      assert.same({}, sim:requests())
    end
  end)
end)

describe("the host's clock", function()
  local wall, monotonic, service, clock

  before_each(function()
    wall, monotonic, service = NOW - 5000, 100, NOW
    clock = service_clock.new(function() return wall end, function() return monotonic end)
    assert.equal(NOW - 5000, clock:now())
    clock:learn(function()
      wall, monotonic = wall + 80, monotonic + 80 -- the call takes its time, and the answer is of its middle
      service = service + 80
      return service - 40
    end)
  end)

  local function pass(ms) wall, monotonic, service = wall + ms, monotonic + ms, service + ms end

  it("no longer matters when the service's time is known", function()
    pass(1000)
    assert.equal(service, clock:now())
    wall = wall + 3600000
    assert.equal(service, clock:now())
  end)

  it("reports by a jump that it was set or that the machine slept, once", function()
    pass(1000)
    assert.is_false(clock:jumped())
    wall, service = wall + 600000, service + 600000 -- slept: the monotonic clock stood still
    assert.is_true(clock:jumped())
    assert.is_false(clock:jumped())
    clock:learn(function() return service end)
    assert.equal(service, clock:now())
  end)

  it("makes a client ask again before it signs the next request", function()
    local sim, client = world(0)
    private.states[client]._clock = clock
    clock:learn(function() return sim:now() end)
    wall = wall - 80000000
    monotonic = monotonic + 3600000 -- what it counts with would be an hour off
    assert(client.wallet:deposit_history {})
    assert.equal(1, received(sim, "wallet.deposit_history"))
  end)
end)

describe("a service that finds every timestamp wrong", function()
  it("is asked for its time once a call, though it rejects that, too", function()
    local asked = 0
    local client = assert(purser.new {
      base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false,
      transport = { send = function(_, request)
        if request.target:find("/time", 1, true) then asked = asked + 1 end
        return { status = 400, body = '{"code":700003,"msg":"x"}', headers = "" }
      end },
    })
    for i = 1, 3 do
      local _, err = client.wallet:deposit_history()
      assert.same({ "700003", false, i }, { err.code, err.clock_corrected, asked })
    end
    assert.equal("700003", select(2, client:server_time()).code)
  end)
end)

describe("a burst of calls by a wrong clock", function()
  -- Asks for the service's time when `count` calls met 700003; their answers come in the order of `rests`.
  local function times_asked(count, rest_of)
    local now, asked, rejected = 1700000000000, 0, 0
    local client = assert(purser.new {
      base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false, rate_limit = false,
      clock = function() return now - 100000 end,
      transport = { send = function(_, request)
        if request.target:find("/time", 1, true) then
          asked = asked + 1
          schedule.sleep(20)
          return { status = 200, body = ('{"serverTime":%d}'):format(now), headers = "" }
        end
        schedule.sleep(rest_of(request))
        if tonumber(request.target:match "timestamp=(%d+)") == now then
          return { status = 200, body = "[]", headers = "" }
        end
        rejected = rejected + 1
        return { status = 400, body = '{"code":700003,"msg":"x"}', headers = "" }
      end },
    })
    local calls = {}
    for i = 1, count do calls[i] = function() return client.wallet:deposit_history() end end
    local results, errors = schedule.all(calls)
    for i = 1, count do assert(results[i], errors[i]) end
    assert.equal(count, rejected)
    return asked
  end

  it("asks for the service's time once", function()
    assert.equal(1, times_asked(50, function() return 1 end))
  end)

  it("asks once, too, where rejections come after the clock was set right", function()
    local turn = 0
    assert.equal(1, times_asked(50, function()
      turn = turn + 1
      return turn % 5 * 30
    end))
  end)
end)

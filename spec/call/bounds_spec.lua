-- SPDX-License-Identifier: MIT
-- What an answer may ask of a client: how long it keeps silent, and which time it counts from.

local purser = require "purser"
local rate_limit = require "purser.call.rate_limit"
local service_clock = require "purser.call.clock"

local DAY_MS, WEEK_S = 86400000, 604800

describe("a pause that an answer asks for", function()
  it("lasts a week at most", function()
    for text, seconds in pairs {
      ["999999999"] = WEEK_S, ["604801"] = WEEK_S, ["604800"] = WEEK_S, ["604799"] = 604799, ["7"] = 7,
      [("9"):rep(400)] = WEEK_S,
    } do
      local now, sent = 1000, 0
      local client = assert(purser.new {
        base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false, correct_clock = false,
        rate_limit = { now = function() return now end },
        transport = { send = function()
          sent = sent + 1
          if sent > 1 then return { status = 200, body = "[]", headers = "" } end
          return { status = 429, body = "", headers = "Retry-After: " .. text .. "\r\n" }
        end },
      })
      assert.equal(seconds, select(2, client.wallet:deposit_history()).retry_after)
      now = now + seconds * 1000 - 1
      assert.equal("not_sent", select(2, client.wallet:deposit_history()).outcome)
      now = now + 1
      assert(client.wallet:deposit_history())
    end
  end)

  it("lasts as long where the rate limit itself is blocked", function()
    local now = 0
    local limit = rate_limit.new { now = function() return now end }
    assert.equal(WEEK_S * 1000, limit:block(1e15))
    local row = { full_name = "wallet.coins", effect = "read", weight = 10 }
    assert.equal(WEEK_S * 1000, select(3, limit:acquire(row, "key", error)))
  end)
end)

describe("the service's time", function()
  local NOW = 1700000000000

  local function clock_at(time)
    return service_clock.new(function() return time end, function() return 5 end)
  end

  it("is believed within a day of the host's clock", function()
    for _, apart in ipairs { DAY_MS, -DAY_MS, 0, 1 } do
      assert.equal(apart, clock_at(NOW):learn(function() return NOW + apart end))
    end
  end)

  it("is an error beyond that, and changes nothing", function()
    for _, time in ipairs { NOW + DAY_MS + 1, NOW - DAY_MS - 1, 9999999999999, 1e300, 0 } do
      local clock = clock_at(NOW)
      local correction, err = clock:learn(function() return time end)
      assert.is_nil(correction)
      assert.matches("^the service's time is %d+ hours [ab]%a+ ?o?f? this machine's clock", err.message)
      assert.equal(NOW, clock:now())
    end
  end)

  it("does not drift away by many corrections", function()
    local clock = clock_at(NOW)
    assert(clock:learn(function() return NOW + DAY_MS end))
    assert.is_nil((clock:learn(function() return NOW + 2 * DAY_MS end)))
    assert.equal(NOW + DAY_MS, clock:now())
  end)

  it("is not taken from a Date header that lies as far away", function()
    local clock = clock_at(NOW) -- Tue, 14 Nov 2023 22:13:20 GMT
    assert.is_nil(clock:learn_date "Thu, 16 Nov 2023 22:13:20 GMT")
    assert.is_true(clock:learn_date "Wed, 15 Nov 2023 22:13:20 GMT")
  end)

  it("leaves a request stamped by the host's clock, and the rejection says why", function()
    local stamps = {}
    local client = assert(purser.new {
      base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false,
      clock = function() return NOW end,
      transport = { send = function(_, request)
        if request.target:find("/time", 1, true) then
          return { status = 200, body = '{"serverTime":9999999999999}', headers = "" }
        end
        stamps[#stamps + 1] = request.target:match "timestamp=(%d+)"
        local headers = "Date: Fri, 31 Dec 2100 00:00:00 GMT\r\n"
        return { status = 400, body = '{"code":700003,"msg":"x"}', headers = headers }
      end },
    })
    for _ = 1, 2 do
      local _, err = client.wallet:deposit_history()
      assert.is_false(err.clock_corrected)
      assert.matches("the clock was not corrected: the service's time is", err.message, 1, true)
    end
    assert.same({ tostring(NOW), tostring(NOW) }, stamps)
    assert.matches("more than 24 are not believed", select(2, client:sync_clock()).message, 1, true)
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
  local schedule = require "purser.schedule"

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

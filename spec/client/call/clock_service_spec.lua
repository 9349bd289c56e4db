-- SPDX-License-Identifier: MIT
-- The time that a clock learns of the service, and what it does not believe.

local purser = require "purser"
local service_clock = require "purser.client.call.clock"

local DAY_MS = 86400000

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

describe("a Date header", function()
  -- Returns what a clock without an offset has learned of the header; nil where it learned nothing.
  local function learned(text, wall)
    local clock = service_clock.new(function() return wall end, function() return 0 end)
    return clock:learn_date(text) and clock:now() or nil
  end

  it("is read whatever the locale", function()
    assert.equal(1699999999000, learned("Tue, 14 Nov 2023 22:13:19 GMT", 1700000000000))
    assert.equal(1699999999000, learned("Tuesday, 14-Nov-23 22:13:19 GMT", 1700000000000))
    assert.equal(1699999999000, learned("Tue Nov 14 22:13:19 2023", 1700000000000))
    assert.equal(951782400000, learned("Tue, 29 Feb 2000 00:00:00 GMT", 951782400000))
  end)

  it("of another form is none", function()
    for _, text in ipairs { "", "soon", "Tue, 14 Foo 2023 22:13:19 GMT", "2023-11-14T22:13:19Z",
      "Tue, 14 Nov 2023 22:13:19 CET", "14 Nov 2023 22:13:19 GMT", "Tue, 14 Nov 2023 24:13:19 GMT",
      "Tue, 14 Nov 2023 22:60:19 GMT" } do
      assert.is_nil(learned(text, 1700000000000))
    end
    assert.is_nil(learned(nil, 1700000000000))
  end)
end)

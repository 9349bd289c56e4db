-- SPDX-License-Identifier: MIT
-- A call that does not simply go: its errors, its waits, and the clock.

local clock = require "purser.client.call.clock"
local setbacks = require "purser.client.call.setbacks"

local READ, WRITE = { full_name = "a.read", effect = "read" }, { full_name = "a.write", effect = "transfer" }

describe("the error of a transport", function()
  it("has an unknown outcome unless the transport says plainly that nothing was sent", function()
    for _, failure in ipairs { "a text", { outcome = "NOT_SENT" }, { outcome = true }, { kind = "odd" }, {} } do
      local err = setbacks.transport(WRITE, failure)
      assert.equal("unknown", err.outcome)
      assert.equal("transport", err.kind)
      assert.is_false(err.retryable)
      assert.is_true(setbacks.transport(READ, failure).retryable)
    end
    assert.equal("a text", setbacks.transport(WRITE, "a text").message)
    assert.equal("the transport failed", setbacks.transport(WRITE, nil).message)
    local long = setbacks.transport(WRITE, { code = ("c"):rep(61), message = ("m"):rep(501) })
    assert.same({ 60, 500 }, { #long.code, #long.message })
    assert.equal(("c"):rep(60), setbacks.transport(WRITE, { code = ("c"):rep(60) }).code)
    local err = setbacks.transport(WRITE, { outcome = "not_sent", message = "a\27b", code = 5 })
    assert.same({ "not_sent", true, "a\\x1Bb", "5" }, { err.outcome, err.retryable, err.message, err.code })
  end)
end)

describe("the error of a call that is over before it begins", function()
  it("says what ended it", function()
    local err = setbacks.closed(WRITE)
    assert.same({ "closed", "not_sent", "the client is closed", "make another", "a.write" },
      { err.kind, err.outcome, err.message, err.hint, err.operation })
    err = setbacks.forked(WRITE)
    assert.same({ "transport", "unknown", "send", "a.write", false },
      { err.kind, err.outcome, err.phase, err.operation, err.retryable })
  end)
end)

describe("the error of a call that the rate limit does not let go", function()
  it("may be repeated after the pause, where there is one", function()
    for ms, seconds in pairs { [0] = false, [1] = 1, [1000] = 1, [1001] = 2 } do
      local err = setbacks.no_room(READ, "no room", ms)
      assert.same({ "throttled", "not_sent", true, "a.read", "no room" },
        { err.kind, err.outcome, err.retryable, err.operation, err.message })
      assert.same({ seconds or nil, seconds ~= false }, { err.retry_after, err.hint ~= nil })
    end
  end)
end)

describe("an answer", function()
  it("is doubtful unless it is a rejection of the service's own", function()
    assert.is_true(setbacks.is_doubtful { outcome = "unknown", kind = "api" })
    assert.is_true(setbacks.is_doubtful { outcome = "rejected", kind = "http" })
    assert.is_true(setbacks.is_doubtful { outcome = "rejected", kind = "throttled", http_status = 403 })
    assert.is_false(setbacks.is_doubtful { outcome = "rejected", kind = "throttled", http_status = 429 })
    assert.is_false(setbacks.is_doubtful { outcome = "rejected", kind = "api" })
  end)
end)

describe("a wait for the rate limit", function()
  it("is seen from outside as long as it lasts, the first to end before the others", function()
    local now, seen, state = 0, {}, nil
    state = { _waits = false, _hooks = false, _rate_limit = { now = function() return now end }, _transport = {
      sleep = function(_, ms)
        if ms == 300 then setbacks.wait_for_room(state, 100, READ) end
        seen[#seen + 1] = setbacks.room_ms(state)
        now = now + ms
      end } }
    assert.is_nil(setbacks.room_ms(state))
    setbacks.wait_for_room(state, 300, READ)
    assert.same({ 100, 200 }, seen)
    assert.is_nil(setbacks.room_ms(state))
  end)
end)

describe("what a request took of the rate limit", function()
  it("is given back once, where it took some and was certainly not sent", function()
    local given = {}
    local limit = { give_back = function(_, takes, at) given[#given + 1] = { takes, at } end, learn = function() end }
    local state = { _rate_limit = limit }
    for outcome, takes in pairs { not_sent = "these", unknown = "those", rejected = "others" } do
      local request = { takes = takes, taken_at = 7 }
      for _ = 1, 2 do setbacks.learn(state, error, { outcome = outcome }, request) end
    end
    setbacks.learn(state, error, { outcome = "not_sent" }, {})
    assert.same({ { "these", 7 } }, given)
  end)
end)

describe("a failure", function()
  it("gets the pause of the rate limit where it names none, in whole seconds", function()
    for _, case in ipairs { { 1001, nil, 2 }, { 1001, 7, 7 }, { nil, nil, nil }, { nil, 7, 7 } } do
      local err = { retry_after = case[2] }
      setbacks.learn({ _rate_limit = { learn = function() return case[1] end } }, error, err, {})
      assert.equal(case[3], err.retry_after)
    end
  end)

  it("waits as the transport does while another call asks for the time", function()
    local slept = 0
    local state = { _correct_clock = true, _timeout_ms = 1000, _clock = { asking = true, corrections = 1 } }
    state._transport = { sleep = function(_, ms)
      slept = slept + ms
      state._clock.asking = slept < 20
    end }
    assert.is_true(setbacks.learn(state, error, { code = clock.OUTSIDE_WINDOW }, { corrections = 0 }))
    assert.equal(20, slept)
  end)
end)

describe("a clock that jumped", function()
  it("is set right before a signed call, unless the client may not", function()
    for _, case in ipairs { { true, {}, true, 1 }, { false, {}, true, 0 }, { true, { unsigned = "x" }, true, 0 },
      { true, {}, false, 0 } } do
      local asked = 0
      setbacks.attend_clock({ _correct_clock = case[1], _clock = { jumped = function() return case[3] end,
        learn = function() asked = asked + 1 return 5 end } }, error, case[2])
      assert.equal(case[4], asked)
    end
  end)
end)

describe("a clock that the service calls wrong", function()
  local function learn(time, err, request, corrected)
    local state = { _clock = clock.new(function() return 1700000000000 end), _correct_clock = true, _rate_limit = false,
      _timeout_ms = 1000 }
    local asked = 0
    local was = setbacks.learn(state, function()
      asked = asked + 1
      assert.is_true(state._clock.asking) -- others wait meanwhile
      return time, { message = "no time" }
    end, err, request, corrected)
    assert.is_false(state._clock.asking)
    return was, asked, state._clock:read() - 1700000000000
  end

  it("is set right once a call, by the service's own time", function()
    local function outside() return { code = clock.OUTSIDE_WINDOW, message = "outside" } end
    local corrected = outside()
    assert.same({ true, 1, 5000 }, { learn(1700000005000, corrected, { corrections = 0 }) })
    assert.same({ true, "the clock is corrected now: call it again, a write call by its key" },
      { corrected.clock_corrected, corrected.hint })
    assert.same({ false, 0, 0 }, { learn(1700000005000, outside(), { corrections = 0 }, true) })
    assert.same({ false, 0, 0 }, { learn(1700000005000, outside(), {}) })
    assert.same({ false, 0, 0 }, { learn(1700000005000, { code = "1" }, { corrections = 0 }) })
    assert.same({ true, 0, 0 }, { learn(1700000005000, outside(), { corrections = 7 }) }) -- it was set meanwhile
    local err = outside()
    assert.is_false((learn(nil, err, { corrections = 0 })))
    assert.equal("outside; the clock was not corrected: no time", err.message)
  end)
end)

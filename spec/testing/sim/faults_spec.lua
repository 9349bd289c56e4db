-- SPDX-License-Identifier: MIT
-- The fault injector is itself tested: each fault is seen to happen, and a seed replays them.

local cjson = require "cjson"
local faults = require "purser.testing.sim.faults"
local operations = require "purser.client.operations"

local withdraw, coins, create = operations.by_id.C2, operations.by_id.C1, operations.by_id.B1

-- Stands for a simulator.
local function new(seed)
  local sim = { fault_state = faults.new(seed or 3), now = function() return 1700000000000 end }
  for name, method in pairs(faults.methods) do sim[name] = method end
  return sim
end

-- Stands for the service: `applied` counts how often it was executed.
local applied
local function exchange(state, row, rejection)
  local request = { method = "POST", target = row.path .. "?coin=USDT&signature=00" }
  local answer = faults.before(state, row, request)
  if answer then return answer end
  if rejection then
    return faults.after(state, row, request, { status = 400, code = "10101", body = '{"code":10101,"msg":"no"}' })
  end
  applied = applied + 1
  return faults.after(state, row, request, { status = 200, headers = { a = "b" }, body = '{"id":"1"}' })
end

local function strike(spec, row)
  local state = new()
  state:fault(spec)
  local answer = exchange(state, row or withdraw)
  return answer, state:faults()[1], state
end

describe("a fault", function()
  before_each(function() applied = 0 end)

  it("reject: the service says no and does nothing", function()
    local answer, record = strike { kind = "reject", code = 10101, message = "not today" }
    assert.equal(400, answer.status)
    assert.equal('{"code":10101,"msg":"not today"}', answer.body)
    assert.equal(0, applied)
    assert.same({ number = 1, time = 1700000000000, kind = "reject", when = "before", operation = "wallet.withdraw",
      target = "/api/v3/capital/withdraw", applied = false }, record)
    answer = strike({ kind = "reject" }, create)
    assert.equal('{"code":730002,"msg":"A parameter is wrong."}', answer.body)
  end)

  it("lost_answer: executed, and the connection closes without an answer", function()
    local answer, record = strike { kind = "lost_answer" }
    assert.equal("close", answer.fault)
    assert.is_nil(answer.body)
    assert.equal(1, applied)
    assert.is_true(record.applied)
  end)

  it("reset: before or after it is executed", function()
    local answer, record = strike { kind = "reset", when = "before" }
    assert.equal("reset", answer.fault)
    assert.equal(0, applied)
    assert.is_false(record.applied)
    answer, record = strike { kind = "reset", when = "after" }
    assert.equal("reset", answer.fault)
    assert.equal(1, applied)
    assert.is_true(record.applied)
  end)

  it("truncate: executed, the answer whole for the server to cut", function()
    local answer, record = strike { kind = "truncate" }
    assert.equal("truncate", answer.fault)
    assert.equal('{"id":"1"}', answer.body)
    assert.is_true(record.applied)
  end)

  it("slow: the answer comes late, or in drops", function()
    local answer, record = strike { kind = "slow", delay_ms = 250 }
    assert.same({ 250, 200, '{"id":"1"}' }, { answer.delay_ms, answer.status, answer.body })
    assert.is_true(record.applied)
    assert.equal(1000, strike({ kind = "slow" }).delay_ms)
    answer = strike { kind = "slow", drip_ms = 5, drip_bytes = 2 }
    assert.same({ "drip", 5, 2 }, { answer.fault, answer.drip_ms, answer.drip_bytes })
    assert.is_nil(answer.delay_ms)
  end)

  it("throttle and ban: a pause is asked for, nothing is done", function()
    local answer = strike { kind = "throttle", retry_after = 7 }
    assert.same({ 429, "7" }, { answer.status, answer.headers["Retry-After"] })
    assert.equal(429, cjson.decode(answer.body).code)
    answer = strike { kind = "ban" }
    assert.same({ 418, "120" }, { answer.status, answer.headers["Retry-After"] })
    assert.equal(0, applied)
  end)

  it("server_error: 500, 502 or 503, before or after it is executed", function()
    for _, status in ipairs { 500, 502, 503 } do
      for _, when in ipairs { "before", "after" } do
        applied = 0
        local answer, record = strike { kind = "server_error", status = status, when = when }
        assert.equal(status, answer.status)
        assert.equal(when == "after" and 1 or 0, applied)
        assert.equal(when == "after", record.applied)
      end
    end
  end)

  it("garbage: every form of an answer that is none", function()
    local function body_of(form, row)
      local answer, record = strike({ kind = "garbage", form = form }, row)
      assert.equal(form, record.form)
      return answer.body, answer.status
    end
    local body, status = body_of "html"
    assert.matches("^<html>", body)
    assert.equal(403, status)
    assert.equal(0, applied) -- a firewall in front of the service
    assert.equal("", (body_of "empty"))
    assert.equal(1, applied)
    assert.equal('{"id":"\255\254\192\175"}', (body_of "invalid_utf8"))
    assert.equal(100000, #body_of "deep")
    assert.equal(20 * 1024 * 1024 + 4, #body_of "huge")
    assert.equal('{"id":{"x":[[]]}}', (body_of "wrong_types"))
    assert.equal('{"id":1234567890123456789012345678901234567890}', (body_of "long_numbers"))
    assert.matches('"networkList":[{"coin":{"x":[[]]},', body_of("wrong_types", coins), 1, true)
  end)

  it("never turns a rejection into a success", function()
    local state = new()
    state:fault({ kind = "garbage", form = "long_numbers" })
    state:fault({ kind = "lost_answer" })
    local answer = exchange(state, withdraw, true)
    assert.equal(400, answer.status)
    assert.matches('^{"code":1234567890', answer.body)
    exchange(state, withdraw, true)
    assert.same({ false, false }, { state:faults()[1].applied, state:faults()[2].applied })
  end)
end)

describe("arming", function()
  before_each(function() applied = 0 end)

  local function outcomes(state, n, row)
    local list = {}
    for i = 1, n do
      local answer = exchange(state, row or withdraw)
      list[i] = answer.injected and answer.injected.kind or "-"
    end
    return table.concat(list, " ")
  end

  it("once, a number of times, and after some have passed", function()
    local state = new()
    state:fault({ kind = "lost_answer" })
    assert.equal("lost_answer - -", outcomes(state, 3))
    state:fault({ kind = "throttle", times = 2, skip = 1 })
    assert.same({ { kind = "throttle", when = "before", left = 2 } }, state:armed_faults())
    assert.equal("- throttle throttle -", outcomes(state, 4))
    assert.equal(3, #state:faults())
  end)

  it("by operation: its name, its id, its group, its effect", function()
    for _, name in ipairs { "wallet.withdraw", "C2", "wallet", "transfer" } do
      local state = new()
      state:fault({ kind = "reset", operation = name, times = 2 })
      assert.equal("-", outcomes(state, 1, create))
      assert.equal("reset", outcomes(state, 1, withdraw))
    end
    local state = new()
    state:fault({ kind = "reset", operation = "transfer", times = 9 })
    assert.equal("-", outcomes(state, 1, coins))
  end)

  it("leaves alone what is no operation", function()
    local state = new()
    state:fault({ kind = "reset" })
    assert.is_nil(faults.before(state, nil, { target = "/api/v3/ping" }))
    assert.equal(0, #state:faults())
  end)

  it("by probability, drawn from the seed: the same seed replays the run", function()
    local function run(seed)
      local state = new(seed)
      for _, kind in ipairs { "reset", "server_error", "garbage" } do
        state:fault({ kind = kind, probability = 0.2, bytes = kind == "garbage" and 10 or nil })
      end
      outcomes(state, 500)
      local text = {}
      for i, record in ipairs(state:faults()) do
        text[i] = ("%s %s %s %s"):format(record.kind, record.when, tostring(record.form or record.status),
          tostring(record.applied))
      end
      return table.concat(text, "\n"), #text
    end
    local first, count = run(11)
    assert.equal(first, (run(11)))
    assert.not_equal(first, (run(12)))
    assert.is_true(count > 180 and count < 300, count) -- 1 - 0.8 ^ 3 = 48.8 % of 500
    for _, seen in ipairs { "reset before", "reset after", "503", "502", "500", "huge", "html", "wrong_types" } do
      assert.matches(seen, first, 1, true)
    end
  end)

  it("never by a probability of 0, always by one of 1, and about a third of the time by one of a third", function()
    for probability, range in pairs { [0] = { 0, 0 }, [1] = { 3000, 3000 }, [1 / 3] = { 900, 1100 } } do
      local state = new()
      state:fault({ kind = "reset", probability = probability })
      outcomes(state, 3000)
      local hits = #state:faults()
      assert.is_true(hits >= range[1] and hits <= range[2], hits)
    end
  end)

  it("can be taken back", function()
    local state = new()
    state:fault({ kind = "reset", probability = "1" }) -- a fraction that came through JSON is text
    assert.equal("reset reset", outcomes(state, 2))
    state:disarm()
    assert.equal("- -", outcomes(state, 2))
    assert.equal(2, #state:faults())
  end)

  it("rejects what it does not know, by name", function()
    local function message(spec) return select(2, pcall(faults.methods.fault, new(), spec)) end
    assert.matches('option "kind" is "explode"; it must be one of ban, garbage', message { kind = "explode" }, 1, true)
    assert.matches('option "kind" is ""; it must be one of ban', message {}, 1, true)
    assert.matches("armed by a table", message("reset"), 1, true)
    assert.matches('reject option "opration" is not known (did you mean "operation"?)',
      message { kind = "reject", opration = "C2" }, 1, true)
    assert.matches('(did you mean "wallet.withdraw"?)',
      message { kind = "reject", operation = "wallet.withdrw" }, 1, true)
    for _, text in ipairs { "2", "1.0000000000001", "-0.1", "0.123456789012345", "x", "1e-1" } do
      assert.matches("probability", message { kind = "reset", probability = text }, 1, true)
    end
    faults.methods.fault(new(), { kind = "reset", probability = "0." .. ("1"):rep(14) })
    assert.matches("probability is not between 0 and 1", message { kind = "reset", probability = 30 }, 1, true)
    assert.matches('reset option "times" is a table; it must be a whole number from 1',
      message { kind = "reset", times = {} }, 1, true)
    assert.matches('option "times" is 0; it must be a whole number', message { kind = "reset", times = 0 }, 1, true)
    assert.matches('option "drip_ms" is 0; it must be a whole number of milliseconds from 1',
      message { kind = "slow", drip_ms = 0 }, 1, true)
    assert.matches('option "delay_ms" is 1.5; it must be a whole number of milliseconds from 0',
      message { kind = "slow", delay_ms = 1.5 }, 1, true)
    assert.matches('lost_answer option "when" is "before"; it must be after',
      message { kind = "lost_answer", when = "before" }, 1, true)
    assert.matches('garbage option "form" is "mud"; it must be one of html', message { kind = "garbage", form = "mud" },
      1, true)
    assert.matches("status is not 500, 502 or 503", message { kind = "server_error", status = 404 }, 1, true)
  end)
end)

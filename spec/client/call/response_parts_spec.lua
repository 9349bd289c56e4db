-- SPDX-License-Identifier: MIT
-- A long answer in a step with a budget is decoded in parts. Steps are counted, on a clock that jumps.

local core = require "purser.core"
local purser = require "purser"
local schedule = require "purser.schedule"

local ROW = '{"coin":"USDT","name":"Tether","networkList":[{"netWork":"TRX","withdrawFee":"1"}]}'

local function body_of(rows)
  return "[" .. (ROW .. ","):rep(rows - 1) .. ROW .. "]"
end

-- Returns what a task that reads the coins gets, and its steps. With `jump` each look at the clock ends a budget.
local function read(body, budget_us, jump)
  local monotonic_us, now = core.monotonic_us, 0
  finally(function() core.monotonic_us = monotonic_us end)
  if jump then
    core.monotonic_us = function()
      now = now + 1000000
      return now
    end
  end
  local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
    rate_limit = false, transport = { send = function() return { status = 200, body = body, headers = "" } end } })
  local value, err, is_done
  schedule.spawn(function()
    value, err = client.wallet:coins()
    is_done = true
  end)
  local steps = 0
  repeat
    steps = steps + 1
    schedule.step(budget_us)
  until is_done
  core.monotonic_us = monotonic_us
  client:close()
  return value, err, steps
end

describe("an answer of 1 MB", function()
  local body = body_of(12000)

  it("takes a step for each part of 16 KB where each part uses the budget up, and is the same list", function()
    local value, _, steps = read(body, 1000, true)
    assert.equal(12000, #value)
    assert.equal("TRX", value[12000].networkList[1].netWork)
    assert.is_true(steps > #body / 17000 and steps <= #body / 16384 + 3, steps)
    assert.same(value, (read(body)))
  end)

  it("takes one step without a budget", function()
    for _, how in ipairs { {}, { nil, true } } do
      local value, _, steps = read(body, how[1], how[2])
      assert.equal(12000, #value)
      assert.is_true(steps <= 2, steps)
    end
  end)

  it("that is cut off is the error that it is as a whole", function()
    local _, whole = read(body:sub(1, -2))
    local _, parts = read(body:sub(1, -2), 1000, true)
    assert.equal(whole.message, parts.message)
    assert.equal("decode", parts.kind)
  end)
end)

describe("an answer of 16 KB", function()
  it("takes one step", function()
    local value, _, steps = read(body_of(180), 1000, true)
    assert.equal(180, #value)
    assert.is_true(steps <= 2, steps)
  end)
end)

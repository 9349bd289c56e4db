-- SPDX-License-Identifier: MIT
-- A long answer in a step with a budget is decoded in parts. Steps are counted, on a clock that jumps.

local core = require "purser.core"
local operations = require "purser.client.operations"
local purser = require "purser"
local responses = require "purser.client.call.response"
local schedule = require "purser.schedule"
local shapes = require "purser.client.operations.shapes"

local ROW = '{"coin":"USDT","name":"Tether","networkList":[{"netWork":"TRX","withdrawFee":"1"}]}'

local function body_of(rows)
  return "[" .. (ROW .. ","):rep(rows - 1) .. ROW .. "]"
end

-- Returns what a task gets from `fn`, and its steps. With `jump` each look at the clock ends a budget.
local function in_task(fn, budget_us, jump)
  local monotonic_us, now = core.monotonic_us, 0
  finally(function() core.monotonic_us = monotonic_us end)
  if jump then
    core.monotonic_us = function()
      now = now + 1000000
      return now
    end
  end
  local value, err, is_done
  schedule.spawn(function()
    value, err = fn()
    is_done = true
  end)
  local steps = 0
  repeat
    steps = steps + 1
    schedule.step(budget_us)
  until is_done
  core.monotonic_us = monotonic_us
  return value, err, steps
end

-- The same for a call of the coins.
local function read(body, ...)
  local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
    rate_limit = false, transport = { send = function() return { status = 200, body = body, headers = "" } end } })
  local value, err, steps = in_task(function() return client.wallet:coins() end, ...)
  client:close()
  return value, err, steps
end

-- Returns the forms of a row's answer around a list of records, by what a result may be.
local function forms_of(result)
  local forms = { "%s" }
  for _, name in ipairs { "data", "result", result.rows and "rows", (result.wrappers or {})[1] } do
    forms[#forms + 1] = ('{"code":0,"msg":"ok","%s":%%s,"total":1500}'):format(name)
  end
  local inner = result.rows and "rows" or result.page and "data" or (result.wrappers or {})[1]
  if inner and not result.page then
    forms[#forms + 1] = ('{"code":0,"data":{"total":1500,"%s":%%s}}'):format(inner)
    forms[#forms + 1] = ('{"code":0,"data":[{"page":1,"%s":%%s}]}'):format(inner)
  end
  if result.page then forms[#forms + 1] = '[{"page":1,"totalRecords":1500,"data":%s}]' end
  return forms
end

-- Returns the text of a record of a shape: each text member, and an id.
local function record_text(name)
  local members = {}
  for _, field in ipairs(shapes[name]) do
    if field[2] == "string" then members[#members + 1] = ('"%s":"a text of some length"'):format(field[1]) end
  end
  return "{" .. table.concat(members, ",") .. "}"
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

describe("a list of 1500 records in an answer", function()
  local profile = { success_codes = { ["0"] = true } }

  local function same_in_parts(row, body)
    local function answer() return responses.answer(row, profile, 200, body, "") end
    local whole, problem = in_task(answer)
    local value, parts_problem, steps = in_task(answer, 1000, true)
    assert.same(whole, value)
    assert.equal(tostring(problem), tostring(parts_problem))
    if value == nil then return false end
    assert.is_true(steps > #body / 17500 and steps <= #body / 16384 + 3, body:sub(1, 60) .. steps)
    return true
  end

  for _, row in ipairs(operations.every) do
    local result = row.result
    local name = result.list or result.rows or result.page
    if name then
      it("of " .. row.full_name .. " goes on in the next step, whatever is around the list", function()
        local record, taken = record_text(name), 0
        local list = "[" .. (record .. ","):rep(1499) .. record .. "]"
        for _, form in ipairs(forms_of(result)) do
          if same_in_parts(row, form:format(list)) then taken = taken + 1 end
        end
        assert.is_true(taken > 0)
      end)
    end
  end

  it("within a record does so, too", function()
    local row = operations.by_name["live.account"]
    local balances = "[" .. (record_text "live_balance" .. ","):rep(1499) .. record_text "live_balance" .. "]"
    assert.is_true(same_in_parts(row, ('{"accountType":"SPOT","permissions":["SPOT"],"balances":%s}'):format(balances)))
  end)
end)

describe("an answer of 16 KB", function()
  it("takes one step", function()
    local value, _, steps = read(body_of(180), 1000, true)
    assert.equal(180, #value)
    assert.is_true(steps <= 2, steps)
  end)
end)

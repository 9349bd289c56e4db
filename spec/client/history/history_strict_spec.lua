-- SPDX-License-Identifier: MIT
-- Strict walks, which reconcile reads: a history or list of which a missing record proves something. Services that a
-- simulator is not. make test: 6 s

local intents = require "purser.write.reconcile"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"

local NOW = 1700000000000
local HOUR = 3600000

-- A service that answers by `answer(params, number)`; `asked` counts.
local function service(answer)
  local made = { asked = 0 }
  function made.run(_, params)
    made.asked = made.asked + 1
    return answer(params, made.asked)
  end
  return made
end

local function all(made, name, first, last, time, params)
  return reading.all(made.run, operations.by_name[name], params or {}, first or NOW - HOUR, last or NOW + HOUR, time)
end

-- `count` records a second apart, newest first.
local function records_of(count, id, time)
  local list = {}
  for i = 1, count do list[i] = { [id] = ("%06d"):format(count - i), [time] = NOW - i * 1000 } end
  return list
end

local function page_of(list, params, size)
  local page, inside = {}, {}
  for _, record in ipairs(list) do
    if not params.startTime or (record.timestamp >= params.startTime and record.timestamp <= params.endTime) then
      inside[#inside + 1] = record
    end
  end
  for i = (params.page - 1) * size + 1, math.min(#inside, params.page * size) do page[#page + 1] = inside[i] end
  return page, #inside
end

local internal, moves, drawn = "wallet.internal_transfer_history", "sub_account.transfer_history",
  "wallet.withdrawal_history"

local function ids(list, id)
  local seen, count = {}, 0
  for _, record in ipairs(list) do
    assert.is_nil(seen[record[id]], "twice: " .. tostring(record[id]))
    seen[record[id]], count = true, count + 1
  end
  return count
end

describe("an answer that makes no sense", function()
  local cases = {
    { internal, { data = { { tranId = "1" } }, totalRecords = 1, totalPageNum = 1 }, "a record without its time" },
    { internal, { data = { { tranId = "1", timestamp = "12345678901234567890" } } }, "a time that is no number" },
    { internal, { data = { { tranId = "1", timestamp = 0 } } }, "a time of nothing" },
    { internal, { data = { { tranId = "1", timestamp = 1700000000 } } }, "a time in seconds" },
    { internal, { data = { 5 } }, "a record that is none" },
    { internal, { data = {}, totalRecords = 3, totalPageNum = 1 }, "an empty page, and there should be records" },
    { "wallet.transfer_history", { rows = {}, total = 7 }, "no rows of seven" },
    { drawn, { { id = "1" } }, "a withdrawal without its time" },
    { moves, { { tranId = "1", timestamp = true } }, "a transfer with a time that is none" },
    { "broker.list_sub_accounts", { { subAccount = "a", timestamp = "x" } }, "an account with a time that is none" },
    { "broker.list_api_keys", { { apiKey = "a", createTime = 5 } }, "a key with a time that is none" },
  }
  for _, case in ipairs(cases) do
    it("is an error: " .. case[3], function()
      local time = case[1]:find "keys" and "createTime" or case[1]:find "list" and "timestamp" or nil
      local list, err, why = all(service(function() return case[2] end), case[1], nil, nil, time)
      assert.is_nil(list)
      assert.is_nil(why)
      assert.same({ "decode", "unknown", case[1], true }, { err.kind, err.outcome, err.operation, err.retryable })
    end)
  end

  it("is none where a list shows no times", function()
    local answers = { { { subAccount = "a" } }, {} }
    local list = all(service(function(_, number) return answers[number] end), "broker.list_sub_accounts", nil, nil,
      "timestamp")
    assert.same({ { subAccount = "a" } }, list)
    assert.same({ { address = "x" } }, all(service(function() return { { address = "x" } } end),
      "wallet.deposit_addresses"))
  end)
end)

describe("a list that something beside it contradicts", function()
  local good = { tranId = "1", timestamp = NOW }
  local function first(answer, empty)
    return function(params) return (params.page or 1) == 1 and answer or empty end
  end
  for what, case in pairs {
    ["a total that is no number"] = { internal, { data = { good }, totalRecords = "12345678901234567890" } },
    ["a number of pages that is none"] = { internal, { data = { good }, totalPageNum = "x" } },
    ["a total below what came"] = { internal, { data = { good }, totalRecords = 0 } },
    ["a total above it"] = { internal, { data = { good }, totalRecords = 2 } },
    ["an empty page before the last"] = { internal, { data = {}, totalPageNum = 2 }, 0 },
    ["rows whose total is no number"] = { "wallet.transfer_history", { rows = { good }, total = "x" } },
  } do
    it("has the records that it shows, and is not whole: " .. what, function()
      local empty = { data = {}, rows = {} }
      for _, name in ipairs { "totalRecords", "totalPageNum", "total" } do empty[name] = case[2][name] end
      local made = service(first(case[2], empty))
      local list, err, why = all(made, case[1])
      assert.is_nil(err)
      assert.equal(case[3] or 1, #list)
      assert.is_string(why)
      assert.is_true(made.asked < 5, made.asked)
    end)
  end
end)

describe("a history that holds more records at one moment than it shows", function()
  -- A thousand withdrawals of one millisecond; ours is not among those that are shown.
  local function crowded()
    local shown = {}
    for i = 1, 1000 do shown[i] = { id = tostring(i), applyTime = NOW + 1, coin = "USDT", withdrawOrderId = "x" } end
    return service(function(params)
      if params.startTime > NOW + 1 or params.endTime < NOW + 1 then return {} end
      return shown
    end)
  end

  it("is known to be incomplete", function()
    local list, err, why = all(crowded(), drawn)
    assert.same({}, list)
    assert.is_nil(err)
    assert.equal("the history holds more records at one moment than it shows", why)
  end)

  it("leaves what is looked for in it undecided", function()
    local now = NOW
    local answer = assert(intents.reconcile({ now = function() return now end, visibility_delay_ms = 0,
      recv_window = 5000,
      read = function(_, row, params) return crowded().run(row, params) end, correction = function() end,
      pause = function(_, ms) now = now + ms end,
      journal = require("own_calls").new() },
      { operation = "wallet.withdraw", sent_at = NOW,
        params = { coin = "USDT", address = "a", amount = "1", withdrawOrderId = "ours" } }))
    assert.equal("undecided", answer.outcome)
    assert.matches("more records at one moment", answer.reason)
    assert.same({}, answer.candidates)
  end)
end)

describe("a list that grows while its pages are turned", function()
  for _, total in ipairs { true, false } do
    it("is read to its end, each once, " .. (total and "with" or "without") .. " a total", function()
      local list, number = records_of(777, "tranId", "timestamp"), 0
      local name = total and internal or moves
      local made = service(function(params)
        local page, count = page_of(list, params, 100)
        for _ = 1, 7 do
          number = number + 1
          table.insert(list, 1, { tranId = ("9%05d"):format(number), timestamp = NOW + number })
        end
        return total and { data = page, totalRecords = count, totalPageNum = math.ceil(count / 100) } or page
      end)
      local found, _, why = assert(all(made, name))
      assert.is_nil(why)
      local old = 0
      for _, record in ipairs(found) do old = old + (record.timestamp < NOW and 1 or 0) end
      assert.equal(777, old)
      assert.is_true(ids(found, "tranId") >= 777)
      assert.is_true(made.asked < 15)
    end)
  end

  it("is shown to be complete without a total, however its end falls on the pages", function()
    for _, count in ipairs { 5, 99, 100, 101, 493, 500, 507, 1000, 1003 } do
      for _, growth in ipairs { 1, 3, 4 } do
        for _, size in ipairs { 100, 500 } do
          local list, number = records_of(count, "tranId", "timestamp"), 0
          local made = service(function(params)
            local page = page_of(list, params, math.min(size, params.limit))
            for _ = 1, growth do
              number = number + 1
              table.insert(list, 1, { tranId = ("9%05d"):format(number), timestamp = NOW + number })
            end
            return page
          end)
          local found, _, why = assert(all(made, moves))
          assert.is_nil(why, count .. " " .. growth .. " " .. size)
          local old = 0
          for _, record in ipairs(found) do old = old + (record.timestamp < NOW and 1 or 0) end
          assert.equal(count, old)
        end
      end
    end
  end)

  it("is not shown to be complete, when it shows its newest records on each page", function()
    local list, number = records_of(60, "tranId", "timestamp"), 0
    local made = service(function()
      number = number + 1
      table.insert(list, 1, { tranId = ("9%05d"):format(number), timestamp = NOW + number })
      local page = {}
      for i = 1, 50 do page[i] = list[i] end
      return page
    end)
    local _, err, why = all(made, moves)
    assert.is_truthy(err or why)
  end)

  it("of sub-accounts is shown to be complete, too", function()
    local list, number = records_of(200, "subAccount", "timestamp"), 0
    local made = service(function(params)
      local page = page_of(list, { page = params.page }, 200)
      number = number + 1
      table.insert(list, 1, { subAccount = "new" .. number, timestamp = NOW + number })
      return page
    end)
    local found, _, why = assert(all(made, "broker.list_sub_accounts", 0, 0, "timestamp"))
    assert.is_nil(why)
    assert.equal(200, ids(found, "subAccount"))
  end)

  it("is turned again when it shrinks", function()
    local list = records_of(250, "tranId", "timestamp")
    local made = service(function(params, number)
      if number == 2 then table.remove(list, 1) end
      local page, count = page_of(list, params, 100)
      return { data = page, totalRecords = count }
    end)
    assert.equal(249, ids(assert(all(made, internal)), "tranId"))
    assert.equal(5, made.asked)
  end)
end)

describe("a service that is less tidy than the document", function()
  it("gives short pages in the middle", function()
    local list = records_of(260, "tranId", "timestamp")
    for _, name in ipairs { internal, moves } do
      local found = assert(all(service(function(params)
        local page, count = page_of(list, params, 30)
        return name == internal and { data = page, totalRecords = count } or page
      end), name))
      assert.equal(260, ids(found, "tranId"))
    end
  end)

  it("does not turn pages: what goes into one is all, what fills it is not", function()
    for _, count in ipairs { 3, 500 } do
      local list = records_of(count, "tranId", "timestamp")
      local made = service(function() return list end)
      local found, err = all(made, moves)
      if count == 3 then
        assert.equal(3, ids(found, "tranId"))
      else
        assert.matches("seems not to turn pages", tostring(err))
      end
      assert.is_true(made.asked < 5)
    end
    for _, count in ipairs { 3, 200 } do
      local list = records_of(count, "subAccount", "timestamp")
      local made = service(function() return list end)
      local found, err = all(made, "broker.list_sub_accounts", 0, 0, "timestamp")
      if count == 3 then assert.equal(3, ids(found, "subAccount")) else assert.is_truthy(err) end
      assert.is_true(made.asked < 20)
    end
    local batch = { convertTime = NOW, totalConvert = "1" }
    assert.same({ batch }, all(service(function() return { data = { batch } } end), "wallet.conversion_history"))
  end)

  it("does not keep to the window", function()
    local list = { { id = "old", applyTime = NOW - 60 * 24 * HOUR }, { id = "new", applyTime = NOW } }
    local made = service(function() return list end)
    assert.equal(2, ids(assert(all(made, drawn, NOW - 30 * 24 * HOUR, NOW)), "id"))
    assert.is_true(made.asked > 1) -- five windows, each record once
  end)

  it("shows a key twice, which is one", function()
    local key = { apiKey = "a", note = "bot", createTime = NOW }
    assert.same({ key }, all(service(function() return { key, key } end), "broker.list_api_keys", 0, 0, "createTime"))
  end)

  it("shows records without ids, which are not one another", function()
    local list = { { id = "", applyTime = NOW, amount = "1" }, { id = "", applyTime = NOW, amount = "2" } }
    assert.equal(2, #assert(all(service(function() return list end), drawn)))
  end)
end)

describe("the window that reconcile reads", function()
  it("may end ahead of the clock, and is asked for with its bounds", function()
    local made = service(function(params)
      assert.is_true(params.startTime <= NOW - HOUR and params.endTime >= NOW + HOUR)
      return {}
    end)
    assert.same({}, all(made, drawn))
    assert.equal(1, made.asked)
  end)

  it("is read with the parameters of the question, and errors are passed on", function()
    local problem = { message = "no" }
    local made = service(function(params)
      assert.same({ coin = "USDT", limit = 1000, startTime = NOW - HOUR - 1000, endTime = NOW + HOUR + 1000 }, params)
      return nil, problem
    end)
    local list, err = all(made, drawn, nil, nil, nil, { coin = "USDT" })
    assert.is_nil(list)
    assert.equal(problem, err)
  end)
end)

-- SPDX-License-Identifier: MIT
-- One window of a history: what is known to be complete, and what is divided.

local history = require "purser.client.history"
local listed_records = require "listed_records"
local operations = require "purser.client.operations"
local cursors = require "purser.client.history.cursor"
local window = require "purser.client.history.window"

local DAY, NOW = 86400000, listed_records.NOW
local between, client_of, spread = listed_records.between, listed_records.client_of, listed_records.spread

describe("what the proof of an end costs", function()
  -- Deposits of a quarter, so many a week: the numbers of docs/client/histories.md.
  local function requests(per_week, more)
    local records = spread(per_week * 12, 84 * DAY, "insertTime", "txId")
    local client = client_of(function(_, params) return between(records, params, "insertTime") end)
    local params = { from = NOW - 85 * DAY }
    for name, value in pairs(more or {}) do params[name] = value end
    assert.equal(per_week * 12, #assert(history.each(client, "wallet.deposit_history", params):collect()))
    return #client.asked
  end

  it("is nothing where weeks hold fewer than ten records", function()
    assert.equal(13, requests(7))
  end)

  it("is two requests for each answer that is longer than all before", function()
    assert.equal(13, requests(100, { shows_at_least = 1000 }))
    assert.equal(22, requests(100)) -- weeks of 100, 101 ... are longer by one now and then
    assert.equal(3, (function()
      local records = spread(50, 3600000, "insertTime", "txId")
      local client = client_of(function(_, params) return between(records, params, "insertTime") end)
      for _ = 1, 2 do
        client.asked = {}
        assert(history.each(client, "wallet.deposit_history", { from = NOW - 2 * 3600000 }):collect())
      end
      return #client.asked
    end)())
  end)

  it("is one page for each answer that is longer than all before, where there are pages and a total", function()
    local records = spread(60, 6 * DAY, "timestamp", "tranId")
    local client = client_of(function(_, params)
      local inside, page = between(records, params, "timestamp"), {}
      for i = (params.page - 1) * params.limit + 1, math.min(#inside, params.page * params.limit) do
        page[#page + 1] = inside[i]
      end
      return { data = page, totalRecords = #inside, totalPageNum = math.ceil(#inside / params.limit) }
    end)
    local function count(more)
      client.asked = {}
      more.from = NOW - 7 * DAY
      assert.equal(60, #assert(history.each(client, "wallet.internal_transfer_history", more):collect()))
      return #client.asked
    end
    assert.equal(2, count {})
    assert.equal(1, count { shows_at_least = 100 })
  end)
end)

describe("a second with many records, of a service that counts in seconds", function()
  local function seconds(records, size)
    return client_of(function(_, params)
      local inside = between(records, { startTime = math.floor(params.startTime / 1000) * 1000,
        endTime = math.floor(params.endTime / 1000) * 1000 + 999 }, "insertTime")
      table.sort(inside, function(a, b) return a.txId > b.txId end)
      local page, shown = {}, math.min(params.limit, size)
      local from = ((params.page or 1) - 1) * shown
      for i = from + 1, math.min(#inside, from + shown) do page[#page + 1] = inside[i] end
      return page
    end)
  end

  local function burst(count)
    local records = {}
    for i = 1, count do records[i] = { txId = ("%06d"):format(i), insertTime = NOW - DAY + i % 2 } end
    return records
  end

  it("costs its pages and three requests in each window that it lies in, where there are pages", function()
    for _, size in ipairs { 20, 100, 1000 } do
      local client, count = seconds(burst(1001), size), 1001
      local records = assert(history.each(client, "broker.deposit_history", { from = NOW - 9 * DAY }):collect())
      assert.equal(count, #records)
      local asked, windows, most = {}, 0, 0
      for _, params in ipairs(client.asked) do
        local name = params.startTime .. " " .. params.endTime
        windows = windows + (asked[name] and 0 or 1)
        asked[name] = (asked[name] or 0) + 1
        most = math.max(most, asked[name])
      end
      assert.is_true(most <= math.ceil(count / size) + 3, most)
      assert.is_true(windows < 20, windows)
      assert.is_true(#client.asked <= 4 * math.ceil(count / size) + 80, #client.asked)
    end
  end)

  it("is an error at once where only time divides, and says what helps", function()
    local client = seconds(burst(1001), 1000)
    local records, err = history.each(client, "wallet.deposit_history", { from = NOW - 6 * DAY }):collect()
    assert.is_nil(records)
    assert.matches("the service gives no more than that of one second; narrow it down", err.message)
    assert.is_true(#client.asked < 12, #client.asked)
  end)

  it("costs two requests a record at most where time divides it", function()
    local records = {}
    for i = 1, 3000 do records[i] = { txId = ("%06d"):format(i), insertTime = NOW - DAY + i % 900 } end
    local client = client_of(function(_, params)
      local inside = between(records, params, "insertTime")
      for i = #inside, math.min(#inside, 1000) + 1, -1 do inside[i] = nil end
      return inside
    end)
    assert.equal(3000, #assert(history.each(client, "wallet.deposit_history", { from = NOW - 6 * DAY }):collect()))
    assert.is_true(#client.asked < 40, #client.asked)
  end)
end)

describe("the next window", function()
  it("after one without records is longer by as many times as an answer may show records", function()
    local records, shown = {}, 10 -- of which three quarters are the goal: 7
    for i = 1, 300 do records[i] = { txId = ("%04d"):format(i), insertTime = NOW - 3 * DAY + i * 1000 } end
    local client = client_of(function(_, params)
      local inside, some = between(records, params, "insertTime"), {}
      for i = 1, math.min(#inside, shown) do some[i] = inside[i] end
      return some
    end)
    assert.equal(300, #assert(history.each(client, "wallet.deposit_history", { from = NOW - 4 * DAY }):collect()))
    local last, most = nil, 0
    for _, params in ipairs(client.asked) do
      local width = params.endTime - params.startTime - 2000
      if params.startTime > NOW - 3 * DAY + 310000 then
        most, last = math.max(most, last and width / last or 0), width
      end
    end
    assert.is_true(most > 6.9 and most < 7.1, most)
  end)
end)

describe("an answer of one millisecond that may have been cut", function()
  local function deposits(count)
    local records = {}
    for i = 1, count do records[i] = { txId = ("%06d"):format(i), insertTime = NOW - DAY } end
    local client = client_of(function(_, params) return between(records, params, "insertTime") end)
    return function(more)
      more.from = NOW - 2 * DAY
      return history.each(client, "wallet.deposit_history", more):collect()
    end
  end

  it("is an error where its length is round, unless the user knows that more are shown", function()
    local collect = deposits(100)
    local records, err = collect {}
    assert.is_nil(records)
    assert.matches("100 records have the time " .. NOW - DAY .. ", and nothing shows", err.message)
    assert.matches("say so with `shows_at_least`", err.message)
    assert.equal(100, #assert(collect { shows_at_least = 1000 }))
  end)

  it("is complete where its length is not", function()
    assert.equal(97, #assert(deposits(97) {}))
  end)
end)

describe("a window", function()
  local row = operations.by_name["wallet.deposit_history"]

  -- A source with these records that shows `shows` of a window at once, the newest.
  local function source_of(records, shows, more)
    local source = { row = row, paging = row.paging, time = "insertTime", params = {}, asked = {},
      key = cursors.key_of(row.paging), keep = function(record) return record.txId ~= "filtered" end }
    function source.run(_, params)
      source.asked[#source.asked + 1] = params
      local inside, shown = between(records, params, "insertTime"), {}
      table.sort(inside, function(a, b) return a.insertTime > b.insertTime end)
      for i = 1, math.min(#inside, shows or 1000) do shown[i] = inside[i] end
      return shown
    end
    for field, value in pairs(more or {}) do source[field] = value end
    return source
  end

  local function deposits(times)
    local records = {}
    for i, time in ipairs(times) do records[i] = { txId = ("%04d"):format(i), insertTime = time } end
    return records
  end

  local function times_of(found)
    local times = {}
    for i, record in ipairs(found.records) do times[i] = record.insertTime end
    return times
  end

  local first, last = NOW - 10000, NOW - 5001

  it("is asked for with a whole second more on both sides, and a part of a second with a millisecond more", function()
    local source = source_of {}
    assert(window.read(source, { first = first + 7, last = last - 7 }))
    assert(window.read(source, { first = first + 5, last = first + 900 }))
    assert(window.read(source, { first = first + 5, last = first + 900, is_part = true }))
    assert(window.read(source, { first = first, last = last }, first - 1))
    local bounds = {}
    for i, params in ipairs(source.asked) do bounds[i] = { params.startTime, params.endTime } end
    assert.same({ { first - 1000, last + 1 }, { first - 1000, first + 1000 }, { first + 4, first + 901 },
      { first - 1, last + 1 } }, bounds)
  end)

  it("holds what lies between its bounds, oldest first, and what the filters keep", function()
    local records = deposits { last + 1, last, first, first - 1, first + 5 }
    records[6] = { txId = "filtered", insertTime = first + 6 }
    assert.same({ first, first + 5, last }, times_of(assert(window.read(source_of(records),
      { first = first, last = last }))))
  end)

  it("that holds too much is divided within it, and each part has to show what was seen", function()
    local times = {}
    for i = 1, 1500 do times[i] = first + i * 3 end
    local source = source_of(deposits(times))
    local found = assert(window.read(source, { first = first, last = last }))
    assert.is_nil(found.records)
    assert.is_true(found.at >= first and found.at < last)
    assert.same({ 1000, 1000, false }, { found.count, #found.expected, found.suspected })
    local part = { first = found.at + 1, last = last, expected = found.expected }
    local lacking = source_of(deposits { last - 1, last })
    local none, err = window.read(lacking, part)
    assert.is_nil(none)
    assert.matches("a record that was shown before is missing between", err.message)
  end)

  it("within a second is divided between the records at its ends", function()
    local times = {}
    for i = 1, 1200 do times[i] = i <= 600 and first or first + 400 end
    local found = assert(window.read(source_of(deposits(times)), { first = first, last = first + 400 }))
    assert.same({ first + 399, 400, true }, { found.at, found.span, found.is_part })
  end)

  it("of one millisecond that holds more than an answer is an error that names it", function()
    local times = {}
    for i = 1, 1001 do times[i] = first end
    local found, err = window.read(source_of(deposits(times)), { first = first, last = first })
    assert.is_nil(found)
    assert.matches("more than 999 records have the time " .. first, err.message)
    assert.is_true(err.details.crowded)
  end)

  it("of one millisecond, beside which more lies than is shown, is an error where nothing of it is", function()
    local times = {}
    for i = 1, 30 do times[i] = first + 100 + i end
    local source = source_of(deposits(times), 10)
    local run = source.run
    function source.run(of, params) -- counts in seconds, without the first
      local from, to = math.floor(params.startTime / 1000) + 1, math.floor(params.endTime / 1000)
      return run(of, { startTime = from * 1000, endTime = to * 1000 + 999 })
    end
    local at = { first = first + 105, last = first + 105 }
    for _ = 1, 2 do
      local found, err = window.read(source, at)
      assert.is_nil(found)
      assert.matches("10 records have the time %d+, and nothing shows", err.message)
    end
  end)

  it("with a record of another time, or without one, is an error; a strict source takes the stray", function()
    local stray = { { txId = "1", insertTime = first - 5000 } }
    local function answer() return stray end
    for _, case in ipairs { { first - 5000, "a record of the time" }, { "x", "came without its insertTime" } } do
      stray[1].insertTime = case[1]
      local found, err = window.read(source_of({}, 0, { run = answer }), { first = first, last = last })
      assert.is_nil(found)
      assert.matches(case[2], err.message)
    end
    stray[1].insertTime = first - 5000
    local source = source_of({}, 0, { run = answer, strict = true, time = "insertTime" })
    source.run = answer
    assert.same(stray, assert(window.read(source, { first = first, last = last })).records)
  end)
end)

describe("the edge of a divided window", function()
  it("ends a whole second where one lies in the window: a service that counts in seconds misses none", function()
    for _, case in ipairs {
      { 10000, 20000, 15500, 14999 }, { 10000, 20000, 14999, 14999 }, { 10000, 20000, 10000, 10999 },
      { 10000, 10500, 10200, 10200 }, { 10000, 10500, 10500, 10499 }, { 10000, 10001, 9000, 10000 },
      { 10999, 11001, 11000, 10999 },
    } do
      assert.equal(case[4], window.edge(case[1], case[2], case[3]))
    end
    local outside = 0
    for first = 990, 1010 do
      for last = first + 1, 2010, 7 do
        for at = first - 3, last + 3, 11 do
          local edge = window.edge(first, last, at)
          if edge < first or edge >= last then outside = outside + 1 end
        end
      end
    end
    assert.equal(0, outside)
  end)
end)

-- SPDX-License-Identifier: MIT
-- What a walk asks for more than once, what it does not promise, and the cursors of older versions.

local core = require "purser.core"
local history = require "purser.history"
local record_id = require "purser.history.record_id"
local operations = require "purser.api.operations"
local purser = require "purser"

local DAY, NOW = 86400000, 1700000000000

-- A client whose every call is answered by `answer(name, params)`; `asked` holds the parameters of each.
local function client_of(answer)
  local client = { now = function() return NOW end, asked = {} }
  client.call = function(_, name, params)
    client.asked[#client.asked + 1] = params
    return answer(name, params)
  end
  return client
end

local function between(records, params, time)
  local found = {}
  for _, record in ipairs(records) do
    if record[time] >= params.startTime and record[time] <= params.endTime then found[#found + 1] = record end
  end
  return found
end

-- `count` records, evenly over `span` before now.
local function spread(count, span, time, id)
  local records = {}
  for i = 1, count do
    records[i] = { [id] = ("%06d"):format(i), [time] = NOW - 120000 - math.floor(i * span / count) }
  end
  return records
end

describe("what the proof of an end costs", function()
  -- Deposits of a quarter, so many a week: the numbers of docs/histories.md.
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
    assert.equal(13 + 5 * 2, requests(100)) -- weeks of 100, 101 ... are longer by one now and then
    assert.equal(3, (function()
      local records = spread(50, 3600000, "insertTime", "txId")
      local client = client_of(function(_, params) return between(records, params, "insertTime") end)
      assert(history.each(client, "wallet.deposit_history", { from = NOW - 2 * 3600000 }):collect())
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

describe("more than a page of conversions in one millisecond", function()
  local function conversions(order)
    local batches = {}
    for i = 1, 1300 do
      batches[i] = { convertTime = NOW - DAY, totalConvert = "1", convertDetails = { { id = tostring(i) } } }
    end
    local client = client_of(function(_, params)
      local inside, page = between(batches, params, "convertTime"), {}
      order(inside)
      for i = (params.page - 1) * params.limit + 1, math.min(#inside, params.page * params.limit) do
        page[#page + 1] = inside[i]
      end
      return { data = page, totalRecords = #inside, totalPageNum = math.ceil(#inside / params.limit) }
    end)
    return history.each(client, "wallet.conversion_history", { from = NOW - 2 * DAY }):collect()
  end

  it("is delivered, each once, where the order stays", function()
    assert.equal(1300, #assert(conversions(function() end)))
  end)

  it("is an error where the order changes, although the total stays", function()
    local turn = 0
    local records, err = conversions(function(list)
      turn = turn + 1
      for i = #list, 2, -1 do
        local j = (i * 7919 + turn * 104729) % i + 1
        list[i], list[j] = list[j], list[i]
      end
    end)
    assert.is_nil(records)
    assert.matches("their order changes", err.message)
  end)
end)

describe("a list whose records look the same", function()
  -- Rebates have no id. Twins on different pages may be one record in an order that changes.
  local function rebates(order)
    local all = {}
    for i = 1, 250 do all[i] = { time = "20231114", uid = tostring(i), asset = "USDT", amount = "1" } end
    local client = client_of(function(_, params)
      order(all)
      local page = {}
      for i = (params.page - 1) * params.pageSize + 1, math.min(#all, params.page * params.pageSize) do
        page[#page + 1] = all[i]
      end
      return { data = page, totalRecords = #all, totalPageNum = 3 }
    end)
    return history.each(client, "broker.rebates", {}):collect()
  end

  it("is an error where their order changes from page to page", function()
    local turn = 0
    local records, err = rebates(function(list)
      turn = turn + 1
      for _ = 1, 37 * turn % 100 do table.insert(list, 1, table.remove(list)) end
    end)
    assert.is_nil(records)
    assert.matches("changes faster than it can be read", err.message)
  end)

  it("is an error where it shows fewer than its total says", function()
    local client = client_of(function(_, params)
      return { data = params.page == 1 and { { uid = "1" } } or {}, totalRecords = 5, totalPageNum = 1 }
    end)
    local records, err = history.each(client, "broker.rebates", {}):collect()
    assert.is_nil(records)
    assert.matches("says that there are 5 records, and shows 1", err.message)
  end)
end)

describe("a walk by a state", function()
  local records = {
    { id = "a", applyTime = NOW - DAY, status = 7 }, { id = "b", applyTime = NOW - DAY + 5, status = 2 },
  }
  local client = client_of(function(_, params) return between(records, params, "applyTime") end)

  it("has no cursor, because a record may come into that state later", function()
    local walk = history.each(client, "wallet.withdrawal_history", { status = 7 })
    assert.equal(1, #assert(walk:collect()))
    local cursor, why = walk:cursor()
    assert.is_nil(cursor)
    assert.matches("would never be delivered", why)
    local saved = history.each(client, "wallet.withdrawal_history", {}):cursor()
    local _, err = history.each(client, "wallet.withdrawal_history", { status = 7, cursor = saved }):next()
    assert.equal("argument", err.kind)
    assert.matches('"cursor" has no meaning together with `status`', err.message)
    _, err = history.each(client, "wallet.deposit_history",
      { status = 5, cursor = "purser2;wallet.deposit_history;" .. NOW .. ";" }):next()
    assert.matches("use watch_deposits", err.message)
  end)

  it("takes the state by number and by name", function()
    for _, status in ipairs { 2, "2", "AUDITING" } do
      local found = assert(history.each(client, "wallet.withdrawal_history", { status = status }):collect())
      assert.same({ "b" }, { found[1].id, found[2] })
    end
    local _, err = history.each(client, "wallet.withdrawal_history", { status = "AUDITNG" }):next()
    assert.matches('did you mean "AUDITING"', err.message)
  end)

  it("finds names in records, too", function()
    local shown = client_of(function(_, params)
      if params.page > 1 then return {} end
      return {
        { txId = "1", status = "SUCCESS", insertTime = NOW - 5 }, { txId = "2", status = "4", insertTime = NOW - 9 },
      }
    end)
    for _, status in ipairs { 5, "SUCCESS" } do
      local params = { from = NOW - 50, status = status }
      local found = assert(history.each(shown, "broker.deposit_history", params):collect())
      assert.same({ "1" }, { found[1].txId, found[2] })
    end
  end)
end)

describe("the names of states", function()
  local function sent(operation, params)
    local target
    local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
      transport = { send = function(_, request)
        target = request.target
        return { status = 200, headers = "", body = "[]" }
      end } })
    local result, err = client:call(operation, params)
    return result and target:match("status=([^&]*)"), err
  end

  it("are sent as they are to the broker's histories, and as numbers to the wallet's", function()
    assert.equal("PENDING", sent("broker.deposit_history", { status = "PENDING" }))
    assert.equal("4", sent("broker.all_deposit_history", { status = 4 }))
    assert.equal("4", sent("wallet.deposit_history", { status = "PENDING" }))
    assert.equal("7", sent("wallet.withdrawal_history", { status = "SUCCESS" }))
    local _, err = sent("wallet.deposit_history", { status = "CANCEL" })
    assert.equal("argument", err.kind)
  end)

  it("are understood by the simulator", function()
    local sim = purser.sim.new { start_time = NOW }
    local broker = sim:account { role = "broker", email = "b@example.org" }
    local client = assert(purser.new { base_url = "http://localhost", api_key = broker.api_key,
      secret_key = broker.secret_key, transport = sim:transport(), clock = function() return sim:now() end })
    assert.same({}, assert(client.broker:all_deposit_history { status = "SUCCESS" }))
  end)
end)

describe("how far a history reaches", function()
  local nothing = client_of(function() return {} end)

  it("is three whole days where midnight is not documented to be that of UTC", function()
    local walk = history.each(nothing, "broker.all_deposit_history", {})
    assert.equal(NOW - 3 * DAY + 60000, walk.from)
    local _, err = history.each(nothing, "broker.all_deposit_history", { from = NOW - 3 * DAY - 1 }):next()
    assert.matches("the last 3 days; with day_offset_minutes", err.message)
  end)

  it("is a midnight where the user says which", function()
    local utc = NOW - NOW % DAY - 3 * DAY
    for _, hours in ipairs { 0, 8, -5 } do
      local walk = history.each(nothing, "broker.all_deposit_history", { day_offset_minutes = hours * 60 })
      local midnight = walk.from + hours * 3600000
      assert.equal(0, midnight % DAY)
      assert.is_true(walk.from <= NOW - 3 * DAY and walk.from > NOW - 4 * DAY)
      if hours == 0 then assert.equal(utc, walk.from) end
      local _, err = history.each(nothing, "broker.all_deposit_history",
        { day_offset_minutes = hours * 60, from = walk.from - 1 }):next()
      assert.matches("beyond the reach", err.message)
    end
    local _, err = history.each(nothing, "wallet.deposit_history", { day_offset_minutes = 0 }):next()
    assert.matches("only for a history that begins at a midnight", err.message)
  end)

  it("is 180 days by default where six months are documented, and six months when asked for", function()
    local none = client_of(function() return { rows = {}, total = 0 } end)
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    local walk = history.each(none, "wallet.transfer_history", params)
    assert.equal(NOW - 180 * DAY + 60000, walk.from)
    params.from = NOW - 183 * DAY
    assert.same({}, assert(history.each(none, "wallet.transfer_history", params):collect()))
  end)
end)

describe("a cursor of an older version", function()
  it("is read, and delivers nothing twice", function()
    local records = spread(20, 10 * DAY, "insertTime", "txId")
    local client = client_of(function(_, params) return between(records, params, "insertTime") end)
    local key_of = record_id.of(operations.by_name["wallet.deposit_history"].paging)
    local hashes = {}
    for i = 1, 7 do hashes[i] = core.md5_hex((key_of(records[i]))):sub(1, 16) end
    local cursor = ("purser1;wallet.deposit_history;%d;%s"):format(records[8].insertTime, table.concat(hashes, ","))
    local walk = history.each(client, "wallet.deposit_history", { cursor = cursor })
    -- It goes on in the middle, too: what it still knows by old hashes is in the new cursor.
    local between_walks = walk:cursor()
    assert.matches("^purser2;", between_walks)
    assert.same({}, assert(walk:collect()))
    assert.same({}, assert(history.each(client, "wallet.deposit_history", { cursor = between_walks }):collect()))
    cursor = ("purser1;wallet.deposit_history;%d;%s"):format(records[9].insertTime, table.concat(hashes, ","))
    assert.same({ records[8] }, assert(history.each(client, "wallet.deposit_history", { cursor = cursor }):collect()))
  end)
end)

-- SPDX-License-Identifier: MIT
-- Histories and lists, walked to their end: every record once, whatever the windows, the pages and the world do.
-- make test: 6 s, on lua5.4 and luajit

local errors = require "purser.client.call.errors"
local history = require "purser.client.history"
local listed_records = require "listed_records"
local operations = require "purser.client.operations"
local schedule = require "purser.schedule"
local simulated = require "simulated"

local DAY, HOUR = 86400000, 3600000
local NOW = listed_records.NOW
local deposits, world = listed_records.deposits, listed_records.world

-- `make test` walks a tenth of what `make histories` does.
local MANY = tonumber(os.getenv "PURSER_RECORDS" or "20000")

-- Walks and holds what came against the order that is promised, which also shows that nothing came twice.
local function count_in_order(walk, time_of, id_of)
  local count, last_time, last_id = 0, 0, ""
  for record in walk do
    count = count + 1
    local time, id = record[time_of], record[id_of]
    assert(time > last_time or (time == last_time and id > last_id), "twice, or out of order")
    last_time, last_id = time, id
  end
  return count
end

local function times_of(records, member)
  local times = {}
  for i, record in ipairs(records) do times[i] = record[member or "insertTime"] end
  return times
end

describe("a walk over very many deposits", function()
  it("delivers each once, in flat memory, with few requests", function()
    local sim, client, broker = world()
    local times, start = {}, NOW - 89 * DAY
    for i = 1, MANY do -- bursts of 400 in one millisecond, the edges of weeks, and an even rest
      if i % 5 == 0 then
        times[i] = start + math.floor(i * 80 / MANY) * DAY
      elseif i % 7 == 0 then
        times[i] = start + (i % 12) * 7 * DAY + (i % 3) - 1
      else
        times[i] = start + math.floor((i / MANY) * 89 * DAY)
      end
    end
    table.sort(times)
    local in_range = {}
    for _, time in ipairs(times) do
      if time >= start then in_range[#in_range + 1] = time end
    end
    -- no millisecond may hold more than an answer does: that is another test
    local per_time = {}
    for _, time in ipairs(in_range) do per_time[time] = (per_time[time] or 0) + 1 end
    local kept = {}
    for _, time in ipairs(in_range) do
      per_time[time] = per_time[time] - 1
      if per_time[time] < 990 then kept[#kept + 1] = time end
    end
    deposits(sim, broker, kept)

    local walk = client.wallet:each_deposit { from = start }
    collectgarbage() collectgarbage()
    local before, peak, count = collectgarbage "count", 0, 0
    local last_time, last_id = 0, ""
    for record in walk do
      count = count + 1
      assert(record.insertTime > last_time or (record.insertTime == last_time and record.txId > last_id))
      last_time, last_id = record.insertTime, record.txId
      if count % 5000 == 0 then
        collectgarbage()
        peak = math.max(peak, collectgarbage "count" - before)
      end
    end
    assert.equal(#kept, count)
    assert.is_true(peak < 8 * 1024, ("%d KiB"):format(math.floor(peak)))
    assert.is_true(sim:counts()["wallet.deposit_history"].received < 100 + 4 * #kept / 1000)
  end)
end)

describe("the edges of windows", function()
  it("lose nothing and double nothing", function()
    local sim, client, broker = world()
    local times = {}
    for week = 0, 12 do
      for _, shift in ipairs { -2, -1, 0, 1, 2 } do
        local time = NOW - 90 * DAY + week * 7 * DAY + shift
        if time >= NOW - 90 * DAY and time <= NOW then times[#times + 1] = time end
      end
    end
    times[#times + 1] = NOW
    deposits(sim, broker, times)
    local records = assert(client.wallet:each_deposit({ from = NOW - 90 * DAY }):collect())
    assert.same(times, times_of(records))
  end)

  it("are asked for with a millisecond more, because nobody says whether they belong to the window", function()
    for _, inclusive in ipairs { true, false } do
      local all, asked = {}, 0
      for i = 0, 3000 do all[i + 1] = { txId = ("%06d"):format(i), insertTime = NOW - 20 * DAY + i * 7 * HOUR / 7 } end
      local client = { now = function() return NOW end }
      client.call = function(_, _, params)
        asked = asked + 1
        local found = {}
        for i = #all, 1, -1 do
          local time = all[i].insertTime
          local inside = time > params.startTime and time < params.endTime
            or inclusive and (time == params.startTime or time == params.endTime)
          if inside and #found < params.limit then found[#found + 1] = all[i] end
        end
        return found
      end
      local from, to = NOW - 15 * DAY, NOW - 2 * DAY
      local records = assert(history.each(client, "wallet.deposit_history", { from = from, to = to }):collect())
      assert.equal((13 * 24) + 1, #records)
      assert.equal(from, records[1].insertTime)
      assert.equal(to, records[#records].insertTime)
      assert.is_true(asked < 10)
    end
  end)

  -- Where no reach is documented, the first millisecond of every window but the first was not asked for.
  it("are asked for with a millisecond more in every history", function()
    local all = {}
    for i = 1, 4000 do all[i] = { tranId = ("%06d"):format(i), timestamp = NOW - i * 1000 } end
    local client = { now = function() return NOW end }
    client.call = function(_, _, params)
      local page, place = {}, 0
      for _, record in ipairs(all) do
        if record.timestamp > params.startTime and record.timestamp < params.endTime then
          place = place + 1
          if place > (params.page - 1) * params.limit and place <= params.page * params.limit then
            page[#page + 1] = record
          end
        end
      end
      return { data = page, totalRecords = place, totalPageNum = math.ceil(place / params.limit) }
    end
    local walk = history.each(client, "wallet.internal_transfer_history", { from = NOW - 4000 * 1000 })
    assert.equal(4000, #assert(walk:collect()))
  end)

  it("do not stop at an empty window", function()
    local sim, client, broker = world()
    local times = { NOW - 89 * DAY, NOW - 3 * DAY }
    deposits(sim, broker, times)
    assert.same(times, times_of(assert(client.wallet:each_deposit({}):collect())))
  end)
end)

describe("one millisecond that holds more than an answer", function()
  it("is delivered where the service has pages", function()
    local sim, client, broker = world()
    for i = 1, 1234 do
      sim.internal_transfers:add { id = ("9%09d"):format(i), from = broker.uid, to = "1", asset = "USDT", amount = "1",
        to_type = "UID", to_account = "1", status = "SUCCESS", time = NOW - (i > 1200 and i or 5) }
    end
    local walk = client.wallet:each_internal_transfer { from = NOW - DAY }
    assert.equal(1234, count_in_order(walk, "timestamp", "tranId"))
  end)

  it("is an error that says so where it has none, and the walk can go on after it", function()
    local sim, client, broker = world()
    local times = {}
    for i = 1, 1005 do times[i] = NOW - 2 * DAY end
    times[1006] = NOW - DAY
    deposits(sim, broker, times)
    local walk = client.wallet:each_deposit { from = NOW - 3 * DAY }
    local records, err = walk:collect()
    assert.is_nil(records)
    assert.equal("workflow", err.kind)
    assert.truthy(err.message:find(("more than 999 records have the time %d"):format(NOW - 2 * DAY), 1, true))
    local rest = client.wallet:each_deposit { from = NOW - 2 * DAY + 1 }
    assert.same({ NOW - DAY }, times_of(assert(rest:collect())))
  end)
end)

describe("a service whose windows do not hold their own bounds", function()
  it("is not believed when it says that a crowded millisecond is empty", function()
    local client = { now = function() return NOW end }
    client.call = function(_, _, asked)
      local found = {}
      for i = 1, 1200 do
        local time = NOW - DAY + (i <= 900 and 0 or 1)
        if time > asked.startTime and time < asked.endTime and #found < asked.limit then
          found[#found + 1] = { txId = ("%05d"):format(i), insertTime = time }
        end
      end
      return found
    end
    local records, err = history.each(client, "wallet.deposit_history", { from = NOW - 2 * DAY }):collect()
    -- 900 and 300 fit: each millisecond is asked for with bounds that do not belong to it
    assert.is_nil(err)
    assert.equal(1200, #records)
    local inner = client.call
    client.call = function(self, name, asked)
      local wider = { startTime = asked.startTime, endTime = asked.endTime, limit = 5000 }
      local found = inner(self, name, wider)
      for i = 1, 400 do
        local time = NOW - DAY
        if time > asked.startTime and time < asked.endTime then
          found[#found + 1] = { txId = ("9%04d"):format(i), insertTime = time }
        end
      end
      for i = #found, asked.limit + 1, -1 do found[i] = nil end
      return found
    end
    records, err = history.each(client, "wallet.deposit_history", { from = NOW - 2 * DAY }):collect()
    assert.is_nil(records)
    assert.truthy(err.message:find("more than 999 records have the time", 1, true))
  end)
end)

-- Every history and list of the interface, filled by hand in the simulator's own books.
local rows = {
  { "wallet.deposit_history", 2300, fill = function(sim, uid, i, time)
    sim.deposits:add { uid = uid, coin = "USDT", network = "TRX", amount = "1", id = "d" .. i, address = "T",
      tx_id = ("%08d"):format(i), time = time, needed = 1, block_ms = 1, status = 5 }
  end },
  { "wallet.withdrawal_history", 2300, fill = function(sim, uid, i, time)
    sim.withdrawals:add { uid = uid, id = ("%08d"):format(i), coin = "USDT", network = "TRX", address = "T",
      amount = "1", fee = "1", status = 7, time = time, updated = time, needed = 1, block_ms = 1 }
  end },
  { "wallet.transfer_history", 2300, params = { fromAccountType = "SPOT", toAccountType = "FUTURES" },
    fill = function(sim, uid, i, time)
      sim.wallet_transfers:add { uid = uid, id = ("%d"):format(10000000 + i), asset = "USDT", amount = "1",
        from_type = "SPOT", to_type = "FUTURES", status = "SUCCESS", time = time }
    end },
  { "wallet.conversion_history", 2300, fill = function(sim, uid, i, time)
    sim.conversions:add { uid = uid, time = time, total = "1", fee = "0.1", details = {
      { id = ("%08d"):format(i), convert = "1", fee = "0.1", amount = "1", time = time, asset = "XRP" } } }
  end },
  { "wallet.internal_transfer_history", 2300, fill = function(sim, uid, i, time)
    sim.internal_transfers:add { id = ("%d"):format(10000000 + i), from = uid, to = "1", asset = "USDT", amount = "1",
      to_type = "UID", to_account = "1", status = "SUCCESS", time = time }
  end },
  { "broker.transfer_history", 2300, params = { fromAccountType = "SPOT", toAccountType = "SPOT" },
    fill = function(sim, uid, i, time)
      sim.family_transfers:add { parent = uid, id = ("%d"):format(10000000 + i), asset = "USDT", amount = "1",
        from = uid, to = uid, from_type = "SPOT", to_type = "SPOT", status = "SUCCESS", time = time }
    end },
  { "sub_account.transfer_history", 2300, params = { fromAccountType = "SPOT", toAccountType = "SPOT" },
    fill = function(sim, uid, i, time)
      sim.family_transfers:add { parent = uid, id = ("%d"):format(10000000 + i), asset = "USDT", amount = "1",
        from = uid, to = uid, from_type = "SPOT", to_type = "SPOT", status = "SUCCESS", time = time }
    end },
  { "broker.all_deposit_history", 12300, days = 2, fill = function(sim, uid, i, time)
    sim.deposits:add { uid = "sub", parent = uid, coin = "USDT", network = "TRX", amount = "1", id = "d" .. i,
      address = "T", tx_id = ("%08d"):format(i), time = time, needed = 1, block_ms = 1, status = 5 }
  end },
  { "broker.list_sub_accounts", 430, list = true, fill = function(sim, uid, i)
    sim:account { role = "sub", parent = uid, name = ("sub%05d"):format(i) }
  end },
  { "sub_account.list_sub_accounts", 430, list = true, fill = function(sim, uid, i)
    sim:account { role = "sub", parent = uid, name = ("sub%05d"):format(i) }
  end },
  { "wallet.withdrawal_addresses", 430, list = true, fill = function(sim, uid, i)
    sim:save_address { account = uid, coin = "USDT", network = "ETH", address = ("0x%040d"):format(i) }
  end },
  { "broker.rebates", 430, list = true, fill = function(sim, uid, _, time)
    -- many look the same: same day, user and amount
    sim:rebate { account = uid, asset = "USDT", amount = "0.5", uid = "77", time = time }
  end },
}

describe("every history and list", function()
  for _, case in ipairs(rows) do
    it("is walked to its end: " .. case[1], function()
      local sim, client, broker = world()
      local span = (case.days or 60) * DAY
      local step = math.floor(span * 3 / case[2])
      for i = 1, case[2] do case.fill(sim, broker.uid, i, NOW - span + math.floor(i / 3) * step) end
      local params = { from = not case.list and NOW - span or nil }
      for name, value in pairs(case.params or {}) do params[name] = value end
      local records = assert(client:each(case[1], params):collect())
      assert.equal(case[2], #records)
      local paging = operations.by_name[case[1]].paging
      if case[1] ~= "broker.rebates" then
        local key, seen = require("purser.client.history.cursor").key_of(paging), {}
        for _, record in ipairs(records) do
          local of = key(record)
          assert(not seen[of], of)
          seen[of] = true
        end
      end
      local by_method = client[operations.by_name[case[1]].group]["each_" .. paging.iterator]
      assert.same(records[1], by_method(client[operations.by_name[case[1]].group], params):next())
    end)
  end

  it("is walked by a sub-account's own key, too: broker.deposit_history", function()
    local sim, _, broker = world()
    local sub = assert(sim:account { role = "sub", parent = broker.uid, name = "traders01" })
    local client = simulated.client(sim, sub)
    local times = {}
    for i = 1, 500 do times[i] = NOW - 30 * DAY + i * HOUR end
    deposits(sim, sub, times)
    local records = assert(client.broker:each_deposit({ from = NOW - 30 * DAY }):collect())
    assert.same(times, times_of(records))
  end)
end)

describe("what a walk says", function()
  it("names what lies beyond the reach", function()
    local _, client = world()
    local record, err = client.wallet:each_deposit({ from = NOW - 91 * DAY }):next()
    assert.is_nil(record)
    assert.equal("not_sent", err.outcome)
    assert.truthy(err.message:find("beyond the reach of this history (the last 90 days)", 1, true))
    assert.truthy(err.message:find(tostring(NOW - 90 * DAY), 1, true))
    local walk = client.wallet:each_deposit {}
    assert.is_true(walk.from > NOW - 90 * DAY and walk.from <= NOW - 90 * DAY + 60000)
  end)

  it("asks for a beginning where no reach is documented", function()
    local _, client = world()
    local record, err = client.wallet:each_conversion({}):next()
    assert.is_nil(record)
    assert.truthy(err.message:find("how far this history reaches back is documented nowhere", 1, true))
  end)

  it("raises in a `for`, so that no history ends early unnoticed", function()
    local sim, client, broker = world()
    deposits(sim, broker, { NOW - DAY })
    sim:fault { kind = "reject", operation = "wallet.deposit_history", times = 1 }
    local ok, err = pcall(function()
      for _ in client.wallet:each_deposit { from = NOW - 2 * DAY } do error("nothing was to come") end
    end)
    assert.is_false(ok)
    assert.is_true(errors.is(err))
  end)

  it("retries after an error, where it was", function()
    local sim, client, broker = world()
    deposits(sim, broker, { NOW - 20 * DAY, NOW - 10 * DAY, NOW - DAY })
    local walk, got = client.wallet:each_deposit { from = NOW - 30 * DAY }, {}
    for _ = 1, 3 do
      sim:fault { kind = "reject", operation = "wallet.deposit_history", times = 1 }
      local record, err = walk:next()
      assert.is_nil(record)
      assert.equal("rejected", err.outcome)
      got[#got + 1] = assert(walk:next()).insertTime
    end
    assert.same({ NOW - 20 * DAY, NOW - 10 * DAY, NOW - DAY }, got)
    assert.is_nil(walk:next())
  end)

  it("says as a text where it begins and ends, as far as that is known", function()
    local _, client = world()
    for _, case in ipairs {
      { {}, "" }, { { from = NOW - DAY }, " from " .. NOW - DAY }, { { to = NOW }, " to " .. NOW },
      { { from = NOW - DAY, to = NOW }, (" from %d to %d"):format(NOW - DAY, NOW) },
    } do
      assert.equal(("purser.walk (broker.rebates%s)"):format(case[2]), tostring(client.broker:each_rebate(case[1])))
    end
  end)

  it("rejects a beginning after its end, which would be a history without records", function()
    local _, client = world()
    for _, walk in ipairs { client.wallet:each_deposit { from = NOW, to = NOW - 1 },
      client.broker:each_rebate { from = NOW, to = NOW - 1 } } do
      local record, err = walk:next()
      assert.is_nil(record)
      assert.same({ "from", 'parameter "from" is later than `to`' }, { err.parameter, err.message })
    end
    assert.is_nil((client.wallet:each_deposit({ from = NOW, to = NOW }):next()))
  end)

  it("rejects the parameters it sets itself, and unknown ones", function()
    local _, client = world()
    local _, err = client.wallet:each_deposit({ startTime = NOW }):next()
    assert.truthy(err.message:find("is set by the walk", 1, true))
    _, err = client.wallet:each_deposit({ from = NOW - DAY, coln = "USDT" }):next()
    assert.truthy(err.message:find('parameter "coln"', 1, true))
    _, err = client:each("wallet.deposit_histroy"):next()
    assert.truthy(err.message:find("deposit_history", 1, true))
    assert.has_error(function() return client.wallet.each_deposits end)
  end)
end)

describe("a walk in a task", function()
  it("lets the others run, and reads one window after the other", function()
    local flying, max = 0, 0
    local function slowly(inner)
      return { send = function(_, request)
        flying = flying + 1
        max = math.max(max, flying)
        schedule.sleep(1)
        flying = flying - 1
        return inner:send(request)
      end }
    end
    local sim, client, broker = world { transport = slowly }
    local times = {}
    for i = 1, 4000 do times[i] = NOW - 80 * DAY + math.floor(i * i * 400) end
    deposits(sim, broker, times)
    local got
    schedule.run(function()
      got = assert(client.wallet:each_deposit({ from = NOW - 81 * DAY }):collect())
    end)
    assert.same(times, times_of(got))
    assert.equal(1, max)
  end)
end)

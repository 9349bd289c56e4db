-- SPDX-License-Identifier: MIT
-- Cursors: another walk goes on where one was left, and delivers none twice.

local cursors = require "purser.client.history.cursor"
local history = require "purser.client.history"
local listed_records = require "listed_records"

local DAY, HOUR, NOW = 86400000, 3600000, listed_records.NOW
local deposits, world = listed_records.deposits, listed_records.world
local between = listed_records.between

describe("a cursor", function()
  it("goes on where a walk was left, at every place", function()
    local sim, client, broker = world()
    local times = {}
    for i = 1, 60 do times[i] = NOW - 20 * DAY + math.floor(i / 4) * 17 * HOUR end -- four a millisecond
    deposits(sim, broker, times)
    local cursor, got = nil, {}
    while true do -- each walk is left after one record
      local walk = client.wallet:each_deposit { from = not cursor and NOW - 20 * DAY or nil, cursor = cursor }
      local record, err = walk:next()
      assert.is_nil(err)
      if not record then break end
      got[#got + 1] = record.insertTime
      cursor = walk:cursor()
    end
    assert.same(times, got)
  end)

  it("finds what showed up late, and nothing twice", function()
    local sim, client, broker = world { visibility_delay_ms = 3000 }
    local got, seen, cursor = 0, {}, nil
    for _ = 1, 40 do
      for _ = 1, 3 do
        deposits(sim, broker, { sim:now() })
        sim:advance(700)
      end
      local walk = client.wallet:each_deposit { from = not cursor and NOW or nil, cursor = cursor }
      for record in walk do
        assert.is_nil(seen[record.txId])
        seen[record.txId] = true
        got = got + 1
        cursor = walk:cursor()
        if got % 5 == 0 then break end
      end
    end
    sim:advance(5000)
    for record in client.wallet:each_deposit { cursor = cursor } do
      assert.is_nil(seen[record.txId])
      got = got + 1
    end
    assert.equal(120, got)
  end)

  it("is rejected where it does not belong", function()
    local _, client = world()
    local cursor = client.wallet:each_deposit({ from = NOW - DAY }):cursor()
    for _, case in ipairs {
      { "wallet.withdrawal_history", { cursor = cursor }, "is one of wallet.deposit_history" },
      { "wallet.deposit_history", { cursor = "x" }, "is not a cursor" },
      { "broker.list_sub_accounts", { cursor = cursor }, "only for histories by time" },
    } do
      local record, err = client:each(case[1], case[2]):next()
      assert.is_nil(record)
      assert.equal("argument", err.kind)
      assert.truthy(err.message:find(case[3], 1, true), err.message)
    end
  end)
end)

describe("a walk that goes on from a cursor", function()
  -- Five deposits of the last minute, all of which the walk of `saved` delivered.
  local now, hidden, saved
  local records = {}
  for i = 1, 5 do records[i] = { txId = "t" .. i, insertTime = NOW - 60000 + i * 10000 } end
  local client = { now = function() return now end }
  function client.call(_, _, params)
    local shown = {}
    for _, record in ipairs(between(records, params, "insertTime")) do
      if record.txId ~= hidden then shown[#shown + 1] = record end
    end
    return shown
  end

  local function walk(params)
    local made, ids = history.each(client, "wallet.deposit_history", params), {}
    for i, record in ipairs(assert(made:collect())) do ids[i] = record.txId end
    return table.concat(ids, " "), made:cursor()
  end

  before_each(function()
    now, hidden = NOW, nil
    local ids
    ids, saved = walk { from = NOW - 100000 }
    assert.equal("t1 t2 t3 t4 t5", ids)
  end)

  for what, to in pairs {
    ["among what was delivered"] = NOW - 35000, ["before all that was delivered"] = NOW - 55000,
    ["before the cursor"] = NOW - 70000,
  } do
    it("and ends " .. what .. " leaves nothing that is delivered twice", function()
      local ids, cursor = walk { cursor = saved, to = to }
      assert.equal("", ids)
      assert.equal("", (walk { cursor = cursor }))
    end)
  end

  it("delivers none twice that the service did not show for a while", function()
    local cursor = saved
    for _, lost in ipairs { "t5", "t3", "t5" } do
      hidden, now = lost, now + 5000
      local ids
      ids, cursor = walk { cursor = cursor }
      assert.equal("", ids)
    end
    hidden, now = nil, now + 5000
    assert.equal("", (walk { cursor = cursor }))
  end)

  it("knows nothing any more of what lies before it", function()
    hidden, now = "t5", NOW + 3600000
    local _, cursor = walk { cursor = saved }
    assert.equal(("purser1;wallet.deposit_history;%d;"):format(now - 60000), cursor)
  end)
end)

describe("a cursor's text", function()
  it("is read with its time and what was delivered after it, however often", function()
    local time, known = cursors.read("purser1;wallet.deposit_history;1700000000000;ab,cd,ab", "wallet.deposit_history")
    assert.equal(NOW, time)
    assert.same({ ab = 2, cd = 1 }, known)
  end)

  it("of another form is rejected", function()
    for _, text in ipairs { "", "purser2;x;1700000000000;", "purser1;x;170000000000;", "purser1;x;17000000000000;",
      "purser1;x;1700000000000;zz", "purser1;x;1700000000000;\n", "purser1;x;1700000000000;ab ", "purser1;x;nan;" } do
      assert.same({ nil, "is not a cursor that walk:cursor() returned" }, { cursors.read(text, "x") })
    end
    assert.matches("is not a string", select(2, cursors.read(5, "x")))
    assert.equal("is one of y, not of x", select(2, cursors.read("purser1;y;1700000000000;", "x")))
  end)

  it("stays before a record while others of its millisecond may follow", function()
    local tail = cursors.new("x", NOW - 1, nil, 0)
    tail:add(NOW, "a", NOW + 5)
    tail:add(NOW, "b", NOW + 5)
    assert.matches(("^purser1;x;%d;%%x+,%%x+$"):format(NOW - 1), tail:text())
    tail:add(NOW + 1, "c", NOW + 5)
    assert.equal(("purser1;x;%d;%s"):format(NOW, cursors.digest "c"), tail:text())
    tail:finish(NOW + 3)
    assert.equal(("purser1;x;%d;"):format(NOW + 3), tail:text())
  end)

  it("lets a known record pass as often as it was not delivered", function()
    local tail = cursors.new("x", NOW, { [cursors.digest "a"] = 2 }, 0)
    assert.same({ false, true, false, true }, { tail:pass "a", tail:pass "b", tail:pass "a", tail:pass "a" })
  end)
end)

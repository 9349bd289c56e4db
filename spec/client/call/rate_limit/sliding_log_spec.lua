-- SPDX-License-Identifier: MIT
-- The rule of every store, on documents in a table: when a call may go, and what is kept.

local blocks = require "purser.client.call.rate_limit.blocks"
local log = require "purser.client.call.rate_limit.sliding_log"
local windows = require "windows"

local SPAN, STEP = 10240, 80

local now, kept, keep, kv

before_each(function()
  now, kept, keep = 1700000000000, {}, {}
  kv = { get = function(name) return kept[name] end, put = function(name, document, ms)
    kept[name], keep[name] = document, ms
  end }
end)

local function takes_of(cost, capacity, name)
  return { name or "ip", cost, capacity or 10, SPAN }
end

local function reserve(takes, priority, number, run)
  return log.reserve(kv, now, takes, priority or 1, number or 0, run or "1")
end

describe("what was sent", function()
  it("counts until its step is a span old, and no longer", function()
    local sent = { 1000, 3, 1080, 4 }
    for time, load in pairs { [1000] = 7, [1000 + SPAN - 1] = 7, [1000 + SPAN] = 4, [1080 + SPAN] = 0 } do
      assert.equal(load, log.load_at(sent, SPAN, time))
    end
  end)

  it("keeps the queue for ever, also where a pool is blocked", function()
    blocks.block_pool(kv, now, "ip", SPAN, 5000)
    assert.equal(-1, (reserve(takes_of(1))))
    assert.equal(0, keep[log.QUEUE])
  end)
end)

describe("the rule", function()
  it("lets no window of the span hold more than the capacity, and wastes less than a step of it", function()
    for seed = 1, 10 do
      math.randomseed(seed)
      kept = {}
      local sent, began, total = {}, now, 0
      for _ = 1, 300 do
        local cost = math.random(1, 5)
        local ms, number = reserve(takes_of(cost, 40))
        while ms > 0 do
          now = now + ms
          ms, number = reserve(takes_of(cost, 40), 1, number)
        end
        sent[#sent + 1], total = { now, cost }, total + cost
      end
      assert.is_true(windows.peak(sent, SPAN) <= 40)
      assert.is_true(total >= 40 * math.floor((now - began) / (SPAN + STEP)) * 0.85, total)
    end
  end)

  it("lets a call go to the millisecond when enough of what was sent is a span old", function()
    assert.equal(0, (reserve(takes_of(10))))
    local ms = reserve(takes_of(1))
    assert.is_true(ms >= SPAN and ms <= SPAN + STEP, ms)
  end)

  it("counts a call in all of its pools, or in none", function()
    local both = { "ip", 1, 10, SPAN, "account", 5, 5, SPAN }
    assert.equal(0, (reserve(both)))
    assert.is_true((reserve(both)) > 0)
    assert.same({ 1, 5 }, { (blocks.use_of(kv, now, "ip", SPAN)), (blocks.use_of(kv, now, "account", SPAN)) })
  end)

  it("lets a call without a cost, and one without a pool, go at once", function()
    assert.equal(0, (reserve(takes_of(10))))
    assert.equal(0, (reserve(takes_of(0))))
    assert.equal(0, (reserve {}))
  end)
end)

-- Asks two stores the same, one of which forgets what was summed, so that the whole rule decides there each time.
local function both_stores()
  local whole, documents = {}, {}
  function whole.get(name)
    local document = documents[name]
    if document then document[4] = nil end
    return document
  end
  function whole.put(name, document) documents[name] = document end
  return function(name, ...)
    local fn = log[name] or blocks[name]
    local expected = { fn(whole, ...) }
    assert.same(expected, { fn(kv, ...) })
    return (table.unpack or unpack)(expected) -- luacheck: ignore
  end
end

describe("what was summed for a step", function()
  it("decides as the whole rule does, in any life: several pools and windows, blocks, what is given back", function()
    local total = 0
    for seed = 1, 30 do
      math.randomseed(seed)
      kept = {}
      local ask, waiting, sent, run, before, within = both_stores(), {}, {}, "1", nil, 0
      for _ = 1, 600 do
        local longer = seed % 3 == 0 and math.random(40) == 1
        local takes = { "ip", math.random(0, 6), 60 * (1 + seed % 8), longer and 2 * SPAN or SPAN }
        if math.random(2) == 1 then
          for i, value in ipairs { "account", 1, math.random(3) == 1 and 9 or 60, SPAN } do takes[4 + i] = value end
        end
        local dice, number = math.random(100), 0
        if dice <= 20 and waiting[1] then
          takes, number = waiting[1][1], waiting[1][2]
          table.remove(waiting, 1)
        end
        if dice == 21 and math.random(4) == 1 then
          ask("block_pool", now, "ip", SPAN, math.random(2) == 1 and -1 or math.random(1, 3000))
        end
        if dice == 22 and sent[1] then ask("give_back", now, sent[#sent][1], 0, table.remove(sent)[2]) end
        if dice == 23 and math.random(4) == 1 then run = run .. "1" end
        if dice == 24 then ask("use_of", now, "ip", SPAN) end
        local ms, ticket = ask("reserve", now, takes, math.random(0, 1), number, run)
        if ms == 0 and before and rawequal(before, kept.ip[4]) then within = within + 1 end
        before = kept.ip[4]
        if ms == 0 then sent[#sent + 1] = { takes, now }
        elseif ms > 0 then waiting[#waiting + 1] = { takes, ticket } end
        if math.random(3) == 1 then now = now + math.random(0, 200) end
        if math.random(40) == 1 then now = now + math.random(0, 3 * SPAN) end
      end
      total = total + within
    end
    assert.is_true(total > 1000, total)
  end)

  it("is summed once a step, from what was sent, and counts all of it", function()
    assert.equal(0, (reserve(takes_of(3, 100))))
    now = now + 5 * STEP
    assert.equal(0, (reserve(takes_of(2, 100))))
    local before = kept.ip[4]
    assert.same({ now, now, SPAN, 3, 2 * SPAN }, before)
    for _ = 1, 10 do
      keep = {}
      assert.equal(0, (reserve(takes_of(1, 100))))
      assert.same({ ip = 2 * SPAN }, keep) -- it was put
    end
    assert.is_true(rawequal(before, kept.ip[4]))
    assert.same({ now - 5 * STEP, 3, now, 12 }, kept.ip[2])
    now = now + 1
    assert.equal(0, (reserve(takes_of(1, 100))))
    assert.same({ now, now + STEP - 1, SPAN, 15, 2 * SPAN }, kept.ip[4])
    assert.is_true((reserve(takes_of(85, 100))) > 0)
    assert.is_nil(kept.ip[4]) -- a ticket decides, too
  end)

  it("is of no use for another window, nor where the store holds its pools", function()
    assert.equal(0, (reserve(takes_of(6, 100))))
    assert.equal(0, (reserve { "ip", 1, 100, 2 * SPAN }))
    now = now + SPAN + 2 * STEP
    assert.equal(0, (reserve(takes_of(2, 100))))
    assert.equal(9, (blocks.use_of(kv, now, "ip", 2 * SPAN)))
    assert.equal(0, (reserve(takes_of(1, 100, "other"))))
    assert.equal(2 * SPAN, (reserve(takes_of(1, 100), 1, 0, "2"))) -- what was sent may be lost
    assert.equal(2 * SPAN, (reserve(takes_of(1, 100, "other"), 1, 0, "2")))
  end)

  it("is of no use where the clock is set back within the step", function()
    now = now + 1
    assert.equal(0, (reserve(takes_of(1))))
    local before = kept.ip[4]
    now = now + 10
    assert.equal(0, (reserve(takes_of(1))))
    assert.is_true(rawequal(before, kept.ip[4]))
    now = now - 11
    assert.equal(0, (reserve(takes_of(1))))
    assert.is_false(rawequal(before, kept.ip[4]))
    assert.equal(3, (blocks.use_of(kv, now, "ip", SPAN)))
  end)
end)

describe("a ticket", function()
  it("ranks by its priority, then by its number, and a later call goes first only where it delays none", function()
    assert.equal(0, (reserve(takes_of(8))))
    local first, number = reserve(takes_of(5), 1)
    local second, second_number = reserve(takes_of(5), 1)
    local write = reserve(takes_of(5), 0)
    assert.equal(first, write)
    assert.equal(first, second) -- both fit then
    assert.is_true((reserve(takes_of(6), 1)) > first)
    assert.equal(0, (reserve(takes_of(2), 1))) -- room that no ticket can use before
    assert.equal(first, (reserve(takes_of(5), 1, number)))
    assert.is_true((reserve(takes_of(5), 1, second_number)) > first) -- the write call took its time
  end)

  it("is removed a second after its time, when its owner does not come", function()
    assert.equal(0, (reserve(takes_of(10))))
    local ms = reserve(takes_of(10))
    now = now + ms + 1000
    assert.is_true((reserve(takes_of(1))) > 0)
    now = now + 1
    assert.equal(0, (reserve(takes_of(10))))
  end)

  it("that is given back makes room for the next", function()
    assert.equal(0, (reserve(takes_of(10))))
    local ms, number = reserve(takes_of(10))
    assert.equal(1, (select(3, blocks.use_of(kv, now, "ip", SPAN))))
    log.give_back(kv, now, takes_of(10), number, 0)
    assert.same({ 10, 0, 0, 0, 0 }, { blocks.use_of(kv, now, "ip", SPAN) })
    assert.equal(ms, (reserve(takes_of(10))))
  end)
end)

describe("what is given back", function()
  it("counts no more, at the time at which it was counted", function()
    assert.equal(0, (reserve(takes_of(4))))
    local at = now
    now = now + 1000
    assert.equal(0, (reserve(takes_of(6))))
    log.give_back(kv, now, takes_of(4), 0, at)
    assert.equal(6, (blocks.use_of(kv, now, "ip", SPAN)))
    assert.equal(0, (reserve(takes_of(4))))
  end)

  it("is no more than was counted then, and nothing after its window", function()
    assert.equal(0, (reserve(takes_of(4))))
    local at = now
    log.give_back(kv, now, takes_of(5), 0, at)
    log.give_back(kv, now, takes_of(1), 0, at + 5 * STEP)
    assert.equal(4, (blocks.use_of(kv, now, "ip", SPAN)))
    now = now + SPAN + STEP -- its step has the place of that one now
    assert.equal(0, (reserve(takes_of(10))))
    log.give_back(kv, now, takes_of(4), 0, at)
    assert.equal(10, (blocks.use_of(kv, now, "ip", SPAN)))
  end)
end)

describe("a pool", function()
  it("that is blocked lets nothing go, with what is left of the longest block", function()
    assert.equal(500, blocks.block_pool(kv, now, "ip", SPAN, 500))
    assert.equal(500, blocks.block_pool(kv, now, "ip", SPAN, 100))
    now = now + 200
    assert.same({ -1, 300, "ip" }, { reserve { "account", 1, 10, SPAN, "ip", 1, 10, SPAN } })
    now = now + 300
    assert.equal(0, (reserve(takes_of(1))))
  end)

  it("is blocked for a span where no pause is named, twice as long soon after, and three days at most", function()
    local pauses = {}
    for i = 1, 20 do
      pauses[i] = blocks.block_pool(kv, now, "ip", SPAN, -1)
      now = now + pauses[i]
    end
    assert.same({ SPAN, 2 * SPAN, 4 * SPAN }, { pauses[1], pauses[2], pauses[3] })
    assert.equal(3 * 86400000, pauses[20])
    now = now + 4 * pauses[20] + SPAN
    assert.equal(SPAN, blocks.block_pool(kv, now, "ip", SPAN, -1))
  end)

  it("keeps all that counts as sent just now, where its window changes or the clock is set back", function()
    for _, change in ipairs { { 2 * SPAN, 0 }, { SPAN, -3600000 }, { SPAN, -3 * STEP } } do
      kept = {}
      assert.equal(0, (reserve(takes_of(7))))
      local span = change[1]
      now = now + change[2]
      assert.equal(7, (blocks.use_of(kv, now, "ip", span)))
      local ms = log.reserve(kv, now, { "ip", 4, 10, span }, 1, 0, "1")
      assert.is_true(ms >= span and ms <= span + 2 * STEP, ms)
    end
  end)

  it("stays blocked for a week at most, however far the clock is set back", function()
    blocks.block_pool(kv, now, "ip", SPAN, 1000)
    now = now - 3600000
    assert.equal(3601000, (select(2, blocks.use_of(kv, now, "ip", SPAN))))
    now = now - 40 * 86400000
    assert.equal(7 * 86400000, (select(2, blocks.use_of(kv, now, "ip", SPAN))))
  end)

  it("is kept as long as anything in it may still count", function()
    reserve(takes_of(1))
    assert.is_true(keep.ip >= SPAN)
    blocks.block_pool(kv, now, "ip", SPAN, 86400000)
    assert.is_true(keep.ip >= 86400000 + SPAN)
    assert.equal(0, keep.queue) -- for ever
  end)

  it("counts for each caller by its own window, and keeps what the longest needs", function()
    assert.equal(0, (reserve { "ip", 6, 10, 2 * SPAN }))
    now = now + SPAN + 2 * STEP
    assert.equal(0, (reserve(takes_of(10))))
    assert.equal(16, (blocks.use_of(kv, now, "ip", 2 * SPAN)))
  end)

  it("keeps one sum a step, however many windows are asked for in turn", function()
    for i = 1, 50 do reserve({ "ip", 1, 100, i % 2 == 0 and SPAN or 2 * SPAN }) end
    assert.is_true(#kept.ip[2] <= 4, #kept.ip[2])
  end)
end)

describe("a store that may have forgotten what was sent", function()
  it("holds every pool for a window at its first use, and when its run is another one", function()
    kv.may_forget = true
    local ms, number = reserve(takes_of(1))
    assert.equal(SPAN, ms)
    now = now + ms
    assert.equal(0, (reserve(takes_of(1), 1, number)))
    assert.equal(0, (reserve(takes_of(1))))
    ms = reserve(takes_of(1), 1, 0, "2")
    assert.equal(SPAN, ms)
    assert.equal(SPAN, (select(5, blocks.use_of(kv, now, "ip", SPAN))))
    assert.equal(SPAN, (reserve(takes_of(1, 10, "other"), 0, 0, "2"))) -- other pools, too
  end)

  it("holds no longer than a window where its clock is set back meanwhile", function()
    kv.may_forget = true
    assert.equal(SPAN, (reserve(takes_of(1))))
    now = now - 3600000
    assert.equal(SPAN, (reserve(takes_of(1), 0)))
  end)
end)

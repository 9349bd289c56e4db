-- SPDX-License-Identifier: MIT
-- The tickets of a pool: the first time with room, against a rule that looks at every ticket, and what a look costs.

local heap = require "purser.client.util.heap"
local log = require "purser.client.call.rate_limit.sliding_log"
local steps_of = require "steps".of
local waiting = require "purser.client.call.rate_limit.waiting"

local SPAN, STEP = 10240, 80

local function leaves(time)
  return math.ceil(time / STEP) * STEP + SPAN
end

local function by_time(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2]
end

-- The first time with room, by all that arrives and leaves, in order.
local function naive_fit(sent, tickets, cost, capacity, from, now, rank, number)
  local events, load = {}, 0
  local function add(at, ends, of)
    events[#events + 1], events[#events + 2] = { at, of }, { ends, -of }
  end
  for _, one in ipairs(sent) do add(0, one[1] + SPAN, one[2]) end
  for _, ticket in ipairs(tickets) do
    if ticket.rank < rank or ticket.rank == rank and ticket.number < number then
      local at = math.max(now, ticket.at)
      add(at, leaves(at), ticket.cost)
    end
  end
  table.sort(events, by_time)
  local start = from
  for _, event in ipairs(events) do
    if start and event[1] > from and event[1] >= leaves(start) then return start end
    load = load + event[2]
    if load > capacity - cost then start = nil else start = start or math.max(event[1], from) end
  end
  return start
end

describe("the first time with room", function()
  it("is that of a rule which looks at every ticket, in any life", function()
    local looks = 0
    for seed = 1, 12 do
      math.randomseed(seed)
      local pool, sent, tickets, now, number = { { SPAN, 0, 0 }, {}, {} }, {}, {}, 1700000000000, 0
      for _ = 1, 300 do
        local rank, cost, ticket, old = math.random(0, 1), math.random(1, 6), nil, nil
        if tickets[1] and math.random(3) == 1 then -- asks again, at its time, or leaves
          local place = math.random(3) == 1 and math.random(#tickets) or 1
          ticket = table.remove(tickets, place)
          rank, cost, old = ticket.rank, ticket.cost, ticket.at
          if place == 1 then now = math.max(now, old) end
          assert.same({ old, rank }, { waiting.remove(pool, ticket.number) })
        end
        if ticket and math.random(4) == 1 then
          waiting.make_room(pool, old, rank, ticket.number)
        else
          if not ticket then number = number + 1 end
          local mine = ticket and ticket.number or number
          local at = waiting.first_fit(pool, SPAN, leaves, 40 - cost, now, now, rank, mine, not ticket)
          assert.equal(naive_fit(sent, tickets, cost, 40, now, now, rank, mine), at)
          looks = looks + 1
          if old and math.max(at, old) > now then waiting.make_room(pool, old, rank, mine) end
          if at > now then
            waiting.put(pool, mine, rank, at, cost)
            tickets[#tickets + 1] = { at = at, rank = rank, number = mine, cost = cost }
            table.sort(tickets, function(a, b) return a.at < b.at end)
          else
            local ends = leaves(now) - SPAN
            sent[#sent + 1] = { ends, cost }
            pool[2][#pool[2] + 1], pool[2][#pool[2] + 2] = ends, cost
          end
        end
        if math.random(6) == 1 then now = now + math.random(0, 300) end
        for i = #tickets, 1, -1 do
          if tickets[i].at + 1000 < now then table.remove(tickets, i) end
        end
        waiting.prune(pool, now)
      end
    end
    assert.is_true(looks > 2500, looks)
  end)

  it("costs a call the same however many wait: first come first served, two ranks, two pools", function()
    local function instructions(n, takes, ranks)
      local documents, now, asleep = {}, 1000000, {}
      local kv = { get = function(name) return documents[name] end, put = function(name, document)
        documents[name] = document
      end }
      local function ask(rank, number)
        local ms, ticket = log.reserve(kv, now, takes, rank, number, "1")
        if ms > 0 then heap.push(asleep, { at = now + ms, order = ticket, rank = rank }) end
      end
      return (steps_of(function()
        for i = 1, n do ask(i % ranks, 0) end
        while asleep[1] do
          local first = heap.pop(asleep)
          now = math.max(now, first.at)
          ask(first.rank, first.order)
        end
      end))
    end
    local ip, account = { "ip", 1, 100, SPAN }, { "ip", 1, 60, SPAN, "account", 1, 100, SPAN }
    for _, case in ipairs { { ip, 1 }, { ip, 2 }, { account, 1 } } do
      local few, many = instructions(1000, case[1], case[2]), instructions(4000, case[1], case[2])
      assert.is_true(many < 5 * few, many / few)
    end
  end)
end)

describe("tickets", function()
  local pool

  before_each(function()
    pool = { { SPAN, 0, 0 }, {}, {} }
    for i, at in ipairs { 300, 100, 200, 100 } do waiting.put(pool, i, i % 2, at, 10 * i) end
  end)

  it("of one time share a slot, and slots are in the order of time", function()
    assert.same({ { 100, 2, 0, 20, 4, 0, 40 }, { 200, 3, 1, 30 }, { 300, 1, 1, 10 } }, { pool[4], pool[5], pool[6] })
    assert.same({ 4, 100 }, { waiting.sum(pool) })
  end)

  it("are removed by their number, with a slot that is empty", function()
    assert.same({ 300, 1 }, { waiting.remove(pool, 1) })
    assert.same({ 100, 0 }, { waiting.remove(pool, 2) })
    assert.is_nil((waiting.remove(pool, 5)))
    assert.same({ { 100, 4, 0, 40 }, { 200, 3, 1, 30 } }, { pool[4], pool[5] })
    assert.equal(5, #pool)
  end)

  it("are removed more than a second after their time", function()
    pool.full = {}
    assert.is_false(waiting.prune(pool, 1100))
    assert.is_table(pool.full)
    assert.is_true(waiting.prune(pool, 1101))
    assert.is_nil(pool.full)
    assert.same({ 2, 40 }, { waiting.sum(pool) })
  end)

  it("that leave make room for those behind them, from two windows before their time on", function()
    local function full()
      pool.full_span = 50
      pool.full = { [4 * 7] = { 0, 1000, 5 }, [4 * 7 + 1] = { 0, 1000, 9 }, [4 * 7 + 2] = { 0, 1000, 5 } }
    end
    full()
    waiting.make_room(pool, 500, 1, 5)
    assert.same({ 1000, 1000, 1000 }, { pool.full[28][2], pool.full[29][2], pool.full[30][2] })
    waiting.make_room(pool, 500, 1, 4)
    assert.same({ 1000, 1000, 400 }, { pool.full[28][2], pool.full[29][2], pool.full[30][2] })
    full()
    waiting.make_room(pool, 500, 0, 5)
    assert.same({ 1000, 400, 400 }, { pool.full[28][2], pool.full[29][2], pool.full[30][2] })
  end)
end)

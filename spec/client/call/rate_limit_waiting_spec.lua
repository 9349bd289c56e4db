-- SPDX-License-Identifier: MIT
-- A call that does not fit now: it waits, in the order of its rank, or is not sent.

local one = require "one_limit"
local process = require "purser.client.call.rate_limit.process"
local purser = require "purser"
local schedule = require "purser.schedule"

local limit_of, pause, row = one.limit, one.pause, one.row

before_each(one.begin)

describe("a call that does not fit", function()
  it("is rejected, with the time at which it would fit, where that is asked for", function()
    local limit = limit_of(10, { when_full = "reject" })
    assert(limit:acquire(row(10), "key", pause))
    local takes, why, ms = limit:acquire(row(1), "key", error)
    assert.is_nil(takes)
    assert.matches("used up", why, 1, true)
    assert(ms >= 10000 and ms <= 10320)
    limit = limit_of(10, { max_wait_ms = 5000 })
    assert(limit:acquire(row(10), "key", pause))
    assert.matches("longer than max_wait_ms", (select(2, limit:acquire(row(1), "key", error))), 1, true)
    assert.equal(0, limit:status()[1].waiting) -- it keeps no place in the queue
  end)

  it("waits once for all that it needs, and says how long", function()
    local limit, waits = limit_of(10), {}
    assert(limit:acquire(row(10), "key", pause))
    local info, state, call = {}, {}, row(1)
    assert(limit:acquire(call, "key", function(own, ms, of, its_info)
      assert.equal(state, own)
      assert.equal(call, of)
      assert.equal(info, its_info)
      waits[#waits + 1] = ms
      one.now = one.now + ms
    end, state, info))
    assert.equal(1, #waits)
    assert.is_true(waits[1] >= 10000 and waits[1] <= 10320)
  end)

  it("is not sent while the service asked for a pause, which is not waited for", function()
    local limit = limit_of(10)
    limit:block(5000)
    local takes, why, ms = limit:acquire(row(1), "key", error)
    assert.is_nil(takes)
    assert.equal("the service asked for a pause of 5 s that is not over", why)
    assert.equal(5000, ms)
  end)

  it("is not sent by a store that answers later than the margin allows, and what it took is given back", function()
    local store = process.new(one.clock)
    local slow = { kind = "slow", takes_ms = 0, close = store.close }
    function slow:transact(names, fn)
      local ms, ticket, at = store:transact(names, fn)
      one.now = one.now + self.takes_ms
      return ms, ticket, at
    end
    local limit = limit_of(10, { store = slow })
    slow.takes_ms = 120
    assert(limit:acquire(row(1), "key", pause))
    slow.takes_ms = 121
    local takes, why = limit:acquire(row(5), "key", pause)
    assert.is_nil(takes)
    assert.matches("the store of the rate limit takes longer to answer than the margin allows", why, 1, true)
    slow.takes_ms = 0
    assert.equal(1, limit:status()[1].used)
  end)
end)

describe("waiting calls", function()
  -- Runs tasks on a clock that goes on when all of them wait. Returns the names in the order in which they went.
  local function order_of(limit, calls)
    local order, waiting = {}, {}
    local function go_on(_, ms)
      waiting[#waiting + 1] = { at = one.now + ms, co = coroutine.running() }
      coroutine.yield()
    end
    for _, call in ipairs(calls) do
      coroutine.wrap(function()
        assert(limit:acquire(row(call.weight, call.effect), "key", go_on, nil, nil, call.settles))
        order[#order + 1] = call.name
      end)()
    end
    while waiting[1] do
      table.sort(waiting, function(a, b) return a.at < b.at end)
      local first = table.remove(waiting, 1)
      one.now = math.max(one.now, first.at)
      coroutine.resume(first.co)
    end
    return table.concat(order, " ")
  end

  it("go first come, first served, and a small one passes only where it delays no one", function()
    assert.equal("a b c d", order_of(limit_of(10), { { name = "a", weight = 10 }, { name = "b", weight = 10 },
      { name = "c", weight = 10 }, { name = "d", weight = 1 } }))
  end)

  it("go in the order of their kind: write calls before reads that came first", function()
    assert.equal("a write 1 2", order_of(limit_of(10), { { name = "a", weight = 10 }, { name = "1", weight = 10 },
      { name = "2", weight = 10 }, { name = "write", weight = 10, effect = "transfer" } }))
  end)

  it("go with write calls where they are reads that find out about a payment", function()
    assert.equal("a settles 1 2", order_of(limit_of(10), { { name = "a", weight = 10 }, { name = "1", weight = 10 },
      { name = "2", weight = 10 }, { name = "settles", weight = 10, settles = true } }))
  end)

  it("are passed by write calls for three windows at most, where they are reads", function()
    local limit, began = limit_of(10), one.now
    assert(limit:acquire(row(10), "key", pause))
    local writes, went = 0, nil
    local waiting = {}
    local function go_on(_, ms)
      waiting[#waiting + 1] = { at = one.now + ms, co = coroutine.running() }
      coroutine.yield()
    end
    coroutine.wrap(function()
      assert(limit:acquire(row(10), "key", go_on))
      went = one.now - began
    end)()
    local function write() -- there is always one that waits
      while true do
        assert(limit:acquire(row(10, "move"), "key", go_on))
        writes = writes + 1
      end
    end
    for _ = 1, 3 do coroutine.wrap(write)() end
    while not went and #waiting > 0 and writes < 50 do
      table.sort(waiting, function(a, b) return a.at < b.at end)
      local first = table.remove(waiting, 1)
      one.now = math.max(one.now, first.at)
      coroutine.resume(first.co)
    end
    assert.is_true(went ~= nil and went > 30000 and went <= 52000, went)
  end)

  it("ask once more and no oftener: at the time they were given", function()
    local asked = 0
    local store = process.new(one.clock)
    local transact = store.transact
    function store:transact(...)
      asked = asked + 1
      return transact(self, ...)
    end
    local calls = {}
    for i = 1, 20 do calls[i] = { name = tostring(i), weight = 10 } end
    order_of(limit_of(10, { store = store }), calls)
    assert(asked <= 40, asked)
  end)

  it("of tasks that wait do not keep other tasks from going on", function()
    local limit = purser.rate_limit { pools = { ip = { capacity = 10, window_ms = 60 } } }
    local function new(more)
      local options = { base_url = "http://localhost", api_key = "k", secret_key = "s", transport = {
        send = function() return { status = 200, body = "[]", headers = "" } end } }
      for name, value in pairs(more) do options[name] = value end
      return assert(purser.new(options))
    end
    local full, free, order = new { rate_limit = limit }, new { rate_limit = false }, {}
    assert(full.wallet:coins())
    schedule.all {
      function()
        assert(full.wallet:coins())
        order[#order + 1] = "waited"
      end,
      function()
        assert(free.wallet:coins())
        order[#order + 1] = "free"
      end,
    }
    assert.same({ "free", "waited" }, order)
  end)
end)

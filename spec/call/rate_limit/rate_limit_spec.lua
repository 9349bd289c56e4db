-- SPDX-License-Identifier: MIT
-- A rate limit in one process: what it lets go, in what order, and what it learns.

local process = require "purser.call.rate_limit.process"
local purser = require "purser"
local schedule = require "purser.schedule"
local windows = require "windows"

local now

local function clock() return now end

local function row(weight, effect, name)
  return { full_name = name or "wallet.coins", effect = effect or "read", weight = weight }
end

local function limit_of(capacity, options)
  local all = { pools = { ip = { capacity = capacity, window_ms = 10000 } }, now = clock, margin_ms = 240 }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.rate_limit(all)
end

-- Waits by moving the clock.
local function pause(_, ms) now = now + ms end

before_each(function() now = 1000000 end)

describe("a rate limit", function()
  it("never lets more than its capacity go in any window, whatever the weights and the times", function()
    for seed = 1, 20 do
      math.randomseed(seed)
      local limit, sent = limit_of(300), {}
      for _ = 1, 400 do
        local weight = ({ 1, 1, 10, 50 })[math.random(4)]
        local takes, at = limit:acquire(row(weight, math.random(2) == 1 and "read" or "move"), "key", pause)
        assert(takes, at)
        sent[#sent + 1] = { now, weight }
        if math.random(3) == 1 then now = now + math.random(0, 3000) end
      end
      assert(windows.peak(sent, 10000) <= 300)
    end
  end)

  it("lets calls go that fit at once, and the next one when the first is a window and a margin old", function()
    local limit = limit_of(10)
    local started = now
    assert(limit:acquire(row(1), "key", pause))
    now = now + 49
    assert(limit:acquire(row(9), "key", pause))
    assert.equal(started + 49, now)
    assert(limit:acquire(row(9), "key", pause))
    assert(now - started - 49 >= 10000 and now - started - 49 <= 10320, now - started)
  end)

  it("lets a call that weighs more than a pool go when nothing else counts", function()
    local limit = limit_of(10)
    assert(limit:acquire(row(50), "key", pause))
    assert.equal(1000000, now)
    assert(limit:acquire(row(50), "key", pause))
    assert(now >= 1010000)
  end)

  it("gives back what was not sent", function()
    local limit = limit_of(10, { when_full = "reject" })
    local takes, at = limit:acquire(row(10), "key", pause)
    assert.is_nil((limit:acquire(row(1), "key", pause)))
    now = now + 700
    limit:give_back(takes, at)
    assert(limit:acquire(row(10), "key", pause))
  end)

  it("rejects what does not fit, and says when it would, where that is asked for", function()
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

  it("knows no pool that has no capacity, no window or a name that means nothing", function()
    for _, options in ipairs { { pools = { ip = { capacity = 0 } } }, { pools = { more = { capacity = 5 } } },
      { pools = { ["a b"] = { capacity = 5, window_ms = 5 } } }, { pools = { ip = { windows = 5 } } },
      { share = { name = "x", part = 0 } }, { share = { part = 0.5 } }, { fallback_part = 2 }, { store = {} },
      { store = { redis = {}, sqlite = "x" } }, { store = { redis = { host = "redis.example" } } },
      { store = { shared_dict = "x" } }, { store = { sqlite = "x", namespace = "a b" } }, { profile = "mexcc" } } do
      assert.has_error(function() purser.rate_limit(options) end)
      local client, err = purser.new { base_url = "http://localhost", api_key = "a", secret_key = "b",
        rate_limit = options }
      assert.is_nil(client)
      assert.equal("config", err.kind)
    end
  end)
end)

describe("waiting calls", function()
  -- Runs tasks on a clock that goes on when all of them wait. Returns the names in the order in which they went.
  local function order_of(limit, calls)
    local order, waiting = {}, {}
    local function go_on(_, ms)
      waiting[#waiting + 1] = { at = now + ms, co = coroutine.running() }
      coroutine.yield()
    end
    for _, call in ipairs(calls) do
      coroutine.wrap(function()
        assert(limit:acquire(row(call.weight, call.effect), "key", go_on))
        order[#order + 1] = call.name
      end)()
    end
    while waiting[1] do
      table.sort(waiting, function(a, b) return a.at < b.at end)
      local first = table.remove(waiting, 1)
      now = math.max(now, first.at)
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

  it("ask once more and no oftener: at the time they were given", function()
    local asked = 0
    local store = process.new { now = clock }
    local reserve = store.reserve
    function store:reserve(...)
      asked = asked + 1
      return reserve(self, ...)
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

describe("a share", function()
  it("is all that its clients use, and others use the rest", function()
    local store = process.new { now = clock }
    local options = { store = store, when_full = "reject" }
    local all = limit_of(100, options)
    options.share = { name = "exports", part = 0.4 }
    local exports, other_exports = limit_of(100, options), limit_of(100, options)
    for _ = 1, 2 do
      assert(exports:acquire(row(10), "key", pause))
      assert(other_exports:acquire(row(10), "key", pause))
    end
    assert.is_nil((exports:acquire(row(1), "key", pause)))
    for _ = 1, 6 do assert(all:acquire(row(10), "key", pause)) end
    assert.is_nil((all:acquire(row(1), "key", pause)))
  end)
end)

describe("the pools of the profile mexc", function()
  it("hold 300 for an address and 500 for each account, with the live weights", function()
    local store = process.new { now = clock }
    local limit = purser.rate_limit { profile = "mexc", store = store, when_full = "reject", now = clock }
    local pools = limit:status "key"
    assert.same({ "account", 500, "ip", 300 }, { (pools[1].pool:match "^%a+"), pools[1].capacity, pools[2].pool,
      pools[2].capacity })
    assert(not pools[1].pool:find("key", 1, true))
    for _ = 1, 6 do assert(limit:acquire(row(1, "move", "sub_account.transfer"), "key", pause)) end
    assert.is_nil((limit:acquire(row(1), "other", pause)))
    assert.same({ 300, 300 }, { limit:status "key"[1].used, limit:status "key"[2].used })
    assert.equal(0, limit:status "other"[1].used)
  end)
end)

describe("what the service answers", function()
  local function block_of(response, options)
    local sent = 0
    local all = { base_url = "http://localhost", api_key = "k", secret_key = "s", retry = false,
      rate_limit = limit_of(500), transport = { send = function()
        sent = sent + 1
        return response
      end } }
    for name, value in pairs(options or {}) do all[name] = value end
    local client = assert(purser.new(all))
    local _, err = client.wallet:coins()
    local other = assert(purser.new(all)) -- another client of the same rate limit
    local _, blocked = other.wallet:withdraw { coin = "USDT", address = "TSampLeAddressThatNobodyHas1234567",
      netWork = "TRX", amount = "1" }
    return err, blocked, sent
  end

  it("blocks the pool for all members: 429, 418, and a 403 that is not the service's", function()
    local bodies = { [429] = '{"code":429,"msg":"Too many requests"}', [418] = "", [403] = "<html></html>" }
    for status, body in pairs(bodies) do
      now = now + 1e9
      local err, blocked, sent = block_of { status = status, body = body, headers = "Retry-After: 7\r\n" }
      assert.equal(7, err.retry_after)
      assert.same({ "throttled", "not_sent", 7, 1 }, { blocked.kind, blocked.outcome, blocked.retry_after, sent })
      assert.matches("the service asked for a pause", blocked.message, 1, true)
    end
  end)

  it("does not, where a 403 is the service's own word on a key", function()
    local _, blocked, sent = block_of { status = 403, body = '{"code":700007,"msg":"No permission"}', headers = "" }
    assert.same({ "rejected", 2 }, { blocked.outcome, sent })
  end)

  it("doubles the pause where none is named, and begins again after a quiet time", function()
    local limit = limit_of(500)
    local pauses = {}
    for i = 1, 4 do
      pauses[i] = limit:learn { kind = "throttled", http_status = 429 }
      assert.equal(pauses[i], limit:learn { kind = "throttled", http_status = 429 }) -- of a call under way meanwhile
      now = now + pauses[i]
    end
    assert.same({ 10240, 20480, 40960, 81920 }, pauses)
    now = now + 81920 * 5
    assert.equal(10240, limit:learn { kind = "http", http_status = 403 })
  end)

  it("is not sent, and what it took is given back, when the request certainly never left", function()
    local limit = limit_of(500)
    local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", retry = false,
      rate_limit = limit, transport = { send = function() return nil, { outcome = "not_sent", message = "no" } end } })
    assert.equal("not_sent", select(2, client.wallet:coins()).outcome)
    assert.equal(0, limit:status()[1].used)
  end)
end)

describe("a store that gives wrong answers", function()
  it("is away: nothing is sent, and nothing is raised", function()
    local answer
    local function said() return answer[1], answer[2], answer[3] end
    local function nothing() return 0 end
    local store = { kind = "odd", reserve = said, block = said, pool = said, members = said, give_back = nothing,
      hold = nothing, seen = nothing, close = nothing }
    for _, wrong in ipairs { { "a", "b", "c" }, { "0", "1", "2" }, { 0 }, { 0, 1 }, { 7 }, { -1 }, { 0 / 0, 1, 1 },
      { math.huge, 1, 1 }, { -math.huge, 1, 1 }, { 0.5, 1, 1 }, { {}, 1, 1 }, { true, true, true } } do
      answer = wrong
      local limit = limit_of(500, { store = store })
      local takes, why = limit:acquire(row(1), "key", pause)
      assert.is_nil(takes)
      assert.matches("the rate limit's store (odd) is away: its answer makes no sense", why, 1, true)
      assert.is_nil((limit:status()))
      assert.is_number(limit:block(1000))
    end
  end)
end)

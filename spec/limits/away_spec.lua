-- SPDX-License-Identifier: MIT
-- A store that is away: nothing is sent, or a part of each pool is used; and what the store learns when it is back.

local process = require "purser.call.rate_limit.process"
local purser = require "purser"

local now

local function clock() return now end

local function row(weight)
  return { full_name = "wallet.coins", effect = "read", weight = weight }
end

local function limit_of(capacity, options)
  local all = { pools = { ip = { capacity = capacity, window_ms = 10000 } }, now = clock, margin_ms = 240 }
  for name, value in pairs(options) do all[name] = value end
  return purser.rate_limit(all)
end

-- Waits by moving the clock.
local function pause(_, ms) now = now + ms end

-- A store of a user's own, which can be away; it counts what it is asked.
local function new_store()
  local kept, store = process.new { now = clock }, { kind = "own", asked = {} }
  for _, name in ipairs { "reserve", "give_back", "block", "hold", "seen", "pool", "members" } do
    store[name] = function(_, ...)
      store.asked[name] = (store.asked[name] or 0) + 1
      if store.away then return nil, "connection refused" end
      return kept[name](kept, ...)
    end
  end
  function store.close() store.is_closed = true end
  return store
end

before_each(function() now = 1000000 end)

describe("a store that is away", function()
  it("keeps calls from being sent, and the error names it, why and what to do", function()
    local store = new_store()
    local limit = limit_of(100, { store = store })
    assert(limit:acquire(row(1), "key", pause))
    store.away = true
    local takes, why = limit:acquire(row(1), "key", pause)
    assert.is_nil(takes)
    assert.equal("the rate limit's store (own) is away: connection refused; start it, or let this client use a part "
      .. "without it (fallback_part)", why)
    local pools, message = limit:status()
    assert.is_nil(pools)
    assert.equal(why, message)
  end)

  it("is left alone for a second, and asked again then", function()
    local store = new_store()
    local limit = limit_of(100, { store = store })
    store.away = true
    for _ = 1, 5 do assert.is_nil((limit:acquire(row(1), "key", pause))) end
    store.away = false
    now = now + 999
    assert.is_nil((limit:acquire(row(1), "key", pause)))
    assert.is_nil(store.asked.reserve) -- it was the member that could not be noted
    assert.equal(1, store.asked.seen)
    now = now + 1
    assert(limit:acquire(row(1), "key", pause))
    limit:close()
    assert.is_true(store.is_closed)
  end)

  it("learns of a block when it is back, with what is left of it", function()
    local store = new_store()
    local limit, other = limit_of(100, { store = store }), limit_of(100, { store = store })
    store.away = true
    assert.equal(60000, limit:block(60000))
    assert.equal(60000, limit:block(1000)) -- the longer one holds
    local _, why, ms = limit:acquire(row(1), "key", error)
    assert.matches("the service asked for a pause of 60 s", why, 1, true)
    assert.equal(60000, ms)
    store.away = false
    now = now + 20000
    assert.is_nil((limit:acquire(row(1), "key", error)))
    assert.equal(40000, other:status()[1].blocked_ms)
  end)
end)

describe("a part that is used without the store", function()
  local store, limit

  before_each(function()
    store = new_store()
    limit = limit_of(100, { store = store, fallback_part = 0.25 })
    assert(limit:acquire(row(10), "key", pause))
    store.away = true
  end)

  it("begins when a window is over, since the store may have let others go until now", function()
    local began = now
    assert(limit:acquire(row(10), "key", pause))
    assert.equal(10240, now - began)
  end)

  it("is no more than that part in any window, and rejects a call that weighs more", function()
    local waited = 0
    local function counted(_, ms) now, waited = now + ms, waited + ms end
    assert(limit:acquire(row(10), "key", counted))
    assert(limit:acquire(row(15), "key", counted))
    assert.equal(10240, waited)
    assert(limit:acquire(row(1), "key", counted))
    assert.is_true(waited >= 20480 and waited <= 20560, waited)
    local takes, why = limit:acquire(row(26), "key", counted)
    assert.is_nil(takes)
    assert.matches("this call weighs more than its part of 0.25", why, 1, true)
  end)

  it("is not given back to the store, which did not count it", function()
    local takes, at = assert(limit:acquire(row(10), "key", pause))
    store.away = false
    now = now + 1000
    limit:give_back(takes, at)
    assert.is_nil(store.asked.give_back)
  end)

  it("makes the store hold every pool for a window when it is back", function()
    assert(limit:acquire(row(10), "key", pause))
    store.away, store.asked.hold = false, nil
    now = now + 1000
    local began = now
    assert(limit:acquire(row(10), "key", pause))
    assert.equal(1, store.asked.hold)
    assert.is_true(now - began >= 10240 + 1000, now - began)
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

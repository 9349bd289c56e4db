-- SPDX-License-Identifier: MIT
-- A rate limit in one process: what it lets go, in what order, and what it learns.

local one = require "one_limit"
local process = require "purser.client.call.rate_limit.process"
local purser = require "purser"
local windows = require "windows"

local limit_of, pause, row = one.limit, one.pause, one.row

before_each(one.begin)

describe("a rate limit", function()
  it("never lets more than its capacity go in any window, whatever the weights and the times", function()
    for seed = 1, 20 do
      math.randomseed(seed)
      local limit, sent = limit_of(300), {}
      for _ = 1, 400 do
        local weight = ({ 1, 1, 10, 50 })[math.random(4)]
        local takes, at = limit:acquire(row(weight, math.random(2) == 1 and "read" or "move"), "key", pause)
        assert(takes, at)
        sent[#sent + 1] = { one.now, weight }
        if math.random(3) == 1 then one.now = one.now + math.random(0, 3000) end
      end
      assert(windows.peak(sent, 10000) <= 300)
    end
  end)

  it("lets calls go that fit at once, and the next one when the first is a window and a margin old", function()
    local limit = limit_of(10)
    local started = one.now
    assert(limit:acquire(row(1), "key", pause))
    one.now = one.now + 49
    assert(limit:acquire(row(9), "key", pause))
    assert.equal(started + 49, one.now)
    assert(limit:acquire(row(9), "key", pause))
    assert(one.now - started - 49 >= 10000 and one.now - started - 49 <= 10320, one.now - started)
  end)

  it("counts each key's calls in the key's pool, and a call without a key in none of an account", function()
    local account = { capacity = 10, window_ms = 10000, scope = "account" }
    local limit = purser.rate_limit { now = one.clock, pools = { ip = false, account = account } }
    local call = row(4)
    for _, key in ipairs { "one", false, "two", "one", false } do assert(limit:acquire(call, key or nil, error)) end
    assert.same({ 8, 4, 0 }, { limit:status("one")[1].used, limit:status("two")[1].used, #limit:status() })
  end)

  it("lets a call that weighs more than a pool go when nothing else counts", function()
    local limit = limit_of(10)
    assert(limit:acquire(row(50), "key", pause))
    assert.equal(1000000, one.now)
    assert(limit:acquire(row(50), "key", pause))
    assert(one.now >= 1010000)
  end)

  it("says of a store that fails which one it is and why, and closes the store once it is closed", function()
    local closed, told = 0, "it is full"
    local limit = purser.rate_limit { store = { kind = "mine", transact = function() return nil, told end,
      close = function() closed = closed + 1 end } }
    for _, why in ipairs { "it is full", "it gave no answer" } do
      local takes, message, ms = limit:acquire(row(1), "key", pause)
      assert.same({ nil, "the rate limit's store (mine) cannot be used: " .. why, 0 }, { takes, message, ms })
      told = nil
    end
    limit:close()
    assert.equal(1, closed)
  end)

  it("waits as long as it may, and no longer", function()
    for _, case in ipairs { { 10240, true }, { 10239, false } } do
      local options = { max_wait_ms = case[1] }
      one.now = 1000000
      local limit = limit_of(10, options)
      assert(limit:acquire(row(10), "key", pause))
      local takes, message = limit:acquire(row(10), "key", pause)
      assert.equal(case[2], takes ~= nil, message)
      if not takes then assert.matches("longer than max_wait_ms", message) end
    end
  end)

  it("counts one for each call in a pool of requests, whatever the call weighs", function()
    local limit = purser.rate_limit { now = one.clock, requests_per_second = 2, when_full = "reject" }
    for _ = 1, 2 do assert(limit:acquire(row(50), "key", pause)) end
    local takes, message = limit:acquire(row(50), "key", pause)
    assert.same({ nil, "the request weight is used up" }, { takes, message })
    local used = {}
    for _, pool in ipairs(limit:status "key") do used[pool.pool] = pool.used end
    assert.equal(2, used.requests)
  end)

  it("gives back what was not sent", function()
    local limit = limit_of(10, { when_full = "reject" })
    local takes, at = limit:acquire(row(10), "key", pause)
    assert.is_nil((limit:acquire(row(1), "key", pause)))
    one.now = one.now + 700
    limit:give_back(takes, at)
    assert(limit:acquire(row(10), "key", pause))
  end)

  it("knows no pool that has no capacity, no window or a name that means nothing", function()
    for _, options in ipairs { { pools = { ip = { capacity = 0 } } }, { pools = { more = { capacity = 5 } } },
      { pools = { ["a b"] = { capacity = 5, window_ms = 5 } } }, { pools = { ip = { windows = 5 } } },
      { store = {} }, { margin_ms = 5 },
      { store = { redis = {}, sqlite = "x" } }, { store = { redis = { host = "redis.example" } } },
      { store = { shared_dict = "x" } }, { store = { sqlite = "x", namespace = "a b" } }, { profile = "mexcc" },
      { pools = { queue = { capacity = 5, window_ms = 5 } } },
      { pools = { version = { capacity = 5, window_ms = 5 } } },
      { pools = { clock = { capacity = 5, window_ms = 5 } } }, { requests_per_second = 0 } } do
      local none, wrong = purser.rate_limit(options)
      assert.is_nil(none)
      assert.equal("config", wrong.kind)
      local client, err = purser.new { base_url = "http://localhost", api_key = "a", secret_key = "b",
        rate_limit = options }
      assert.is_nil(client)
      assert.equal("config", err.kind)
    end
  end)
end)

describe("the pools", function()
  local PROFILE = { base = "mexc", pools = { ip = { capacity = 300, window_ms = 10000 },
    account = { capacity = 500, window_ms = 20000, scope = "account" } } }

  -- The pools of these options as texts: name, capacity, window and margin.
  local function pools_of(options)
    options.profile = PROFILE
    local list = {}
    for i, pool in ipairs(purser.rate_limit(options).pools) do
      list[i] = ("%s %d/%d+%d %s %s"):format(pool.name, pool.capacity, pool.window_ms, pool.span - pool.window_ms,
        pool.scope, pool.counts)
    end
    return list
  end

  it("are those of the profile, with a margin of 2.4 %", function()
    assert.same({ "account 500/20000+480 account weight", "ip 300/10000+240 ip weight" }, pools_of {})
  end)

  it("are changed, left out and added by the options", function()
    assert.same({ "ip 100/10000+240 ip weight", "more 7/1000+24 account requests", "requests 20/1000+24 ip requests" },
      pools_of { requests_per_second = 20, pools = { ip = { capacity = 100 }, account = false,
        more = { capacity = 7, window_ms = 1000, scope = "account", counts = "requests" } } })
  end)
end)

describe("a pool that only some clients name", function()
  it("is all that these use together, and others use the rest", function()
    local store = process.new(one.clock)
    local options = { store = store, when_full = "reject" }
    local all = limit_of(100, options)
    options.pools = { ip = { capacity = 100, window_ms = 10000 }, exports = { capacity = 40, window_ms = 10000 } }
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
    local store = process.new(one.clock)
    local limit = purser.rate_limit { profile = "mexc", store = store, when_full = "reject", now = one.clock }
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

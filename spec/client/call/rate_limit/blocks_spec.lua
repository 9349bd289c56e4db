-- SPDX-License-Identifier: MIT
-- A rate limit and what the service answers: which answers block it, and for how long.

local one = require "one_limit"
local process = require "purser.client.call.rate_limit.process"
local purser = require "purser"

local limit_of, row = one.limit, one.row

before_each(one.begin)

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
    local _, blocked = other.wallet:withdraw { coin = "USDT", address = "TSampLeAddressThatNobodyHarzyqGjJi",
      netWork = "TRX", amount = "1" }
    return err, blocked, sent
  end

  it("blocks the pool for all members: 429, 418, and a 403 that is not the service's", function()
    local bodies = { [429] = '{"code":429,"msg":"Too many requests"}', [418] = "", [403] = "<html></html>" }
    for status, body in pairs(bodies) do
      one.now = one.now + 1e9
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
      one.now = one.now + pauses[i]
    end
    assert.same({ 10240, 20480, 40960, 81920 }, pauses)
    one.now = one.now + 81920 * 5
    assert.equal(10240, limit:learn { kind = "http", http_status = 403 })
  end)

  it("blocks the pool of the address that counts weight, else one that counts requests, else the account's", function()
    local function blocked(pools)
      local limit = purser.rate_limit { now = one.clock, pools = pools }
      limit:learn({ kind = "throttled", http_status = 429, retry_after = 1 }, "key")
      local names = {}
      for _, pool in ipairs(limit:status "key") do names[#names + 1] = pool.blocked_ms > 0 and pool.pool or nil end
      return table.concat(names, " "):gsub(":.*", "")
    end
    local weight = { capacity = 5, window_ms = 1000 }
    local counted = { capacity = 5, window_ms = 1000, counts = "requests" }
    local account = { capacity = 5, window_ms = 1000, scope = "account" }
    assert.equal("z", (blocked { ip = false, a = counted, b = account, z = weight }))
    assert.equal("a", (blocked { ip = false, a = counted, z = account }))
    assert.equal("z", (blocked { ip = false, a = account, z = counted }))
    assert.equal("a", (blocked { ip = false, a = account, z = account })) -- which the calls of this key ask
    assert.equal(0, purser.rate_limit { now = one.clock, pools = { ip = false } }:block(1000))
  end)

  it("is remembered here while the store cannot be told, to the end of the longest pause, and told then", function()
    local broken, state = true, process.new(one.clock)
    local limit = purser.rate_limit { now = one.clock, store = { close = print, transact = function(_, names, fn)
      if broken then return nil, "no" end
      return state:transact(names, fn)
    end } }
    local function left() return select(3, limit:acquire(row(1), "key", error)) end
    assert.equal(5000, limit:block(5000))
    assert.equal(5000, limit:block(2000))
    assert.equal(9000, limit:block(9000))
    one.now = one.now + 1000
    assert.equal(8000, left())
    broken = false
    assert.equal(8000, left()) -- which the store says now
    assert.equal(8000, limit:status()[1].blocked_ms)
    broken = true
    limit:block()
    assert.equal(10240, limit.owed.ip.ends - one.now) -- a span where no pause is named
    one.now = one.now + 10240
    broken = false
    assert(limit:acquire(row(1), "key", error))
    assert.same({}, limit.owed)
  end)

  it("is remembered for each account, so that another one is not blocked, and each to its own end", function()
    local broken, state = true, process.new(one.clock)
    local account = { capacity = 5, window_ms = 1000, scope = "account" }
    local limit = purser.rate_limit { now = one.clock, pools = { ip = false, a = account }, store = { close = print,
      transact = function(_, names, fn)
        if broken then return nil, "no" end
        return state:transact(names, fn)
      end } }
    local function left(key) return select(3, limit:acquire(row(1), key, error)) end
    assert.equal(9000, limit:block(9000, "one"))
    assert.equal(2000, limit:block(2000, "two"))
    assert.same({ 9000, 2000, 0 }, { left "one", left "two", left "three" }) -- 0: the store cannot be asked
    broken = false
    assert(limit:acquire(row(1), "three", error))
    assert.same({ 9000, 2000 }, { left "one", left "two" })
    assert.same({}, limit.owed)
  end)

  it("is left alone for a week at most", function()
    local limit = purser.rate_limit { now = one.clock }
    assert.equal(7 * 86400000, limit:block(1e15))
    assert.equal(7 * 86400000, select(3, limit:acquire(row(10), "key", error)))
  end)

  it("is not sent, and what it took is given back, when the request certainly never left", function()
    local limit = limit_of(500)
    local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", retry = false,
      rate_limit = limit, transport = { send = function() return nil, { outcome = "not_sent", message = "no" } end } })
    assert.equal("not_sent", select(2, client.wallet:coins()).outcome)
    assert.equal(0, limit:status()[1].used)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The service's rate limit: windows that slide by the millisecond, rejections, bans.

local operations = require "purser.client.operations"
local plain = require "purser.testing.sim.plain"
local purser = require "purser"
local rate_limit = require "purser.testing.sim.rate_limit"

local HEAVY, LIGHT = operations.by_id.B6, operations.by_id.C5
local PROFILE = {
  pools = { ip = { capacity = 100, window_ms = 1000 } }, weights = { [HEAVY.full_name] = 50, [LIGHT.full_name] = 10 },
}

-- Makes a rate limit with these pools, or those of the profile.
local function new(pools) return rate_limit.new { pools = pools or PROFILE.pools, weights = PROFILE.weights } end

-- Returns what a request at a time meets: "ok", or the status and the seconds to stay away.
local function at(state, now, row, ip, account)
  local status, seconds = rate_limit.arrive(state, row, ip or "192.0.2.1", account, now)
  return status and ("%d %d"):format(status, seconds) or "ok"
end

describe("a rate limit", function()
  it("lets as much pass as a pool holds, and the next when the first is a window old", function()
    local state = new()
    assert.equal("ok", at(state, 0, HEAVY))
    assert.equal("ok", at(state, 400, HEAVY))
    assert.equal("429 1", at(state, 999, LIGHT))
    assert.equal("ok", at(state, 1000, LIGHT))
    assert.same({ peak = 100, total = 110, rejected = 1 }, rate_limit.report(state).pools["ip 192.0.2.1"])
  end)

  it("names the seconds after which there is room, rounded up", function()
    local state = new({ ip = { capacity = 2, window_ms = 10000, counts = "requests" } })
    at(state, 0, HEAVY)
    at(state, 3500, HEAVY)
    assert.equal("429 7", at(state, 3600, HEAVY))
    assert.equal("ok", at(state, 10000, HEAVY))
    assert.equal("429 1", at(state, 13499, HEAVY))
    assert.equal("ok", at(state, 13500, HEAVY))
  end)

  it("counts weights, a request without an operation as 1, and requests alone where a pool says so", function()
    local state = new({
      heavy = { capacity = 101, window_ms = 1000 }, often = { capacity = 3, window_ms = 1000, counts = "requests" },
    })
    assert.same({ "ok", "ok", "ok" }, { at(state, 0, HEAVY), at(state, 0, HEAVY), at(state, 0, nil) })
    assert.equal("429 1", at(state, 0, nil))
    local pools = rate_limit.report(state).pools
    assert.same({ 101, 3 }, { pools["heavy 192.0.2.1"].peak, pools["often 192.0.2.1"].peak })
  end)

  it("has a pool for each address, and one for each account wherever it asks from", function()
    local state = new({
      ip = { capacity = 2, window_ms = 1000, counts = "requests" },
      account = { capacity = 3, window_ms = 1000, scope = "account", counts = "requests" },
    })
    for last = 1, 3 do assert.equal("ok", at(state, 0, LIGHT, "192.0.2." .. last, "7")) end
    assert.equal("429 1", at(state, 0, LIGHT, "192.0.2.4", "7"))
    assert.equal("ok", at(state, 0, LIGHT, "192.0.2.4", "8"))
    assert.equal("ok", at(state, 0, LIGHT, "192.0.2.1", nil))
    assert.equal("429 1", at(state, 0, LIGHT, "192.0.2.1", nil))
    for last = 11, 15 do assert.equal("ok", at(state, 0, LIGHT, "192.0.2." .. last, nil)) end
  end)

  it("bans an address at the third rejection within a window, twice as long each time, up to three days", function()
    local state = new { ip = { capacity = 1, window_ms = 1000 } }
    local now, expected = 0, 120
    for _ = 1, 14 do
      assert.equal("ok", at(state, now, nil))
      assert.equal("429 1", at(state, now, nil))
      assert.equal("429 1", at(state, now, nil))
      assert.equal(("418 %d"):format(expected), at(state, now, nil))
      assert.equal("ok", at(state, now, nil, "192.0.2.9"))
      assert.equal("418 1", at(state, now + expected * 1000 - 1, nil))
      now = now + expected * 1000
      expected = math.min(2 * expected, 259200)
    end
    assert.same({ ["192.0.2.1"] = 14, ["192.0.2.9"] = 0 }, rate_limit.report(state).bans)
  end)

  it("forgives rejections that are a window old", function()
    local state = new { ip = { capacity = 1, window_ms = 1000 } }
    for now = 0, 20000, 1000 do
      assert.same({ "ok", "429 1", "429 1" }, { at(state, now, nil), at(state, now, nil), at(state, now + 1, nil) })
    end
  end)

  it("goes on from a snapshot as if nothing had happened", function()
    local pools = { ip = { capacity = 3, window_ms = 1000, counts = "requests" } }
    local state = new(pools)
    for _, now in ipairs { 0, 100, 200, 300, 1150 } do at(state, now, LIGHT) end
    local copy = plain.copy(state)
    assert.same(rate_limit.report(state), rate_limit.report(copy))
    for now = 1200, 130000, 250 do assert.equal(at(state, now, LIGHT), at(copy, now, LIGHT)) end
    assert.same(state, copy)
  end)

  it("is none where none is asked for, and one with a pool that is none is rejected", function()
    assert.is_nil(purser.sim.new({}):rate_limit())
    assert.same({ pools = {}, bans = {} }, purser.sim.new({ rate_limit = "mexc" }):rate_limit())
    for _, pool in ipairs { { capacity = 3 }, { window_ms = 3 }, 300, { capacity = 0, window_ms = 5 },
      { capacity = 1, window_ms = 5, scope = "user" }, { capcity = 1, window_ms = 5 } } do
      local none, wrong = purser.sim.new { rate_limit = { ip = pool } }
      assert.is_nil(none)
      assert.matches("pools", wrong)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The options of a rate limit: what is wrong with one is said, and what to do.

local options = require "purser.client.call.rate_limit.options"

describe("the options of a rate limit", function()
  it("pass up to their bounds", function()
    for _, given in ipairs {
      {}, { max_wait_ms = 0, when_full = "reject" }, { requests_per_second = 1 },
      { profile = { order = "sorted" } }, { max_wait_ms = 2 ^ 53, requests_per_second = 2 ^ 31 },
      { pools = { ip = false, own = { capacity = 1, window_ms = 86400000, scope = "account", counts = "requests" } } },
    } do
      assert.is_nil((options.check(given)))
    end
  end)

  it("are rejected where one makes no sense", function()
    for _, case in ipairs {
      { 5, "rate_limit option" }, { { when_ful = "wait" }, "when_full" }, { { when_full = "drop" }, "when_full" },
      { { max_wait_ms = -1 }, "max_wait_ms" }, { { margin_ms = 5 }, "margin_ms" }, { { now = 5 }, "now" },
      { { requests_per_second = 0.5 }, "requests_per_second" }, { { store = "redis" }, "store" },
      { { pools = { [""] = false } }, "a pool has no name" }, { { pools = { ["a:b"] = {} } }, "a pool has no name" },
      { { pools = { [1] = {} } }, "a pool has no name" }, { { pools = { ip = 5 } }, "rate_limit pool option" },
      { { pools = { ip = { capacity = 0 } } }, "capacity" }, { { pools = { ip = { window_ms = 0 } } }, "window_ms" },
      { { pools = { ip = { counts = "calls" } } }, "counts" }, { { pools = { ip = { scope = "key" } } }, "scope" },
    } do
      local problem, hint = options.check(case[1])
      assert.matches(case[2], problem .. "; " .. (hint or ""), 1, true)
    end
  end)
end)

describe("the pools", function()
  it("need a capacity, a window and a name that no store needs", function()
    local profile = { pools = { ip = { capacity = 300, window_ms = 10000 } } }
    for _, case in ipairs { { { a = { capacity = 5 } }, "no window_ms" }, { { a = { window_ms = 5 } }, "no capacity" },
      { { queue = { capacity = 5, window_ms = 5 } }, "a name that the store needs" } } do
      local pools, problem = options.pools({ pools = case[1] }, profile)
      assert.is_nil(pools)
      assert.matches(case[2], problem, 1, true)
    end
    assert.same({ { name = "ip", capacity = 300, window_ms = 10000, span = 10240, scope = "ip", counts = "weight" } },
      options.pools({}, profile))
    local requests = { name = "requests", capacity = 20, window_ms = 1000, span = 1024, scope = "ip",
      counts = "requests" }
    assert.same({ requests }, options.pools({ requests_per_second = 20, pools = { ip = false } }, profile))
    local account = { name = "ip", capacity = 7, window_ms = 10000, span = 10240, scope = "account", counts = "weight" }
    assert.same({ account }, options.pools({ pools = { ip = { capacity = 7, scope = "account" } } }, profile))
  end)
end)

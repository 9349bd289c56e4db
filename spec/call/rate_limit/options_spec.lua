-- SPDX-License-Identifier: MIT
-- The options of a rate limit: what is wrong with one is said, and what to do.

local options = require "purser.call.rate_limit.options"

describe("the options of a rate limit", function()
  it("pass up to their bounds", function()
    for _, given in ipairs {
      {}, { margin_ms = 0, max_wait_ms = 0, when_full = "reject" }, { requests_per_second = 1 }, { fallback_part = 1 },
      { share = { name = "a.b_c-1", part = 0.001 } }, { member = "exports of Tuesday" },
      { profile = { order = "sorted" } },
      { pools = { ip = false, own = { capacity = 1, window_ms = 86400000, scope = "account", counts = "requests" } } },
    } do
      assert.is_nil((options.check(given)))
    end
  end)

  it("are rejected where one makes no sense", function()
    for _, case in ipairs {
      { 5, "rate_limit option" }, { { when_ful = "wait" }, "when_full" }, { { when_full = "drop" }, "when_full" },
      { { max_wait_ms = -1 }, "max_wait_ms" }, { { margin_ms = 3600001 }, "margin_ms" }, { { now = 5 }, "now" },
      { { requests_per_second = 0.5 }, "requests_per_second" }, { { store = "redis" }, "store" },
      { { pools = { [""] = false } }, "a pool has no name" }, { { pools = { ["a:b"] = {} } }, "a pool has no name" },
      { { pools = { [1] = {} } }, "a pool has no name" }, { { pools = { ip = 5 } }, "rate_limit pool option" },
      { { pools = { ip = { capacity = 0 } } }, "capacity" }, { { pools = { ip = { window_ms = 0 } } }, "window_ms" },
      { { pools = { ip = { counts = "calls" } } }, "counts" }, { { pools = { ip = { scope = "key" } } }, "scope" },
      { { share = { name = "x" } }, '"share" has no name, or no part' }, { { share = { part = 0.5 } }, '"share"' },
      { { share = { name = "a b", part = 0.5 } }, '"share"' }, { { share = { name = "x", part = 0 } }, '"share"' },
      { { share = { name = "x", part = 1.01 } }, '"share"' }, { { share = { name = "x", part = 0 / 0 } }, '"share"' },
      { { share = { nam = "x" } }, "name" }, { { fallback_part = 0 }, "fallback_part" },
      { { fallback_part = 2 }, "fallback_part" }, { { fallback_part = 0 / 0 }, "fallback_part" },
      { { member = "" }, '"member" is empty' }, { { member = 5 }, "member" },
    } do
      local problem, hint = options.check(case[1])
      assert.matches(case[2], problem .. "; " .. (hint or ""), 1, true)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The conventions that a user gives: each is checked, and what is taken is the client's own.

local profiles = require "purser.client.operations.profiles"
local profile_rules = require "purser.client.operations.profile_rules"

local SET = "has a wrong member"

-- Overrides that are wrong, and words of the message.
local wrong = {
  { { algorithm = "ed25519" }, '"algorithm" is not known' }, { { object_body = "form" }, "object_body" },
  { { live_operations = 1 }, "live_operations" }, { { array_bodi = "query" }, "array_body" },
  { { base = "mexcc" }, "mexcc" },
  { { base = {} }, "base" }, { { max_recv_window = 0 }, "max_recv_window" }, { 5, "profile convention" },
  { { time_path = "" }, "is empty" }, { { ping_path = "/a\n" }, "control character" },
  -- what would take the place of what a call moves, or where to
  { { timestamp_name = "amount" }, '"timestamp_name" is not known' },
  { { signature_name = "address" }, '"signature_name" is not known' },
  { { base = "mexc", recv_window_name = "coin" }, '"recv_window_name" is not known' },
  { { key_header = "X-Key" }, '"key_header" is not known' },
  { { success_codes = { 0, 200 } }, SET }, { { success_codes = { ["0"] = "yes" } }, SET },
  { { unknown_codes = { [504] = true } }, SET },
  { { hosts = { "api.mexc.com" } }, SET }, { { hosts = "api.mexc.com" }, "hosts" },
  { { pools = { ip = 300 } }, "by name, such as" }, { { pools = { ip = { capacity = 300 } } }, "by name, such as" },
  { { pools = { ip = { capacity = 0, window_ms = 1 } } }, "by name, such as" },
  { { pools = { ip = { capacity = 1, window_ms = 0 } } }, "by name, such as" },
  { { pools = { ip = { capacity = 1, window_ms = 86400001 } } }, "by name, such as" },
  { { pools = { ip = { capacity = 2 ^ 31 + 1, window_ms = 1 } } }, "by name, such as" },
  { { pools = { ["a b"] = { capacity = 1, window_ms = 1 } } }, "by name, such as" },
  { { pools = { { capacity = 1, window_ms = 1 } } }, "by name, such as" },
  { { pools = { ip = { capacity = 1, window_ms = 1, scope = "host" } } }, "by name, such as" },
  { { weights = { ["wallet.coins"] = -1 } }, "by operation" }, { { weights = { 50 } }, "by operation" },
  { { weights = { ["wallet.coins"] = 0.5 } }, "by operation" },
}

describe("a table of conventions", function()
  for i, case in ipairs(wrong) do
    it(("is rejected where one is wrong, and the message names it (%d: %s)"):format(i, case[2]), function()
      local profile, message, hint = profile_rules.resolve(case[1])
      assert.is_nil(profile)
      assert.matches(case[2], message .. "; " .. (hint or ""), 1, true)
    end)
  end

  it("is taken over, however the table changes later", function()
    local codes, pools = { ["0"] = true }, { ip = { capacity = 7, window_ms = 1000 } }
    local profile = assert(profile_rules.resolve { success_codes = codes, pools = pools,
      base_url = "https://a.example" })
    codes["700002"], pools.ip.capacity, pools.more = true, 1000, {}
    assert.same({ ["0"] = true }, profile.success_codes)
    assert.same({ ip = { capacity = 7, window_ms = 1000 } }, profile.pools)
    assert.equal("https://a.example", profile.base_url)
  end)

  it("changes what it names and nothing else", function()
    local profile = assert(profile_rules.resolve { time_path = "/t", weights = { ["wallet.coins"] = 0 } })
    for name, value in pairs(profiles.default) do
      if name ~= "time_path" and name ~= "weights" then assert.equal(value, profile[name], name) end
    end
    assert.equal("/t", profile.time_path)
    assert.equal("/api/v3/time", profiles.default.time_path)
  end)
end)

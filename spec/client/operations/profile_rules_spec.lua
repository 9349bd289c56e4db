-- SPDX-License-Identifier: MIT
-- From what a user names to a complete profile.

local profiles = require "purser.client.operations.profiles"
local profile_rules = require "purser.client.operations.profile_rules"

describe("a profile", function()
  it("that is not named is that of the document", function()
    assert.equal(profiles.default, profile_rules.resolve(nil))
    assert.equal(profiles.default, profile_rules.resolve "default")
  end)

  it("of the live service has each convention of the document but those that it changes", function()
    local mexc = profile_rules.resolve "mexc"
    for name, value in pairs(profiles.default) do
      if profiles.mexc[name] == nil then assert.same(value, mexc[name], name) end
    end
    for name, value in pairs(profiles.mexc) do
      if name ~= "base" then assert.same(value, mexc[name], name) end
    end
    assert.is_nil(mexc.base)
    assert.same({ "query", "object", 300, 50 }, { mexc.array_body, mexc.object_body, mexc.pools.ip.capacity,
      mexc.weights["wallet.transfer"] })
  end)

  it("is complete where a table of conventions is given, and another one each time", function()
    local one, other = profile_rules.resolve { time_path = "/now" },
      profile_rules.resolve { base = "mexc", key_days = 5 }
    assert.same({ "/now", 90, "array" }, { one.time_path, one.key_days, one.array_body })
    assert.same({ "/api/v3/time", 5, "query" }, { other.time_path, other.key_days, other.array_body })
    one.time_path = "changed"
    assert.equal("/now", profile_rules.resolve { time_path = "/now" }.time_path)
    assert.equal("/api/v3/time", profiles.default.time_path)
  end)

  it("that is none is nil, with what is wrong and what to do", function()
    local profile, message, hint = profile_rules.resolve "mexcc"
    assert.is_nil(profile)
    assert.equal('profile "mexcc" is not known (did you mean "mexc"?)', message)
    assert.equal("there are default, mexc, and a table of conventions", hint)
  end)
end)

-- SPDX-License-Identifier: MIT
-- From what a user names to a complete profile.

local profiles = require "purser.api.profiles"
local resolve_profile = require "purser.api.resolve_profile"

describe("a profile", function()
  it("that is not named is that of the document", function()
    assert.equal(profiles.default, resolve_profile(nil))
    assert.equal(profiles.default, resolve_profile "default")
  end)

  it("of the live service has each convention of the document but those that it changes", function()
    local mexc = resolve_profile "mexc"
    for name, value in pairs(profiles.default) do
      if profiles.mexc[name] == nil then assert.equal(value, mexc[name], name) end
    end
    for name, value in pairs(profiles.mexc) do
      if name ~= "base" then assert.equal(value, mexc[name], name) end
    end
    assert.is_nil(mexc.base)
    assert.same({ "query", "object", 300, 50 }, { mexc.array_body, mexc.object_body, mexc.pools.ip.capacity,
      mexc.weights["wallet.transfer"] })
  end)

  it("is complete where a table of conventions is given, and another one each time", function()
    local one, other = resolve_profile { key_header = "X-Key" }, resolve_profile { base = "mexc", key_days = 5 }
    assert.same({ "X-Key", 90, "array" }, { one.key_header, one.key_days, one.array_body })
    assert.same({ "X-MEXC-APIKEY", 5, "query" }, { other.key_header, other.key_days, other.array_body })
    one.key_header = "changed"
    assert.equal("X-Key", resolve_profile { key_header = "X-Key" }.key_header)
    assert.equal("X-MEXC-APIKEY", profiles.default.key_header)
  end)

  it("that is none is nil, with what is wrong and what to do", function()
    local profile, message, hint = resolve_profile "mexcc"
    assert.is_nil(profile)
    assert.equal('profile "mexcc" is not known (did you mean "mexc"?)', message)
    assert.equal("there are default, mexc, and a table of conventions", hint)
  end)
end)

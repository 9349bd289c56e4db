-- SPDX-License-Identifier: MIT
-- Digests of texts: what a journal and a queue keep must stay the same from version to version.

local digest = require "purser.client.util.digest"

describe("the digest of a text", function()
  it("is what openssl gives for HMAC-SHA256 with the key `purser`, whatever the bytes", function()
    for _, text in ipairs { "", "abc", "a\n\255b", ("x"):rep(1000) } do
      local quoted = text:gsub(".", function(byte) return ("\\%03o"):format(byte:byte()) end)
      local pipe = io.popen(("printf '%s' | openssl dgst -sha256 -hmac purser"):format(quoted))
      assert.equal(pipe:read("*a"):match "(%x+)%s*$", digest.of(text))
      pipe:close()
    end
  end)

  it("differs where a zero byte or its place does", function()
    assert.are_not.equal(digest.of "a", digest.of "a\0")
    assert.are_not.equal(digest.of "a\0b", digest.of "a\0c")
  end)
end)

describe("an id", function()
  it("is 32 digits of the digest of its texts with their lengths", function()
    assert.equal(digest.of("kind\n1:a\n0:\n2:bc"):sub(1, 32), digest.id("kind", "a", "", "bc"))
    assert.are_not.equal(digest.id("kind", "a", "b\n1:c"), digest.id("kind", "a", "b", "c"))
  end)
end)

describe("the name of an account without a name", function()
  it("is the same for the same key, 16 hex digits, and no part of the key's own digest", function()
    local name = digest.account_of "mx0vglKey"
    assert.equal(name, digest.account_of "mx0vglKey")
    assert.matches("^%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x$", name)
    assert.are_not.equal(name, digest.account_of "mx0vglKez")
    assert.is_nil(digest.of("mx0vglKey"):find(name, 1, true))
  end)
end)

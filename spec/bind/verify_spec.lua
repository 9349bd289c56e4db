-- SPDX-License-Identifier: MIT
-- core.sha256, core.sha512, core.verify_ed25519 and core.base64_decode, as Lua calls them.

local core = require "purser.core"

local function bytes(hex)
  return (hex:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function hex(text)
  return (text:gsub(".", function(char) return ("%02x"):format(char:byte()) end))
end

-- RFC 8032, section 7.1, test 3
local KEY = bytes "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
local SIGNATURE = bytes("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
  .. "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")

describe("the core", function()
  it("checks signatures of Ed25519", function()
    assert.is_true(core.verify_ed25519(KEY, "\175\130", SIGNATURE))
    assert.is_false(core.verify_ed25519(KEY, "\175\131", SIGNATURE))
    assert.is_false(core.verify_ed25519(KEY:sub(1, 31), "\175\130", SIGNATURE))
    assert.is_false(core.verify_ed25519(KEY, "\175\130", SIGNATURE .. "\0"))
    assert.is_false(core.verify_ed25519(("\0"):rep(32), "x", ("\0"):rep(64)))
    for _, args in ipairs { {}, { KEY }, { KEY, "x" }, { KEY, "x", {} } } do
      assert.is_false((pcall(core.verify_ed25519, args[1], args[2], args[3])))
    end
  end)

  it("knows keys for which anybody can make signatures", function()
    assert.is_true(core.is_ed25519_key(KEY))
    for _, bad in ipairs { KEY:sub(1, 31), KEY .. "\0", ("\0"):rep(32), "\1" .. ("\0"):rep(30) .. "\128",
      "\238" .. ("\255"):rep(30) .. "\127" } do
      assert.is_false(core.is_ed25519_key(bad))
    end
    assert.is_false((pcall(core.is_ed25519_key)))
  end)

  it("makes the digests that sha256sum and sha512sum print", function()
    assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex(core.sha256 "abc"))
    assert.equal("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
      .. "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f", hex(core.sha512 "abc"))
    assert.is_false((pcall(core.sha256)))
  end)

  it("reads base64 in its one spelling", function()
    assert.equal("foob\0", core.base64_decode "Zm9vYgA=")
    assert.equal("", core.base64_decode "")
    assert.equal(("x"):rep(3000), core.base64_decode(("eHh4"):rep(1000)))
    for _, text in ipairs { "Zg", "Zh==", "Zm9v\n", "-_-_" } do assert.is_nil((core.base64_decode(text))) end
  end)
end)

-- SPDX-License-Identifier: MIT
local core = require "purser.core"

local SECRET = "test-secret-0123456789abcdef"

local function error_of(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

describe("core.signer", function()
  it("signs a text", function()
    local signer = core.signer("hmac-sha256", "Jefe")
    local expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" -- RFC 4231, case 2
    assert.equal(expected, signer:sign("what do ya want for nothing?"))
    assert.equal(expected, signer:sign("what do ya want for nothing?"))
    assert.equal(64, #signer:sign(""))
  end)

  it("distinguishes keys that differ only after a NUL", function()
    assert.not_equal(core.signer("hmac-sha256", "a\0b"):sign("x"), core.signer("hmac-sha256", "a\0c"):sign("x"))
  end)

  it("builds, signs and appends in one call", function()
    local signer = core.signer("hmac-sha256", SECRET)
    local layout = core.layout({ "coin", "remark", "timestamp" }, {})
    local values = { coin = "USDT", remark = "a b", timestamp = 1700000000123 }
    local query = "coin=USDT&remark=a%20b&timestamp=1700000000123"
    assert.equal(query .. "&signature=" .. signer:sign(query), signer:sign_query(layout, values, "signature"))
    assert.equal(query .. "&sign%20it=" .. signer:sign(query), signer:sign_query(layout, values, "sign it"))
    assert.equal("signature=" .. signer:sign(""), signer:sign_query(layout, {}, "signature"))
  end)

  it("signs the same again after a failure", function()
    local signer = core.signer("hmac-sha256", SECRET)
    local layout = core.layout({ "a" }, {})
    local before = signer:sign_query(layout, { a = "1" }, "s")
    error_of(signer.sign_query, signer, layout, { a = 0.5 }, "s")
    local text, message = signer:sign_query(layout, { a = ("x"):rep(2 ^ 20) }, "s")
    assert.is_nil(text)
    assert.equal("the text is too long", message)
    -- The query matches to the last byte; the signature no longer does.
    text, message = signer:sign_query(layout, { a = ("x"):rep(2 ^ 20 - 2) }, "s")
    assert.is_nil(text)
    assert.equal("the text is too long", message)
    assert.equal(before, signer:sign_query(layout, { a = "1" }, "s"))
  end)

  it("returns nil and a reason that does not hold the key, for a key it cannot use", function()
    local signer, message = core.signer("hmac-sha256", "")
    assert.is_nil(signer)
    assert.equal("the key is empty", message)
    signer, message = core.signer("hmac-sha256", ("k"):rep(2 ^ 17))
    assert.is_nil(signer)
    assert.equal("the key is too long", message)
  end)

  it("raises on misuse", function()
    for _, other in ipairs { "hmac-sha512", "ed25519", "rsa-sha256" } do error_of(core.signer, other, SECRET) end
    assert.is_nil(error_of(core.signer, "hmac-md5", SECRET):find(SECRET, 1, true))
    error_of(core.signer, "hmac-sha256")
    error_of(core.signer, "hmac-sha256", 12345)
    local signer, layout = core.signer("hmac-sha256", SECRET), core.layout({ "a" }, {})
    error_of(signer.sign, signer)
    error_of(signer.sign, signer, {})
    error_of(signer.sign, {}, "x")
    error_of(signer.sign_query, signer, {}, {}, "signature")
    error_of(signer.sign_query, signer, signer, {}, "signature")
    error_of(signer.sign_query, signer, io.stdout, {}, "signature")
    error_of(signer.sign_query, layout, layout, {}, "signature")
    error_of(signer.sign_query, signer, layout, "a", "signature")
    error_of(signer.sign_query, signer, layout, {})
  end)

  it("says what it is, never with which key", function()
    local signer = core.signer("hmac-sha256", SECRET)
    assert.equal("purser.signer (hmac-sha256)", tostring(signer))
    assert.equal("string", type(getmetatable(signer)))
  end)

  it("is closed once, and then raises", function()
    local signer, layout = core.signer("hmac-sha256", SECRET), core.layout({ "a" }, {})
    signer:sign_query(layout, { a = "1" }, "s")
    signer:close()
    signer:close()
    assert.equal("purser.signer (closed)", tostring(signer))
    assert.truthy(error_of(signer.sign, signer, "x"):find("signer is closed", 1, true))
    assert.truthy(error_of(signer.sign_query, signer, layout, {}, "s"):find("signer is closed", 1, true))
  end)

  it("is closed by the end of a block where Lua has that", function()
    local load_text = loadstring or load -- luacheck: ignore 113
    local chunk = load_text("local s <close> = ...; return s")
    if not chunk then
      assert.is_nil(_VERSION:find("5.4", 1, true)) -- only older versions lack it
      return
    end
    assert.equal("purser.signer (closed)", tostring(chunk(core.signer("hmac-sha256", SECRET))))
  end)

  it("is collected without growth, closed or not", function()
    local layout = core.layout({ "a" }, {})
    local function round()
      for i = 1, 5000 do
        local signer = core.signer("hmac-sha256", SECRET)
        signer:sign_query(layout, { a = "1" }, "s")
        if i % 2 == 0 then signer:close() end
      end
      collectgarbage()
      collectgarbage()
      return collectgarbage("count")
    end
    local first = round()
    for _ = 1, 3 do round() end
    assert.is_true(round() < first + 64)
  end)
end)

describe("core.md5_hex", function()
  it("gives the digests of RFC 1321", function()
    assert.equal("d41d8cd98f00b204e9800998ecf8427e", core.md5_hex(""))
    assert.equal("900150983cd24fb0d6963f7d28e17f72", core.md5_hex("abc"))
    assert.equal("57edf4a22be3c955ac49da2e2107b67a", core.md5_hex(("1234567890"):rep(8)))
    error_of(core.md5_hex)
  end)
end)

describe("core.random_token", function()
  it("gives that many letters and digits, never the same twice", function()
    local seen = {}
    for _ = 1, 1000 do
      local token = core.random_token(32)
      assert.truthy(token:find("^[%a%d]+$"))
      assert.equal(32, #token)
      assert.is_nil(seen[token])
      seen[token] = true
    end
    assert.equal(1, #core.random_token(1))
    assert.equal(256, #core.random_token(256))
  end)

  it("raises on a length that is none", function()
    for _, length in ipairs { 0, -1, 257, 1.5, "32", {} } do error_of(core.random_token, length) end
  end)
end)

describe("core.percent_encode", function()
  it("follows RFC 3986 for short and long texts", function()
    assert.equal("", core.percent_encode(""))
    assert.equal("Tron%28TRC20%29%2C%40%2F%20~", core.percent_encode("Tron(TRC20),@/ ~"))
    for _, count in ipairs { 255, 256, 257, 100000 } do
      assert.equal(("%00"):rep(count), core.percent_encode(("\0"):rep(count)))
    end
    error_of(core.percent_encode)
  end)
end)

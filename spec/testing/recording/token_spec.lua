-- SPDX-License-Identifier: MIT
-- Tokens: they stand for values that are not kept.

local core = require "purser.core"
local token = require "purser.testing.recording.token"

local function new_signer() return assert(core.signer("hmac-sha256", assert(core.random_token(32)))) end

describe("a token", function()
  local signer = new_signer()
  local function token_of(text, by) return token.of(by or signer, text) end

  -- The text was a second argument of signer:sign, which took one: all values of one form had one token.
  it("is another one for another value of the same form", function()
    local seen = {}
    for i = 1, 200 do
      local made = token_of(("%08d.654321"):format(10000000 + i))
      assert.is_nil(seen[made])
      seen[made] = true
    end
  end)

  it("keeps the length and kind of what it stands for", function()
    local cases = {
      { "8842117", "^%d+$" }, { "-17", "^%-%d%d$" }, { "0.00356705", "^%d%.%d%d%d%d%d%d%d%d$" },
      { "1.5E-7", "^%d%.%dE%-%d$" }, { "9c1185a5c5e9fc54612808977ee8f548", "^[%da-f]+$" },
      { "9C1185A5C5E9FC54612808977EE8F548", "^[%dA-F]+$" }, { "0x61280897", "^[%l%d]+$" },
      { "alice@mail.example", "^%l+$" }, { "203.0.113.77", "^[%l%d]+$" }, { "2001:db8::7", "^[%l%d]+$" },
      { "tradingdesk", "^%l+$" }, { "mx0vglAbC", "^%l[%w]+$" }, { "-12.50e+30", "^%-%d%d%.%d%de%+%d%d$" },
      { "DESK0001", "^%u[%u%d]+$" }, { "10.0.0.1,10.0.0.22", "^[%l%d]+,[%l%d]+$" },
      { "508ab91c508ab91c508ab91c508ab91c:0", "^[%da-f]+:%d$" },
    }
    for _, case in ipairs(cases) do
      local made = token_of(case[1])
      assert.equal(#case[1], #made)
      assert.matches(case[2], made)
      assert.equal(token.kind(case[1]), token.kind(made))
    end
    assert.equal("", token_of "")
  end)

  it("is the same for equal values of one recording, alone or in a list, and another in the next recording", function()
    local address = "TLongAddressOfSomeone1234567890abcd"
    assert.equal(token_of(address), token_of(address))
    assert.equal(token_of(address) .. "," .. token_of "10.0.0.1", token_of(address .. ",10.0.0.1"))
    assert.equal(token_of(address), (token_of(address .. ":104448"):match "^(%w+):%d+$"))
    local short = ("T"):rep(19)
    assert.are_not.equal(token_of(short), (token_of(short .. ":1"):match "^(%w+)"))
    assert.equal(token_of(short .. "T"), (token_of(short .. "T:1"):match "^(%w+):"))
    assert.are_not.equal(token_of(address), token_of(address, new_signer()))
    assert.are_not.equal(token_of(address), token_of(address:upper()))
  end)

  it("is drawn to its last character", function()
    local last = {}
    for i = 1, 200 do last[token_of(("%032x"):format(i) .. "abcdef"):sub(-1)] = true end
    local count = 0
    for _ in pairs(last) do count = count + 1 end
    assert.is_true(count > 8, count)
  end)

  it("does not show which characters were digits or capitals", function()
    local differs = false
    local address = "T1a2b3c4d5e6f7g8h9J1K2L3M4N5P6Q7R8"
    for at = 2, #address do
      local is_digit = token_of(address):sub(at, at):find "%d" ~= nil
      differs = differs or is_digit ~= (address:sub(at, at):find "%d" ~= nil)
    end
    assert.is_true(differs)
  end)

  it("is as long as its text, however long that is, and repeats itself only after 256 characters", function()
    for _, length in ipairs { 1, 2, 255, 256, 257, 5000 } do
      for _, unit in ipairs { "7", "a", "Z" } do assert.equal(length, #token_of(unit:rep(length))) end
    end
    local made = token_of(("7"):rep(600)):sub(2)
    assert.equal(made:sub(1, 256), made:sub(257, 512))
    assert.are_not.equal(made:sub(1, 128), made:sub(129, 256))
  end)

  it("of several digits begins with no zero, and of letters with one that no number or hash has", function()
    for i = 1, 300 do
      assert.matches("^[1-9]%d%d$", token_of(tostring(100 + i)))
      assert.matches("^[g-z]", token_of("name" .. i))
      assert.matches("%d$", token_of("name" .. i))
      assert.matches("%a", token_of(("%016x"):format(i) .. "a"))
    end
  end)
end)

describe("the kind of a text", function()
  it("is what a replay compares: form and length, and the places of a decimal", function()
    for text, kind in pairs { ["123"] = "digits 3", ["-12"] = "digits 3", ["1.50"] = "decimal 2 4",
      ["1e5"] = "number 3", ["1.5E+7"] = "number 6", abc = "text 3", ["0x12"] = "text 4", [""] = "text 0",
      ["508ab91c508ab91c"] = "hex 16", ["508ab91c508ab91"] = "text 15", ["508aB91c508ab91c"] = "text 16",
      ["1234567890123456"] = "digits 16" } do
      assert.equal(kind, token.kind(text), text)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- Texts of others, made harmless for terminals, logs and readers.

local plain_text = require "purser.client.util.plain_text"

describe("a text of others", function()
  for _, case in ipairs {
    { "an escape sequence", "a\27[2Jb", "a\\x1B[2Jb", "control character U+001B" },
    { "line breaks and tabs", "one\r\ntwo\tthree", "one\\x0D\\x0Atwo\\x09three", "control character U+000D" },
    { "NUL and DEL", "a\0b\127", "a\\x00b\\x7F", "control character U+0000" },
    { "a C1 control character", "a\194\155b", "a\\u{9B}b", "control character U+009B" },
    { "a right-to-left override", "T\226\128\174abc", "T\\u{202E}abc", "bidirectional mark U+202E" },
    { "an isolate", "\226\129\166x", "\\u{2066}x", "bidirectional mark U+2066" },
    { "an Arabic letter mark", "x\216\156", "x\\u{61C}", "bidirectional mark U+061C" },
    { "a zero-width space", "T\226\128\139x", "T\\u{200B}x", "zero-width character U+200B" },
    { "a word joiner", "\226\129\160", "\\u{2060}", "zero-width character U+2060" },
    { "a byte order mark", "\239\187\191x", "\\u{FEFF}x", "zero-width character U+FEFF" },
    { "a line separator", "a\226\128\168b", "a\\u{2028}b", "line separator U+2028" },
    { "what stands for no letter", "a\227\133\164\239\190\160", "a\\u{3164}\\u{FFA0}", "zero-width character U+3164" },
    { "a variation selector", "a\239\184\143", "a\\u{FE0F}", "zero-width character U+FE0F" },
    { "what only shapes a shorthand or a score", "a\240\155\178\160\240\157\133\179", "a\\u{1BCA0}\\u{1D173}",
      "zero-width character U+1BCA0" },
    { "a tag character", "\243\160\128\129", "\\u{E0001}", "zero-width character U+E0001" },
    { "a byte that is not UTF-8", "a\255b", "a\\xFFb", "byte FF, which is not UTF-8" },
    { "a character that is cut off", "a\226\130", "a\\xE2\\x82", "byte E2, which is not UTF-8" },
    { "a form that is too long", "\192\175", "\\xC0\\xAF", "byte C0, which is not UTF-8" },
    { "a surrogate", "\237\160\128", "\\xED\\xA0\\x80", "byte ED, which is not UTF-8" },
    { "a code point beyond the last", "\244\144\128\128", "\\xF4\\x90\\x80\\x80", "byte F4, which is not UTF-8" },
  } do
    it("shows " .. case[1], function()
      assert.equal(case[3], plain_text.clean(case[2]))
      assert.same({ false, case[4] }, { plain_text.is_plain(case[2]) })
      assert.is_true(plain_text.is_plain(case[3]))
    end)
  end

  it("hides exactly these characters beyond ASCII", function()
    local function encoded(point)
      local low = point % 64 + 128
      local middle, high = math.floor(point / 64) % 64 + 128, math.floor(point / 4096)
      if point < 0x800 then return string.char(math.floor(point / 64) + 0xC0, low) end
      if point < 0x10000 then return string.char(high + 0xE0, middle, low) end
      return string.char(math.floor(high / 64) + 0xF0, high % 64 + 128, middle, low)
    end
    local hidden = {}
    for first, last in ([[80-9F AD-AD 34F-34F 61C-61C 115F-1160 17B4-17B5 180B-180F 200B-200F 2028-202E 2060-206F
      3164-3164 FE00-FE0F FEFF-FEFF FFA0-FFA0 FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF]]):gmatch "(%x+)-(%x+)" do
      for point = tonumber(first, 16), tonumber(last, 16) do hidden[point] = true end
    end
    for _, range in ipairs { { 0x80, 0xD7FF }, { 0xE000, 0x10FFF }, { 0x1BC00, 0x1D200 }, { 0xDFFF0, 0xE1010 } } do
      for point = range[1], range[2] do
        if plain_text.is_plain(encoded(point)) == (hidden[point] or false) then error(("U+%04X"):format(point)) end
      end
    end
  end)

  it("stays as it is where everybody can see all of it", function()
    for _, text in ipairs { "", "balance too small", "\228\189\153\233\162\157\228\184\141\232\182\179", "\195\169+%",
      "\240\159\146\182", "\\x1B", "\227\128\128", "\244\143\191\191" } do
      assert.equal(text, plain_text.clean(text, 500))
      assert.is_true(plain_text.is_plain(text))
    end
  end)

  it("is cut between two characters, and never within an escape", function()
    assert.equal(("x"):rep(497) .. "...", plain_text.clean(("x"):rep(501), 500))
    assert.equal(("x"):rep(500), plain_text.clean(("x"):rep(500), 500))
    assert.equal("\195\169\195\169...", plain_text.clean(("\195\169"):rep(6), 8))
    assert.equal("ab...", plain_text.clean("ab\27\27\27", 8))
    assert.equal("ab\\x1B...", plain_text.clean("ab\27\27\27", 9))
    assert.equal("..", plain_text.clean("abcdef", 2))
    for max = 0, 40 do
      local text = plain_text.clean("\195\169\226\128\174ab\27" .. ("\240\159\146\182z"):rep(9), max)
      assert.is_true(#text <= max and plain_text.is_plain(text))
    end
  end)

  it("is the same data as JSON, with escapes for what hides", function()
    assert.equal('{"a\\u202e":"\\u009b31m\195\169\\udb40\\udc01\\u007f"}\n',
      plain_text.as_json('{"a\226\128\174":"\194\155' .. '31m\195\169\243\160\128\129\127"}\n'))
  end)
end)

describe("a name", function()
  it("differs from no other one by what cannot be seen", function()
    for _, text in ipairs { "a", "invoice 1", "Stra\195\159e", ("x"):rep(200) } do
      assert.is_true(plain_text.is_name(text), text)
    end
    for _, text in ipairs { "", " a", "a ", "a\9b", "a\0", "a\194\160b", "a\226\128\139", "\255", ("x"):rep(201) } do
      assert.is_false(plain_text.is_name(text), text)
    end
  end)
end)

describe("an error", function()
  it("is one line of a log, whatever it quotes", function()
    local err = require("purser.client.call.errors").argument("coin",
      'parameter "coin" is "x\npurser: all is well\27[2J"')
    assert.equal('spec/client/util/plain_text_spec.lua:97: '
      .. 'parameter "coin" is "x\\x0Apurser: all is well\\x1B[2J" [outcome not_sent]', tostring(err))
  end)
end)

describe("a number and what follows it", function()
  it("is one, or several", function()
    for _, case in ipairs { { "0 payments", 0, "payment" }, { "1 payment", 1, "payment" },
      { "2 payments", 2, "payment" }, { "1 address", 1, "address", "addresses" },
      { "11 addresses", 11, "address", "addresses" },
      { "1 payment is", 1, "payment is", "payments are" } } do
      assert.equal(case[1], plain_text.counted(case[2], case[3], case[4]))
    end
  end)
end)

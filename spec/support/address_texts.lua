-- SPDX-License-Identifier: MIT
-- Random texts that are addresses of each family, and texts that nearly are: a wrong version, length, constant or
-- prefix under a right checksum, and right texts with characters changed. Written from the documents, for Lua 5.4.

local codecs = require "address_codecs"
local digests = require "address_digests"
local documents = require "address_documents"

return function(draw)
  local function random(low, high) return high and low + draw(high - low + 1) - 1 or draw(low) end

  local function bytes(n)
    local out = {}
    for i = 1, n do out[i] = string.char(random(0, 255)) end
    return table.concat(out)
  end

  local function one_of(list) return list[random(#list)] end

  local turn = 0

  -- Returns each of a list in its turn.
  local function next_of(list)
    turn = turn + 1
    return list[turn % #list + 1]
  end

  -- Returns a number, or in one of five cases another one.
  local function near(n, most) return random(5) == 1 and random(0, most) or n end

  local function turned(text, way) return random(4) == 1 and text[way or "upper"](text) or text end

  local versions = {}
  for _, kinds in pairs(documents.VERSIONS) do
    for _, list in pairs(kinds) do
      for version, rest in list:gmatch "(%x+):(%d+)" do versions[#versions + 1] = { version, tonumber(rest) } end
    end
  end
  table.sort(versions, function(a, b) return a[1] .. a[2] < b[1] .. b[2] end)

  local prefixes = {}
  for prefix in ([[cosmos osmo celestia terra kava sei secret iaa fetch juno umee kujira chihuahua sent darc rizon
    firma mantle akash axelar dydx neutron stride dym saga band thor cro bnb nibi archway persistence erd oasis iota zil
    pokt inj one evmos canto io ex lat rebus xch account_rdx addr stake addr_test stake_test ckb ckt avax fuji txch
    suiprivkey cosmosvaloper osmovalcons cosmospub valoper pub zs u tex ltcmweb none]]):gmatch "%S+" do
    prefixes[#prefixes + 1] = prefix
  end

  local makers = {}

  function makers.base58check()
    local one = next_of(versions)
    local version = random(6) == 1 and bytes(1) or codecs.unhex(one[1])
    return codecs.to_base58check(version .. bytes(near(one[2], 40)), codecs.BITCOIN)
  end

  function makers.ripple()
    local tag = random(2) == 1 and string.char(near(1, 2)) .. bytes(4) .. ("<I4"):pack(near(0, 1))
      or ("<I1I4I4"):pack(0, near(0, 1), 0)
    local body = one_of { "\0" .. bytes(near(20, 22)), "\x05\x44" .. bytes(20) .. tag, "\x04\x93" .. bytes(20) .. tag,
      "\x21" .. bytes(near(16, 20)), "\1\xe1\x4b" .. bytes(16) }
    return codecs.to_base58check(body, codecs.RIPPLE)
  end

  function makers.segwit()
    local version = random(0, 2) == 0 and random(0, 31) or random(0, 1)
    local words = codecs.words(bytes(random(3) == 1 and random(0, 42) or one_of { 20, 32 }))
    table.insert(words, 1, version)
    if random(12) == 1 then words[#words] = random(0, 31) end
    if random(12) == 1 then words[#words + 1] = 0 end -- a digit of nothing
    local constant = version == 0 and 1 or codecs.M
    if random(6) == 1 then constant = one_of { 1, codecs.M, 2 } end
    return turned(codecs.to_bech32(one_of { "bc", "ltc", "dgb", "qc", "vtc", "hs", "tb", "bcrt", "tltc", "rltc", "tc" },
      words, constant))
  end

  function makers.account()
    local prefix = next_of(prefixes)
    local words = codecs.words(bytes(random(5) == 1 and random(0, 44) or one_of { 20, 20, 30, 32, 33 }))
    if random(12) == 1 then words[#words + 1] = 0 end
    local text = codecs.to_bech32(prefix, words, random(3) == 1 and codecs.M or 1)
    return (random(10) == 1 and one_of { "X-", "P-", "C-", "x-", "Z-" } or "") .. turned(text)
  end

  makers.oasis = function()
    return codecs.to_bech32("oasis", codecs.words(string.char(near(0, 1)) .. bytes(near(20, 22))), 1)
  end

  makers.radix = function() return codecs.to_bech32("account_rdx", codecs.words(bytes(near(30, 32))), codecs.M) end

  makers.avalanche = function()
    return one_of { "X-", "P-", "C-", "", "D-" } .. codecs.to_bech32("avax", codecs.words(bytes(near(20, 21))), 1)
  end

  function makers.cardano()
    local kind, network = random(0, 9), near(1, 15)
    local rest = bytes(kind < 4 and near(56, 57) or kind > 5 and near(28, 29) or 28)
    if kind == 4 or kind == 5 then
      for _ = 1, near(3, 4) do
        rest = rest .. (random(2) == 1 and string.char(random(128, 255)) or "") .. string.char(random(0, 127))
      end
    end
    return codecs.to_bech32(one_of { "addr", "addr", "addr", "stake", "addr_test", "stake_test" },
      codecs.words(string.char(kind << 4 | network) .. rest), near(1, 2))
  end

  function makers.nervos()
    local body = one_of { "\0" .. bytes(32) .. string.char(near(1, 5)) .. bytes(near(20, 30)),
      "\1" .. string.char(near(0, 3)) .. bytes(near(20, 21)), "\2" .. bytes(near(52, 60)), "\4" .. bytes(near(32, 52)),
      "\3" .. bytes(52) }
    return turned(codecs.to_bech32("ckb", codecs.words(body), body:byte() == 0 and near(codecs.M, 2) or near(1, 2)))
  end

  function makers.cash()
    local prefix = one_of { "bitcoincash", "ecash", "kaspa", "bchtest", "bchreg", "ectest", "kaspatest" }
    local size = one_of { { 0, 20 }, { 0, 20 }, { 3, 32 }, { 0, random(18, 34) }, { random(0, 7), 32 } }
    local version = prefix == "kaspa" and one_of { 0, 1, 8, 2 } or random(0, 4) << 3 | size[1]
    local count = prefix == "kaspa" and (version == 1 and near(33, 34) or near(32, 34)) or size[2]
    local text = codecs.to_cash(prefix, string.char(version) .. bytes(count))
    return turned((random(3) > 1 and prefix .. ":" or "") .. text)
  end

  function makers.stellar()
    local one = one_of { { 6, 32 }, { 12, 40 }, { 18, 32 }, { 2, 32 }, { 19, 32 }, { 23, 32 }, { 11, 32 }, { 1, 33 },
      { 15, random(30, 110) }, { random(0, 31), random(30, 44) } }
    local body = string.char(near(one[1] << 3, 255)) .. bytes(near(one[2], 70))
    return codecs.to_base32(body .. ("<I2"):pack(digests.crc16(body)), codecs.UPPER)
  end

  function makers.algorand()
    local key = bytes(32)
    return codecs.to_base32(key .. digests.sha512_256(key):sub(-4), codecs.UPPER)
  end

  function makers.filecoin()
    local protocol = one_of { "1", "2", "3", "4", "5" }
    local body = bytes(near(protocol == "3" and 48 or 20, 50))
    local front = protocol == "4" and "\4\10" or string.char(tonumber(protocol))
    local text = codecs.to_base32(body .. digests.blake2b(front .. body, 4), codecs.LOWER)
    local number = tostring(("<i8"):unpack(bytes(8)) & math.maxinteger)
    if random(4) == 1 then return one_of { "f0", "t0" } .. one_of { "0", "07", number,
      "9223372036854775807", "9223372036854775808", "9999999999999999999", "10000000000000000000" } end
    return one_of { "f", "f", "t" } .. protocol .. (protocol == "4" and near(10, 11) .. "f" or "") .. text
  end

  function makers.internet_computer()
    if random(3) == 1 then
      local body = bytes(28)
      return turned(codecs.hex(digests.crc32(body) .. body))
    end
    local owner = bytes(near(29, 31))
    local text = codecs.to_base32(digests.crc32(owner) .. owner, codecs.LOWER):gsub(".....", "%0-"):gsub("%-$", "")
    if random(2) == 1 then return text end
    local sub = ("\0"):rep(random(0, 31)) .. bytes(32)
    sub = sub:sub(1, 32)
    local digits = codecs.hex(sub):gsub("^0+", "")
    return text .. "-" .. codecs.to_base32(digests.crc32(owner .. sub), codecs.LOWER) .. "."
      .. (random(8) == 1 and "0" or "") .. digits
  end

  function makers.stacks()
    local letter = one_of { "P", "M", "T", "N", "Q" }
    local version = codecs.digits(letter, codecs.CROCKFORD)[1]
    local body = (random(3) == 1 and "\0\0" or "") .. bytes(20)
    body = body:sub(1, near(20, 21))
    local more = random(8) == 1 and "0" or ""
    return "S" .. letter .. more .. documents.to_c32(body .. codecs.twice(string.char(version) .. body):sub(1, 4))
  end

  function makers.nano()
    local key = bytes(32)
    local digits = {}
    local kept, count = 0, 4 -- 260 bits: four of zeros in front
    for i = 1, #key do
      kept, count = kept << 8 | key:byte(i), count + 8
      while count >= 5 do
        count = count - 5
        digits[#digits + 1], kept = kept >> count, kept & (1 << count) - 1
      end
    end
    if random(6) == 1 then digits[1] = digits[1] | 2 end -- one of the bits in front that are zero
    for _, digit in ipairs(codecs.words(digests.blake2b(key, 5):reverse())) do digits[#digits + 1] = digit end
    return one_of { "nano_", "nano_", "xrb_", "nano-", "ban_" } .. codecs.text(digits, codecs.NANO)
  end

  function makers.ton()
    if random(5) == 1 then return one_of { "0:", "-1:", "1:" } .. turned(codecs.hex(bytes(near(32, 33)))) end
    local body = string.char(one_of { 0x11, 0x51, 0x91, 0xd1, random(0, 255) }, one_of { 0, 0, 255, random(0, 255) })
    body = body .. bytes(32)
    local text = codecs.to_base64(body .. (">I2"):pack(digests.crc16(body)))
    return random(2) == 1 and text or (text:gsub("%+", "-"):gsub("/", "_"))
  end

  function makers.polkadot()
    local prefix = one_of { 0, 2, 5, 8, 42, random(0, 63), random(0, 16383), 2092 }
    local front = prefix < 64 and random(20) > 1 and string.char(prefix)
      or string.char((prefix & 0xFC) >> 2 | 0x40, prefix >> 8 | (prefix & 3) << 6)
    local body = front .. bytes(near(32, 33))
    return codecs.to_base58(body .. digests.blake2b("SS58PRE" .. body, 64):sub(1, 2), codecs.BITCOIN)
  end

  function makers.waves()
    local body = string.char(near(1, 2), one_of { 87, 84, 88 }) .. bytes(20)
    return codecs.to_base58(body .. digests.keccak256(digests.blake2b(body, 32)):sub(1, 4), codecs.BITCOIN)
  end

  function makers.ergo()
    local kind = random(1, 3)
    local body = string.char(random(0, 2) << 4 | kind) .. (kind == 1 and string.char(near(2, 4)) .. bytes(near(32, 33))
      or bytes(24))
    return codecs.to_base58(body .. digests.blake2b(body, 32):sub(1, 4), codecs.BITCOIN)
  end

  function makers.byron()
    local attributes = one_of { "\xa0", "\xa1\x01\x58\x1e" .. bytes(30), "\xa1\x02\x45\x1a" .. bytes(4),
      "\xa2\x01\x41" .. bytes(1) .. "\x02\x43\x19" .. bytes(2), "\xa1\x01\x61\0", "\xa4" }
    local inner = "\x83\x58\x1c" .. bytes(28) .. attributes .. (random(8) == 1 and "" or "\0")
    local front = "\x82\xd8\x18\x58" .. string.char(near(#inner, 60))
    return codecs.to_base58(front .. inner .. "\x1a" .. digests.crc32(inner), codecs.BITCOIN)
  end

  function makers.monero()
    local kind = one_of { 18, 42, 19, 53, 54, 63, 24, 25, 36, 20 }
    local body = string.char(kind) .. bytes((kind == 19 or kind == 54 or kind == 25) and 72 or 64)
    body = body .. digests.keccak256(body):sub(1, 4)
    local text = ""
    for from = 1, #body, 8 do
      local part = body:sub(from, from + 7)
      local digits = codecs.text(codecs.convert({ part:byte(1, -1) }, 256, 58), codecs.BITCOIN)
      text = text .. ("1"):rep((#part == 8 and 11 or 7) - #digits) .. digits
    end
    return text
  end

  function makers.solana() return codecs.to_base58(bytes(one_of { 32, 32, 31, 33, 64, 63 }), codecs.BITCOIN) end

  function makers.evm()
    local digits = codecs.hex(bytes(20))
    digits = one_of { digits, digits:upper(), documents.in_case(digits), documents.in_case(digits, "300x"),
      digits:sub(1, 20):upper() .. digits:sub(21) }
    return one_of { "0x", "0x", "0x", "0X", "", "xdc", "ronin:", "41", "x" } .. digits
  end

  function makers.long_hex()
    local digits = codecs.hex(("\0"):rep(one_of { 0, 0, 1, 5, 24, 31 }) .. bytes(32)):sub(1, 64)
    return "0x" .. turned(one_of { digits, (digits:gsub("^0+", "")), digits:sub(-16), digits:sub(-1), digits .. "0",
      "0" .. digits:sub(2), "08" .. ("0"):rep(13) .. "11" .. ("0"):rep(46) .. random(0, 2) })
  end

  function makers.hedera()
    local number = tostring(("<i8"):unpack(bytes(8)) & one_of { 7, 0xFFFFF, math.maxinteger })
    return one_of { "0.0.", "0.0.", "0.1." } .. one_of { "", "", "0" } .. number
      .. one_of { "", "-" .. documents.hip15(number), "-abcde" }
  end

  function makers.names()
    local out = {}
    for i = 1, random(1, 66) do out[i] = one_of { "a", "b", "z", "1", "5", "6", ".", "-", "_", "A" } end
    return table.concat(out) .. one_of { "", ".near", ".tg", ".nea" }
  end

  function makers.short_names()
    local out = {}
    for i = 1, random(1, 13) do out[i] = one_of { "a", "m", "z", "1", "5", "." } end
    return table.concat(out)
  end

  function makers.arweave() return (codecs.to_base64(bytes(33)):sub(1, 43):gsub("%+", "-"):gsub("/", "_")) end

  local names = {}
  for name in pairs(makers) do names[#names + 1] = name end
  table.sort(names)

  -- Returns a text with some characters changed, lost, doubled, exchanged, or in the other case.
  local function damaged(text)
    for _ = 1, random(2) do
      local at = random(#text)
      local c, other = text:sub(at, at), text:sub(at + 1, at + 1)
      c = one_of { "", c .. c, other .. c, c:upper(), c:lower(), string.char(random(33, 126)), "1", "q", "0" }
      text = text:sub(1, at - 1) .. c .. text:sub(at + 1)
      if text == "" then return "1" end
    end
    return text
  end

  return { names = names, makers = makers, damaged = damaged }
end

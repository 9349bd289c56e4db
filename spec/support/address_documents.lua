-- SPDX-License-Identifier: MIT
-- A second reader of addresses, written from the documents of the chains and not from src/core: slow, for Lua 5.4. What
-- is a family, a payee and a state is the design of purser.address; what a text must be is the document's.

local codecs = require "address_codecs"
local digests = require "address_digests"

local M = {}

local hex = codecs.hex

-- Base58check by chain (its parameters): the versions of a key and of a script, those of test networks, of secrets, of
-- what is no account. A version of three parts has the letter that makes it one payee with others.
M.VERSIONS = {
  btc = { "00:20:p 05:20:s", "6f:20 c4:20", "80:32 80:33 ef:32 ef:33 0488ade4:74 049d7878:74 04b2430c:74",
    "0488b21e:74 049d7cb2:74 04b24746:74" },
  bsv = { "00:20:p" }, bch = { "", "6f:20 c4:20", rare = "00:20:p 05:20:s" },
  ltc = { "30:20 32:20:s 05:20:s", "6f:20 c4:20", "b0:32 b0:33" },
  doge = { "1e:20 16:20", "71:20", "9e:32 9e:33 02fac398:74" },
  dgb = { "1e:20 3f:20", rare = "05:20:s" }, xvg = { "1e:20 21:20" }, pivx = { "1e:20 0d:20" },
  dash = { "4c:20 10:20", "8c:20", "cc:32 cc:33" }, zec = { "1cb8:20 1cbd:20", "1d25:20 1cba:20" },
  flux = { "1cb8:20 1cbd:20" }, zen = { "2089:20 2096:20" }, rvn = { "3c:20 7a:20" }, kmd = { "3c:20 55:20" },
  lbc = { "55:20 7a:20" }, qtum = { "3a:20 32:20:s" }, trx = { "41:20", "a0:20" }, neo = { "17:20" },
  ont = { "17:20" }, btg = { "17:20 26:20" }, neo3 = { "35:20" }, nebl = { "35:20 70:20" }, hydra = { "28:20 3f:20" },
  xtz = { "06a19f:20 06a1a1:20 06a1a4:20 06a1a6:20 025a79:20", "", "0d0f3a07:32 2bf64e07:64 11a2e0c9:32 1051eebd:32",
    "0d0f25d9:32" },
  mina = { "cb0101:33" }, ccd = { "01:32" }, firo = { "52:20 07:20" }, vtc = { "47:20" },
}
local STATES = { "plain", "test", "secret", "nothing", rare = "rare" }

local function base58check(text, add)
  local body = #text >= 22 and codecs.base58check(text, codecs.BITCOIN)
  if not body then return end
  for family, kinds in pairs(M.VERSIONS) do
    for kind, state in pairs(STATES) do
      for version, rest, fold in (kinds[kind] or ""):gmatch "(%x+):(%d+):?(%l*)" do
        if #body == #version / 2 + rest and hex(body):sub(1, #version) == version then
          local is_paid = state == "plain" or state == "rare"
          local payee = ("hash:%s:%s"):format(fold ~= "" and fold or version, hex(body):sub(#version + 1))
          add(family, state, is_paid and payee or nil, true)
        end
      end
    end
  end
end

-- XRP Ledger: r is 00 and the account; s a seed; XLS-5: X and T have account, flag and tag.
local function ripple(text, add)
  local body = codecs.base58check(text, codecs.RIPPLE)
  if not body then return end
  local front = hex(body):sub(1, 4)
  if #body == 21 and body:byte() == 0 then add("xrp", "plain", "xrp:" .. hex(body:sub(2)), true) end
  if #body == 17 and front:sub(1, 2) == "21" or #body == 19 and hex(body):find "^01e14b" then
    add("xrp", "secret", nil, true)
  end
  if #body ~= 31 or front ~= "0544" and front ~= "0493" then return end
  local flag, tag, high = ("<I1I4I4"):unpack(body, 23)
  if high ~= 0 or flag > 1 or flag == 0 and tag ~= 0 then return end
  if front == "0493" then return add("xrp", "test", nil, true) end
  add("xrp", "apart", "xrp:" .. hex(body:sub(3, 22)), true, flag == 1 and tostring(tag) or nil)
end

local WITNESS = { bc = "btc", ltc = "ltc", dgb = "dgb", qc = "qtum", vtc = "vtc", hs = "hns" }
local WITNESS_TEST = { tb = "btc", bcrt = "btc", tltc = "ltc", rltc = "ltc" }

local function segwit(prefix, words, constant, text, add)
  local family = WITNESS[prefix] or WITNESS_TEST[prefix]
  local version, program = words[1], words[1] and codecs.bytes { table.unpack(words, 2) }
  if not program or #text > 90 or version > 16 or #program < 2 or #program > 40 then return end
  if version == 0 and #program ~= 20 and #program ~= 32 then return end
  if constant ~= (version == 0 and 1 or codecs.M) then return end
  if WITNESS_TEST[prefix] then return add(family, "test", nil, true) end
  local is_usual = version == 0 or version == 1 and #program == 32
  add(family, is_usual and "plain" or "rare", ("wit:%s:%d:%s"):format(prefix, version, hex(program)), true)
end

-- Accounts in Bech32: prefix -> lengths; those of the second list are Ethereum's accounts.
local ACCOUNTS = { erd = "32", oasis = "21", iota = "33", zil = "20", pokt = "20" }
for prefix in ([[cosmos osmo celestia terra kava sei secret iaa fetch juno umee kujira chihuahua sent darc rizon firma
  mantle akash axelar dydx neutron stride dym saga band thor cro bnb nibi archway persistence]]):gmatch "%S+" do
  ACCOUNTS[prefix] = "20 32"
end
local OF_ETHEREUM = {}
for prefix in ("inj one evmos canto io ex lat rebus"):gmatch "%S+" do OF_ETHEREUM[prefix] = true end
local IN_M = { xch = 32, account_rdx = 30 }

local function account(prefix, bytes, constant, add)
  local sizes = OF_ETHEREUM[prefix] and "20" or ACCOUNTS[prefix]
  local is_good = sizes and constant == 1 and (" " .. sizes .. " "):find(" " .. #bytes .. " ", 1, true)
    or IN_M[prefix] == #bytes and constant == codecs.M
  if not is_good or prefix == "oasis" and bytes:byte() ~= 0 then return end
  add(prefix, "plain", (OF_ETHEREUM[prefix] and "evm" or prefix) .. ":" .. hex(bytes), true)
end

-- CIP-19: a byte of kind and network, then two hashes, a hash and a pointer of three numbers, or one hash.
local function cardano(prefix, bytes, constant, add)
  if constant ~= 1 then return end
  local kind, network = bytes:byte() >> 4, bytes:byte() & 15
  local rest, numbers = bytes:sub(2), 0
  local is_whole = kind < 4 and #rest == 56 or (kind == 6 or kind == 7) and #rest == 28
  if kind == 4 or kind == 5 then
    for _ in rest:sub(29):gmatch "[\128-\255]*[%z\1-\127]" do numbers = numbers + 1 end
    is_whole = numbers == 3 and rest:byte(-1) < 128
  end
  if prefix == "addr" and network == 1 and is_whole then return add("ada", "plain", "ada:" .. hex(bytes), true) end
  if prefix:find "_test$" or network == 0 then return add("ada", "test", nil, true) end
  if prefix == "stake" then add("ada", "nothing", nil, true) end
end

-- RFC 21 of CKB: the full form (00), the short one (01) by an index of code, the old full forms (02 data, 04 type).
local SINGLE = "9bd7e06f3ecf4be0f2fcd2188b23f1b9fcc88e5d4b65a8637b17723bbda3cce8"

local function nervos(bytes, constant, add)
  local form, all, lock = bytes:byte(), hex(bytes), nil
  if form == 0 and constant == codecs.M and #bytes >= 34 and ("\0\1\2\4"):find(bytes:sub(34, 34), 1, true) then
    lock = all:sub(3)
  elseif form == 1 and constant == 1 and #bytes == 22 and bytes:byte(2) < 3 then
    lock = bytes:byte(2) == 0 and SINGLE .. "01" .. all:sub(5) or "short:" .. all:sub(3)
  elseif (form == 2 or form == 4) and constant == 1 and #bytes >= 33 then
    lock = all:sub(3, 66) .. (form == 4 and "01" or "00") .. all:sub(67)
  end
  if lock then add("ckb", "plain", "ckb:" .. lock, true) end
end

local PRIVATE = { ltcmweb = { "ltc", 1 }, zs = { "zec", 1 }, u = { "zec", codecs.M }, tex = { "zec", codecs.M } }

local function bech32(text, add)
  local chain = text:match "^([XPC])%-"
  local prefix, words, constant = codecs.bech32(chain and text:sub(3) or text)
  if constant ~= 1 and constant ~= codecs.M then return end
  local bytes = codecs.bytes(words)
  local has_bytes = bytes and #bytes > 0
  if prefix == "fuji" then return add("avaxx", "test", nil, true) end
  if prefix == "avax" then
    local family = "avax" .. (chain or "X"):lower()
    if constant == 1 and has_bytes and #bytes == 20 then
      add(family, chain and "plain" or "rare", ("avax:%s:%s"):format(chain or "X", hex(bytes)), true)
    end
  elseif chain then return
  elseif WITNESS[prefix] or WITNESS_TEST[prefix] then segwit(prefix, words, constant, text, add)
  elseif PRIVATE[prefix] then
    local one = PRIVATE[prefix]
    if constant == one[2] then add(one[1], "rare", prefix .. ":" .. text:lower(), true) end
  elseif prefix == "ckt" then add("ckb", "test", nil, true)
  elseif prefix == "txch" then add("xch", "test", nil, true)
  elseif prefix == "suiprivkey" then add("move", "secret", nil, true)
  elseif ACCOUNTS[prefix] or OF_ETHEREUM[prefix] or IN_M[prefix] then
    if has_bytes then account(prefix, bytes, constant, add) end
  elseif prefix == "addr" or prefix == "stake" or prefix == "addr_test" or prefix == "stake_test" then
    if has_bytes then cardano(prefix, bytes, constant, add) end
  elseif prefix == "ckb" then
    if has_bytes then nervos(bytes, constant, add) end
  elseif prefix:find "..*valoper$" or prefix:find "..*valcons$" or prefix:find "..*pub$" then
    add("cosmos", "nothing", nil, true)
  end
end

-- cashaddr: with or without its prefix. A version byte has a kind and a size; of Kaspa it is a kind alone.
local function cashaddr(text, add)
  if text ~= text:lower() and text ~= text:upper() then return end
  local lower = text:lower()
  local front, body = lower:match "^([^:]*):(.*)$"
  body = body or lower
  for _, prefix in ipairs { "bitcoincash", "ecash", "kaspa", "bchtest", "bchreg", "ectest", "kaspatest" } do
    local bytes = (front or prefix) == prefix and codecs.cash(prefix, body)
    if bytes and #bytes > 0 and #text >= 40 then
      local family = prefix:find "^kaspa" and "kas" or prefix:find "^ec" and "xec" or "bch"
      local version = bytes:byte()
      if prefix:find "test$" or prefix == "bchreg" then add(family, "test", nil, true)
      elseif family == "kas" then
        local is_known = (version == 0 or version == 8) and #bytes == 33 or version == 1 and #bytes == 34
        if is_known then
          add("kas", front and text == lower and "plain" or "apart", "kas:" .. hex(bytes), true)
        end
      else
        local kind, size, is_script = version >> 3, version & 7, version >> 3 & 1 == 1
        if kind < 4 and (size == 0 and #bytes == 21 or size == 3 and #bytes == 33 and is_script) then
          add(family, family == "xec" and kind > 1 and "rare" or "plain",
            ("hash:%s:%s"):format(is_script and "s" or "p", hex(bytes:sub(2))), true)
        end
      end
    end
  end
end

-- SEP-23: a version, data, CRC-16 with its lower byte first; base32 without a bit too many.
local function stellar(text, add)
  local bytes = #text >= 56 and codecs.base32(text, codecs.UPPER)
  if not bytes or codecs.to_base32(bytes, codecs.UPPER) ~= text then return end
  if ("<I2"):pack(digests.crc16(bytes:sub(1, -3))) ~= bytes:sub(-2) then return end
  local version, data = bytes:byte() >> 3, bytes:sub(2, -3)
  if bytes:byte() & 7 ~= 0 then return end
  if version == 6 and #data == 32 then add("xlm", "plain", "xlm:" .. hex(data), true)
  elseif version == 12 and #data == 40 then
    add("xlm", "apart", "xlm:" .. hex(data:sub(1, 32)), true, M.unsigned(data:sub(33)))
  elseif version == 18 and #data == 32 then add("xlm", "secret", nil, true)
  elseif version == 2 and #data == 32 then add("xlm", "rare", "xlmc:" .. hex(data), true)
  elseif (version == 19 or version == 23 or version == 11) and #data == 32 or version == 1 and #data == 33
    or version == 15 and #data >= 40 and #data <= 100 then
    add("xlm", "nothing", nil, true)
  end
end

--- Returns eight bytes as a number without a sign, in digits.
function M.unsigned(bytes)
  local digits = codecs.convert({ bytes:byte(1, -1) }, 256, 10)
  return digits[1] and table.concat(digits) or "0"
end

local function algorand(text, add)
  local bytes = #text == 58 and codecs.base32(text, codecs.UPPER)
  if bytes and digests.sha512_256(bytes:sub(1, 32)):sub(-4) == bytes:sub(33) then
    add("algo", "plain", "algo:" .. hex(bytes:sub(1, 32)), true)
  end
end

--- Tells whether digits are a number of an account: of 63 bits, without zeros in front.
function M.is_number(digits)
  return (digits == "0" or not digits:find "^0") and (#digits < 19 or #digits == 19 and digits <= "9223372036854775807")
end

-- Filecoin: f or t, a protocol, and BLAKE2b of four bytes over the protocol and the account; f410f is Ethereum's.
local function filecoin(text, add)
  local network, id = text:match "^([ft])0(%d+)$"
  local state = text:sub(1, 1) == "t" and "test" or "plain"
  if id and M.is_number(id) then
    add("fil", state, network == "f" and "fil:0:" .. id or nil, false)
  end
  local protocol, rest = text:match "^[ft]([123])([a-z2-7]+)$"
  local delegated = text:match "^[ft]410f([a-z2-7]+)$"
  local bytes = (rest or delegated) and codecs.base32(rest or delegated, codecs.LOWER)
  if not bytes or #bytes ~= (protocol == "3" and 52 or 24) then return end
  local front = delegated and "\4\10" or string.char(tonumber(protocol))
  if digests.blake2b(front .. bytes:sub(1, -5), 4) ~= bytes:sub(-4) then return end
  local body = hex(bytes:sub(1, -5))
  local payee = delegated and "evm:" .. body or "fil:" .. protocol .. ":" .. body
  add("fil", state, state == "plain" and payee or nil, true)
end

-- The Internet Computer: an account of 32 bytes; a principal in groups of five; ICRC-1 with a sub-account.
local function principal(text)
  local plain = text:gsub("%-", "")
  local groups = plain:gsub(".....", "%0-"):gsub("%-$", "")
  local bytes = text == groups and codecs.base32(plain, codecs.LOWER)
  if not bytes or #bytes < 5 or #bytes > 33 or codecs.to_base32(bytes, codecs.LOWER) ~= plain then return nil end
  return digests.crc32(bytes:sub(5)) == bytes:sub(1, 4) and bytes:sub(5) or nil
end

local function internet_computer(text, add)
  if #text == 64 and text:find "^%x+$" then
    local bytes = codecs.unhex(text)
    if digests.crc32(bytes:sub(5)) == bytes:sub(1, 4) then add("icp", "plain", "icp:a:" .. hex(bytes:sub(5)), true) end
    return
  end
  local owner, sum, sub = text:match "^([a-z2-7-]+)%-(%w%w%w%w%w%w%w)%.(%x+)$"
  local bytes = principal(owner or text)
  if not bytes then return end
  if not owner then return add("icp", #bytes == 29 and "plain" or "rare", "icp:p:" .. hex(bytes), true) end
  if #sub > 64 or sub:find "^0" then return end
  local all = bytes .. codecs.unhex(("0"):rep(64 - #sub) .. sub)
  if codecs.base32(sum, codecs.LOWER) == digests.crc32(all) then add("icp", "rare", "icp:s:" .. hex(all), true) end
end

-- SIP-005: S, a version, and c32 of 20 bytes with four of a double SHA-256; a byte of zeros is a digit zero in front.
function M.to_c32(bytes)
  local zeros = #bytes:match "^\0*"
  return ("0"):rep(zeros) .. codecs.text(codecs.convert({ bytes:byte(1, -1) }, 256, 32), codecs.CROCKFORD)
end

local function stacks(text, add)
  local digits = #text < 80 and text:find "^S[PMTN]" and codecs.digits(text:sub(3), codecs.CROCKFORD)
  if not digits then return end
  local body = codecs.convert(digits, 32, 256)
  if #body > 24 then return end
  local bytes = ("\0"):rep(24 - #body) .. string.char(table.unpack(body))
  local version = codecs.digits(text:sub(2, 2), codecs.CROCKFORD)[1]
  if M.to_c32(bytes) ~= text:sub(3) then return end
  if codecs.twice(string.char(version) .. bytes:sub(1, 20)):sub(1, 4) ~= bytes:sub(21) then return end
  local is_main = version == 22 or version == 20
  add("stx", is_main and "plain" or "test", is_main and ("stx:%02x%s"):format(version, hex(bytes:sub(1, 20))), true)
end

-- Nano: 52 digits of a key, four bits of zeros in front, and five bytes of BLAKE2b turned around.
local function nano(text, add)
  local body = text:match "^nano_(%w+)$" or text:match "^xrb_(%w+)$"
  local digits = body and #body == 60 and codecs.digits(body, codecs.NANO)
  if not digits or digits[1] > 1 then return end
  local key = codecs.convert({ table.unpack(digits, 1, 52) }, 32, 256)
  local bytes = ("\0"):rep(32 - #key) .. string.char(table.unpack(key))
  local sum = codecs.bytes { table.unpack(digits, 53) }
  if digests.blake2b(bytes, 5):reverse() == sum then add("xno", "plain", "xno:" .. hex(bytes), true) end
end

-- TEP-2: a tag (11 or 51, 80 for a test), a workchain, an account, CRC-16; the raw form has no checksum.
local function ton(text, add)
  local chain, raw = text:match "^(%-?[01]):(%x+)$"
  if raw and #raw == 64 and (chain == "0" or chain == "-1") then
    add("ton", "apart", ("ton:%s:%s"):format(chain, raw:lower()), false)
  end
  local bytes = #text == 48 and text:find "^[%w+/_-]+$" and codecs.base64(text)
  if not bytes or (">I2"):pack(digests.crc16(bytes:sub(1, 34))) ~= bytes:sub(35) then return end
  local tag, workchain = bytes:byte(1) & 0x7F, ("i1"):unpack(bytes, 2)
  if tag ~= 0x11 and tag ~= 0x51 or workchain ~= 0 and workchain ~= -1 then return end
  local is_test = bytes:byte(1) > 0x7F
  add("ton", is_test and "test" or "plain", not is_test
    and ("ton:%d:%s"):format(workchain, hex(bytes:sub(3, 34))) or nil, true)
end

-- Families in Base58 with a checksum of their own.
local function polkadot(bytes, add)
  local first, second = bytes:byte(1, 2)
  local size = first < 64 and 1 or 2
  if #bytes ~= size + 34 or first > 127 then return end
  local prefix = size == 1 and first or (first & 63) << 2 | second >> 6 | (second & 63) << 8
  if size == 2 and prefix < 64 then return end -- must be written with one byte
  if digests.blake2b("SS58PRE" .. bytes:sub(1, -3), 64):sub(1, 2) ~= bytes:sub(-2) then return end
  add("ss58/" .. prefix, "plain", "ss58:" .. hex(bytes:sub(size + 1, -3)), true)
end

local function waves(bytes, add)
  local chain = bytes:sub(2, 2)
  if #bytes ~= 26 or bytes:byte() ~= 1 or chain ~= "W" and chain ~= "T" then return end
  if digests.keccak256(digests.blake2b(bytes:sub(1, 22), 32)):sub(1, 4) ~= bytes:sub(23) then return end
  add("waves", chain == "W" and "plain" or "test", chain == "W" and "waves:" .. hex(bytes:sub(3, 22)) or nil, true)
end

local function ergo(bytes, add)
  local network, kind = bytes:byte() >> 4, bytes:byte() & 15
  local is_key = kind == 1 and #bytes == 38 and (bytes:byte(2) == 2 or bytes:byte(2) == 3)
  local is_script = kind == 2 and #bytes == 29
  if network > 1 or not is_key and not is_script then return end
  if digests.blake2b(bytes:sub(1, -5), 32):sub(1, 4) ~= bytes:sub(-4) then return end
  if network == 1 then return add("erg", "test", nil, true) end
  add("erg", is_key and "plain" or "rare", (is_key and "erg:" or "erg:s:") .. hex(bytes:sub(2, -5)), true)
end

-- Byron of Cardano: CBOR of [tag 24 of bytes, CRC-32]; the bytes are [root, attributes, kind].
local function byron(bytes, add)
  local size = bytes:match "^\x82\xd8\x18\x58(.)"
  size = size and size:byte()
  if not size or size < 33 or #bytes ~= size + 10 or bytes:byte(size + 6) ~= 0x1a then return end
  local inner = bytes:sub(6, size + 5)
  if digests.crc32(inner) ~= bytes:sub(-4) or not inner:find "^\x83\x58\x1c" then return end
  local count, at, is_test = inner:byte(32) - 0xa0, 33, false
  if count < 0 or count > 3 then return end
  for _ = 1, count do
    local key, head, long = inner:byte(at, at + 2)
    if not head then return end
    if head == 0x58 and long then at = at + 3 + long
    elseif head >= 0x40 and head < 0x58 then at = at + 2 + head - 0x40
    else return end
    is_test = is_test or key == 2
  end
  if at ~= #inner then return end -- the kind is one byte
  add("ada", is_test and "test" or "plain", not is_test and "ada:" .. hex(bytes) or nil, true)
end

-- Monero: blocks of eleven digits are eight bytes each, the rest of seven is five; four bytes of Keccak.
local function monero(text, add)
  if #text ~= 95 and #text ~= 106 then return end
  local bytes = ""
  for from = 1, #text, 11 do
    local block = text:sub(from, from + 10)
    local digits = codecs.digits(block, codecs.BITCOIN)
    local part, size = codecs.convert(digits or {}, 58, 256), #block == 11 and 8 or 5
    if not digits or #part > size then return end
    bytes = bytes .. ("\0"):rep(size - #part) .. string.char(table.unpack(part))
  end
  if digests.keccak256(bytes:sub(1, -5)):sub(1, 4) ~= bytes:sub(-4) then return end
  local kind = bytes:byte()
  if (kind == 18 or kind == 42) and #bytes == 69 or kind == 19 and #bytes == 77 then
    add("xmr", "plain", ("xmr:%d:%s"):format(kind, hex(bytes:sub(2, -5))), true)
  elseif kind == 53 or kind == 54 or kind == 63 or kind == 24 or kind == 25 or kind == 36 then
    add("xmr", "test", nil, true)
  end
end

-- EIP-55, and EIP-1191 of chain 30.
function M.in_case(digits, chain)
  local lower = digits:lower()
  local sum = hex(digests.keccak256((chain or "") .. lower))
  return (lower:gsub("()(%l)", function(at, letter)
    return tonumber(sum:sub(at, at), 16) > 7 and letter:upper() or letter
  end))
end

local function evm(text, add)
  local front, digits = text:sub(1, -41), text:sub(-40)
  if #digits ~= 40 or not digits:find "^%x+$" then return end
  local is_one_case = digits == digits:lower() or digits == digits:upper()
  local is_right = is_one_case or digits == M.in_case(digits)
  local payee = "evm:" .. digits:lower()
  if front == "0x" then
    local family = is_right and "evm" or digits == M.in_case(digits, "300x") and "rsk" or "hex40"
    add(family, family == "hex40" and "rare" or "plain", payee, family ~= "hex40" and not is_one_case)
  elseif is_right and (front == "xdc" or front == "ronin:") then add(front:sub(1, 3), "plain", payee, not is_one_case)
  elseif is_right and (front == "" or front == "0X") then add("evm", "apart", payee, not is_one_case)
  elseif front == "41" and is_one_case then add("trx", "apart", "hash:41:" .. digits:lower(), false) end
end

local PRIME = "0800000000000011000000000000000000000000000000000000000000000001"

local function long_hex(text, add)
  local digits = text:match "^0x(%x+)$"
  if not digits or #digits > 64 then return end
  local whole = ("0"):rep(64 - #digits) .. digits:lower()
  local payee = "hex:" .. whole:gsub("^0+", "")
  if #digits == 64 then add("move", "plain", payee, false)
  elseif #digits >= 61 or #digits == 1 then add("move", "rare", payee, false) end
  if #digits >= 55 and whole < PRIME and whole > ("0"):rep(63) .. "1" then add("strk", "plain", payee, false) end
  if #digits == 16 and digits == digits:lower() then add("flow", "plain", "flow:" .. digits, false) end
end

-- HIP-15: five letters of a checksum behind the number.
function M.hip15(number)
  local sum, sums, count = 0, { [0] = 0, 0 }, 0
  for c in ("0.0." .. number):gmatch "." do
    local value = c == "." and 10 or tonumber(c)
    sum = (31 * sum + value) % 17576
    sums[count % 2] = (sums[count % 2] + value) % 11
    count = count + 1
  end
  local check = ((count % 5 * 11 + sums[0]) * 11 + sums[1]) * 17576 + sum
  check = check % 11881376 * 1000003 % 11881376
  local out = ""
  for _ = 1, 5 do out, check = string.char(97 + check % 26) .. out, check // 26 end
  return out
end

local function hedera(text, add)
  local number, behind = text:match "^0%.0%.(%d+)(.*)$"
  if not number or not M.is_number(number) then return end
  if behind == "" then return add("hbar", "plain", "hbar:" .. number, false) end
  if behind == "-" .. M.hip15(number) then add("hbar", "plain", "hbar:" .. number, true) end
end

-- Forms without a checksum.
local function unchecked(text, add)
  local last = (codecs.BASE64:gsub("%+/", "-_")):find(text:sub(43, 43), 1, true)
  if #text == 43 and text:find "^[%w_-]+$" and (last - 1) % 4 == 0 then add("ar", "plain", "ar:" .. text, false) end
  if #text <= 12 and text:find "^[a-z1-5.]*[a-z1-5]$" then add("eos", "plain", "name:" .. text, false) end
  local is_name = #text >= 2 and #text <= 64 and text:find "^[a-z0-9][a-z0-9._-]*$" and text:find "[a-z0-9]$"
    and not text:find "[._-][._-]"
  if is_name then
    local is_usual = #text == 64 and text:find "^%x+$" or text:find "%.near$" or text:find "%.tg$"
    add("near", is_usual and "plain" or "rare", "name:" .. text, false)
  end
end

-- A checksum, a form that is written apart, and these forms of hex and numbers rule out the forms without one.
local SURE = { hbar = true, fil = true, evm = true, ron = true, xdc = true }

--- Reads a text as every family that it can be one of: a set of lines "family state payee memo checked".
---@param text string
---@return string[]
function M.read(text)
  local list, is_sure = {}, false
  local function add(family, state, payee, is_checked, memo)
    list[#list + 1] = ("%s %s %s %s %s"):format(family, state, payee or "-", memo or "-", tostring(is_checked))
    is_sure = is_sure or is_checked or state == "apart" or SURE[family] or false
  end
  if not text:find "^[!-~]+$" or #text > 255 then return list end
  for _, one in ipairs { base58check, ripple, bech32, cashaddr, stellar, algorand, filecoin, internet_computer, stacks,
    nano, ton, monero } do
    one(text, add)
  end
  local bytes = #text >= 32 and #text <= 160 and codecs.base58(text, codecs.BITCOIN)
  if bytes then
    for _, one in ipairs { polkadot, waves, ergo, byron } do one(bytes, add) end
    if not list[1] and #bytes == 32 then add("sol", "plain", "sol:" .. hex(bytes), false) end
    if not list[1] and #bytes == 64 then add("sol", "nothing", nil, false) end
  end
  hedera(text, add)
  evm(text, add)
  long_hex(text, add)
  if not is_sure then unchecked(text, add) end
  table.sort(list)
  return list
end

return M

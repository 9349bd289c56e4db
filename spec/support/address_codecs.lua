-- SPDX-License-Identifier: MIT
-- Codecs of addresses by their documents, in both directions, for Lua 5.4: Base58, Bech32 (BIP 173, BIP 350), cashaddr,
-- base32 and base64 (RFC 4648), Crockford's base32. Slow, and short enough to be read beside the documents.

local core = require "purser.core"

local M = {}

M.BITCOIN = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
M.RIPPLE = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
M.BECH = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
M.UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
M.LOWER = M.UPPER:lower()
M.NANO = "13456789abcdefghijkmnopqrstuwxyz"
M.CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
M.BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- Returns the values of a text's digits; nil where one is none.
function M.digits(text, alphabet)
  local out = {}
  for i = 1, #text do
    local at = alphabet:find(text:sub(i, i), 1, true)
    if not at then return nil end
    out[i] = at - 1
  end
  return out
end

--- Returns the text of digits.
function M.text(digits, alphabet)
  local out = {}
  for i, digit in ipairs(digits) do out[i] = alphabet:sub(digit + 1, digit + 1) end
  return table.concat(out)
end

--- Writes a number, given by its digits in one base, in another base; without zeros in front.
function M.convert(digits, from, to)
  local out = {} -- least first
  for _, digit in ipairs(digits) do
    local carry = digit
    for i = 1, #out do
      carry = carry + out[i] * from
      out[i], carry = carry % to, carry // to
    end
    while carry > 0 do out[#out + 1], carry = carry % to, carry // to end
  end
  local turned = {}
  for i = #out, 1, -1 do turned[#turned + 1] = out[i] end
  return turned
end

local function bytes_of(list) return (string.char(table.unpack(list))) end

local function list_of(bytes) return { bytes:byte(1, -1) } end

--- Base58: each digit zero in front is a byte of zeros.
function M.base58(text, alphabet)
  local digits = M.digits(text, alphabet)
  if not digits then return nil end
  local zeros = 0
  while digits[zeros + 1] == 0 do zeros = zeros + 1 end
  return ("\0"):rep(zeros) .. bytes_of(M.convert(digits, 58, 256))
end

function M.to_base58(bytes, alphabet)
  local zeros = #bytes:match "^\0*"
  return alphabet:sub(1, 1):rep(zeros) .. M.text(M.convert(list_of(bytes), 256, 58), alphabet)
end

local function twice(bytes) return core.sha256(core.sha256(bytes)) end
M.twice = twice

function M.base58check(text, alphabet)
  local bytes = M.base58(text, alphabet)
  if not bytes or #bytes < 5 then return nil end
  local body = bytes:sub(1, -5)
  return twice(body):sub(1, 4) == bytes:sub(-4) and body or nil
end

function M.to_base58check(body, alphabet) return M.to_base58(body .. twice(body):sub(1, 4), alphabet) end

--- Five bits a digit to bytes; nil where more than four bits are left, or one of them is not zero.
function M.bytes(words)
  local kept, bits, out = 0, 0, {}
  for _, word in ipairs(words) do
    kept, bits = kept << 5 | word, bits + 5
    if bits >= 8 then
      bits = bits - 8
      out[#out + 1], kept = kept >> bits, kept & (1 << bits) - 1
    end
  end
  return bits < 5 and kept == 0 and bytes_of(out) or nil
end

--- Bytes to five bits a digit, with zeros at the end.
function M.words(bytes)
  local kept, bits, out = 0, 0, {}
  for i = 1, #bytes do
    kept, bits = kept << 8 | bytes:byte(i), bits + 8
    while bits >= 5 do
      bits = bits - 5
      out[#out + 1], kept = kept >> bits, kept & (1 << bits) - 1
    end
  end
  if bits > 0 then out[#out + 1] = kept << (5 - bits) end
  return out
end

function M.base32(text, alphabet)
  local words = M.digits(text, alphabet)
  return words and M.bytes(words)
end

function M.to_base32(bytes, alphabet) return M.text(M.words(bytes), alphabet) end

local function remainder(words, generators, low)
  local sum = 1
  for _, word in ipairs(words) do
    local top = sum >> low
    sum = (sum & (1 << low) - 1) << 5 ~ word
    for i, generator in ipairs(generators) do
      if top >> (i - 1) & 1 == 1 then sum = sum ~ generator end
    end
  end
  return sum
end

local BECH32 = { 0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3 }
local CASH = { 0x98f2bc8e61, 0x79b76d99e2, 0xf33e5fb3c4, 0xae2eabe2a8, 0x1e4f43e470 }
M.M = 0x2bc830a3

local function bech32_words(prefix, words)
  local all = {}
  for i = 1, #prefix do all[#all + 1] = prefix:byte(i) >> 5 end
  all[#all + 1] = 0
  for i = 1, #prefix do all[#all + 1] = prefix:byte(i) & 31 end
  return table.move(words, 1, #words, #all + 1, all)
end

local function is_mixed(text) return text ~= text:lower() and text ~= text:upper() end

--- Returns prefix, words and constant.
function M.bech32(text)
  if is_mixed(text) then return nil end
  local prefix, data = text:lower():match "^(.+)1([^1]*)$"
  local words = data and #data >= 6 and M.digits(data, M.BECH)
  if not words then return nil end
  local constant = remainder(bech32_words(prefix, words), BECH32, 25)
  return prefix, { table.unpack(words, 1, #words - 6) }, constant
end

function M.to_bech32(prefix, words, constant)
  local all = bech32_words(prefix, words)
  for _ = 1, 6 do all[#all + 1] = 0 end
  local sum, out = remainder(all, BECH32, 25) ~ constant, { table.unpack(words) }
  for i = 5, 0, -1 do out[#out + 1] = sum >> 5 * i & 31 end
  return prefix .. "1" .. M.text(out, M.BECH)
end

local function cash_words(prefix, words)
  local all = {}
  for i = 1, #prefix do all[i] = prefix:byte(i) & 31 end
  all[#all + 1] = 0
  return table.move(words, 1, #words, #all + 1, all)
end

--- Returns the bytes of a body of cashaddr under a prefix.
function M.cash(prefix, body)
  local words = #body > 8 and M.digits(body, M.BECH)
  if not words or remainder(cash_words(prefix, words), CASH, 35) ~= 1 then return nil end
  return M.bytes { table.unpack(words, 1, #words - 8) }
end

function M.to_cash(prefix, bytes)
  local words = M.words(bytes)
  local all = cash_words(prefix, words)
  for _ = 1, 8 do all[#all + 1] = 0 end
  local sum = remainder(all, CASH, 35) ~ 1
  for i = 7, 0, -1 do words[#words + 1] = sum >> 5 * i & 31 end
  return M.text(words, M.BECH)
end

--- Base64 without a rest, in either alphabet.
function M.base64(text)
  local digits = M.digits(text:gsub("%-", "+"):gsub("_", "/"), M.BASE64)
  return digits and bytes_of(M.convert_bits(digits))
end

--- Six bits a digit to bytes.
function M.convert_bits(digits)
  local out = {}
  for i = 1, #digits, 4 do
    local all = digits[i] << 18 | digits[i + 1] << 12 | digits[i + 2] << 6 | digits[i + 3]
    for shift = 16, 0, -8 do out[#out + 1] = all >> shift & 255 end
  end
  return out
end

function M.to_base64(bytes)
  local out = {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local all = a << 16 | b << 8 | c
    for shift = 18, 0, -6 do out[#out + 1] = all >> shift & 63 end
  end
  return M.text(out, M.BASE64)
end

function M.hex(bytes) return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end

function M.unhex(text) return (text:gsub("%x%x", function(two) return string.char(tonumber(two, 16)) end)) end

return M

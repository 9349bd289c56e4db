-- SPDX-License-Identifier: MIT
-- Digests of addresses by their documents, slowly, for Lua 5.4: Keccak (FIPS 202 with Ethereum's padding), BLAKE2b
-- (RFC 7693), SHA-512/256 (FIPS 180-4), CRC-16 (XMODEM) and CRC-32 (IEEE). Constants are computed, not copied.

local M = {}

local function rotated(x, n) return x >> n | x << (64 - n) end

-- Bits of the square or cube root of a prime behind the point: FIPS 180-4 and RFC 7693 take their constants from there.
-- Numbers are lists of 16 bits, the least first.
local function product(a, b)
  local out = {}
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local at = i + j - 1
      carry = carry + (out[at] or 0) + a[i] * b[j]
      out[at], carry = carry & 0xFFFF, carry >> 16
    end
    out[i + #b] = carry
  end
  return out
end

local function is_above(a, b)
  for i = math.max(#a, #b), 1, -1 do
    local one, other = a[i] or 0, b[i] or 0
    if one ~= other then return one > other end
  end
  return false
end

local function root_bits(prime, power)
  local target, root = {}, { 0, 0, 0, 0, 0 }
  for i = 1, 4 * power do target[i] = 0 end
  target[4 * power + 1] = prime
  for bit = 79, 0, -1 do
    local limb, mask = bit // 16 + 1, 1 << bit % 16
    root[limb] = root[limb] | mask
    local raised = root
    for _ = 2, power do raised = product(raised, root) end
    if is_above(raised, target) then root[limb] = root[limb] & ~mask end
  end
  return root[4] << 48 | root[3] << 32 | root[2] << 16 | root[1]
end

local IV, K, found, candidate = {}, {}, 0, 2
while found < 80 do
  local is_prime = true
  for divisor = 2, math.floor(candidate ^ 0.5) do is_prime = is_prime and candidate % divisor ~= 0 end
  if is_prime then
    found = found + 1
    K[found] = root_bits(candidate, 3)
    if found <= 8 then IV[found] = root_bits(candidate, 2) end
  end
  candidate = candidate + 1
end

------------------------------------------------------------------------------------------------------------- SHA-512

local function sha512_state(state, data)
  data = data .. "\128" .. ("\0"):rep((111 - #data) % 128 + 8) .. (">I8"):pack(#data * 8)
  for at = 1, #data, 128 do
    local w = { (">" .. ("i8"):rep(16)):unpack(data, at) }
    for t = 17, 80 do
      local x, y = w[t - 15], w[t - 2]
      x, y = rotated(x, 1) ~ rotated(x, 8) ~ x >> 7, rotated(y, 19) ~ rotated(y, 61) ~ y >> 6
      w[t] = w[t - 16] + x + w[t - 7] + y
    end
    local a, b, c, d, e, f, g, h = table.unpack(state)
    for t = 1, 80 do
      local one = h + (rotated(e, 14) ~ rotated(e, 18) ~ rotated(e, 41)) + (e & f ~ ~e & g) + K[t] + w[t]
      local two = (rotated(a, 28) ~ rotated(a, 34) ~ rotated(a, 39)) + (a & b ~ a & c ~ b & c)
      a, b, c, d, e, f, g, h = one + two, a, b, c, d + one, e, f, g
    end
    for i, value in ipairs { a, b, c, d, e, f, g, h } do state[i] = state[i] + value end
  end
  return state
end

function M.sha512_256(data)
  local state = {}
  for i = 1, 8 do state[i] = IV[i] ~ 0xa5a5a5a5a5a5a5a5 end
  state = sha512_state(state, "SHA-512/256")
  return ((">" .. ("i8"):rep(8)):pack(table.unpack(sha512_state(state, data)))):sub(1, 32)
end

------------------------------------------------------------------------------------------------------------- BLAKE2b

local SIGMA = {
  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
  { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
  { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
  { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
  { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
}
local COLUMNS = { { 1, 5, 9, 13 }, { 2, 6, 10, 14 }, { 3, 7, 11, 15 }, { 4, 8, 12, 16 },
  { 1, 6, 11, 16 }, { 2, 7, 12, 13 }, { 3, 8, 9, 14 }, { 4, 5, 10, 15 } }

--- Returns BLAKE2b of at most 128 bytes, which every address has.
function M.blake2b(data, size)
  assert(#data <= 128)
  local state, v = { table.unpack(IV) }, {}
  state[1] = state[1] ~ 0x01010000 ~ size
  local m = { ("<" .. ("i8"):rep(16)):unpack(data .. ("\0"):rep(128 - #data)) }
  for i = 1, 8 do v[i], v[i + 8] = state[i], IV[i] end
  v[13], v[15] = v[13] ~ #data, ~v[15]
  for round = 0, 11 do
    local s = SIGMA[round % 10 + 1]
    for i, column in ipairs(COLUMNS) do
      local a, b, c, d = table.unpack(column)
      v[a] = v[a] + v[b] + m[s[2 * i - 1] + 1]
      v[d] = rotated(v[d] ~ v[a], 32)
      v[c] = v[c] + v[d]
      v[b] = rotated(v[b] ~ v[c], 24)
      v[a] = v[a] + v[b] + m[s[2 * i] + 1]
      v[d] = rotated(v[d] ~ v[a], 16)
      v[c] = v[c] + v[d]
      v[b] = rotated(v[b] ~ v[c], 63)
    end
  end
  for i = 1, 8 do state[i] = state[i] ~ v[i] ~ v[i + 8] end
  return (("<" .. ("i8"):rep(8)):pack(table.unpack(state))):sub(1, size)
end

-------------------------------------------------------------------------------------------------------------- Keccak

-- Offsets and bits of the rounds as FIPS 202 computes them (3.2.2, 3.2.5).
local OFFSETS, ROUND = {}, {}
do
  local x, y = 1, 0
  for t = 0, 23 do
    OFFSETS[5 * y + x] = (t + 1) * (t + 2) // 2 % 64
    x, y = y, (2 * x + 3 * y) % 5
  end
  local register = 1
  for round = 1, 24 do
    ROUND[round] = 0
    for j = 0, 6 do
      if register & 1 == 1 then ROUND[round] = ROUND[round] | 1 << ((1 << j) - 1) end
      register = register & 0x80 ~= 0 and (register << 1 ~ 0x171) & 0xFF or register << 1
    end
  end
end

local function keccak_f(a)
  for round = 1, 24 do
    local c, b = {}, {}
    for x = 0, 4 do c[x] = a[x] ~ a[x + 5] ~ a[x + 10] ~ a[x + 15] ~ a[x + 20] end
    for x = 0, 4 do
      local d = c[(x + 4) % 5] ~ rotated(c[(x + 1) % 5], 63)
      for y = 0, 20, 5 do a[x + y] = a[x + y] ~ d end
    end
    for x = 0, 4 do
      for y = 0, 4 do
        b[5 * ((2 * x + 3 * y) % 5) + y] = rotated(a[5 * y + x], 64 - (OFFSETS[5 * y + x] or 0))
      end
    end
    for x = 0, 4 do
      for y = 0, 20, 5 do a[x + y] = b[x + y] ~ ~b[(x + 1) % 5 + y] & b[(x + 2) % 5 + y] end
    end
    a[0] = a[0] ~ ROUND[round]
  end
end

--- Returns Keccak-256 of less than 136 bytes.
function M.keccak256(data)
  assert(#data < 136)
  local block = data .. "\1" .. ("\0"):rep(135 - #data)
  block = block:sub(1, 135) .. string.char(block:byte(136) | 0x80)
  local a = {}
  for i = 0, 24 do a[i] = i < 17 and ("<i8"):unpack(block, 8 * i + 1) or 0 end
  keccak_f(a)
  return ("<i8i8i8i8"):pack(a[0], a[1], a[2], a[3])
end

--------------------------------------------------------------------------------------------------------------- CRCs

function M.crc16(data)
  local crc = 0
  for i = 1, #data do
    crc = crc ~ data:byte(i) << 8
    for _ = 1, 8 do crc = (crc & 0x8000 ~= 0 and crc << 1 ~ 0x1021 or crc << 1) & 0xFFFF end
  end
  return crc
end

function M.crc32(data)
  local crc = 0xFFFFFFFF
  for i = 1, #data do
    crc = crc ~ data:byte(i)
    for _ = 1, 8 do crc = crc & 1 == 1 and crc >> 1 ~ 0xEDB88320 or crc >> 1 end
  end
  return (">I4"):pack(crc ~ 0xFFFFFFFF)
end

return M

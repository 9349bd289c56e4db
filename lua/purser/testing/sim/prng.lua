-- SPDX-License-Identifier: MIT
-- A seeded generator of integers and texts, equal on every Lua: Lehmer's, modulo 2^31 - 1, whose products stay below
-- 2^46, exact in doubles. The generator draws faults, and the simulator's worthless keys, addresses and ids.

local MODULUS, FACTOR = 2147483647, 16807 -- each number is below the modulus

local Dice = {}
Dice.__index = Dice
Dice.__name = "purser.sim.dice"

local M = { MODULUS = MODULUS }

--- Alphabets of texts.
M.HEX = "0123456789abcdef"
M.DIGITS = "0123456789"
M.BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
M.BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
M.BECH32 = "023456789acdefghjklmnpqrstuvwxyz"
M.LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

--- Makes a generator of an integer or of a snapshot; plain data. Texts as `salt` give independent sequences of a seed.
function M.new(seed, salt, saved)
  if saved then return setmetatable(saved, Dice) end
  local state = seed % MODULUS
  for i = 1, #(salt or "") do state = (state * 31 + salt:byte(i)) % MODULUS end
  local dice = setmetatable({ state = state == 0 and 1 or state }, Dice)
  for _ = 1, 4 do dice:next() end -- neighbouring seeds part ways
  return dice
end

function Dice:next()
  self.state = self.state * FACTOR % MODULUS
  return self.state
end

--- Returns an integer from 1 to n.
function Dice:roll(n)
  return self:next() % n + 1
end

--- Returns a text of `length` characters of `alphabet`.
function Dice:text(length, alphabet)
  local bytes, size = {}, #alphabet
  for i = 1, length do
    local at = self:roll(size)
    bytes[i] = alphabet:sub(at, at)
  end
  return table.concat(bytes)
end

return M

-- SPDX-License-Identifier: MIT
-- Texts drawn by the simulator's dice: keys, secrets, addresses, transaction ids. One seed gives the same texts again.

local M = {}

M.HEX = "0123456789abcdef"
M.DIGITS = "0123456789"
M.BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
M.BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
M.BECH32 = "023456789acdefghjklmnpqrstuvwxyz"
M.LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

--- `length` characters of `alphabet`.
---@param dice table  purser.sim.dice
function M.draw(dice, length, alphabet)
  local bytes, size = {}, #alphabet
  for i = 1, length do
    local at = dice:roll(size)
    bytes[i] = alphabet:sub(at, at)
  end
  return table.concat(bytes)
end

return M

-- SPDX-License-Identifier: MIT
-- Compares two plain values, 1 and 1.0 being two: busted's comparison does not distinguish them.

local kind_of = math.type or type -- hosts before Lua 5.3 know one kind of number

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b and kind_of(a) == kind_of(b) and type(a) == type(b) end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

return same

-- SPDX-License-Identifier: MIT
-- Numbers by chance that a seed repeats:
--
--   local random = require("seeded")(42)
--   random(6)   from 1 to 6

--- Returns a generator of numbers from 1 to n, always the same for a seed.
return function(seed)
  local state = seed * 7919 % 2147483647 + 1
  return function(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
end

-- SPDX-License-Identifier: MIT
-- The simulator's dice: the same on every Lua, so that a seed replays a run anywhere.

local prng = require "purser.testing.sim.prng"

local function rolls(dice, count, sides)
  local list = {}
  for i = 1, count do list[i] = dice:roll(sides) end
  return table.concat(list, " ")
end

describe("the simulator's dice", function()
  it("give the same numbers and texts for a seed and a salt on every Lua, and others for others", function()
    assert.equal("24 22 6 73 37 31 31 50", rolls(prng.new(7, "faults"), 8, 100))
    assert.equal("719c8669f7fe664c", prng.new(7, "faults"):text(16, prng.HEX))
    local seen = {}
    for seed = 1, 50 do
      for _, salt in ipairs { "a", "b", "ab", "ba" } do
        local text = prng.new(seed, salt):text(12, prng.LETTERS_AND_DIGITS)
        assert.is_nil(seen[text])
        seen[text] = true
      end
    end
  end)

  it("take every whole seed, 0, negative and very large ones too", function()
    for _, seed in ipairs { 0, -1, 2147483647, -2147483647, 2 ^ 53, -2 ^ 53 } do
      local dice, seen = prng.new(seed), {}
      for _ = 1, 200 do
        local roll = dice:roll(6)
        assert.is_true(roll >= 1 and roll <= 6 and roll % 1 == 0)
        seen[roll] = true
      end
      assert.equal(6, #seen, ("seed %g"):format(seed))
    end
  end)

  it("draw texts of their alphabet alone, of any length", function()
    local dice = prng.new(5)
    assert.equal("", dice:text(0, prng.HEX))
    local text = dice:text(2000, prng.BASE58)
    assert.equal(2000, #text)
    assert.is_nil(text:find "[^1-9A-HJ-NP-Za-km-z]")
    for i = 1, #prng.BASE58 do assert.is_truthy(text:find(prng.BASE58:sub(i, i), 1, true)) end
  end)

  it("go on from their state as if nothing had happened", function()
    local first, second = prng.new(9), prng.new(1)
    rolls(first, 10, 6)
    second.state = first.state
    assert.equal(rolls(first, 20, 1000), rolls(second, 20, 1000))
  end)
end)

-- SPDX-License-Identifier: MIT
-- The torture on virtual time: one seed is one run. rehearsal_long_test.lua has more seeds, and `make rehearse`
-- as many as one likes.
-- make test: 15 s, a third

local core = require "purser.core"
local draws = require "draws"
local rehearsal = dofile "spec/torture/rehearsal.lua"

local folder

before_each(function() folder = rehearsal.folder() end)

after_each(function() os.execute("rm -r " .. folder) end)

describe("the controls", function()
  for name, control in pairs(dofile "spec/torture/controls.lua") do
    it("change lines that stand in the source: " .. name, function() rehearsal.changed_loaders(control.changed) end)
  end
end)

describe("the rehearsal", function()
  for seed = 1, draws.of(12) do
    it("makes every payment once, seed " .. seed, function()
      local options = rehearsal.varied(seed, folder)
      local result = rehearsal.run(options)
      assert.same({}, result.problems)
      assert.equal(options.payments, result.done + result.undecided)
    end)
  end

  it("kills, and loses nothing", function()
    local result = rehearsal.run { seed = 5, folder = folder, dies_once_in = 60 }
    assert.is_true(result.deaths >= 10, result.deaths .. " deaths")
    assert.same({}, result.problems)
  end)

  it("is the same run whenever it is run", function()
    local first = rehearsal.run { seed = 9, folder = folder }
    os.execute("rm " .. folder .. "/*")
    rehearsal.run { seed = 10, folder = folder }
    local second = rehearsal.run { seed = 9, folder = folder }
    assert.same(first, second)
    assert.is_true(first.events > 500)
  end)

  it("gives the clocks back", function()
    local before = core.now_ms
    rehearsal.run { seed = 1, folder = folder, payments = 1 }
    assert.equal(before, core.now_ms)
  end)

  it("comes out wrong without the record before the request", function()
    local wrong = 0
    for seed = 1, 3 do
      local result = rehearsal.run { seed = seed, folder = folder, writes_late = true, dies_once_in = 60 }
      if #result.problems > 0 then wrong = wrong + 1 end
    end
    assert.equal(3, wrong)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The torture on virtual time: one seed is one run. `make rehearse` runs as many seeds as one likes.

local core = require "purser.core"
local controls = dofile "spec/torture/controls.lua"
local rehearsal = dofile "spec/torture/rehearsal.lua"

local folder

before_each(function() folder = rehearsal.folder() end)

after_each(function() os.execute("rm -r " .. folder) end)

describe("the rehearsal", function()
  for seed = 1, 60 do
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

  it("makes every payment once when an older copy of the journal is put back", function()
    for seed = 1, 4 do
      local result = rehearsal.run { seed = seed, folder = folder, check = true, puts_back = true, payments = 40,
        dies_once_in = 4000 }
      assert.same({}, result.problems)
    end
  end)

  it("comes out wrong when a copy is put back and nobody looks at the histories", function()
    local wrong = 0
    for seed = 1, 4 do
      local result = rehearsal.run { seed = seed, folder = folder, puts_back = true, payments = 40,
        dies_once_in = 4000 }
      if #result.problems > 0 then wrong = wrong + 1 end
    end
    assert.is_true(wrong > 0)
  end)

  it("comes out wrong without the record before the request", function()
    local wrong = 0
    for seed = 1, 3 do
      local result = rehearsal.run { seed = seed, folder = folder, writes_late = true, dies_once_in = 60 }
      if #result.problems > 0 then wrong = wrong + 1 end
    end
    assert.equal(3, wrong)
  end)

  -- The first of 30 seeds that comes out wrong with a control's change.
  local function find_wrong(control)
    for seed = control.seed, control.seed + 29 do
      local options = rehearsal.varied(seed, folder)
      for option, value in pairs(control.options or {}) do options[option] = value end
      options.changed = control.changed
      local problems = rehearsal.run(options).problems
      os.execute(("rm -f %s/journal-*"):format(folder))
      if #problems > 0 then return options end
    end
  end

  for name, control in pairs(controls) do
    it("comes out wrong when " .. name, function()
      local options = assert(find_wrong(control))
      options.changed = nil
      assert.same({}, rehearsal.run(options).problems)
    end)
  end
end)

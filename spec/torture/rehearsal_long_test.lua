-- SPDX-License-Identifier: MIT
-- More seeds of the torture on virtual time, a journal that is put back, and the controls. Each takes one safeguard out
-- and must come out wrong.
-- make test-all: 90 s

local controls = dofile "spec/torture/controls.lua"
local rehearsal = dofile "spec/torture/rehearsal.lua"

local folder

before_each(function() folder = rehearsal.folder() end)

after_each(function() os.execute("rm -r " .. folder) end)

describe("the rehearsal", function()
  for seed = 13, 24 do
    it("makes every payment once, seed " .. seed, function()
      local options = rehearsal.varied(seed, folder)
      local result = rehearsal.run(options)
      assert.same({}, result.problems)
      assert.equal(options.payments, result.done + result.undecided)
    end)
  end

  it("makes every payment once when an older copy of the journal is put back", function()
    for seed = 1, 4 do
      local result = rehearsal.run { seed = seed, folder = folder, check = true, puts_back = true, payments = 40,
        dies_once_in = 4000 }
      assert.same({}, result.problems)
    end
  end)

  it("comes out wrong when a copy is put back and nobody looks at the histories", function()
    local wrong = 0
    for seed = 1, 12 do
      local result = rehearsal.run { seed = seed, folder = folder, puts_back = true, payments = 40,
        dies_once_in = 4000 }
      if #result.problems > 0 then wrong = wrong + 1 end
    end
    assert.is_true(wrong > 0)
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

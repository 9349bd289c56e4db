-- SPDX-License-Identifier: MIT
-- The torture, short: over real HTTP, with every fault, and workers that are killed. `make torture` is the long one.
-- make test: 60 s, waits

local torture = dofile "spec/torture/torture.lua"

local folder

before_each(function()
  folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir -p " .. folder)
end)

after_each(function() os.execute("rm -r " .. folder) end)

local function run(options)
  return torture.run { payments = options.payments, workers = 1, kill_every = options.kill_every or 40,
    seed = options.seed or 3, seconds = 1200, keys = 2, share = options.share, folder = folder,
    journal = { sqlite = ("%s/journal-%d"):format(folder, options.seed or 3) }, writes_late = options.writes_late }
end

describe("the short torture", function()
  it("makes every payment once", function()
    local result = run { payments = 120 }
    assert.same({}, result.problems)
    assert.equal(120, result.done + result.undecided)
    assert.is_true(result.kills >= 3, result.kills .. " kills")
    local kinds = 0
    for _ in pairs(result.faults) do kinds = kinds + 1 end
    assert.is_true(kinds >= 8, kinds .. " kinds of faults")
  end)

  it("fails without the record before the request", function()
    -- A kill has to strike between a request and its record: twelve payments are killed some fifteen times.
    local function is_twice(problem) return problem:find("is done, and the service has it", 1, true) ~= nil end
    local twice = 0
    for seed = 3, 5 do
      local options = { payments = 12, writes_late = true, seed = seed, kill_every = 8, share = 0 }
      for _, problem in ipairs(twice == 0 and run(options).problems or {}) do
        twice = twice + (is_twice(problem) and 1 or 0)
      end
    end
    assert.is_true(twice > 0)
  end)
end)

-- SPDX-License-Identifier: MIT
-- make test-all: 300 s, on lua5.4
-- Some 20,000 payments at services that change; see verdict_rates_spec.lua.

local changing_rates = require "changing_rates"

-- Payments, by kind of service, that may be undecided after six tries, and be left when two more were answered.
local MOST = {
  plain = { 0, 0 }, approval = { 0, 0 }, insiders = { 0, 0 }, release = { 0, 0 }, twomembers = { 0, 0 },
  blip = { 0, 0 }, canary = { 0, 0 }, centres = { 0, 0 }, archive = { 0, 0 }, settle = { 0, 0 }, zone = { 0, 0 },
  batch = { 0, 0 }, renumber = { 0, 0 }, brownout = { 0, 0 },
}

describe("Twenty thousand payments at services that change", function()
  for _, kind in ipairs(changing_rates.KINDS) do
    it("are made once, and few are left to a person: " .. kind, function()
      local undecided, left = changing_rates.hold(kind, 1, 110)
      assert.is_true(undecided <= MOST[kind][1] and left <= MOST[kind][2],
        ("%s = { %d, %d }"):format(kind, undecided, left))
    end)
  end
end)

describe("Lost calls of many busy programs", function()
  for _, case in ipairs(changing_rates.BUSY) do
    it("are decided: " .. case.name, function() changing_rates.hold_busy(case, 100, 10) end)
  end
end)

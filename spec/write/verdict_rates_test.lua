-- SPDX-License-Identifier: MIT
-- make test-all: 120 s, on luajit
-- Some 20,000 payments at services that change; see verdict_rates_spec.lua.

local changing_rates = require "changing_rates"

-- Payments, by kind of service, that may be undecided after six tries, and be left when two more were answered.
local MOST = {
  plain = { 10, 5 }, approval = { 50, 45 }, insiders = { 370, 350 }, release = { 130, 125 }, twomembers = { 175, 170 },
  blip = { 65, 60 }, canary = { 65, 60 }, centres = { 350, 340 }, archive = { 155, 145 }, settle = { 185, 185 },
  zone = { 210, 205 }, batch = { 265, 260 }, renumber = { 210, 210 }, brownout = { 40, 10 }, incident = { 60, 50 },
  garbled = { 30, 20 }, orders = { 60, 55 },
}

-- Two ways inside the service, of which no answered call took the second before: only a person knows.
local TWICE = { centres = 4 }

describe("Twenty thousand payments at services that change", function()
  for _, kind in ipairs(changing_rates.KINDS) do
    it("are made once, and few are left to a person: " .. kind, function()
      local undecided, left = changing_rates.hold(kind, 1, 110, TWICE[kind])
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

-- SPDX-License-Identifier: MIT
-- Words on lost calls, counted by kind of service: false words, and what is left to a person. Neither can be
-- bought with the other unseen. spec/support/changing_worlds.lua has the worlds; verdict_rates_test.lua more of them.
-- make test: 20 s, on lua5.4

local changing_rates = require "changing_rates"

-- Payments, by kind of service, that may be undecided after six tries, and be left when two more were answered.
local MOST = {
  plain = { 1, 0 }, approval = { 2, 1 }, insiders = { 14, 14 }, release = { 15, 15 }, twomembers = { 15, 15 },
  blip = { 9, 9 }, canary = { 8, 8 }, centres = { 16, 16 }, archive = { 4, 4 }, settle = { 6, 6 }, zone = { 18, 18 },
  incident = { 2, 1 }, batch = { 11, 11 }, renumber = { 13, 13 }, brownout = { 4, 1 }, garbled = { 2, 2 },
  orders = { 3, 3 },
}

describe("Payments at services that change", function()
  for _, kind in ipairs(changing_rates.KINDS) do
    it("are made once, and few are left to a person: " .. kind, function()
      local undecided, left = changing_rates.hold(kind, 5001, 3)
      assert.is_true(undecided <= MOST[kind][1] and left <= MOST[kind][2],
        ("%s = { %d, %d }"):format(kind, undecided, left))
    end)
  end
end)

describe("Lost calls of a busy program", function()
  for _, case in ipairs(changing_rates.BUSY) do
    it("are decided: " .. case.name, function() changing_rates.hold_busy(case, 1, 1) end)
  end
end)

describe("A call that waits for a later one", function()
  it("is decided by a running client, by recover, and by the same line", function()
    for how, state in pairs { client = "not_done", recover = "not_done", line = "done", none = "undecided" } do
      assert.equal(state, changing_rates.freed(how), how)
    end
  end)
end)

-- SPDX-License-Identifier: MIT
-- The schedule: items come due in order.

local clock = require "purser.testing.sim.clock"
local plain = require "purser.testing.sim.plain"

describe("a plan of what is due", function()
  it("gives what is due in order of time, then of adding", function()
    local plan, done = clock.schedule(), {}
    for i, at in ipairs { 5, 3, 3, 9, 1, 3, 7 } do plan:add(at, "x", i) end
    local item = plan:take(8)
    while item do
      done[#done + 1] = item.at .. ":" .. item.id
      item = plan:take(8)
    end
    assert.same({ "1:5", "3:2", "3:3", "3:6", "5:1", "7:7" }, done)
    assert.equal(9, plan:take(9).at)
    assert.is_nil(plan:take(1000))
  end)

  it("goes on after a snapshot in the same order, and behind it with what is added then", function()
    local plan = clock.schedule()
    for id = 1, 20 do plan:add(5, "deposit", id) end
    plan:take(5)
    local copy = clock.schedule(plain.copy(plan.heap))
    copy:add(5, "withdrawal", 21)
    for id = 2, 21 do
      local item = copy:take(5)
      assert.same({ id, id == 21 and "withdrawal" or "deposit" }, { item.id, item.kind })
    end
    assert.is_nil(copy:take(math.huge))
    assert.equal(2, plan:take(5).id)
  end)
end)

-- SPDX-License-Identifier: MIT
-- Walks by cursor while the host's clock is wrong by hours: no record is left out.

local set_clock = require "set_clock"

local NOW, HOUR = 1700000000000, 3600000

-- Returns what walks deliver, an hour after each other, where the clock is ahead by `wrong[i]` hours in the walk of
-- that number and a deposit comes before each.
local function delivered(wrong)
  local service, cursor, list = set_clock(NOW), nil, {}
  for i = 1, #wrong do
    service.deposit("tx" .. i)
    service.now = service.now + HOUR
    service.ahead = wrong[i] * HOUR
    local walk = service.client:each("wallet.deposit_history", { cursor = cursor,
      from = not cursor and NOW - HOUR or nil })
    for deposit in walk do list[#list + 1] = deposit.txId end
    cursor = assert(walk:cursor())
  end
  return list
end

describe("a walk delivers every record once", function()
  for _, case in ipairs {
    { "where the clock is right", { 0, 0, 0 } },
    { "where the clock is ahead from the start", { 6, 6, 6 } },
    { "where the clock is set ahead between two walks", { 0, 6, 6, 6, 6, 6, 6, 6 } },
    { "where the clock is ahead in one walk", { 6, 0, 0 } },
    { "where the clock is set back between two walks", { 0, -6, -6 } },
  } do
    it(case[1], function()
      local expected = {}
      for i = 1, #case[2] do expected[i] = "tx" .. i end
      assert.are.same(expected, delivered(case[2]))
    end)
  end
end)

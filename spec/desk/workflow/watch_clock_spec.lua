-- SPDX-License-Identifier: MIT
-- watch_deposits while the host's clock is wrong by hours: no deposit is left out.

local set_clock = require "set_clock"

local NOW, HOUR = 1700000000000, 3600000

-- The first events of a watch, and when the last came, where the clock is ahead by `ahead` hours from the event of that
-- number on and a deposit comes after each event.
local function reported(ahead, from_event, since)
  local service, list = set_clock(NOW), {}
  if from_event == 0 then service.ahead = ahead * HOUR end
  local watch = service.client.wallet:watch_deposits { since = since, poll_ms = 60000, late_arrival_ms = 1000,
    deadline_ms = 12 * HOUR }
  service.now = service.now + HOUR
  for i = 1, 3 do
    service.deposit("tx" .. i)
    local event = assert(watch:next())
    list[i] = event.deposit.txId
    if i == from_event then service.ahead = ahead * HOUR end
    service.now = service.now + 120000
  end
  return list, service.now
end

describe("watch_deposits reports every deposit", function()
  local all = { "tx1", "tx2", "tx3" }

  it("where the clock is ahead from the start", function() assert.are.same(all, reported(6, 0, NOW - HOUR)) end)

  it("where the clock is set ahead after an event", function() assert.are.same(all, reported(6, 1, NOW - HOUR)) end)

  it("where the clock is set back after an event, at once", function()
    local list, ended = reported(-6, 1, NOW - HOUR)
    assert.are.same(all, list)
    assert.is_true(ended < NOW + 2 * HOUR)
  end)
end)

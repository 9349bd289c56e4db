-- SPDX-License-Identifier: MIT
-- The bridge to cqueues, on a cqueues that only notes. spec/hosts/bridges_test.lua has the real one.

local with_modules = require "with_modules"

describe("the bridge to cqueues", function()
  it("waits for a call's bell, its time and its descriptors, and forgets these before they may be closed", function()
    local said, rung = {}, 0
    local bell = { signal = function() rung = rung + 1 end }
    local bridge = with_modules("purser.hosts.cqueues", {
      cqueues = { poll = function(...) said = { ... } end,
        cancel = function(fd) said[#said + 1] = "cancelled " .. fd end },
      ["cqueues.condition"] = { new = function() return bell end },
      ["purser.client.transport.multi"] = { new = function(given) return given end },
    })
    local transport = bridge.new({}, { max_in_flight = 3 })
    assert.equal(3, transport.max_in_flight)
    assert.is_true(transport.self_stepping)
    local call = {}
    transport.wait(call, 1500, { fds = function() return { { fd = 7, events = "r" } } end })
    assert.same({ bell, 1.5, { pollfd = 7, events = "r" }, "cancelled 7" }, said)
    transport.wait(call, 250)
    assert.same({ bell, 0.25 }, said)
    transport.wake(call)
    assert.equal(1, rung)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The bridge to copas, on real sockets and a copas that receives at once. spec/hosts/packaged/copas_test.lua has copas.

local socket = require "socket"
local with_modules = require "with_modules"

describe("the bridge to copas", function()
  it("waits for a byte on a socket of the call's own, and sends it to wake", function()
    local received
    local call, transport = {}, nil
    local bridge = with_modules("purser.hosts.copas", {
      copas = { receive = function(bell, count)
        transport.wake(call)
        bell:settimeout(5)
        received = bell:receive(2) .. count
      end },
      socket = socket, ["purser.client.transport.multi"] = { new = function(given) return given end },
    })
    transport = bridge.new { max_in_flight = 3 }
    assert.same({ 3, "reject" }, { transport.max_in_flight, transport.outside_tasks })
    transport.wait(call)
    assert.equal("!1", received)
  end)
end)

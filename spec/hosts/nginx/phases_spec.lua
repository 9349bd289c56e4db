-- SPDX-License-Identifier: MIT
-- Where a transport for nginx can be made, and where nginx can wait; on a stand-in. Its neighbours have a real nginx.

local phases = require "purser.hosts.nginx.phases"

describe("the phases of nginx", function()
  local kept = rawget(_G, "ngx")
  local function set(ngx) rawset(_G, "ngx", ngx) end
  after_each(function() set(kept) end)

  it("say where a transport can be made", function()
    local phase
    set(nil)
    assert.equal("this host is not nginx", phases.no_worker())
    set { socket = {}, get_phase = function() return phase end }
    phase = "init"
    assert.matches("^make the transport in a worker", phases.no_worker())
    phase = "init_worker"
    assert.is_nil(phases.no_worker())
  end)

  it("say where a call can wait", function()
    local phase
    set { get_phase = function() return phase end }
    for name, waits in pairs { content = true, timer = true, rewrite = true, log = false, init_worker = false,
      header_filter = false } do
      phase = name
      local message = phases.no_wait()
      assert.equal(waits, message == nil, name)
      if message then assert.matches("cannot wait in the phase " .. name .. "; make the call in a timer", message) end
    end
  end)
end)

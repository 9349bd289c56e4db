-- SPDX-License-Identifier: MIT
-- transport_check: Purser's own transports pass. (transport_check_cases_spec.lua has transports that do not.)
-- make test: 15 s, waits, on lua5.4 and luajit

local check = require "transport_check"
local curl = require "purser.client.transport.curl"
local multi = require "purser.client.transport.multi"
local schedule = require "purser.schedule"

local service

setup(function() service = assert(check.start()) end)
teardown(function() if service then service:stop() end end)

local function passes(new)
  local report = check.run(service, new)
  assert.equal(0, report.failed, tostring(report))
  assert.is_true(report.passed > 30)
end

describe("the check of a transport", function()
  it("is passed by the blocking transport", function() passes(curl.new) end)

  it("is passed by the multi transport, outside of tasks and in one", function()
    passes(multi.new)
    schedule.run(function() passes(multi.new) end)
  end)

  it("says what no transport can be checked with", function()
    local report = check.run(service, function() return nil, "no socket" end, { only = "large" })
    assert.equal("BAD  a large answer is whole: no transport was made: no socket\n0 passed, 1 failed", tostring(report))
    local none, message = check.start { lua = "false" }
    assert.is_nil(none)
    assert.matches("^check: the hostile service did not start", message)
  end)
end)

-- SPDX-License-Identifier: MIT
-- A module of a rock that is not installed is named with that rock, and nothing else that fails is.

local rocks = require "purser.client.util.rocks"

describe("a module of another rock", function()
  it("is named with the rock that has it", function()
    local cases = {
      { "purser.client.call.pipeline", "purser" }, { "purser.write.journal", "purser" },
      { "purser.desk.workflow.plan", "purser" }, { "purser.hosts.luv", "purser" },
      { "purser.desk.payouts", "purser-desk" }, { "purser.desk.fleet.vault", "purser-desk" },
      { "purser.cli", "purser-cli" }, { "purser.cli.report", "purser-cli" },
      { "purser.testing.sim", "purser-sim" }, { "purser.httpd", "purser-sim" },
      { "purser.hosts.nginx.cosocket", "purser-nginx" }, { "purser.hosts.limits", "purser-nginx" },
    }
    for _, case in ipairs(cases) do assert.equal(case[2], rocks.of(case[1]), case[1]) end
  end)

  it("ends with the rock's name where the module is missing", function()
    local is_there, message = pcall(rocks.require, "purser.desk.no_such_module")
    assert.is_false(is_there)
    assert.equal("purser.desk.no_such_module is in the rock purser-desk: luarocks install purser-desk "
      .. "(Debian: lua-purser-desk)", message)
    assert.is_true(rocks.is_missing(message))
    is_there, message = pcall(rocks.require, "purser.desk.no_such_module", "purser.none")
    assert.is_false(is_there)
    assert.equal("purser.none is in the rock purser-desk: luarocks install purser-desk (Debian: lua-purser-desk)",
      message)
  end)

  it("keeps the message of what fails for another reason", function()
    package.preload["purser.desk.broken"] = function() error("module 'purser.desk.other' not found: no file", 0) end
    local is_there, message = pcall(rocks.require, "purser.desk.broken")
    package.preload["purser.desk.broken"] = nil
    assert.is_false(is_there)
    assert.matches("purser.desk.other' not found", message, 1, true)
    assert.is_false(rocks.is_missing(message))
    is_there, message = pcall(rocks.require, "purser.client.no_such_module")
    assert.is_false(is_there)
    assert.matches("module 'purser.client.no_such_module' not found", message, 1, true)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The page of Prosody, in a server without ports.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

local CONFIG = [[
run_as_root = true
daemonize = false
data_path, pidfile, plugin_paths = "FOLDER", "FOLDER/prosody.pid", { "FOLDER" }
log = { { levels = { min = "info" }, to = "console" } }
modules_enabled = { "purser" }
modules_disabled = { "c2s", "s2s", "offline" }
VirtualHost "localhost"
]]

local MEASURED = [[
local timer = require "util.timer"
local tick = require "host_ticks" {
  done = function() return left == 0 end,
  check = purser.transport.multi,
  spawn = purser.spawn,
  ends = function() prosody.shutdown "the test is over" end,
}
timer.add_task(0.01, function()
  tick()
  turn()
  return 0.01
end)
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("Prosody", function()
  it("serves on while tasks of a module wait, and their transport passes the check", function()
    local shown, report = host:run("prosody", { lua = "lua5.4", command = "prosody -F --config FOLDER/prosody.cfg.lua",
      files = { ["prosody.cfg.lua"] = CONFIG }, appended = { ["mod_purser.lua"] = MEASURED } })
    host:measured("Prosody", shown, report, 35)
    assert.matches("purser%s+info%s+done", shown)
    assert.is_nil(shown:find("traceback", 1, true), shown)
  end)
end)

-- SPDX-License-Identifier: MIT
-- The page of mpv, which plays nothing.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

local MEASURED = [[
local tick = require "host_ticks" {
  done = function() return left == 0 end,
  check = purser.transport.multi,
  spawn = purser.spawn,
  ends = function() mp.commandv "quit" end,
}
mp.add_periodic_timer(0.01, tick)
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("mpv", function()
  it("runs the timers of a script while its tasks wait, and their transport passes the check", function()
    local shown, report = host:run("mpv", { lua = "lua5.2",
      command = "mpv --no-config --idle --vo=null --ao=null --script=FOLDER/purser.lua",
      appended = { ["purser.lua"] = MEASURED } })
    host:measured("mpv", shown, report, 35)
  end)
end)

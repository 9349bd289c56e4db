-- SPDX-License-Identifier: MIT
-- The pages of LÖVE, under an X server without a screen.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

-- The game's identity is its folder for saved files; the frame rate is not bound to a screen.
local CONF = [[
function love.conf(t)
  t.identity, t.window.vsync, t.modules.audio, t.modules.joystick = "purser-test", 0, false, false
end
]]

local MEASURED = [[
local tick = require "host_ticks" {
  done = function() return left == 0 end,
  check = CHECKED,
  spawn = SPAWN,
  ends = function() love.event.quit() end,
}
local update = love.update
function love.update(dt)
  tick()
  update(dt)
end
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

local function run(page, values)
  return host:run(page, { lua = "luajit", command = "xvfb-run -a love FOLDER", values = values,
    files = { ["conf.lua"] = CONF }, appended = { ["main.lua"] = MEASURED } })
end

describe("LÖVE", function()
  it("draws frames while tasks in love.update wait, and their transport passes the check", function()
    local shown, report = run("love", { CHECKED = "purser.transport.multi", SPAWN = "purser.spawn" })
    host:measured("LÖVE, love.update", shown, report, true)
  end)

  it("draws frames while a love.thread makes the calls", function()
    local shown, report = run("love-thread", { CHECKED = "false", SPAWN = "false" })
    host:measured("LÖVE, a thread", shown, report)
  end)
end)
